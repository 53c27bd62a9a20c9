// Sampling from a policy: the same bits on any number of threads and in any company, composition
// that is what its formula says, and questions a policy cannot answer.
#include "encoder/frame.h"
#include "policies.h"

static FacetStatus sample_path(double *out, double *path, const FacetPolicy *policy,
                               const char *const *names, int plans, FacetPolicySampling how,
                               int threads)
{
    FacetPool *pool;
    FacetFactorTask tasks[64];
    assert_ok(facet_pool_create(&pool, threads));
    for (int i = 0; i < plans; i++) tasks[i] = task_of(policy->space, names[i]);
    FacetStatus status = policy_sample_path(out, path, policy, tasks, plans, &how, pool);
    facet_pool_destroy(pool);
    return status;
}

static FacetStatus sample(double *out, const FacetPolicy *policy, const char *const *names,
                          int plans, FacetPolicySampling how, int threads)
{
    return sample_path(out, NULL, policy, names, plans, how, threads);
}

static void same_bits_on_any_thread_count_and_in_any_company(void **state)
{
    (void)state;
    const char *many[40];
    static const char *const names[] = {"a/s", "b/m", "b/*", "a/l", "a/s"};
    for (int i = 0; i < 40; i++) many[i] = names[i % 5];
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_KNET; method++) {
        FacetPolicy *policy = tiny_policy((FacetPolicyMethod)method);
        for (int sampler = FACET_POLICY_DDIM; sampler <= FACET_POLICY_DPMPP; sampler++) {
            FacetPolicySampling how = {.sampler = (FacetPolicySampler)sampler, .seed = 3};
            double first[40 * TINY_SIZE], other[40 * TINY_SIZE];
            assert_ok(sample(first, policy, many, 40, how, 1));
            assert_ok(sample(other, policy, many, 40, how, 4));
            assert_memory_equal(first, other, sizeof first);
            assert_ok(sample(other, policy, many, 40, how, 2));
            assert_memory_equal(first, other, sizeof first);
            for (int i = 0; i < 5; i++) { // alone; the fifth is the second of its task
                assert_ok(sample(other, policy, many + (i == 4 ? 0 : i), i == 4 ? 5 : 1, how, 1));
                assert_memory_equal(first + i * TINY_SIZE, other + (i == 4 ? 4 : 0) * TINY_SIZE,
                                    TINY_SIZE * sizeof *first);
            }
            assert_true(memcmp(first, first + 4 * TINY_SIZE, TINY_SIZE * sizeof *first) != 0);
            how.seed = 4;
            assert_ok(sample(other, policy, many, 1, how, 1));
            assert_true(memcmp(first, other, TINY_SIZE * sizeof *first) != 0);
        }
        facet_policy_destroy(policy);
    }
}

// Every mode but joint has an operator, whose name it is by.
static void modes_are_named_by_their_operators(void **state)
{
    (void)state;
    for (int i = 0; i < FACET_POLICY_MODES; i++) {
        const ComposeOperator *operator= policy_mode_operator((FacetPolicyMode)i);
        const char *name = policy_mode_name((FacetPolicyMode)i);
        FacetPolicyMode mode;
        assert_int_equal(operator!= NULL, i != FACET_POLICY_JOINT);
        assert_string_equal(name, operator ? operator->name : "joint");
        assert_ok(facet_policy_mode_parse(&mode, name));
        assert_int_equal(mode, i);
    }
}

