// A trained policy as a planner: the plans that policy_sample gives, in any order, and policies
// that do not fit a course.
#include "policy/waves.h"

#include <facet/race.h>

static Race *race;
static Policy *policy;

// A study of the small course, and a policy trained for a moment on its demonstrations.
static int open_study(void **state)
{
    if (enter_folder(state) != 0) return -1;
    const RaceOptions options = {.courses = TEST_DATA "/sample", .quiet = true, .threads = 2};
    DemoOptions demos = demo_defaults();
    TrainOptions training = tiny_training();
    TrainSummary summary;
    demos.rollouts = 2;
    training.epochs = 1;
    assert_ok(race_open(&race, &options));
    assert_ok(race_write_demos("demos.h5", race, &demos, true));
    assert_ok(policy_train(&summary, "demos.h5", "policy", &training));
    assert_ok(policy_load(&policy, "policy"));
    return 0;
}

static int close_study(void **state)
{
    policy_destroy(policy);
    race_close(race);
    return leave_folder(state);
}

static void assert_plan(const Keypoint *chunk, const double *actions)
{
    for (int i = 0; i < CHUNK_KEYPOINTS; i++) {
        assert_true(chunk[i].pos.x == actions[4 * i] && chunk[i].pos.y == actions[4 * i + 1]);
        assert_true(chunk[i].pos.z == actions[4 * i + 2] && chunk[i].speed == actions[4 * i + 3]);
    }
}

static void plans_are_the_policys_samples(void **state)
{
    (void)state;
    CourseTask tasks[4];
    int count = race_feasible_tasks(tasks, race);
    const uint64_t seeds[] = {3, 8};
    const PolicySampling how = {.steps = 4};
    PolicyPlanner *plans;
    // One task is left for the planner to find out by itself.
    assert_ok(policy_planner_create(&plans, policy, race, &how, tasks, count - 1, seeds, 2));
    Planner planner = planner_from_policy(plans);
    assert_string_equal(planner.name, "factored");
    for (int i = 0; i < count; i++)
        for (uint64_t seed = 3; seed <= 8; seed += 5) {
            FactorTask task = race_factor_task(tasks[i]);
            Keypoint chunk[CHUNK_KEYPOINTS];
            double actions[CHUNK_KEYPOINTS * CHUNK_CHANNELS];
            PolicySampling alone = how;
            alone.seed = seed;
            assert_ok(policy_sample(actions, policy, &task, 1, &alone, race->pool));
            assert_ok(planner.plan(chunk, race, tasks[i], seed, planner.context));
            assert_plan(chunk, actions);
        }
    RaceResult results[4];
    assert_ok(race_fly_all(results, race, &planner, tasks, count, 3, 0.0, NULL));
    assert_true(isfinite(results[0].speed_generated));
    policy_planner_destroy(plans);
}

static void policies_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    PolicyPlanner *plans;
    Policy *waves;
    TrainOptions training = tiny_training();
    TrainSummary summary;
    CourseTask task = {0, 0};
    const uint64_t seed = 1;
    training.epochs = 1;
    write_waves("waves.h5", WAVE_TASKS, false);
    assert_ok(policy_train(&summary, "waves.h5", "waves", &training));
    assert_ok(policy_load(&waves, "waves"));
    assert_refused(
        policy_planner_create(&plans, waves, race, &(PolicySampling){0}, &task, 1, &seed, 1),
        "expected a policy with chunks of 32 x 4, found 6 x 2");
    assert_null(plans);
    policy_destroy(waves);

    // A course whose first track has a name that the policy does not know.
    char *name = race->course->tracks[0].name, kept = name[0];
    name[0] = 'x';
    assert_refused(
        policy_planner_create(&plans, policy, race, &(PolicySampling){0}, &task, 1, &seed, 1),
        "policy: no track 'xend', did you mean 'bend'? known: bend, straight");
    name[0] = kept;
    assert_refused(policy_planner_create(&plans, policy, race, &(PolicySampling){.steps = 101},
                                         &task, 1, &seed, 1),
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
