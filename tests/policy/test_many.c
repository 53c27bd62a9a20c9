// Many plans of mixed tasks in one call are the plans that are sampled one by one, bit for bit, on
// any number of threads.
#include "policies.h"
#include "pools.h"

enum { PLANS = 1100, FEATURES = 6, DISTINCT = 7, STEPS = 3 }; // more than a runner's batch

static const char *const names[DISTINCT] = {"a/s", "b/m", "b/*", "a/l", "*/*", "a/m", "b/l"};

static FacetFactorTask tasks[PLANS];
static uint64_t numbers[PLANS], seeds[PLANS];
static uint8_t frames[PLANS * TINY_FRAME];
static double single[PLANS * TINY_SIZE], together[PLANS * TINY_SIZE];

// An order in which neighbours differ, and equal tasks and seeds come again.
static void mix(const FacetPolicy *policy)
{
    for (int i = 0; i < PLANS; i++) {
        tasks[i] = task_of(policy->space, names[(i * i + i / 3) % DISTINCT]);
        seeds[i] = (uint64_t)(i % 5);
    }
    for (int i = 0; i < PLANS; i++) numbers[i] = policy_noise_number(policy, tasks, seeds, i);
    fill_frames(frames, PLANS, 2);
}

static void sample_singly(const FacetPolicy *policy, FacetPolicyMode mode)
{
    FacetPolicyRunner *runner;
    assert_ok(facet_policy_runner_create(&runner, policy, 1, 1, NULL));
    for (int i = 0; i < PLANS; i++) {
        const FacetPolicySampling how = {
            .mode = mode, .steps = STEPS, .seed = seeds[i], .numbers = &numbers[i]};
        const FacetPolicyObserved observed = {
            .frames = policy->encoder ? frames + (size_t)i * TINY_FRAME : NULL};
        assert_ok(facet_policy_runner_sample(single + (size_t)i * TINY_SIZE, runner, &tasks[i],
                                             &observed, 1, &how, NULL));
    }
    facet_policy_runner_destroy(runner);
}

static void assert_same_in_one_call(const FacetPolicy *policy, FacetPolicyMode mode)
{
    const FacetPolicySampling how = {.mode = mode, .steps = STEPS, .seeds = seeds};
    for (int threads = 1; threads <= 3; threads++) {
        FacetPool *pool;
        FacetPolicyRunner *runner;
        assert_ok(facet_pool_create(&pool, threads));
        assert_ok(facet_policy_runner_create(&runner, policy, PLANS, threads, pool));
        memset(together, 0, sizeof together);
        assert_ok(facet_policy_runner_sample(
            together, runner, tasks,
            policy->encoder ? &(FacetPolicyObserved){.frames = frames} : NULL, PLANS, &how, pool));
        for (int i = 0; i < PLANS * TINY_SIZE; i++)
            if (together[i] != single[i])
                fail_msg("%d threads, plan %d, number %d: %.17g alone, %.17g among others", threads,
                         i / TINY_SIZE, i % TINY_SIZE, single[i], together[i]);
        facet_policy_runner_destroy(runner);
        facet_pool_destroy(pool);
    }
}

static void assert_many(FacetPolicyMethod method, int features, FacetPolicyMode mode)
{
    FacetPolicy *policy = tiny_policy_with(method, features);
    mix(policy);
    sample_singly(policy, mode);
    assert_same_in_one_call(policy, mode);
    facet_policy_destroy(policy);
}

static void composed_plans_are_those_sampled_singly(void **state)
{
    (void)state;
    assert_many(FACET_POLICY_FACTORED, 0, FACET_POLICY_COMPOSED);
}

static void joint_plans_are_those_sampled_singly(void **state)
{
    (void)state;
    assert_many(FACET_POLICY_FACTORED, 0, FACET_POLICY_JOINT);
}

static void plans_of_several_networks_are_those_sampled_singly(void **state)
{
    (void)state;
    assert_many(FACET_POLICY_KNET, 0, FACET_POLICY_COMPOSED);
}

static void plans_of_frames_are_those_sampled_singly(void **state)
{
    (void)state;
    assert_many(FACET_POLICY_FACTORED, FEATURES, FACET_POLICY_COMPOSED);
}

// ---- Failures and stops -------------------------------------------------------------------------

// Which plan fails, and at which step, does not depend on the threads.
static void the_first_plan_that_fails_is_named(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    FacetStatus first = {0};
    mix(policy);
    policy->params[0][policy->net->out_bias] = INFINITY;
    for (int threads = 1; threads <= 3; threads++) {
        const FacetPolicySampling how = {.steps = STEPS, .seeds = seeds};
        FacetStatus status =
            facet_policy_sample(together, policy, tasks, PLANS, &how, test_pool(threads));
        assert_false(status.ok);
        if (threads == 1) first = status;
        assert_string_equal(status.text, first.text);
    }
    assert_non_null(strstr(first.text, "step 1 of 3"));
    facet_policy_destroy(policy);
}

static bool stop_after(void *context, const FacetProgressEvent *event)
{
    long *last = context;
    assert_string_equal(event->stage, "plans");
    assert_int_equal(event->total, PLANS);
    *last = event->done;
    return event->done < PLANS / 4;
}

static void a_stop_is_heard_between_plans(void **state)
{
    (void)state;
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_KNET; method++) {
        FacetPolicy *policy = tiny_policy((FacetPolicyMethod)method);
        long last = 0;
        const FacetProgress watch = {.report = stop_after, .context = &last};
        const FacetPolicySampling how = {.steps = STEPS, .seeds = seeds, .progress = &watch};
        mix(policy);
        FacetStatus status =
            facet_policy_sample(together, policy, tasks, PLANS, &how, test_pool(2));
        assert_int_equal(status.code, FACET_INTERRUPTED);
        assert_true(last >= PLANS / 4);
        if (method == FACET_POLICY_FACTORED) assert_less((double)last, PLANS / 2);
        facet_policy_destroy(policy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composed_plans_are_those_sampled_singly),
        cmocka_unit_test(joint_plans_are_those_sampled_singly),
        cmocka_unit_test(plans_of_several_networks_are_those_sampled_singly),
        cmocka_unit_test(plans_of_frames_are_those_sampled_singly),
        cmocka_unit_test(the_first_plan_that_fails_is_named),
        cmocka_unit_test(a_stop_is_heard_between_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
