// Verification before flight on a small course: plans that would miss are repaired; with slowing
// alone, plans that are too fast are slowed no more than needed, along the same path, and plans
// whose path misses are left and named.
#include "base/status.h"
#include "math/geometry.h"
#include "pools.h"
#include "testing.h"

#include <facet_study/race.h>

static FacetRace *race;

static int open_study(void **state)
{
    (void)state;
    const FacetRaceOptions options = {.courses = TEST_DATA "/sample"};
    FacetStatus status = facet_race_open(&race, &options, test_pool(2), NULL);
    if (!status.ok) print_error("%s\n", status.text);
    return status.ok ? 0 : -1;
}

static int close_study(void **state)
{
    (void)state;
    facet_race_close(race);
    return 0;
}

static FacetCourseTask task_named(const char *name)
{
    FacetCourseTask task;
    assert_ok(facet_course_find_task(&task, race->course, name));
    return task;
}

// The expert's plan with its speeds times `speed` and its points moved sideways by `shift` m.
typedef struct Distorted {
    double speed, shift;
} Distorted;

static FacetStatus plan_distorted(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS],
                                  const FacetRace *study, FacetCourseTask task, uint64_t seed,
                                  void *context)
{
    const Distorted *distorted = context;
    FacetPlanner expert = facet_race_expert();
    TRY(expert.plan(chunk, study, task, seed, NULL));
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        chunk[i].speed *= distorted->speed;
        chunk[i].pos.y += distorted->shift;
    }
    return status_ok();
}

static void make_plan(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], FacetCourseTask task,
                      Distorted distorted)
{
    assert_ok(plan_distorted(chunk, race, task, 0, &distorted));
}

static double worst_miss(const FacetFlight *flight)
{
    double worst = 0.0;
    for (int i = 0; i < flight->gate_count; i++) worst = fmax(worst, flight->gates[i].miss);
    return worst;
}

static void assert_same_path(const FacetKeypoint *plan, const FacetKeypoint *raw, double floor)
{
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        assert_near(vec3_distance(plan[i].pos, raw[i].pos), 0.0, 0.0);
        assert_true(plan[i].speed <= raw[i].speed);
        assert_true(plan[i].speed >= fmin(raw[i].speed, floor));
    }
}

static void a_plan_that_keeps_its_margin_is_not_touched(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    FacetVerifyOptions options = facet_verify_defaults();
    FacetCourseTask task = task_named("bend/large");
    make_plan(raw, task, (Distorted){1.0, 0.0}); // the expert keeps a quarter
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    assert_int_equal(report.rounds, 2);
    assert_int_equal(report.slowed_gates, 0);
    assert_near(report.slowest_factor, 1.0, 0.0);
    assert_near(report.shift, 0.0, 0.0);
    assert_true(report.within_margin);
    assert_true(report.good);
    assert_int_equal(report.checked, options.repair.flights);
    assert_int_equal(report.clear, report.raw_clear);
    assert_memory_equal(report.plan, raw, sizeof raw);
}

static FacetVerifyOptions slow_only(void)
{
    FacetVerifyOptions options = facet_verify_defaults();
    options.slow_only = true;
    return options;
}

static void a_plan_that_is_too_fast_is_slowed_just_enough(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    FacetVerifyOptions options = slow_only();
    FacetCourseTask task = task_named("bend/small");
    make_plan(raw, task, (Distorted){2.0, 0.0});
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    assert_true(report.raw.passed < report.raw.gate_count);
    assert_int_equal(report.verified.passed, report.verified.gate_count);
    assert_true(report.within_margin);
    assert_true(report.slowed_gates > 0);
    assert_true(report.blocked_count == 0);
    assert_same_path(report.plan, raw, race->course->speed_min);
    double limit = 0.9 * race->course->openings[task.opening].half_width;
    assert_true(worst_miss(&report.verified) <= limit);
    assert_true(worst_miss(&report.verified) > 0.97 * limit); // and it is not slowed further
    assert_true(report.slowest_factor < 1.0);
    assert_true(report.slowest_factor >= 0.3);
    double least = 1.0, jump = 0.0;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        least = fmin(least, report.plan[i].speed / raw[i].speed);
        if (i > 0) jump = fmax(jump, fabs(report.plan[i].speed - report.plan[i - 1].speed));
    }
    assert_near(report.slowest_factor, least, 1e-15);
    assert_less(jump, 0.6 * raw[0].speed); // slowing spreads over neighbours
    // A wider margin asks for more slowing.
    FacetVerifyReport wide;
    options.margin = 0.2;
    assert_ok(facet_race_verify(&wide, race, raw, task, &options));
    assert_true(wide.verified.duration > report.verified.duration);
}

