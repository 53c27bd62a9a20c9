// Sampling from a policy: the features of the frames, noise, denoising in batches, and back to the
// data's units.
#include "factor/factor.h"
#include "policy/parts.h"
#include "policy/sight.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BATCH = 32,       // plans denoised at once, which bounds the workspace
    NETWORK_ROWS = 8, // rows that one of several networks predicts at once
};

// The rows of a batch that one of several networks predicts.
typedef struct Share {
    Sampler *sampler;
    int *rows; // which of the branches [plans][1 + K]
    int count;
} Share;

struct FacetPolicyRunner {
    const FacetPolicy *policy;
    int threads;       // of the largest pool
    int size;          // T D
    int room;          // plans of a batch
    SamplerPlan plan;  // of the last sampling
    float *x;          // [room][size]
    float *p, *before; // [room][size], the prediction, and the clean sample of the step before
    int *z;            // [room][K]
    Sampler *sampler;

    // Only for a policy that sees.
    Sight *sight;
    float *features; // [room][features]

    // Only for knet.
    Share *shares;           // [networks]
    int *rows;               // [networks][room (1 + K)]
    float *branches;         // [room][1 + K][size]
    float *inputs, *outputs; // [NETWORK_ROWS][size]
};

// One call of policy_runner_sample_path.
typedef struct Sampling {
    FacetPolicyRunner *runner;
    const FacetPolicySampling *how;
    const FacetFactorTask *tasks; // [plans]
    const uint8_t *frames;        // [plans] of a policy that sees
    int plans;
    double *path; // [steps + 1][plans][T][D], or NULL
    FacetPool *pool;
} Sampling;

// ---- What is asked for --------------------------------------------------------------------------

FacetStatus policy_check_task(const FacetPolicy *policy, FacetFactorTask task)
{
    const FacetFactorSpace *space = policy->space;
    for (int f = 0; f < FACET_FACTOR_MAX; f++) {
        int value = task.value[f], values = 0;
        if (value == FACET_FACTOR_NULL) continue;
        if (f < facet_factor_count(space)) values = facet_factor_value_count(space, f);
        if (value < 0 || value >= values)
            return status_fail(FACET_BAD_ARGUMENT,
                               "expected a value of factor %d from 0 to %d, found %d", f,
                               values - 1, value);
        if (facet_policy_knows(policy, f, value)) continue;
        char known[300] = "";
        for (int v = 0; v < values; v++) {
            size_t used = strlen(known);
            if (facet_policy_knows(policy, f, v) &&
                used + FACET_FACTOR_NAME_SIZE + 3 < sizeof known) {
                strcat(known, used ? ", " : "");
                strcat(known, facet_factor_value_name(space, f, v));
            }
        }
        return status_fail(FACET_BAD_ARGUMENT, "the policy never saw %s '%s': it knows %s",
                           facet_factor_name(space, f), facet_factor_value_name(space, f, value),
                           known);
    }
    return status_ok();
}

static FacetStatus check(const FacetPolicy *policy, const FacetFactorTask *tasks,
                         const uint8_t *frames, int plans, const FacetPolicySampling *how)
{
    if (frames && !policy->encoder)
        return status_fail(FACET_BAD_ARGUMENT, "the policy does not see and takes no frames");
    if (policy->encoder && !frames)
        return status_fail(FACET_BAD_ARGUMENT,
                           "the policy sees: expected a frame of its camera for every plan");
    if (policy->method == FACET_POLICY_KNET && how->mode == FACET_POLICY_JOINT)
        return status_fail(FACET_BAD_ARGUMENT,
                           "no joint mode: a knet policy has one network a value and none for "
                           "several at once");
    for (int i = 0; i < plans; i++) TRY(policy_check_task(policy, tasks[i]));
    return status_ok();
}

uint64_t policy_noise_number(const FacetPolicy *policy, const FacetFactorTask *tasks, int plan)
{
    uint64_t task = 0, turn = 0;
    for (int f = 0; f < facet_factor_count(policy->space); f++)
        task = task * (uint64_t)(facet_factor_value_count(policy->space, f) + 1) +
               (uint64_t)(tasks[plan].value[f] + 1);
    for (int i = 0; i < plan; i++) turn += factor_task_equal(tasks[i], tasks[plan]);
    return ((task << 20) + turn) & (UINT64_MAX >> 4);
}

