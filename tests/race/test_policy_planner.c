// A trained policy as a planner: the plans that facet_policy_sample gives, in any order, and
// policies that do not fit a course.
#include "policy/waves.h"
#include "pools.h"

#include <facet_study/race.h>
#include <facet_study/train.h>

static FacetRace *race;
static FacetPolicy *policy;

// A study of the small course, and a policy trained for a moment on its demonstrations.
static int open_study(void **state)
{
    if (scratch_enter(state) != 0) return -1;
    const FacetRaceOptions options = {.courses = TEST_DATA "/sample"};
    FacetDemoOptions demos = facet_demo_defaults();
    FacetTrainOptions training = tiny_training();
    FacetTrainSummary summary;
    demos.rollouts = 2;
    training.epochs = 1;
    assert_ok(facet_race_open(&race, &options, test_pool(2), NULL));
    assert_ok(facet_race_write_demos("demos.h5", race, &demos, NULL));
    assert_ok(facet_policy_train(&summary, "demos.h5", "policy", &training, NULL, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    return 0;
}

static int close_study(void **state)
{
    facet_policy_destroy(policy);
    facet_race_close(race);
    return scratch_leave(state);
}

static void assert_plan(const FacetKeypoint *chunk, const double *actions)
{
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        assert_true(chunk[i].pos.x == actions[4 * i]);
        assert_true(chunk[i].pos.y == actions[4 * i + 1]);
        assert_true(chunk[i].pos.z == actions[4 * i + 2]);
        assert_true(chunk[i].speed == actions[4 * i + 3]);
    }
}

static void plans_are_the_policys_samples(void **state)
{
    (void)state;
    FacetCourseTask tasks[4];
    int count = facet_race_feasible_tasks(tasks, race);
    const uint64_t seeds[] = {3, 8};
    const FacetPolicySampling how = {.steps = 4};
    FacetPolicyPlanner *plans;
    // One task is left for the planner to find out by itself.
    assert_ok(
        facet_policy_planner_create(&plans, policy, race, &how, tasks, count - 1, seeds, 2, NULL));
    FacetPlanner planner = facet_planner_from_policy(plans);
    assert_string_equal(planner.name, "factored");
    for (int i = 0; i < count; i++)
        for (uint64_t seed = 3; seed <= 8; seed += 5) {
            FacetFactorTask task = facet_race_factor_task(tasks[i]);
            FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
            double actions[FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS];
            FacetPolicySampling alone = how;
            alone.seed = seed;
            assert_ok(facet_policy_sample(actions, policy, &task, 1, &alone, race->pool));
            assert_ok(planner.plan(chunk, race, tasks[i], seed, planner.context));
            assert_plan(chunk, actions);
        }
    // All at once, some of them prepared: the same plans.
    FacetCourseTask again[8];
    uint64_t mixed[8];
    FacetKeypoint all[8 * FACET_CHUNK_KEYPOINTS], chunk[FACET_CHUNK_KEYPOINTS];
    for (int i = 0; i < 8; i++) again[i] = tasks[i % count], mixed[i] = (uint64_t)(3 + i % 5);
    assert_ok(planner.plan_all(all, race, again, mixed, 8, planner.context, NULL));
    for (int i = 0; i < 8; i++) {
        assert_ok(planner.plan(chunk, race, again[i], mixed[i], planner.context));
        assert_memory_equal(chunk, all + i * FACET_CHUNK_KEYPOINTS, sizeof chunk);
    }
    FacetRaceResult results[4];
    assert_ok(facet_race_fly_all(results, race, &planner, tasks, count, 3, 0.0, NULL));
    assert_true(isfinite(results[0].speed_generated));
    facet_policy_planner_destroy(plans);
}

static void policies_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    FacetPolicyPlanner *plans;
    FacetPolicy *waves;
    FacetTrainOptions training = tiny_training();
    FacetTrainSummary summary;
    FacetCourseTask task = {0, 0};
    const uint64_t seed = 1;
    training.epochs = 1;
    write_waves("waves.h5", WAVE_TASKS, false);
    assert_ok(facet_policy_train(&summary, "waves.h5", "waves", &training, NULL, NULL));
    assert_ok(facet_policy_load(&waves, "waves"));
    assert_refused(facet_policy_planner_create(&plans, waves, race, &(FacetPolicySampling){0},
                                               &task, 1, &seed, 1, NULL),
                   "expected a policy with chunks of 32 x 4, found 6 x 2");
    assert_null(plans);
    facet_policy_destroy(waves);

    // A course whose first track has a name that the policy does not know.
    char *name = race->course->tracks[0].name, kept = name[0];
    name[0] = 'x';
    assert_refused(facet_policy_planner_create(&plans, policy, race, &(FacetPolicySampling){0},
                                               &task, 1, &seed, 1, NULL),
                   "policy: no track 'xend', did you mean 'bend'? known: bend, straight");
    name[0] = kept;
    assert_refused(facet_policy_planner_create(&plans, policy, race,
                                               &(FacetPolicySampling){.steps = 101}, &task, 1,
                                               &seed, 1, NULL),
                   "expected 1 to 100 steps (the training steps), found 101");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_are_the_policys_samples),
        cmocka_unit_test(policies_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, open_study, close_study);
}
