// Sampling with observations: what a runner does is what the score network's own sampler does with
// a context that is computed here by hand.
#include "observers.h"
#include "policy/runner.h"
#include "pools.h"

enum { STEPS = 5, PLANS = 21, FACTORS = 2 };

static double all_numbers[PLANS * SEEN_STEPS * SEEN_DIM];
static uint8_t all_frames[PLANS * SEEN_STEPS * SEEN_IMAGES * TINY_FRAME];
static SamplerPlan steps;

static int fill(void **state)
{
    (void)state;
    fill_numbers(all_numbers, PLANS * SEEN_STEPS, 1);
    fill_frames(all_frames, PLANS * SEEN_STEPS * SEEN_IMAGES, 1);
    return 0;
}

// ---- By hand ------------------------------------------------------------------------------------

// The context of a plan for one of the networks.
static void hand_context(float *context, const FacetPolicy *policy, int network, int plan)
{
    const Observe *o = policy->observe;
    const double *numbers = all_numbers + plan * SEEN_STEPS * SEEN_DIM;
    for (int i = 0; i < SEEN_STEPS * SEEN_DIM && o->dim; i++) {
        double low = seen_min[i % SEEN_DIM], high = seen_max[i % SEEN_DIM];
        if (low != high) *context++ = (float)(2.0 * ((numbers[i] - low) / (high - low)) - 1.0);
    }
    if (!o->images) return;
    int images = SEEN_STEPS * SEEN_IMAGES;
    Sight *sight;
    assert_ok(
        sight_create(&sight, policy->encoder, policy->encoder_params[network], images, 1, NULL));
    sight_features(context, sight, all_frames + (size_t)plan * (size_t)images * TINY_FRAME, images,
                   NULL);
    sight_free(sight);
}

// The prediction of one network that is shown z, or all branches of it composed.
static void hand_predict(float *p, const FacetPolicy *policy, int network, const float *x, int t,
                         Composition way, const int *z, int plan)
{
    float context[SEEN_STEPS * (SEEN_SHOWN + SEEN_IMAGES * SEEN_FEATURES)];
    Sampler *sampler;
    hand_context(context, policy, network, plan);
    assert_ok(sampler_create(&sampler, policy->net, 1, 1));
    sampler_load(sampler, policy->params[network], NULL);
    sampler_predict(p, sampler, x, t, way, NULL, z, context, 1, NULL);
    sampler_free(sampler);
}

// The null network, and one for each value of the task.
static void hand_predict_knet(float *p, const FacetPolicy *policy, const float *x, int t,
                              FacetFactorTask task, int plan)
{
    float branches[(1 + FACTORS) * TINY_SIZE];
    for (int b = 0; b <= FACTORS; b++) {
        int network = b ? policy_network_of(policy, b - 1, task.value[b - 1]) : 0;
        hand_predict(branches + b * TINY_SIZE, policy, network, x, t, COMPOSE_JOINT, NULL, plan);
    }
    compose_scores(p, branches, NULL, FACTORS, 1, TINY_SIZE);
}

static void hand_plan(double *actions, const FacetPolicy *policy, FacetFactorTask task,
                      FacetPolicyMode mode, uint64_t seed, uint64_t number, int plan)
{
    float x[TINY_SIZE], p[TINY_SIZE], before[TINY_SIZE] = {0};
    int z[FACTORS] = {task.value[0], task.value[1]};
    sampler_noise(x, seed, number, TINY_SIZE);
    assert_ok(sampler_plan(
        &steps, &policy->schedule,
        (SamplerConfig){SAMPLER_DDIM, STEPS, policy->spacing, policy->prediction, policy->clip}));
    for (int i = 0; i < STEPS; i++) {
        if (policy->method == FACET_POLICY_KNET)
            hand_predict_knet(p, policy, x, steps.step[i].t, task, plan);
        else
            hand_predict(p, policy, 0, x, steps.step[i].t,
                         mode == FACET_POLICY_JOINT ? COMPOSE_JOINT : COMPOSE_FACTORS, z, plan);
        assert_ok(sampler_advance(x, before, p, &steps, i, TINY_SIZE));
    }
    for (int i = 0; i < TINY_SIZE; i++) actions[i] = (double)x[i];
    normalizer_invert(actions, policy->normalizer, actions, TINY_T);
}

// ---- Compared -----------------------------------------------------------------------------------

static void fill_tasks(FacetFactorTask *tasks, const FacetPolicy *policy)
{
    static const char *const names[] = {"a/s", "b/m", "b/*", "a/l"};
    for (int i = 0; i < PLANS; i++) tasks[i] = task_of(policy->space, names[i % 4]);
}