static FacetVec3 slowest_place(const FacetKeypoint *plan)
{
    int slowest = 0;
    for (int i = 1; i < FACET_CHUNK_KEYPOINTS; i++)
        if (plan[i].speed < plan[slowest].speed) slowest = i;
    return plan[slowest].pos;
}

static void a_plan_is_slowed_most_at_the_gate_that_it_would_miss(void **state)
{
    (void)state;
    static const struct {
        const char *task;
        double speed;
        int gate; // the first that misses its margin
    } cases[] = {{"bend/small", 1.4, 0}, {"bend/large", 1.4, 1}, {"straight/small", 2.8, 1}};
    for (int i = 0; i < 3; i++) {
        FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
        FacetVerifyReport report;
        FacetVerifyOptions options = slow_only();
        FacetCourseTask task = task_named(cases[i].task);
        FacetVec3 gate = race->course->tracks[task.track].gates[cases[i].gate].center;
        make_plan(raw, task, (Distorted){cases[i].speed, 0.0});
        assert_ok(facet_race_verify(&report, race, raw, task, &options));
        assert_true(report.within_margin);
        assert_int_equal(report.slowed_gates, 1);
        assert_less(vec3_distance(slowest_place(report.plan), gate), 1.0); // one keypoint a metre
    }
}

// How fast a plan ends says nothing about its speed at a gate, from where slowing begins.
static void a_plan_that_ends_slowly_is_still_slowed_at_its_gates(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    FacetVerifyOptions options = slow_only();
    FacetCourseTask task = task_named("bend/small");
    make_plan(raw, task, (Distorted){1.4, 0.0});
    raw[FACET_CHUNK_KEYPOINTS - 1].speed =
        race->course->speed_min; // the floor: from here no step down is left
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    assert_true(report.within_margin);
    assert_int_equal(report.slowed_gates, 1);
    assert_int_equal(report.blocked_count, 0);
}

static void a_path_that_misses_is_named_and_left(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    FacetVerifyOptions options = slow_only();
    FacetCourseTask task = task_named("straight/small");
    make_plan(raw, task, (Distorted){1.0, 0.8}); // beside an opening of 0.4 m
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    assert_false(report.within_margin);
    assert_int_equal(report.blocked_count, 2);
    assert_int_equal(report.blocked[0].gate, 0);
    assert_int_equal(report.blocked[1].gate, 1);
    assert_true(report.blocked[0].miss > 0.4);
    assert_true(report.blocked[0].miss <= report.raw.gates[0].miss);
    assert_true(report.blocked[0].speed >= race->course->speed_min);
    assert_near(report.blocked[0].path, 0.8, 0.15);    // the expert's path goes through the centre
    assert_memory_equal(report.plan, raw, sizeof raw); // slowing it would have been for nothing
}

static void a_path_that_misses_is_repaired(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    FacetVerifyOptions options = facet_verify_defaults();
    FacetCourseTask task = task_named("straight/small");
    make_plan(raw, task, (Distorted){0.6, 0.6}); // beside an opening of 0.4 m
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    assert_true(report.raw.passed < report.raw.gate_count);
    assert_int_equal(report.verified.passed, report.verified.gate_count);
    assert_true(report.good);
    assert_string_equal(report.reason, "");
    assert_int_equal(report.blocked_count, 0);
    assert_near(report.slowest_factor, 1.0, 0.0); // the path alone was enough
    assert_true(report.shift > 0.3);
    assert_less(report.shift, 1.5);
    assert_true(report.clear > report.raw_clear);
}

// A plan may keep its margin in still air and still fail in gusts: it says so, and which it was.
static void what_is_not_good_says_why(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    FacetVerifyOptions options = facet_verify_defaults();
    FacetCourseTask task = task_named("straight/small");
    make_plan(raw, task, (Distorted){1.0, 0.0});
    options.repair.gusts = 6.0;
    options.repair.steps = 0;
    options.repair.speed_least = 1.0;
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    assert_true(report.within_margin);
    assert_false(report.good);
    assert_non_null(strstr(report.reason, "flights in gusts miss a gate"));
    options = slow_only();
    make_plan(raw, task, (Distorted){1.0, 3.0});
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    assert_false(report.good);
    assert_string_equal(report.reason, "a gate does not keep its margin");
}