// Every operator is a choice of weights: with those of its own it samples what composed sampling
// does with the same, of one network and of many.
static void operators_are_weights(void **state)
{
    (void)state;
    static const double half[] = {0.5, 0.5}, first[] = {1.0, 0.0}, some[] = {0.3, 0.7},
                        ones[] = {1.0, 1.0};
    static const struct {
        FacetPolicyMode mode;
        const double *given, *meant;
    } cases[] = {
        {FACET_POLICY_COMPOSED, NULL, ones}, {FACET_POLICY_PRODUCT, NULL, half},
        {FACET_POLICY_PRODUCT, some, some},  {FACET_POLICY_CONVEX, NULL, half},
        {FACET_POLICY_CONVEX, some, some},   {FACET_POLICY_INTERPOLATE, NULL, first},
    };
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_KNET; method += 2) {
        FacetPolicy *policy = tiny_policy((FacetPolicyMethod)method);
        const char *task = "b/m";
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            double one[TINY_SIZE], other[TINY_SIZE];
            FacetPolicySampling how = {.mode = cases[i].mode, .weights = cases[i].given, .seed = 3};
            assert_ok(sample(one, policy, &task, 1, how, 2));
            how.mode = FACET_POLICY_COMPOSED;
            how.weights = cases[i].meant;
            assert_ok(sample(other, policy, &task, 1, how, 2));
            assert_memory_equal(one, other, sizeof one);
        }
        double out[TINY_SIZE];
        FacetPolicySampling how = {.mode = FACET_POLICY_INTERPOLATE, .weights = some};
        assert_refused(sample(out, policy, &task, 1, how, 1),
                       "interpolate: expected a weight from 0 to 1 of the first factor and none "
                       "of others, found 0.3, 0.7");
        facet_policy_destroy(policy);
    }
}

// A knet with a router; its head starts at zero unless it has something to say.
static FacetPolicy *routed_policy(bool says)
{
    FacetPolicy *policy = tiny_policy(FACET_POLICY_KNET);
    assert_ok(policy_router_create(policy, 7));
    const Router *router = policy->router;
    fill_weights(policy->router_params, &router->table, 9);
    for (int i = 0; says && i < 7 * 3; i++)
        policy->router_params[router->out_weight + (size_t)i] = 2.0f * sinf((float)(i * i));
    return policy;
}

// A router without a preference weighs all branches alike; one with a preference follows the plan,
// the same bits on any number of threads and in any company.
static void a_router_weighs_every_plan(void **state)
{
    (void)state;
    static const char *const names[] = {"a/s", "b/m", "b/*", "a/l", "a/s", "b/s", "a/m"};
    enum { PLANS = 7 };
    double one[PLANS * TINY_SIZE], other[PLANS * TINY_SIZE];
    const double third = (double)(1.0f / 3.0f), thirds[] = {third, third};
    FacetPolicySampling how = {.mode = FACET_POLICY_ROUTER, .seed = 3};
    const FacetPolicySampling equal = {.weights = thirds, .seed = 3};
    FacetPolicy *policy = routed_policy(false);
    assert_ok(sample(one, policy, names, PLANS, how, 1));
    assert_ok(sample(other, policy, names, PLANS, equal, 1));
    assert_memory_equal(one, other, sizeof one);
    facet_policy_destroy(policy);
    policy = routed_policy(true);
    assert_ok(sample(one, policy, names, PLANS, how, 1));
    assert_true(memcmp(one, other, sizeof one) != 0);
    assert_ok(sample(other, policy, names, PLANS, how, 3));
    assert_memory_equal(one, other, sizeof one);
    assert_ok(sample(other, policy, names + 1, 1, how, 1));
    assert_memory_equal(one + TINY_SIZE, other, TINY_SIZE * sizeof *one);
    how.weights = thirds;
    assert_refused(sample(other, policy, names, 1, how, 1), "router: expected no weights");
    facet_policy_destroy(policy);
    policy = tiny_policy(FACET_POLICY_FACTORED);
    how.weights = NULL;
    assert_refused(sample(other, policy, names, 1, how, 1),
                   "no router mode: the policy has no router; facet train --router-from trains "
                   "one over the networks of a knet");
    assert_refused(policy_router_create(policy, 7),
                   "router: expected the networks of a knet, found the method factored");
    facet_policy_destroy(policy);
}