static void assert_samples_by_hand(const FacetPolicy *policy, FacetPolicyMode mode, int threads)
{
    FacetFactorTask tasks[PLANS];
    uint64_t numbers[PLANS];
    static double actions[PLANS * TINY_SIZE];
    double expected[TINY_SIZE];
    FacetPolicyRunner *runner;
    FacetPolicyObserved observed = observed_of(policy, all_numbers, all_frames);
    fill_tasks(tasks, policy);
    for (int i = 0; i < PLANS; i++) numbers[i] = 1000 + 7 * (uint64_t)i;
    const FacetPolicySampling how = {.mode = mode, .steps = STEPS, .seed = 5, .numbers = numbers};
    assert_ok(facet_policy_runner_create(&runner, policy, PLANS, threads, test_pool(threads)));
    assert_ok(facet_policy_runner_sample(actions, runner, tasks, &observed, PLANS, &how,
                                         test_pool(threads)));
    for (int i = 0; i < PLANS; i += 4) {
        hand_plan(expected, policy, tasks[i], mode, 5, numbers[i], i);
        assert_memory_equal(actions + i * TINY_SIZE, expected, sizeof expected);
    }
    facet_policy_runner_destroy(runner);
}

static void one_network_is_told_what_is_observed(void **state)
{
    (void)state;
    for (int taken = 0; taken < TAKES_ALL; taken++)
        for (int method = 0; method < 2; method++) {
            FacetPolicy *policy =
                tiny_observer(method ? FACET_POLICY_BASELINE : FACET_POLICY_FACTORED, (Taken)taken);
            assert_samples_by_hand(policy, FACET_POLICY_COMPOSED, 1);
            assert_samples_by_hand(policy, FACET_POLICY_JOINT, 2);
            facet_policy_destroy(policy);
        }
}

// Each network has an encoder of its own.
static void several_networks_are_told_what_is_observed(void **state)
{
    (void)state;
    for (int taken = 0; taken < TAKES_ALL; taken++) {
        FacetPolicy *policy = tiny_observer(FACET_POLICY_KNET, (Taken)taken);
        assert_samples_by_hand(policy, FACET_POLICY_COMPOSED, 1);
        assert_samples_by_hand(policy, FACET_POLICY_COMPOSED, 2);
        facet_policy_destroy(policy);
    }
}

// Neither threads nor a smaller runner, which takes batches, change a bit.
static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    static const FacetPolicyMethod methods[] = {FACET_POLICY_FACTORED, FACET_POLICY_KNET};
    static double first[PLANS * TINY_SIZE], actions[PLANS * TINY_SIZE];
    for (int m = 0; m < 2; m++) {
        FacetPolicy *policy = tiny_observer(methods[m], TAKES_BOTH);
        FacetPolicyObserved observed = observed_of(policy, all_numbers, all_frames);
        FacetFactorTask tasks[PLANS];
        fill_tasks(tasks, policy);
        for (int threads = 1; threads <= 4; threads++) {
            FacetPolicyRunner *runner;
            assert_ok(facet_policy_runner_create(&runner, policy, threads == 3 ? 4 : PLANS, threads,
                                                 NULL));
            assert_ok(facet_policy_runner_sample(threads == 1 ? first : actions, runner, tasks,
                                                 &observed, PLANS, &(FacetPolicySampling){0},
                                                 test_pool(threads)));
            if (threads > 1) assert_memory_equal(actions, first, sizeof first);
            facet_policy_runner_destroy(runner);
        }
        facet_policy_destroy(policy);
    }
}

// What all plans share is there once, and the plans are those of repeating it, also in batches.
static void shared_observations_are_repeated_ones(void **state)
{
    (void)state;
    static const FacetPolicyMethod methods[] = {FACET_POLICY_FACTORED, FACET_POLICY_KNET};
    enum { NUMBERS = SEEN_STEPS * SEEN_DIM, FRAMES = SEEN_STEPS * SEEN_IMAGES * TINY_FRAME };
    static double numbers[PLANS * NUMBERS], repeated[PLANS * TINY_SIZE], actions[PLANS * TINY_SIZE];
    static uint8_t frames[PLANS * FRAMES];
    for (int i = 0; i < PLANS; i++) {
        memcpy(numbers + i * NUMBERS, all_numbers + NUMBERS, NUMBERS * sizeof *numbers);
        memcpy(frames + i * FRAMES, all_frames + FRAMES, FRAMES);
    }
    for (int m = 0; m < 2; m++) {
        FacetPolicy *policy = tiny_observer(methods[m], TAKES_BOTH);
        FacetPolicyObserved all = {.numbers = numbers, .frames = frames};
        FacetPolicyObserved one = {
            .numbers = all_numbers + NUMBERS, .frames = all_frames + FRAMES, .shared = true};
        FacetFactorTask tasks[PLANS];
        FacetPolicyRunner *runner;
        const FacetPolicySampling how = {.steps = STEPS};
        fill_tasks(tasks, policy);
        assert_ok(facet_policy_runner_create(&runner, policy, 4, 1, NULL));
        assert_ok(facet_policy_runner_sample(repeated, runner, tasks, &all, PLANS, &how, NULL));
        assert_ok(facet_policy_runner_sample(actions, runner, tasks, &one, PLANS, &how, NULL));
        assert_memory_equal(actions, repeated, sizeof repeated);
        facet_policy_runner_destroy(runner);
        facet_policy_destroy(policy);
    }
}