// In a storm the repair finds a plan with which one flight passes, at the cost of a gate in still
// air: it is not taken, and what is said is of the plan that is kept.
static void a_repair_that_is_not_taken_says_nothing_of_the_plan(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report, look;
    FacetVerifyOptions options = facet_verify_defaults();
    FacetCourseTask task = task_named("bend/small");
    FacetRepair repair;
    make_plan(raw, task, (Distorted){0.8, 0.1419});
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) raw[i].pos.z += 0.2594;
    options.speed_floor = 100.0; // no slowing
    options.repair.flights = 32, options.repair.misses = 0, options.repair.gusts = 9.0;
    options.repair.speed_least = 1.0, options.repair.seed = 311;
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    FacetFlightSetup setup = facet_race_setup(race, task);
    FacetKeypoint expert[FACET_CHUNK_KEYPOINTS];
    FacetReference path;
    make_plan(expert, task, (Distorted){1.0, 0.0});
    assert_ok(facet_reference_from_chunk(&path, expert));
    assert_ok(facet_flight_repair(
        &repair, &setup, raw,
        facet_flight_start(&race->model, &path, facet_race_reference_speed(race, task)),
        &options.repair, race->pool));
    assert_less(repair.still.passed, report.raw.passed); // so it is not taken
    assert_memory_equal(report.plan, raw, sizeof raw);
    assert_int_not_equal(repair.clear, repair.raw_clear);
    assert_int_equal(report.clear, repair.raw_clear);
    options.repair.steps = 0; // looks at the same plan
    assert_ok(facet_race_verify(&look, race, raw, task, &options));
    assert_int_equal(report.clear, look.clear);
    assert_string_equal(report.reason, look.reason);
    assert_string_not_equal(report.reason, repair.reason);
}

static void plans_that_nothing_can_fly_and_wrong_options(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    FacetVerifyOptions options = facet_verify_defaults();
    FacetCourseTask task = task_named("straight/large");
    make_plan(raw, task, (Distorted){1.0, 0.0});
    raw[3].pos.x = NAN;
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    assert_int_equal(report.rounds, 0);
    assert_false(report.within_margin);
    assert_string_equal(report.reason, "nothing can fly this plan");
    options.margin = 1.0;
    assert_refused(facet_race_verify(&report, race, raw, task, &options),
                   "expected a margin of at least 0 and below 1, found 1");
    options = (FacetVerifyOptions){.speed_floor = -1.0};
    assert_refused(facet_race_verify(&report, race, raw, task, &options),
                   "expected a floor of 0 m/s or more, found -1");
}

// Slowed at a gate that it does not keep its margin at, this plan misses one behind it: it is left
// at the speeds that it had.
static void slowing_that_loses_gates_is_not_taken(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    FacetVerifyOptions options = slow_only();
    FacetCourseTask task = task_named("bend/large");
    make_plan(raw, task, (Distorted){1.2, 0.8});
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        raw[i].pos.y += 0.9 * sin(2.0 * FACET_PI * i / (FACET_CHUNK_KEYPOINTS - 1));
    options.margin = 0.8;
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    assert_int_equal(report.raw.passed, report.raw.gate_count);
    assert_true(report.blocked_count > 0);
    assert_int_equal(report.verified.passed, report.raw.passed);
    assert_memory_equal(report.plan, raw, sizeof raw);
}

// Its path misses by far, but for the plan of seed 12.
static FacetStatus plan_by_luck(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *study,
                                FacetCourseTask task, uint64_t seed, void *context)
{
    (void)context;
    Distorted distorted = {1.0, seed == 12 ? 0.0 : 3.0};
    return plan_distorted(chunk, study, task, seed, &distorted);
}