// A runner gives what facet_policy_sample gives, however often, on any pool or none, and in any
// company.
static void a_runner_samples_the_same_bits(void **state)
{
    (void)state;
    enum { PLANS = 37 };
    static const char *const names[] = {"a/s", "b/m", "b/*", "a/l", "a/s"};
    const char *many[PLANS];
    FacetFactorTask tasks[PLANS];
    static double expected[PLANS * TINY_SIZE], out[PLANS * TINY_SIZE];
    for (int i = 0; i < PLANS; i++) many[i] = names[i % 5];
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_KNET; method++) {
        FacetPolicy *policy = tiny_policy((FacetPolicyMethod)method);
        FacetPolicyRunner *runner, *small;
        FacetPool *pool;
        for (int i = 0; i < PLANS; i++) tasks[i] = task_of(policy->space, many[i]);
        assert_ok(facet_pool_create(&pool, 3));
        assert_ok(facet_policy_runner_create(&runner, policy, PLANS, 3, NULL));
        assert_ok(facet_policy_runner_create(&small, policy, 2, 1, NULL));
        for (int round = 0; round < 3; round++) {
            int plans = round == 1 ? 3 : PLANS;
            FacetPolicySampling how = {.seed = (uint64_t)round, .steps = 3 + round};
            assert_ok(sample(expected, policy, many, plans, how, 2));
            assert_ok(facet_policy_runner_sample(out, runner, tasks, NULL, plans, &how, pool));
            assert_memory_equal(out, expected, (size_t)(plans * TINY_SIZE) * sizeof *out);
            assert_ok(facet_policy_runner_sample(out, small, tasks, NULL, plans, &how, NULL));
            assert_memory_equal(out, expected, (size_t)(plans * TINY_SIZE) * sizeof *out);
        }
        facet_policy_runner_destroy(runner);
        facet_policy_runner_destroy(small);
        facet_pool_destroy(pool);
        facet_policy_destroy(policy);
    }
}

static void a_runner_refuses_what_it_is_not_made_for(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    FacetPolicyRunner *runner;
    FacetPool *pool;
    FacetFactorTask task = task_of(policy->space, "a/s");
    double out[TINY_SIZE];
    const uint8_t frame[3] = {0};
    const FacetPolicySampling how = {0};
    assert_refused(facet_policy_runner_create(&runner, policy, 0, 1, NULL),
                   "expected 1 plan at once or more");
    assert_ok(facet_policy_runner_create(&runner, policy, 1, 1, NULL));
    assert_ok(facet_pool_create(&pool, 2));
    assert_refused(facet_policy_runner_sample(out, runner, &task, NULL, 1, &how, pool),
                   "expected a pool of at most 1 threads, found 2");
    assert_refused(facet_policy_runner_sample(
                       out, runner, &task, &(FacetPolicyObserved){.frames = frame}, 1, &how, NULL),
                   "does not see");
    facet_pool_destroy(pool);
    facet_policy_runner_destroy(runner);
    facet_policy_destroy(policy);
}