// Every number of every step, and every image, says something.
static void every_observation_matters(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_observer(FACET_POLICY_FACTORED, TAKES_BOTH);
    FacetPolicyObserved observed = observed_of(policy, all_numbers, all_frames);
    FacetFactorTask task = task_of(policy->space, "a/s");
    FacetPolicyRunner *runner;
    double first[TINY_SIZE], actions[TINY_SIZE];
    const FacetPolicySampling how = {.steps = STEPS};
    assert_ok(facet_policy_runner_create(&runner, policy, 1, 1, NULL));
    assert_ok(facet_policy_runner_sample(first, runner, &task, &observed, 1, &how, NULL));
    for (int i = 0; i < SEEN_STEPS * SEEN_DIM; i++) {
        double kept = all_numbers[i];
        all_numbers[i] += 0.3;
        assert_ok(facet_policy_runner_sample(actions, runner, &task, &observed, 1, &how, NULL));
        bool same = memcmp(actions, first, sizeof first) == 0;
        assert_int_equal(same, i % SEEN_DIM == 1); // the constant
        all_numbers[i] = kept;
    }
    for (int i = 0; i < SEEN_STEPS * SEEN_IMAGES; i++) {
        uint8_t *frame = all_frames + (size_t)i * TINY_FRAME;
        for (int k = 0; k < TINY_FRAME; k++) frame[k] = (uint8_t)~frame[k];
        assert_ok(facet_policy_runner_sample(actions, runner, &task, &observed, 1, &how, NULL));
        assert_true(memcmp(actions, first, sizeof first) != 0);
        for (int k = 0; k < TINY_FRAME; k++) frame[k] = (uint8_t)~frame[k];
    }
    facet_policy_runner_destroy(runner);
    facet_policy_destroy(policy);
}

// ---- Refused ------------------------------------------------------------------------------------

static FacetStatus sample_one(const FacetPolicy *policy, const FacetPolicyObserved *observed)
{
    FacetPolicyRunner *runner;
    double actions[TINY_SIZE];
    FacetFactorTask task = task_of(policy->space, "a/s");
    assert_ok(facet_policy_runner_create(&runner, policy, 1, 1, NULL));
    FacetStatus status = facet_policy_runner_sample(actions, runner, &task, observed, 1,
                                                    &(FacetPolicySampling){0}, NULL);
    facet_policy_runner_destroy(runner);
    return status;
}

static void missing_observations_are_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_observer(FACET_POLICY_FACTORED, TAKES_BOTH);
    FacetPolicyObserved observed = observed_of(policy, all_numbers, all_frames);
    assert_ok(sample_one(policy, &observed));
    assert_refused(sample_one(policy, NULL), "the policy sees: expected the frames of every plan");
    observed.numbers = NULL;
    assert_refused(sample_one(policy, &observed),
                   "the policy takes observations: expected 5 numbers of 2 steps for every plan");
    observed = (FacetPolicyObserved){.numbers = all_numbers};
    assert_refused(sample_one(policy, &observed), "expected the frames of every plan");
    double actions[TINY_SIZE];
    FacetFactorTask task = task_of(policy->space, "a/s");
    assert_refused(facet_policy_sample(actions, policy, &task, 1, &(FacetPolicySampling){0}, NULL),
                   "found one that takes observations (arm, eye, hand, far) and acts through an "
                   "agent");
    facet_policy_destroy(policy);
    policy = tiny_policy(FACET_POLICY_FACTORED);
    assert_refused(sample_one(policy, &(FacetPolicyObserved){.numbers = all_numbers}),
                   "the policy takes no observed numbers");
    assert_refused(sample_one(policy, &(FacetPolicyObserved){.frames = all_frames}),
                   "the policy does not see and takes no frames");
    facet_policy_destroy(policy);
}

static void numbers_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_observer(FACET_POLICY_FACTORED, TAKES_NUMBERS);
    FacetPolicyObserved observed = observed_of(policy, all_numbers, NULL);
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int i = 0; i < 3; i++) {
        int at = i == 0 ? 0 : SEEN_STEPS * SEEN_DIM - i;
        double kept = all_numbers[at];
        all_numbers[at] = bad[i];
        FacetStatus status = sample_one(policy, &observed);
        assert_refused(status, "observations: expected finite numbers, found");
        assert_int_equal(status.code, FACET_NOT_FINITE);
        all_numbers[at] = kept;
    }
    facet_policy_destroy(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_network_is_told_what_is_observed),
        cmocka_unit_test(several_networks_are_told_what_is_observed),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(shared_observations_are_repeated_ones),
        cmocka_unit_test(every_observation_matters),
        cmocka_unit_test(missing_observations_are_refused),
        cmocka_unit_test(numbers_that_are_not_finite_are_refused),
    };
    return cmocka_run_group_tests(tests, fill, NULL);
}
