// The closed-loop constants on a small course: against the controller's own poles, against the
// gates' slopes, and on any number of threads.
#include "certify/closed_loop.h"
#include "certify/crossing.h"
#include "certify/small_course.h"

static ClosedLoopOptions few(void)
{
    ClosedLoopOptions options = closed_loop_defaults();
    options.pairs = 8;
    options.draws = 6;
    options.seed = 5;
    return options;
}

// On a straight line the error across it obeys x'' = -6.5 x - 4 x' once the attitude has settled:
// it shrinks by exp(-2 t).
static void a_straight_flight_contracts_as_its_gains_say(void **unused)
{
    (void)unused;
    FacetRace *race = open_course(2);
    Normalizer *units = small_units();
    FacetCourseTask task = task_named(race, "straight/large");
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    ClosedLoopOptions options = few();
    ClosedLoop loop;
    straight_plan(chunk);
    options.step = CLOSED_LOOP_MARK;
    assert_ok(closed_loop_measure(&loop, race, task, chunk, units, &options));
    assert_true(loop.contracts);
    assert_near(loop.step, CLOSED_LOOP_MARK, 1e-12);
    assert_near(loop.lambda_mark, exp(-2.0 * CLOSED_LOOP_MARK), 0.02);
    assert_less(loop.lambda_fit, loop.constants.lambda);
    assert_less(loop.ratio, loop.constants.lambda * (1.0 + 1e-9));
    assert_near(loop.oblique, 1.0, 0.1);

    // A longer step loses less to norms. Nothing that is flown leaves the tube.
    double short_bound = loop.gain_bound;
    options.step = 1.0;
    assert_ok(closed_loop_measure(&loop, race, task, chunk, units, &options));
    assert_near(loop.step, 1.0, 1e-12);
    assert_less(loop.gain_bound, short_bound);
    assert_less(loop.gain, loop.gain_bound);
    assert_less(loop.gain_seen, loop.gain_bound);
    assert_less(loop.gust_seen, loop.gust_bound);
    assert_less(loop.lambda_worst, loop.constants.lambda * 1.05);
    assert_true(loop.gust_seen > 1e-3);
    assert_true(loop.gain_seen > 0.1);
    normalizer_destroy(units);
    facet_race_close(race);
}

// The slopes of the gates' crossings come from whole flights, the gain from steps chained together:
// at no gate may the first exceed the second by more than the obliqueness explains.
static void the_gain_covers_the_gates_slopes(void **unused)
{
    (void)unused;
    static CrossingSensitivity sensitivity;
    FacetRace *race = open_course(2);
    Normalizer *units = small_units();
    FacetCourseTask task = task_named(race, "bend/large");
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    ClosedLoopOptions options = few();
    ClosedLoop loop;
    expert_plan(chunk, race, task);
    assert_ok(closed_loop_measure(&loop, race, task, chunk, units, &options));
    assert_ok(
        crossing_sensitivity(&sensitivity, race, task, own_pace(chunk), units, CROSSING_STEP));
    double steepest = 0.0;
    for (int g = 0; g < sensitivity.gates; g++) steepest = fmax(steepest, sensitivity.gate[g].norm);
    assert_true(steepest > 1.0);
    assert_less(steepest, 1.1 * loop.oblique * loop.gain);
    assert_less(loop.gain, 5.0 * steepest);
    FacetTubeConstants worst = closed_loop_worst(&loop, 1);
    assert_near(facet_tube_radius(worst, 0.1), 0.1 * loop.gain_bound + loop.gust_bound, 1e-9);
    normalizer_destroy(units);
    facet_race_close(race);
}

static void threads_change_nothing(void **unused)
{
    (void)unused;
    FacetRace *one = open_course(1), *three = open_course(3);
    Normalizer *units = small_units();
    FacetCourseTask task = task_named(one, "straight/large");
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    ClosedLoopOptions options = few();
    ClosedLoop loops[2];
    memset(loops, 0, sizeof loops);
    options.step = 0.5;
    options.gusts = 0.0;
    straight_plan(chunk);
    assert_ok(closed_loop_measure(&loops[0], one, task, chunk, units, &options));
    assert_ok(closed_loop_measure(&loops[1], three, task, chunk, units, &options));
    assert_true(loops[0].constants.lambda == loops[1].constants.lambda);
    assert_true(loops[0].constants.b_kappa == loops[1].constants.b_kappa);
    assert_true(loops[0].constants.w == loops[1].constants.w);
    assert_true(loops[0].gain == loops[1].gain);
    assert_near(loops[0].constants.w, 0.0, 1e-6); // still air
    assert_true(loops[0].lambda_fit == loops[1].lambda_fit);
    assert_true(loops[0].gain_seen == loops[1].gain_seen);
    assert_true(loops[0].gust_seen == loops[1].gust_seen);
    normalizer_destroy(units);
    facet_race_close(one);
    facet_race_close(three);
}

static void a_plan_too_short_to_measure_is_refused(void **unused)
{
    (void)unused;
    FacetRace *race = open_course(1);
    Normalizer *units = small_units();
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    ClosedLoopOptions options = few();
    ClosedLoop loop;
    straight_plan(chunk);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i].pos.x = -7.0 + 0.05 * i;
    FacetCourseTask task = task_named(race, "straight/large");
    assert_refused(closed_loop_measure(&loop, race, task, chunk, units, &options), "at least 12");
    chunk[4].speed = nan("");
    assert_refused(closed_loop_measure(&loop, race, task, chunk, units, &options), "not finite");
    normalizer_destroy(units);
    facet_race_close(race);
}

static bool say_stop(void *context, const FacetProgressEvent *event)
{
    (void)context;
    return event->done > 0;
}

static void a_stop_is_heard_between_marks(void **unused)
{
    (void)unused;
    FacetRace *race = open_course(2);
    Normalizer *units = small_units();
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    ClosedLoopOptions options = few();
    ClosedLoop loop;
    const FacetProgress host = {.report = say_stop};
    Progress progress;
    straight_plan(chunk);
    progress_begin(&progress, &host, "loop", 1);
    options.progress = &progress;
    options.pairs = options.draws = 0; // which would hear it later
    FacetStatus status = closed_loop_measure(&loop, race, task_named(race, "straight/large"), chunk,
                                             units, &options);
    progress_end(&progress);
    assert_int_equal(status.code, FACET_INTERRUPTED);
    normalizer_destroy(units);
    facet_race_close(race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_straight_flight_contracts_as_its_gains_say),
        cmocka_unit_test(the_gain_covers_the_gates_slopes),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_plan_too_short_to_measure_is_refused),
        cmocka_unit_test(a_stop_is_heard_between_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