// A policy that sees is its network in the context of the frame's features, for each plan its own.
static void frames_condition_the_plans(void **state)
{
    (void)state;
    enum { PLANS = 3, FEATURES = 6 };
    FacetPolicy *policy = tiny_policy_with(FACET_POLICY_FACTORED, FEATURES);
    static uint8_t frames[PLANS * TINY_FRAME], small[TINY_FRAME / 4];
    static float input[TINY_FRAME / 4], features[PLANS * FEATURES], x[PLANS * TINY_SIZE];
    static double out[PLANS * TINY_SIZE], again[PLANS * TINY_SIZE];
    const FacetPolicySampling how = {.seed = 7, .steps = 4};
    FacetFactorTask tasks[PLANS];
    FacetPolicyRunner *runner;
    EncoderWork *work;
    Sampler *sampler;
    static SamplerPlan plan;
    int z[PLANS * 2];
    fill_frames(frames, PLANS, 3);
    assert_ok(encoder_work_create(&work, policy->encoder, 1, 1, false));
    encoder_load(work, policy->encoder_params[0], NULL);
    for (int i = 0; i < PLANS; i++) {
        tasks[i] = task_of(policy->space, i == 1 ? "b/*" : "a/s");
        z[2 * i] = tasks[i].value[0], z[2 * i + 1] = tasks[i].value[1];
        frame_shrink(small, frames + i * TINY_FRAME, TINY_WIDTH, TINY_HEIGHT, 2);
        frame_input(input, small, TINY_FRAME / 12, frame_jitter_none());
        encoder_forward(features + i * FEATURES, work, input, 1, NULL);
        policy_noise(x + i * TINY_SIZE, policy, &how, policy_noise_number(policy, tasks, NULL, i));
    }
    assert_ok(sampler_create(&sampler, policy->net, PLANS, 8));
    assert_ok(sampler_plan(&plan, &policy->schedule,
                           (SamplerConfig){.steps = 4,
                                           .spacing = policy->spacing,
                                           .prediction = policy->prediction,
                                           .clip = policy->clip}));
    sampler_load(sampler, policy->params[0], NULL);
    assert_ok(
        sampler_run(x, NULL, sampler, &plan, COMPOSE_FACTORS, NULL, z, features, PLANS, NULL));
    for (int i = 0; i < PLANS * TINY_SIZE; i++) again[i] = (double)x[i];
    normalizer_invert(again, policy->normalizer, again, PLANS * TINY_T);
    for (int threads = 1; threads <= 3; threads++) {
        FacetPool *pool;
        assert_ok(facet_pool_create(&pool, threads));
        assert_ok(
            facet_policy_runner_create(&runner, policy, threads == 2 ? 2 : PLANS, threads, NULL));
        assert_ok(facet_policy_runner_sample(
            out, runner, tasks, &(FacetPolicyObserved){.frames = frames}, PLANS, &how, pool));
        assert_memory_equal(out, again, sizeof out);
        facet_policy_runner_destroy(runner);
        facet_pool_destroy(pool);
    }
    // Another frame of the first plan changes that plan alone.
    assert_ok(facet_policy_runner_create(&runner, policy, PLANS, 1, NULL));
    fill_frames(frames, 1, 5);
    assert_ok(facet_policy_runner_sample(
        out, runner, tasks, &(FacetPolicyObserved){.frames = frames}, PLANS, &how, NULL));
    for (int i = 0; i < PLANS; i++) {
        size_t bytes = TINY_SIZE * sizeof *out;
        assert_int_equal(memcmp(out + i * TINY_SIZE, again + i * TINY_SIZE, bytes) != 0, i == 0);
    }
    assert_refused(facet_policy_runner_sample(out, runner, tasks, NULL, PLANS, &how, NULL),
                   "the policy sees: expected the frames of every plan");
    assert_refused(facet_policy_sample(out, policy, tasks, PLANS, &how, NULL),
                   "found one that takes observations (frame) and acts through an agent");
    facet_policy_runner_destroy(runner);
    sampler_free(sampler);
    encoder_work_free(work);
    facet_policy_destroy(policy);
}

static void numbers_choose_the_noise(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    static const char *const names[] = {"a/s", "a/s", "a/s"};
    const uint64_t numbers[] = {5, 6, 5};
    double out[3 * TINY_SIZE];
    assert_ok(sample(out, policy, names, 3, (FacetPolicySampling){.numbers = numbers}, 1));
    assert_memory_equal(out, out + 2 * TINY_SIZE, TINY_SIZE * sizeof *out);
    assert_true(memcmp(out, out + TINY_SIZE, TINY_SIZE * sizeof *out) != 0);
    facet_policy_destroy(policy);
}

static void largest_difference(double *largest, const double *a, const double *b, int count)
{
    *largest = 0.0;
    for (int i = 0; i < count; i++) *largest = fmax(*largest, fabs(a[i] - b[i]));
}

