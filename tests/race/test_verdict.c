// Verdicts on a small course: a plan through the gates goes, one beside them does not, and the
// bounds are those of all tasks at once.
#include "allocations.h"
#include "base/rng.h"
#include "flight/many.h"
#include "math/geometry.h"
#include "math/statistics.h"
#include "pools.h"
#include "race/spread_start.h"
#include "race/streams.h"
#include "race/verdict.h"
#include "testing.h"

#include <string.h>

static FacetRace *open_study(int threads)
{
    FacetRace *race;
    const FacetRaceOptions options = {.courses = TEST_DATA "/sample"};
    assert_ok(facet_race_open(&race, &options, test_pool(threads), NULL));
    return race;
}

// The expert's plans of two tasks, the second one moved aside (m).
static void make_plans(FacetKeypoint plans[2][FACET_CHUNK_KEYPOINTS], FacetCourseTask tasks[2],
                       const FacetRace *race, double aside)
{
    FacetPlanner expert = facet_race_expert();
    const char *const names[2] = {"straight/large", "bend/large"};
    for (int t = 0; t < 2; t++) {
        assert_ok(facet_course_find_task(&tasks[t], race->course, names[t]));
        assert_ok(expert.plan(plans[t], race, tasks[t], 0, NULL));
        for (int i = 0; i < FACET_CHUNK_KEYPOINTS && t == 1; i++) plans[t][i].pos.y += aside;
    }
}

static void what_passes_goes_and_what_misses_does_not(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetKeypoint plans[2][FACET_CHUNK_KEYPOINTS], good[2][FACET_CHUNK_KEYPOINTS];
    FacetCourseTask tasks[2];
    Verdict verdicts[2] = {0};
    VerdictOptions options = verdict_defaults();
    options.samples = 64;
    make_plans(plans, tasks, race, 3.0);
    make_plans(good, tasks, race, 0.0);
    const FacetKeypoint *raw[2] = {good[0], good[1]}, *flown[2] = {plans[0], plans[1]};
    assert_ok(verdicts_fly(verdicts, race, tasks, raw, flown, 2, &options, NULL));
    assert_int_equal(verdicts[0].kind, VERDICT_GO);
    assert_int_equal(verdicts[0].clear, 64);
    assert_near(verdicts[0].pace, 1.0, 0.0);
    assert_near(verdicts[0].lower, clopper_pearson_lower(64, 64, 0.975), 1e-12); // 0.95 of both
    assert_int_equal(verdicts[1].kind, VERDICT_NO);
    assert_int_equal(verdicts[1].clear, 0);
    assert_near(verdicts[1].lower, 0.0, 0.0);
    assert_near(verdicts[1].pace, 1.0, 0.0); // no pace passes more: it is not slowed for nothing
    assert_true(verdicts[1].raw_clear > 32); // the plan before it was moved aside
    facet_race_close(race);
}

// Too fast for the bend at its own speed; at a lower pace it passes, and the bound is of that pace.
static void what_is_too_fast_goes_slower(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetKeypoint plans[2][FACET_CHUNK_KEYPOINTS];
    FacetCourseTask tasks[2];
    Verdict verdict = {0};
    VerdictOptions options = verdict_defaults();
    options.samples = 64;
    make_plans(plans, tasks, race, 0.0);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) plans[1][i].speed *= 1.8;
    const FacetKeypoint *flown = plans[1];
    assert_ok(verdicts_fly(&verdict, race, &tasks[1], &flown, &flown, 1, &options, NULL));
    assert_int_equal(verdict.kind, VERDICT_SLOWER);
    assert_string_equal(verdict_name(verdict.kind), "go slower");
    assert_less(verdict.pace, 0.95);
    assert_less(verdict.raw_lower, options.least);
    assert_true(verdict.lower >= options.least);
    assert_near(verdict.lower, clopper_pearson_lower(verdict.clear, 64, 0.95), 1e-12);
    facet_race_close(race);
}

// The flights that choose a pace are not those that the bound is of. With one flight each, and a
// plan that passes now and then at its own pace and always at a lower one, the flights that chose
// would never say no.
static void the_pace_is_chosen_with_other_flights(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetKeypoint plans[2][FACET_CHUNK_KEYPOINTS];
    FacetCourseTask tasks[2];
    VerdictOptions options = verdict_defaults();
    options.samples = 1;
    options.least = 0.04; // one flight of one that passes is enough: 0.05
    make_plans(plans, tasks, race, 0.0);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) plans[1][i].speed *= 1.4;
    const FacetKeypoint *flown = plans[1];
    int refused = 0, apart = 0;
    for (int seed = 0; seed < 60; seed++) {
        Verdict verdict = {0};
        options.seed = (uint64_t)seed;
        assert_ok(verdicts_fly(&verdict, race, &tasks[1], &flown, &flown, 1, &options, NULL));
        refused += verdict.kind == VERDICT_NO;
        apart += verdict.pace == 1.0 && verdict.raw_clear != verdict.clear;
    }
    assert_true(refused > 0);
    assert_true(apart > 0); // nor are those of the raw plan the same
    facet_race_close(race);
}

