// A longer training allocates no more than a short one: nothing is allocated in an update. Neither
// is anything in a sampling of a runner, nor in an update on images.
#include "allocations.h"
#include "observers.h"
#include "pools.h"
#include "train/learner.h"
#include "waves.h"

#include <facet_study/train.h>

static long allocations_of(int epochs)
{
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    options.epochs = epochs;
    options.composed_weight = 1.0;
    FacetPool *pool = test_pool(2);
    long before = allocations;
    assert_ok(facet_policy_train(&summary, "waves.h5", "policy", &options, pool, NULL));
    assert_int_equal(summary.updates, 3 * epochs);
    return allocations - before;
}

static void an_update_allocates_nothing(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    long few = allocations_of(10);
    assert_true(few > 20);
    assert_int_equal(allocations_of(90), few);
}

// More plans than the threads share out equally, in both modes, with a path and without.
static void assert_samples_in_place(const FacetPolicy *policy, FacetPool *pool)
{
    enum { PLANS = 35, STEPS = 5 };
    static double actions[PLANS * TINY_SIZE], path[(STEPS + 1) * PLANS * TINY_SIZE];
    static uint8_t frames[PLANS * SEEN_STEPS * SEEN_IMAGES * TINY_FRAME];
    static double numbers[PLANS * SEEN_STEPS * SEEN_DIM];
    FacetFactorTask tasks[PLANS];
    FacetPolicyRunner *runner;
    fill_frames(frames, PLANS * SEEN_STEPS * SEEN_IMAGES, 1);
    fill_numbers(numbers, PLANS * SEEN_STEPS, 1);
    FacetPolicyObserved observed = {0};
    if (policy->observe) observed = observed_of(policy, numbers, frames);
    for (int i = 0; i < PLANS; i++) tasks[i] = task_of(policy->space, i % 2 ? "a/s" : "b/*");
    assert_ok(facet_policy_runner_create(&runner, policy, PLANS, 2, pool));
    long before = allocations;
    assert_true(before > 0);
    FacetPolicyMode other =
        policy->method != FACET_POLICY_KNET ? FACET_POLICY_JOINT : FACET_POLICY_PRODUCT;
    if (policy->router) other = FACET_POLICY_ROUTER;
    for (int i = 0; i < 8; i++) {
        const FacetPolicySampling how = {
            .mode = i >= 4 ? other : FACET_POLICY_COMPOSED, .steps = STEPS, .seed = (uint64_t)i};
        assert_ok(policy_runner_sample_path(actions, i % 4 < 2 ? path : NULL, runner, tasks,
                                            &observed, PLANS, &how, i % 2 ? pool : NULL));
    }
    assert_int_equal(allocations, before);
    facet_policy_runner_destroy(runner);
}

// Networks with factors and without, some with a router, that act blind, see a frame, and take
// observations.
static void a_sampling_allocates_nothing(void **state)
{
    (void)state;
#ifdef FACET_SHARED
    skip(); // the linker does not see into a shared library
#endif
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_ORACLE; method++)
        for (int features = 0; features <= 6; features += 6) {
            FacetPolicy *policy = tiny_policy_with((FacetPolicyMethod)method, features);
            if (method == FACET_POLICY_KNET) assert_ok(policy_router_create(policy, 5));
            assert_samples_in_place(policy, test_pool(2));
            facet_policy_destroy(policy);
            policy =
                tiny_observer((FacetPolicyMethod)method, features ? TAKES_BOTH : TAKES_NUMBERS);
            assert_samples_in_place(policy, test_pool(2));
            facet_policy_destroy(policy);
        }
}

static void an_update_on_images_allocates_nothing(void **state)
{
    (void)state;
    enum { BATCH = 10 };
#ifdef FACET_SHARED
    skip(); // the linker does not see into a shared library
#endif
    static uint8_t images[BATCH * TINY_FRAME];
    static float x0[BATCH * TINY_SIZE];
    static int z[BATCH * 2];
    FacetPolicy *policy = tiny_policy_with(FACET_POLICY_FACTORED, 6);
    FacetPool *pool;
    Learner *trainer;
    TrainConfig config = trainer_default();
    config.batch = BATCH;
    config.draws = 2;
    config.composed_weight = 1.0;
    fill_frames(images, BATCH, 1);
    assert_ok(facet_pool_create(&pool, 2));
    assert_ok(learner_create(&trainer, learner_shape(policy), policy->net, &policy->schedule,
                             config, 1.0, false, 2));
    long before = allocations;
    for (int i = 0; i < 3; i++)
        assert_true(learner_step(trainer, &(LearnerBatch){x0, z, NULL, images}, pool).finite);
    assert_int_equal(allocations, before);
    learner_free(trainer);
    facet_pool_destroy(pool);
    facet_policy_destroy(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sampling_allocates_nothing),
        cmocka_unit_test(an_update_on_images_allocates_nothing),
        cmocka_unit_test_teardown(an_update_allocates_nothing, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