void policy_noise(float *x, const FacetPolicy *policy, const FacetPolicySampling *how,
                  uint64_t number)
{
    int size = policy_horizon(policy) * policy_dim(policy);
    double temperature = how->temperature > 0.0 ? how->temperature : policy->temperature;
    sampler_noise(x, how->seed, number, size);
    for (int i = 0; i < size; i++) x[i] = (float)temperature * x[i];
}

// ---- The prediction of a step -------------------------------------------------------------------

// Shares the branches of a batch out among the networks.
static void share_out(FacetPolicyRunner *r, const FacetFactorTask *tasks, int plans)
{
    int branches = 1 + facet_factor_count(r->policy->space);
    for (int n = 0; n < r->policy->networks; n++) r->shares[n].count = 0;
    for (int row = 0; row < plans * branches; row++) {
        int factor = row % branches - 1;
        int value = factor < 0 ? FACET_FACTOR_NULL : tasks[row / branches].value[factor];
        Share *share = &r->shares[policy_network_of(r->policy, factor, value)];
        share->rows[share->count++] = row;
    }
}

// Rows are predicted a few at a time: a row's result does not depend on its company.
static void predict_share(FacetPolicyRunner *r, const Share *share, int t, FacetPool *pool)
{
    int branches = 1 + facet_factor_count(r->policy->space);
    size_t size = (size_t)r->size, bytes = size * sizeof *r->x;
    for (int first = 0; first < share->count; first += NETWORK_ROWS) {
        const int *rows = share->rows + first;
        int count = share->count - first < NETWORK_ROWS ? share->count - first : NETWORK_ROWS;
        for (int i = 0; i < count; i++)
            memcpy(r->inputs + (size_t)i * size, r->x + (size_t)(rows[i] / branches) * size, bytes);
        sampler_predict(r->outputs, share->sampler, r->inputs, t, COMPOSE_JOINT, NULL, NULL, NULL,
                        count, pool);
        for (int i = 0; i < count; i++)
            memcpy(r->branches + (size_t)rows[i] * size, r->outputs + (size_t)i * size, bytes);
    }
}

static void predict(const Sampling *s, int t, int plans)
{
    FacetPolicyRunner *r = s->runner;
    if (r->policy->method == FACET_POLICY_KNET) {
        for (int n = 0; n < r->policy->networks; n++) predict_share(r, &r->shares[n], t, s->pool);
        compose_scores(r->p, r->branches, s->how->weights, facet_factor_count(r->policy->space),
                       plans, r->size);
        return;
    }
    Composition composition = s->how->mode == FACET_POLICY_JOINT ? COMPOSE_JOINT : COMPOSE_FACTORS;
    sampler_predict(r->p, r->sampler, r->x, t, composition, s->how->weights, r->z, r->features,
                    plans, s->pool);
}

// ---- Batches ------------------------------------------------------------------------------------

// Takes the batch's x from the network's range to the data's units.
static void to_actions(double *actions, const FacetPolicyRunner *r, int plans)
{
    for (int i = 0; i < plans * r->size; i++) actions[i] = (double)r->x[i];
    normalizer_invert(actions, r->policy->normalizer, actions,
                      (size_t)plans * (size_t)policy_horizon(r->policy));
}

static void record_path(const Sampling *s, int step, int first, int plans)
{
    size_t at = (size_t)step * (size_t)s->plans + (size_t)first;
    if (s->path) to_actions(s->path + at * (size_t)s->runner->size, s->runner, plans);
}

static const uint8_t *frame_of(const Sampling *s, int plan)
{
    int width, height;
    policy_frame_size(s->runner->policy, &width, &height);
    return s->frames + (size_t)plan * (size_t)width * (size_t)height * 3;
}

// What plans [first, first + plans) start from: noise, factor values and features.
static void begin_batch(const Sampling *s, int first, int plans)
{
    FacetPolicyRunner *r = s->runner;
    int factors = r->policy->net->config.factors;
    for (int i = 0; i < plans; i++) {
        uint64_t number = s->how->numbers ? s->how->numbers[first + i]
                                          : policy_noise_number(r->policy, s->tasks, first + i);
        policy_noise(r->x + (size_t)i * r->size, r->policy, s->how, number);
        for (int f = 0; f < factors; f++) r->z[i * factors + f] = s->tasks[first + i].value[f];
    }
    if (r->sight) sight_features(r->features, r->sight, frame_of(s, first), plans, s->pool);
    if (r->policy->method == FACET_POLICY_KNET) share_out(r, s->tasks + first, plans);
}