// A flight of a verdict, as verdict.h has it: one at a time, with the next stream for its gusts.
typedef struct Rollout {
    const FacetKeypoint *plan;
    double pace;
    FacetQuadState start;
    FacetGusts gusts;
} Rollout;

static void make_rollout(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], FacetQuadState *start,
                         FacetGusts *gusts, const void *context, int index)
{
    (void)index;
    const Rollout *r = context;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i] = (FacetKeypoint){r->plan[i].pos, r->pace * r->plan[i].speed};
    *start = r->start;
    *gusts = r->gusts;
}

static int count_clear(const FacetRace *race, FacetCourseTask task, const FacetKeypoint *plan,
                       double pace, int who, const VerdictOptions *o)
{
    FacetFlightSetup setup = facet_race_setup(race, task);
    int clear = 0;
    for (int i = 0; i < o->samples; i++) {
        uint64_t stream = race_verdict_stream(race, task, who, i);
        FacetRng rng = rng_make(o->seed, stream);
        Rollout r = {.plan = plan, .pace = pace, .gusts = {o->gusts, 1.0, o->seed, stream + 1}};
        FacetFlight flight;
        assert_ok(spread_start(&r.start, race, task, o->start_spread, o->speed_least, &rng));
        r.start.vel_world = vec3_scale(r.start.vel_world, pace);
        assert_ok(many_fly(&flight, 1, &setup, r.start, make_rollout, &r, NULL));
        clear += flight.passed == flight.gate_count;
    }
    return clear;
}

// A flight at a pace starts at that pace, and its gusts are not drawn from the numbers that made
// its start: else whoever starts far to one side would be blown there too.
static void flights_start_at_the_pace_and_gusts_are_their_own(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetKeypoint plans[2][FACET_CHUNK_KEYPOINTS];
    FacetCourseTask tasks[2];
    VerdictOptions options = verdict_defaults();
    options.samples = 48;
    static const struct {
        double speed, aside, gusts; // of the plan over the expert's, m, m/s
    } cases[] = {{1.6, 0.3, 1.5}, {2.8, 0.0, 0.3}};
    for (int c = 0; c < 2; c++) {
        options.gusts = cases[c].gusts;
        make_plans(plans, tasks, race, cases[c].aside);
        for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) plans[1][i].speed *= cases[c].speed;
        const FacetKeypoint *flown = plans[1];
        for (int seed = 0; seed < 3; seed++) {
            Verdict verdict = {0};
            options.seed = (uint64_t)seed;
            assert_ok(verdicts_fly(&verdict, race, &tasks[1], &flown, &flown, 1, &options, NULL));
            int clear = count_clear(race, tasks[1], flown, verdict.pace, 0, &options);
            int raw = count_clear(race, tasks[1], flown, 1.0, 1, &options);
            assert_int_equal(verdict.clear, clear);
            assert_int_equal(verdict.raw_clear, raw);
            if (c == 1) assert_less(verdict.pace, 0.65);
        }
    }
    facet_race_close(race);
}

// The pace of one of two tasks at a least rate, the first of which always passes.
static double pace_of_second(const FacetRace *race, const FacetCourseTask tasks[2],
                             FacetKeypoint plans[2][FACET_CHUNK_KEYPOINTS], int count,
                             VerdictOptions options, double least)
{
    const FacetKeypoint *flown[2] = {plans[0], plans[1]};
    Verdict verdicts[2] = {0};
    options.least = least;
    assert_ok(verdicts_fly(verdicts, race, tasks + 2 - count, flown + 2 - count, flown + 2 - count,
                           count, &options, NULL));
    return verdicts[count - 1].pace;
}