static void composition_is_its_formula(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    double composed[TINY_SIZE], joint[TINY_SIZE], difference;
    const uint64_t number = 9;
    FacetPolicySampling how = {.numbers = &number}, together = {.mode = FACET_POLICY_JOINT};
    together.numbers = &number;
    // One factor composed is that factor; with nothing shown it is the null network.
    static const char *const easy[] = {"a/*", "*/m", "*/*"};
    for (int i = 0; i < 3; i++) {
        assert_ok(sample(composed, policy, &easy[i], 1, how, 1));
        assert_ok(sample(joint, policy, &easy[i], 1, together, 1));
        largest_difference(&difference, composed, joint, TINY_SIZE);
        assert_less(difference, 1e-4);
    }
    assert_ok(sample(composed, policy, (const char *[]){"a/m"}, 1, how, 1));
    assert_ok(sample(joint, policy, (const char *[]){"a/m"}, 1, together, 1));
    largest_difference(&difference, composed, joint, TINY_SIZE);
    assert_true(difference > 1e-3);
    // A weight of zero leaves its factor out.
    const double weights[] = {1.0, 0.0};
    how.weights = weights;
    assert_ok(sample(composed, policy, (const char *[]){"a/m"}, 1, how, 1));
    assert_ok(sample(joint, policy, easy, 1, together, 1));
    largest_difference(&difference, composed, joint, TINY_SIZE);
    assert_less(difference, 1e-4);
    facet_policy_destroy(policy);
}

// Separate networks compose as one network does that holds the same functions.
static void separate_networks_compose(void **state)
{
    (void)state;
    FacetPolicy *knet = tiny_policy(FACET_POLICY_KNET),
                *baseline = tiny_policy(FACET_POLICY_BASELINE);
    double first[TINY_SIZE], second[TINY_SIZE], difference;
    const uint64_t number = 2;
    const FacetPolicySampling how = {.numbers = &number, .steps = 7};
    const char *task = "b/l";
    size_t bytes = knet->net->table.size * sizeof(float);
    assert_int_equal(knet->net->table.size, baseline->net->table.size);
    // All networks equal: the corrections vanish.
    for (int i = 0; i < knet->networks; i++) memcpy(knet->params[i], baseline->params[0], bytes);
    assert_ok(sample(first, knet, &task, 1, how, 2));
    assert_ok(sample(second, baseline, &task, 1, how, 2));
    largest_difference(&difference, first, second, TINY_SIZE);
    assert_less(difference, 1e-4);
    // Only the network of b differs, and the sum is that network.
    FacetPolicy *other = tiny_policy(FACET_POLICY_KNET);
    memcpy(knet->params[policy_network_of(knet, 0, 1)], other->params[3], bytes);
    memcpy(baseline->params[0], other->params[3], bytes);
    assert_ok(sample(first, knet, &task, 1, how, 2));
    assert_ok(sample(second, baseline, &task, 1, how, 2));
    largest_difference(&difference, first, second, TINY_SIZE);
    assert_less(difference, 1e-4);
    facet_policy_destroy(knet);
    facet_policy_destroy(baseline);
    facet_policy_destroy(other);
}

static void results_are_in_the_datas_units(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    policy->clip = 1.0;
    double out[TINY_SIZE];
    assert_ok(
        sample(out, policy, (const char *[]){"a/s"}, 1, (FacetPolicySampling){.steps = 1}, 1));
    for (int i = 0; i < TINY_SIZE; i++) {
        double min = policy->normalizer->min[i % TINY_D], max = policy->normalizer->max[i % TINY_D];
        assert_true(out[i] >= min);
        assert_true(out[i] <= max);
    }
    facet_policy_destroy(policy);
}

static void settings_out_of_range_are_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    double out[TINY_SIZE];
    const char *task = "a/s";
    const FacetPolicySampling wrong[] = {{.temperature = -1.0},
                                         {.temperature = NAN},
                                         {.mode = (FacetPolicyMode)9},
                                         {.sampler = (FacetPolicySampler)7}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        FacetStatus status = sample(out, policy, &task, 1, wrong[i], 1);
        assert_int_equal(status.code, FACET_BAD_ARGUMENT);
        assert_non_null(strstr(status.text, "expected"));
    }
    facet_policy_destroy(policy);
}