static FacetStatus sample_batch(double *actions, const Sampling *s, int first, int plans)
{
    FacetPolicyRunner *r = s->runner;
    int steps = r->plan.config.steps;
    begin_batch(s, first, plans);
    for (int i = 0; i < steps; i++) {
        record_path(s, i, first, plans);
        predict(s, r->plan.step[i].t, plans);
        TRY(sampler_advance(r->x, r->before, r->p, &r->plan, i, (size_t)plans * r->size));
    }
    record_path(s, steps, first, plans);
    to_actions(actions + (size_t)first * r->size, r, plans);
    return status_ok();
}

// ---- Steps --------------------------------------------------------------------------------------

int policy_sampling_steps(const FacetPolicy *policy, const FacetPolicySampling *sampling)
{
    return sampling->steps ? sampling->steps : policy->default_steps;
}

static FacetStatus plan_steps(SamplerPlan *plan, const FacetPolicy *policy,
                              const FacetPolicySampling *how)
{
    const SamplerConfig config = {
        .kind = how->sampler == FACET_POLICY_DPMPP ? SAMPLER_DPMPP : SAMPLER_DDIM,
        .steps = policy_sampling_steps(policy, how),
        .spacing = policy->spacing,
        .prediction = policy->prediction,
        .clip = policy->clip,
    };
    return sampler_plan(plan, &policy->schedule, config);
}

FacetStatus policy_noise_levels(double *levels, const FacetPolicy *policy,
                                const FacetPolicySampling *sampling)
{
    SamplerPlan *plan = malloc(sizeof *plan);
    if (!plan) return status_fail(FACET_NO_MEMORY, "out of memory for the steps of sampling");
    FacetStatus status = plan_steps(plan, policy, sampling);
    for (int i = 0; status.ok && i < plan->config.steps; i++) {
        levels[i] = sqrt(1.0 - plan->step[i].alpha_bar);
        levels[i + 1] = sqrt(1.0 - plan->step[i].alpha_bar_next);
    }
    free(plan);
    return status;
}

// ---- The runner ---------------------------------------------------------------------------------

static FacetStatus create_networks(FacetPolicyRunner *r, FacetPool *pool)
{
    const FacetPolicy *policy = r->policy;
    size_t size = (size_t)r->size, networks = (size_t)policy->networks;
    size_t rows = (size_t)r->room * (size_t)(1 + facet_factor_count(policy->space));
    int at_once = rows < NETWORK_ROWS ? (int)rows : NETWORK_ROWS;
    r->shares = calloc(networks, sizeof *r->shares);
    r->rows = calloc(networks * rows, sizeof *r->rows);
    r->branches = calloc(rows * size, sizeof *r->branches);
    r->inputs = calloc((size_t)at_once * size, sizeof *r->inputs);
    r->outputs = calloc((size_t)at_once * size, sizeof *r->outputs);
    if (!r->shares || !r->rows || !r->branches || !r->inputs || !r->outputs)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", r->room);
    for (int n = 0; n < policy->networks; n++) {
        r->shares[n].rows = r->rows + (size_t)n * rows;
        TRY(sampler_create(&r->shares[n].sampler, policy->net, at_once, r->threads));
        sampler_load(r->shares[n].sampler, policy->params[n], pool);
    }
    return status_ok();
}

static FacetStatus create_sight(FacetPolicyRunner *r, FacetPool *pool)
{
    const FacetPolicy *policy = r->policy;
    size_t width = (size_t)policy->net->config.context;
    r->features = calloc((size_t)r->room * width, sizeof *r->features);
    if (!r->features) return status_fail(FACET_NO_MEMORY, "out of memory for %d frames", r->room);
    return sight_create(&r->sight, policy->encoder, policy->encoder_params, r->room, r->threads,
                        pool);
}