// The bound is of all tasks at once, and so is what a pace is chosen by: of two tasks, one whose
// flights at its own pace were just enough for it alone goes slower.
static void a_pace_is_chosen_by_the_bound_that_is_given(void **state)
{
    (void)state;
    enum { SAMPLES = 32 };
    FacetRace *race = open_study(2);
    FacetKeypoint plans[2][FACET_CHUNK_KEYPOINTS];
    FacetCourseTask tasks[2];
    VerdictOptions options = verdict_defaults();
    options.samples = SAMPLES;
    make_plans(plans, tasks, race, 0.0);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) plans[1][i].speed *= 1.4;
    int clear = SAMPLES; // of the flights that choose, at the plan's own pace
    while (clear > 0 && pace_of_second(race, tasks, plans, 1, options,
                                       clopper_pearson_lower(clear, SAMPLES, 0.95) - 1e-9) < 1.0)
        clear--;
    assert_in_range(clear, 1, SAMPLES - 1); // not all, or slower would be no better
    double alone = clopper_pearson_lower(clear, SAMPLES, 0.95);
    double both = clopper_pearson_lower(clear, SAMPLES, 0.975);
    assert_near(pace_of_second(race, tasks, plans, 2, options, both - 1e-9), 1.0, 0.0);
    assert_less(pace_of_second(race, tasks, plans, 2, options, both + 1e-9), 0.95);
    assert_less(pace_of_second(race, tasks, plans, 2, options, alone - 1e-9), 0.95);
    facet_race_close(race);
}

static bool stop_at(void *context, const FacetProgressEvent *event)
{
    (void)event;
    return --*(int *)context > 0;
}

// A hundred thousand flights of one task take minutes.
static void a_stop_is_heard_within_a_task(void **state)
{
    (void)state;
    FacetRace *race = open_study(2);
    FacetKeypoint plans[2][FACET_CHUNK_KEYPOINTS];
    FacetCourseTask tasks[2];
    Verdict verdict = {0};
    VerdictOptions options = verdict_defaults();
    options.samples = 100000;
    make_plans(plans, tasks, race, 0.0);
    const FacetKeypoint *flown = plans[0];
    int asked = 3;
    const FacetProgress progress = {stop_at, &asked};
    FacetStatus status =
        verdicts_fly(&verdict, race, tasks, &flown, &flown, 1, &options, &progress);
    assert_int_equal(status.code, FACET_INTERRUPTED);
    assert_int_equal(asked, 0);
    facet_race_close(race);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    FacetRace *one = open_study(1), *three = open_study(3);
    FacetKeypoint plans[2][FACET_CHUNK_KEYPOINTS];
    FacetCourseTask tasks[2];
    Verdict verdicts[2][2] = {{{0}}};
    VerdictOptions options = verdict_defaults();
    options.samples = 40;
    options.gusts = 1.5;
    make_plans(plans, tasks, one, 0.4);
    const FacetKeypoint *flown[2] = {plans[0], plans[1]};
    assert_ok(verdicts_fly(verdicts[0], one, tasks, flown, flown, 2, &options, NULL));
    assert_ok(verdicts_fly(verdicts[1], three, tasks, flown, flown, 2, &options, NULL));
    assert_memory_equal(verdicts[0], verdicts[1], sizeof verdicts[0]);
    facet_race_close(one);
    facet_race_close(three);
}

static void memory_that_ends_is_no_verdict(void **state)
{
    (void)state;
    FacetRace *race = open_study(1);
    FacetKeypoint plans[2][FACET_CHUNK_KEYPOINTS];
    FacetCourseTask tasks[2];
    Verdict verdict;
    VerdictOptions options = verdict_defaults();
    options.samples = 2;
    make_plans(plans, tasks, race, 0.0);
    const FacetKeypoint *flown = plans[0];
    bool failed = true;
    for (long after = 0; failed; after++) {
        fail_after = after;
        FacetStatus status = verdicts_fly(&verdict, race, tasks, &flown, &flown, 1, &options, NULL);
        failed = fail_after < 0;
        fail_after = -1;
        assert_int_equal(status.code, failed ? FACET_NO_MEMORY : FACET_OK);
    }
    facet_race_close(race);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    VerdictOptions options = verdict_defaults();
    options.samples = 0;
    assert_refused(verdicts_fly(NULL, NULL, NULL, NULL, NULL, 0, &options, NULL),
                   "expected 1 to 1000000 flights a task, found 0");
    options = verdict_defaults();
    options.confidence = 1.0;
    assert_refused(verdicts_fly(NULL, NULL, NULL, NULL, NULL, 0, &options, NULL),
                   "expected a confidence between 0 and 1, found 1");
    options = verdict_defaults();
    options.least = 0.0;
    assert_refused(verdicts_fly(NULL, NULL, NULL, NULL, NULL, 0, &options, NULL),
                   "expected a least rate between 0 and 1, found 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_passes_goes_and_what_misses_does_not),
        cmocka_unit_test(what_is_too_fast_goes_slower),
        cmocka_unit_test(the_pace_is_chosen_with_other_flights),
        cmocka_unit_test(flights_start_at_the_pace_and_gusts_are_their_own),
        cmocka_unit_test(a_pace_is_chosen_by_the_bound_that_is_given),
        cmocka_unit_test(a_stop_is_heard_within_a_task),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(memory_that_ends_is_no_verdict),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