static void where_slowing_does_not_cure_the_next_seeds_are_tried(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS], first[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    FacetVerifyOptions options = slow_only();
    FacetCourseTask task = task_named("straight/large");
    FacetPlanner lucky = {.name = "lucky", .plan = plan_by_luck};
    make_plan(first, task, (Distorted){1.0, 3.0});
    assert_ok(facet_race_plan_verified(&report, raw, race, &lucky, task, 10, &options));
    assert_true(report.within_margin);
    assert_int_equal(report.tries, 3);
    assert_memory_equal(raw, first, sizeof raw);
    options.tries = 2;
    assert_ok(facet_race_plan_verified(&report, raw, race, &lucky, task, 10, &options));
    assert_false(report.within_margin);
    assert_int_equal(report.tries, 2);
    options.tries = 0;
    assert_refused(facet_race_plan_verified(&report, raw, race, &lucky, task, 10, &options),
                   "expected 1 or more tries, found 0");
}

// Every plan keeps its margin in still air; those of later seeds are nearer to the centre.
static FacetStatus plan_ever_nearer(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS],
                                    const FacetRace *study, FacetCourseTask task, uint64_t seed,
                                    void *context)
{
    (void)context;
    Distorted distorted = {1.0, 0.3 - 0.1 * (double)seed};
    return plan_distorted(chunk, study, task, seed, &distorted);
}

// In gusts too strong for any of them, the plan that most flights pass with is taken.
static void of_plans_that_are_not_good_the_safest_in_gusts_is_taken(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport reports[4], report;
    FacetVerifyOptions options = facet_verify_defaults();
    FacetCourseTask task = task_named("straight/small");
    FacetPlanner nearer = {.name = "nearer", .plan = plan_ever_nearer};
    int best = 0;
    options.repair.gusts = 2.5;
    options.repair.steps = 0, options.repair.speed_least = 1.0; // leaves every plan as it is
    for (int seed = 0; seed < 4; seed++) {
        assert_ok(plan_ever_nearer(raw, race, task, (uint64_t)seed, NULL));
        assert_ok(facet_race_verify(&reports[seed], race, raw, task, &options));
        assert_true(reports[seed].within_margin);
        assert_false(reports[seed].good);
        if (reports[seed].clear > reports[best].clear) best = seed;
    }
    assert_true(best > 0);
    options.tries = 4;
    assert_ok(facet_race_plan_verified(&report, raw, race, &nearer, task, 0, &options));
    assert_int_equal(report.clear, reports[best].clear);
    assert_memory_equal(report.plan, reports[best].plan, sizeof report.plan);
}

static void flights_and_planner_agree(void **state)
{
    (void)state;
    FacetCourseTask tasks[4];
    FacetRaceResult raw[4], verified[4], plain[4], wrapped[4];
    FacetVerifyReport reports[4];
    int count = facet_race_feasible_tasks(tasks, race);
    Distorted distorted = {1.6, 0.0};
    FacetPlanner fast = {.name = "fast", .plan = plan_distorted, .context = &distorted};
    FacetVerifiedPlanner context = {.inner = fast, .options = facet_verify_defaults()};
    FacetPlanner planner = facet_race_verified(&context);
    assert_ok(facet_race_fly_verified(raw, verified, reports, race, &fast, &context.options, tasks,
                                      count, 7, 0.3, NULL));
    assert_ok(facet_race_fly_all(plain, race, &fast, tasks, count, 7, 0.3, NULL));
    assert_ok(facet_race_fly_all(wrapped, race, &planner, tasks, count, 7, 0.3, NULL));
    int changed = 0;
    for (int i = 0; i < count; i++) {
        assert_near(raw[i].flight.duration, plain[i].flight.duration, 0.0);
        assert_near(verified[i].flight.duration, wrapped[i].flight.duration, 0.0);
        assert_near(verified[i].error, wrapped[i].error, 0.0);
        changed += reports[i].shift > 0.0 || reports[i].slowest_factor < 1.0;
    }
    assert_true(changed > 0);
}

static FacetStatus plan_all_by_luck(FacetKeypoint *chunks, const FacetRace *study,
                                    const FacetCourseTask *tasks, const uint64_t *seeds, int count,
                                    void *context, const FacetProgress *progress)
{
    (void)progress;
    for (int i = 0; i < count; i++)
        TRY(plan_by_luck(chunks + i * FACET_CHUNK_KEYPOINTS, study, tasks[i], seeds[i], NULL));
    (*(int *)context)++;
    return status_ok();
}