static void temperature_scales_the_noise(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    float warm[TINY_SIZE], cool[TINY_SIZE];
    policy->temperature = 0.5;
    policy_noise(cool, policy, &(FacetPolicySampling){.seed = 4}, 2);
    policy_noise(warm, policy, &(FacetPolicySampling){.seed = 4, .temperature = 2.0}, 2);
    for (int i = 0; i < TINY_SIZE; i++) assert_float_equal(warm[i], 4.0f * cool[i], 0.0f);
    double first[TINY_SIZE], second[TINY_SIZE], difference;
    const char *task = "a/s";
    // In two steps, for those of random weights magnify the rounding.
    FacetPolicySampling how = {.seed = 1, .temperature = 1e-9, .steps = 2};
    assert_ok(sample(first, policy, &task, 1, how, 1));
    how.seed = 2;
    assert_ok(sample(second, policy, &task, 1, how, 1));
    largest_difference(&difference, first, second, TINY_SIZE);
    assert_less(difference, 1e-4);
    how.temperature = 0.0; // the policy's own
    assert_ok(sample(second, policy, &task, 1, how, 1));
    largest_difference(&difference, first, second, TINY_SIZE);
    assert_less(1e-3, difference);
    facet_policy_destroy(policy);
}

static void what_a_policy_cannot_do_is_refused(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED),
                *knet = tiny_policy(FACET_POLICY_KNET);
    double out[TINY_SIZE];
    assert_refused(sample(out, policy, (const char *[]){"c/s"}, 1, (FacetPolicySampling){0}, 1),
                   "the policy never saw track 'c': it knows a, b");
    assert_refused(sample(out, knet, (const char *[]){"c/s"}, 1, (FacetPolicySampling){0}, 1),
                   "the policy never saw track 'c': it knows a, b");
    assert_refused(
        sample(out, policy, (const char *[]){"a/s"}, 1, (FacetPolicySampling){.steps = 21}, 1),
        "expected 1 to 20 steps (the training steps), found 21");
    assert_refused(sample(out, knet, (const char *[]){"a/s"}, 1,
                          (FacetPolicySampling){.mode = FACET_POLICY_JOINT}, 1),
                   "no joint mode");
    FacetFactorTask odd = facet_factor_task_null();
    odd.value[0] = 17;
    assert_refused(facet_policy_sample(out, policy, &odd, 1, &(FacetPolicySampling){0}, NULL),
                   "expected a value of factor 0 from 0 to 2, found 17");
    for (int i = 0; i < (int)policy->net->table.size; i++) policy->params[0][i] = 1e30f;
    assert_refused(sample(out, policy, (const char *[]){"a/s"}, 1, (FacetPolicySampling){0}, 1),
                   "is not finite");
    FacetPolicyMode mode;
    FacetPolicySampler sampler;
    assert_refused(facet_policy_mode_parse(&mode, "jiont"),
                   "no mode 'jiont', did you mean 'joint'?");
    assert_refused(facet_policy_sampler_parse(&sampler, "euler"),
                   "no sampler 'euler': ddim, dpmpp");
    facet_policy_destroy(policy);
    facet_policy_destroy(knet);
}

typedef struct Host {
    int asked, stops_at; // the number of the question that is answered with stop
} Host;

static bool answer(void *context, const FacetProgressEvent *event)
{
    (void)event;
    Host *host = context;
    return ++host->asked < host->stops_at;
}

// A stop before a group of plans keeps all of the group from being sampled.
static void a_stop_is_heard_before_the_next_plans(void **state)
{
    (void)state;
    enum { PLANS = 40 };
    const char *names[PLANS];
    for (int i = 0; i < PLANS; i++) names[i] = i % 2 ? "a/s" : "b/m";
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_KNET; method++) {
        FacetPolicy *policy = tiny_policy((FacetPolicyMethod)method);
        for (int stops_at = 1; stops_at <= 2; stops_at++) { // as it begins, and at the first group
            static double out[PLANS * TINY_SIZE];
            Host host = {.stops_at = stops_at};
            const FacetProgress progress = {.report = answer, .context = &host};
            const FacetPolicySampling how = {.seed = 3, .progress = &progress};
            for (int i = 0; i < PLANS * TINY_SIZE; i++) out[i] = 7.0;
            FacetStatus status = sample(out, policy, names, PLANS, how, 1);
            assert_int_equal(status.code, FACET_INTERRUPTED);
            assert_int_equal(host.asked, stops_at); // and is not asked again
            for (int i = 0; i < PLANS * TINY_SIZE; i++) assert_true(out[i] == 7.0);
        }
        facet_policy_destroy(policy);
    }
}

