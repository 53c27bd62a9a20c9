// The statistical certificate on a small course: counts, bounds, threads, and refusals.
#include "base/status.h"
#include "certify/passage.h"
#include "pools.h"
#include "testing.h"

static FacetRace *open_race(int threads)
{
    const FacetRaceOptions options = {.courses = TEST_SOURCE "/tests/race/sample"};
    FacetRace *race;
    assert_ok(facet_race_open(&race, &options, test_pool(threads), NULL));
    return race;
}

// The expert's plan moved sideways, by 1.5 m where the seed is odd.
static FacetStatus plan_by_seed(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                                FacetCourseTask task, uint64_t seed, void *context)
{
    (void)context;
    FacetPlanner expert = facet_race_expert();
    TRY(expert.plan(chunk, race, task, seed, NULL));
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i].pos.y += seed % 2 ? 1.5 : 0.0;
    return status_ok();
}

static FacetStatus plan_nothing(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                                FacetCourseTask task, uint64_t seed, void *context)
{
    (void)race, (void)task, (void)context, (void)chunk;
    return status_fail(FACET_BAD_ARGUMENT, "no plan for seed %d", (int)seed);
}

static void the_expert_passes_in_calm_air(void **state)
{
    (void)state;
    FacetRace *race = open_race(2);
    FacetCourseTask tasks[4];
    PassageResult results[4];
    int count = facet_race_feasible_tasks(tasks, race);
    PassageOptions options = passage_defaults();
    FacetPlanner expert = facet_race_expert();
    options.samples = 5;
    options.start_spread = options.gust_speed = 0.0;
    options.speed_least = 1.0;
    assert_ok(passage_certify(results, race, &expert, tasks, count, &options, NULL));
    for (int t = 0; t < count; t++) {
        assert_int_equal(results[t].samples, 5);
        assert_int_equal(results[t].clear, 5);
        assert_near(results[t].lower, pow(0.05, 0.2), 1e-12);
        for (int g = 0; g < results[t].gate_count; g++)
            assert_near(results[t].gate_lower[g], pow(0.05, 0.2), 1e-12);
    }
    facet_race_close(race);
}

static void half_of_the_plans_miss(void **state)
{
    (void)state;
    FacetRace *race = open_race(2);
    FacetCourseTask task;
    PassageResult result;
    PassageOptions options = passage_defaults();
    FacetPlanner planner = {.name = "odd", .plan = plan_by_seed};
    options.samples = 8;
    options.confidence = 0.9;
    options.start_spread = 0.05;
    options.gust_speed = 0.1;
    assert_ok(facet_course_find_task(&task, race->course, "straight/large"));
    assert_int_equal(passage_plan_seed(&options, 3), 3);
    assert_ok(passage_certify(&result, race, &planner, &task, 1, &options, NULL));
    assert_int_equal(result.clear, 4);
    assert_int_equal(result.gate_passed[0], 4);
    // P(X >= 4 of 8) = 0.1 at this rate, by the binomial's terms.
    double p = result.lower, below = 0.0;
    const double choose[] = {1.0, 8.0, 28.0, 56.0};
    for (int i = 0; i < 4; i++) below += choose[i] * pow(p, i) * pow(1.0 - p, 8 - i);
    assert_near(1.0 - below, 0.1, 1e-10);
    facet_race_close(race);
}

static void rollouts_differ_and_threads_do_not_matter(void **state)
{
    (void)state;
    PassageResult results[2][4];
    for (int k = 0; k < 2; k++) {
        FacetRace *race = open_race(1 + 2 * k);
        FacetCourseTask tasks[4];
        PassageOptions options = passage_defaults();
        FacetPlanner expert = facet_race_expert();
        int count = facet_race_feasible_tasks(tasks, race);
        options.samples = 12;
        options.start_spread = 0.4; // enough that some miss
        options.gust_speed = 3.0;
        assert_ok(passage_certify(results[k], race, &expert, tasks, count, &options, NULL));
        int clear = 0;
        for (int t = 0; t < count; t++) clear += results[k][t].clear;
        assert_true(clear > 0);
        assert_true(clear < 12 * count);
        facet_race_close(race);
    }
    assert_memory_equal(results[0], results[1], sizeof results[0]);
}

static void bad_options_and_plans_get_one_line(void **state)
{
    (void)state;
    FacetRace *race = open_race(1);
    FacetCourseTask task = {0, 0};
    PassageResult result;
    PassageOptions options = passage_defaults();
    FacetPlanner expert = facet_race_expert(), broken = {.name = "broken", .plan = plan_nothing};
    const double wrong[] = {0.0, 1.0, -0.5, NAN};
    for (int i = 0; i < 4; i++) {
        options.confidence = wrong[i];
        assert_refused(passage_certify(&result, race, &expert, &task, 1, &options, NULL),
                       "expected a confidence between 0 and 1, found");
    }
    options = passage_defaults();
    options.samples = 0;
    assert_refused(passage_check(&options), "expected at least 1 sample a task, found 0");
    options.samples = 3;
    assert_refused(passage_certify(&result, race, &broken, &task, 1, &options, NULL),
                   "no plan for seed 0");
    facet_race_close(race);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_expert_passes_in_calm_air),
        cmocka_unit_test(half_of_the_plans_miss),
        cmocka_unit_test(rollouts_differ_and_threads_do_not_matter),
        cmocka_unit_test(bad_options_and_plans_get_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