static FacetStatus allocate(FacetPolicyRunner *r, FacetPool *pool)
{
    size_t room = (size_t)r->room, size = (size_t)r->size;
    r->x = calloc(room * size, sizeof *r->x);
    r->p = calloc(room * size, sizeof *r->p);
    r->before = calloc(room * size, sizeof *r->before);
    r->z = calloc(room * (size_t)(1 + facet_factor_count(r->policy->space)), sizeof *r->z);
    if (!r->x || !r->p || !r->before || !r->z)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", r->room);
    if (r->policy->encoder) TRY(create_sight(r, pool));
    if (r->policy->method == FACET_POLICY_KNET) return create_networks(r, pool);
    TRY(sampler_create(&r->sampler, r->policy->net, r->room, r->threads));
    sampler_load(r->sampler, r->policy->params[0], pool);
    return status_ok();
}

FacetStatus facet_policy_runner_create(FacetPolicyRunner **runner, const FacetPolicy *policy,
                                       int plans, int threads, FacetPool *pool)
{
    *runner = NULL;
    if (plans < 1)
        return status_fail(FACET_BAD_ARGUMENT, "expected 1 plan at once or more, found %d", plans);
    if (threads < 1)
        return status_fail(FACET_BAD_ARGUMENT, "expected 1 thread or more, found %d", threads);
    FacetPolicyRunner *r = calloc(1, sizeof *r);
    FacetStatus status =
        r ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for %d plans", plans);
    if (r) {
        r->policy = policy;
        r->threads = threads;
        r->size = policy_horizon(policy) * policy_dim(policy);
        r->room = plans < BATCH ? plans : BATCH;
        status = allocate(r, pool);
    }
    if (!status.ok) {
        facet_policy_runner_destroy(r);
        return status;
    }
    *runner = r;
    return status_ok();
}

void facet_policy_runner_destroy(FacetPolicyRunner *runner)
{
    if (!runner) return;
    for (int n = 0; runner->shares && n < runner->policy->networks; n++)
        sampler_free(runner->shares[n].sampler);
    sampler_free(runner->sampler);
    sight_free(runner->sight);
    free(runner->features);
    free(runner->x);
    free(runner->p);
    free(runner->before);
    free(runner->z);
    free(runner->shares);
    free(runner->rows);
    free(runner->branches);
    free(runner->inputs);
    free(runner->outputs);
    free(runner);
}

FacetStatus policy_runner_sample_path(double *actions, double *path, FacetPolicyRunner *runner,
                                      const FacetFactorTask *tasks, const uint8_t *frames,
                                      int plans, const FacetPolicySampling *how, FacetPool *pool)
{
    const FacetPolicy *policy = runner->policy;
    TRY(check(policy, tasks, frames, plans, how));
    if (facet_pool_threads(pool) > runner->threads)
        return status_fail(FACET_BAD_ARGUMENT, "expected a pool of at most %d threads, found %d",
                           runner->threads, facet_pool_threads(pool));
    TRY(plan_steps(&runner->plan, policy, how));
    const Sampling sampling = {runner, how, tasks, frames, plans, path, pool};
    for (int first = 0; first < plans; first += runner->room) {
        int left = plans - first;
        TRY(sample_batch(actions, &sampling, first, left < runner->room ? left : runner->room));
    }
    return status_ok();
}

FacetStatus facet_policy_runner_sample(double *actions, FacetPolicyRunner *runner,
                                       const FacetFactorTask *tasks, const uint8_t *frames,
                                       int plans, const FacetPolicySampling *how, FacetPool *pool)
{
    return policy_runner_sample_path(actions, NULL, runner, tasks, frames, plans, how, pool);
}

FacetStatus policy_sample_path(double *actions, double *path, const FacetPolicy *policy,
                               const FacetFactorTask *tasks, int plans,
                               const FacetPolicySampling *sampling, FacetPool *pool)
{
    if (plans < 1) return status_ok();
    TRY(check(policy, tasks, NULL, plans, sampling));
    FacetPolicyRunner *runner;
    TRY(facet_policy_runner_create(&runner, policy, plans, facet_pool_threads(pool), pool));
    FacetStatus status =
        policy_runner_sample_path(actions, path, runner, tasks, NULL, plans, sampling, pool);
    facet_policy_runner_destroy(runner);
    return status;
}

FacetStatus facet_policy_sample(double *actions, const FacetPolicy *policy,
                                const FacetFactorTask *tasks, int plans,
                                const FacetPolicySampling *sampling, FacetPool *pool)
{
    return policy_sample_path(actions, NULL, policy, tasks, plans, sampling, pool);
}