// The way begins with noise, ends with the plan, and changes nothing in it.
static void the_way_from_noise_ends_with_the_plan(void **state)
{
    (void)state;
    enum { PLANS = 40, STEPS = 5 }; // more plans than a batch
    const char *names[PLANS];
    for (int i = 0; i < PLANS; i++) names[i] = i % 2 ? "a/s" : "b/m";
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_KNET; method++) {
        FacetPolicy *policy = tiny_policy((FacetPolicyMethod)method);
        static double plain[PLANS * TINY_SIZE], out[PLANS * TINY_SIZE];
        static double path[(STEPS + 1) * PLANS * TINY_SIZE], steps[PLANS * TINY_SIZE];
        FacetPolicySampling how = {.seed = 3};
        assert_int_equal(policy_sampling_steps(policy, &how), STEPS);
        assert_ok(sample(plain, policy, names, PLANS, how, 2));
        assert_ok(sample_path(out, path, policy, names, PLANS, how, 2));
        assert_memory_equal(plain, out, sizeof out);
        assert_memory_equal(path + STEPS * PLANS * TINY_SIZE, out, sizeof out);
        // The noise does not depend on the steps that follow it.
        static double other[2 * PLANS * TINY_SIZE];
        how = (FacetPolicySampling){.seed = 3, .steps = 1};
        assert_ok(sample_path(steps, other, policy, names, PLANS, how, 1));
        assert_memory_equal(other, path, sizeof out);
        assert_true(memcmp(path, path + PLANS * TINY_SIZE, sizeof out) != 0);
        facet_policy_destroy(policy);
    }
}

static void noise_levels_fall_to_nothing(void **state)
{
    (void)state;
    FacetPolicy *policy = tiny_policy(FACET_POLICY_FACTORED);
    double levels[11];
    const FacetPolicySampling how = {.steps = 10};
    assert_ok(policy_noise_levels(levels, policy, &how));
    assert_near(levels[0], sqrt(1.0 - policy->schedule.alpha_bar[19]), 1e-15); // trailing: the last
    for (int i = 0; i < 10; i++) assert_true(levels[i + 1] < levels[i]);
    assert_near(levels[10], 0.0, 0.0);
    const FacetPolicySampling many = {.steps = 21};
    assert_false(policy_noise_levels(levels, policy, &many).ok);
    facet_policy_destroy(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_on_any_thread_count_and_in_any_company),
        cmocka_unit_test(modes_are_named_by_their_operators),
        cmocka_unit_test(operators_are_weights),
        cmocka_unit_test(a_router_weighs_every_plan),
        cmocka_unit_test(a_runner_samples_the_same_bits),
        cmocka_unit_test(a_runner_refuses_what_it_is_not_made_for),
        cmocka_unit_test(frames_condition_the_plans),
        cmocka_unit_test(numbers_choose_the_noise),
        cmocka_unit_test(composition_is_its_formula),
        cmocka_unit_test(separate_networks_compose),
        cmocka_unit_test(results_are_in_the_datas_units),
        cmocka_unit_test(settings_out_of_range_are_refused),
        cmocka_unit_test(temperature_scales_the_noise),
        cmocka_unit_test(a_stop_is_heard_before_the_next_plans),
        cmocka_unit_test(the_way_from_noise_ends_with_the_plan),
        cmocka_unit_test(noise_levels_fall_to_nothing),
        cmocka_unit_test(what_a_policy_cannot_do_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
