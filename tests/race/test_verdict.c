// Verdicts on a small course: a plan through the gates goes, one beside them does not, and the
// bounds are those of all tasks at once.
#include "allocations.h"
#include "math/statistics.h"
#include "pools.h"
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
        cmocka_unit_test(a_stop_is_heard_within_a_task),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(memory_that_ends_is_no_verdict),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