// A round plans what is not settled in one call.
static void plans_made_together_are_verified_the_same(void **state)
{
    (void)state;
    FacetCourseTask tasks[4];
    FacetRaceResult raw[4], verified[4], raw_alone[4], verified_alone[4];
    FacetVerifyReport reports[4], alone[4];
    FacetVerifyOptions options = slow_only();
    int count = facet_race_feasible_tasks(tasks, race), calls = 0;
    FacetPlanner single = {.name = "lucky", .plan = plan_by_luck}, lucky = single;
    lucky.plan_all = plan_all_by_luck;
    lucky.context = &calls;
    assert_ok(facet_race_fly_verified(raw_alone, verified_alone, alone, race, &single, &options,
                                      tasks, count, 10, 0.3, NULL));
    assert_ok(facet_race_fly_verified(raw, verified, reports, race, &lucky, &options, tasks, count,
                                      10, 0.3, NULL));
    assert_in_range(calls, 3, options.tries);
    for (int i = 0; i < count; i++) {
        assert_int_equal(reports[i].tries, alone[i].tries);
        assert_memory_equal(reports[i].plan, alone[i].plan, sizeof reports[i].plan);
        assert_near(raw[i].flight.duration, raw_alone[i].flight.duration, 0.0);
        assert_near(verified[i].error, verified_alone[i].error, 0.0);
    }
}

// What slowing makes of a plan after its repair is flown in gusts again: the count is of the plan
// that is handed out, not of the one before.
static void a_plan_that_is_slowed_after_its_repair_is_checked_again(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report, again;
    FacetVerifyOptions options = facet_verify_defaults();
    FacetCourseTask task = task_named("bend/large");
    options.repair.steps = 0, options.repair.speed_least = 1.0; // leaves every plan as it is
    make_plan(raw, task, (Distorted){1.8, 0.0});
    assert_ok(facet_race_verify(&report, race, raw, task, &options));
    assert_true(report.slowed_gates > 0);
    assert_ok(facet_race_verify(&again, race, report.plan, task, &options));
    assert_memory_equal(again.plan, report.plan, sizeof report.plan);
    assert_int_equal(report.clear, again.clear);
    assert_true(report.clear > report.raw_clear);
}

static bool stop_after(void *context, const FacetProgressEvent *event)
{
    (void)event;
    return --*(int *)context > 0;
}

// Repair and slowing of one plan ask whether to go on, as both may take long.
static void a_stop_is_heard_within_a_plan(void **state)
{
    (void)state;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    FacetCourseTask task = task_named("bend/small");
    make_plan(raw, task, (Distorted){3.0, 0.0});
    for (int slow = 0; slow < 2; slow++)
        for (int when = 1; when < 12; when += 5) {
            int asked = when;
            const FacetProgress progress = {stop_after, &asked};
            FacetVerifyOptions options = facet_verify_defaults();
            options.slow_only = slow;
            options.repair.progress = &progress;
            FacetStatus status = facet_race_verify(&report, race, raw, task, &options);
            assert_int_equal(status.code, FACET_INTERRUPTED);
            assert_true(asked <= 0 && asked > -3);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_is_heard_within_a_plan),
        cmocka_unit_test(a_plan_that_is_slowed_after_its_repair_is_checked_again),
        cmocka_unit_test(a_plan_that_keeps_its_margin_is_not_touched),
        cmocka_unit_test(a_plan_that_is_too_fast_is_slowed_just_enough),
        cmocka_unit_test(a_plan_is_slowed_most_at_the_gate_that_it_would_miss),
        cmocka_unit_test(a_plan_that_ends_slowly_is_still_slowed_at_its_gates),
        cmocka_unit_test(a_path_that_misses_is_named_and_left),
        cmocka_unit_test(a_path_that_misses_is_repaired),
        cmocka_unit_test(what_is_not_good_says_why),
        cmocka_unit_test(a_repair_that_is_not_taken_says_nothing_of_the_plan),
        cmocka_unit_test(slowing_that_loses_gates_is_not_taken),
        cmocka_unit_test(of_plans_that_are_not_good_the_safest_in_gusts_is_taken),
        cmocka_unit_test(plans_that_nothing_can_fly_and_wrong_options),
        cmocka_unit_test(where_slowing_does_not_cure_the_next_seeds_are_tried),
        cmocka_unit_test(flights_and_planner_agree),
        cmocka_unit_test(plans_made_together_are_verified_the_same),
    };
    return cmocka_run_group_tests(tests, open_study, close_study);
}
