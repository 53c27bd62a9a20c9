// Sampling from a policy: noise, denoising in batches, and back to the data's units.
#include "policy/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 32 }; // plans denoised at once, which bounds the workspace

// The rows of a batch that one of several networks predicts.
typedef struct Share {
    Sampler *sampler;
    int *rows; // which of the branches [plans][1 + K]
    int count;
} Share;

typedef struct Sampling {
    const Policy *policy;
    const PolicySampling *how;
    ThreadPool *pool;
    SamplerPlan plan;
    Composition composition;
    int size;    // T D
    int room;    // plans of a batch
    float *x;    // [room][size]
    float *path; // [steps + 1][plans of the batch][size], if it is asked for
    int *z;      // [room][K]
    Sampler *sampler;

    // Only for knet.
    Share *shares;           // [networks]
    int *rows;               // [networks][room (1 + K)]
    float *branches;         // [room][1 + K][size]
    float *inputs, *outputs; // [room (1 + K)][size], the rows of one network
    float *before;           // [room][size]
} Sampling;

// ---- What is asked for --------------------------------------------------------------------------

Status policy_check_task(const Policy *policy, FactorTask task)
{
    const FactorSpace *space = policy->space;
    for (int f = 0; f < FACTOR_MAX; f++) {
        int value = task.value[f], values = 0;
        if (value == FACTOR_NULL) continue;
        if (f < factor_count(space)) values = factor_value_count(space, f);
        if (value < 0 || value >= values)
            return status_fail("expected a value of factor %d from 0 to %d, found %d", f,
                               values - 1, value);
        if (policy_knows(policy, f, value)) continue;
        char known[300] = "";
        for (int v = 0; v < values; v++) {
            size_t used = strlen(known);
            if (policy_knows(policy, f, v) && used + FACTOR_NAME_SIZE + 3 < sizeof known) {
                strcat(known, used ? ", " : "");
                strcat(known, factor_value_name(space, f, v));
            }
        }
        return status_fail("the policy never saw %s '%s': it knows %s", factor_name(space, f),
                           factor_value_name(space, f, value), known);
    }
    return status_ok();
}

static Status check(const Policy *policy, const FactorTask *tasks, int plans,
                    const PolicySampling *how)
{
    if (policy->method == POLICY_KNET && how->mode == POLICY_JOINT)
        return status_fail("no joint mode: a knet policy has one network a value and none for "
                           "several at once");
    for (int i = 0; i < plans; i++) TRY(policy_check_task(policy, tasks[i]));
    return status_ok();
}

uint64_t policy_noise_number(const Policy *policy, const FactorTask *tasks, int plan)
{
    uint64_t task = 0, turn = 0;
    for (int f = 0; f < factor_count(policy->space); f++)
        task = task * (uint64_t)(factor_value_count(policy->space, f) + 1) +
               (uint64_t)(tasks[plan].value[f] + 1);
    for (int i = 0; i < plan; i++) turn += factor_task_equal(tasks[i], tasks[plan]);
    return ((task << 20) + turn) & (UINT64_MAX >> 4);
}

void policy_noise(float *x, const Policy *policy, const PolicySampling *how, uint64_t number)
{
    int size = policy_horizon(policy) * policy_dim(policy);
    double temperature = how->temperature > 0.0 ? how->temperature : policy->temperature;
    sampler_noise(x, how->seed, number, size);
    for (int i = 0; i < size; i++) x[i] = (float)temperature * x[i];
}

// ---- Several networks ---------------------------------------------------------------------------

// Shares the branches of a batch out among the networks.
static Status share_out(Sampling *s, const FactorTask *tasks, int plans)
{
    const Policy *policy = s->policy;
    int branches = 1 + factor_count(policy->space);
    for (int n = 0; n < policy->networks; n++) {
        sampler_free(s->shares[n].sampler);
        s->shares[n] = (Share){.rows = s->rows + n * s->room * branches};
    }
    for (int row = 0; row < plans * branches; row++) {
        int factor = row % branches - 1;
        int value = factor < 0 ? FACTOR_NULL : tasks[row / branches].value[factor];
        Share *share = &s->shares[policy_network_of(policy, factor, value)];
        share->rows[share->count++] = row;
    }
    for (int n = 0; n < policy->networks; n++) {
        Share *share = &s->shares[n];
        if (share->count == 0) continue;
        TRY(sampler_create(&share->sampler, policy->net, share->count));
        sampler_load(share->sampler, policy->params[n], s->pool);
    }
    return status_ok();
}

static void predict_share(Sampling *s, const Share *share, int t)
{
    int branches = 1 + factor_count(s->policy->space);
    size_t size = (size_t)s->size, bytes = size * sizeof *s->x;
    for (int i = 0; i < share->count; i++)
        memcpy(s->inputs + (size_t)i * size, s->x + (size_t)(share->rows[i] / branches) * size,
               bytes);
    sampler_predict(s->outputs, share->sampler, s->inputs, t, COMPOSE_JOINT, NULL, NULL,
                    share->count, s->pool);
    for (int i = 0; i < share->count; i++)
        memcpy(s->branches + (size_t)share->rows[i] * size, s->outputs + (size_t)i * size, bytes);
}

// sampler_run with the branches of each plan predicted by separate networks.
static Status run_networks(Sampling *s, const FactorTask *tasks, int plans)
{
    int factors = factor_count(s->policy->space), steps = s->plan.config.steps;
    size_t size = (size_t)plans * (size_t)s->size;
    TRY(share_out(s, tasks, plans));
    for (int i = 0; i < steps; i++) {
        if (s->path) memcpy(s->path + (size_t)i * size, s->x, size * sizeof *s->x);
        for (int n = 0; n < s->policy->networks; n++)
            if (s->shares[n].count) predict_share(s, &s->shares[n], s->plan.step[i].t);
        compose_scores(s->outputs, s->branches, s->how->weights, factors, plans, s->size);
        TRY(sampler_advance(s->x, s->before, s->outputs, &s->plan, i, size));
    }
    if (s->path) memcpy(s->path + (size_t)steps * size, s->x, size * sizeof *s->x);
    return status_ok();
}

// ---- Batches ------------------------------------------------------------------------------------

// Takes plans [plans][T][D] from the network's range to the data's units.
static void to_actions(double *actions, const Sampling *s, const float *x, int plans)
{
    for (int i = 0; i < plans * s->size; i++) actions[i] = (double)x[i];
    normalizer_invert(actions, s->policy->normalizer, actions,
                      (size_t)plans * (size_t)policy_horizon(s->policy));
}

// `first` is the number of the batch's first plan among `all`.
static Status sample_batch(double *actions, Sampling *s, const FactorTask *tasks, int plans,
                           int first, int all)
{
    const Policy *policy = s->policy;
    int factors = policy->net->config.factors;
    if (policy->method == POLICY_KNET) {
        TRY(run_networks(s, tasks, plans));
    } else {
        for (int i = 0; i < plans; i++)
            for (int f = 0; f < factors; f++) s->z[i * factors + f] = tasks[i].value[f];
        TRY(sampler_run(s->x, s->path, s->sampler, &s->plan, s->composition, s->how->weights, s->z,
                        plans, s->pool));
    }
    size_t size = (size_t)s->size;
    to_actions(actions + (size_t)first * size, s, s->x, plans);
    for (int k = 0; s->path && k <= s->plan.config.steps; k++)
        to_actions(s->how->path + ((size_t)k * (size_t)all + (size_t)first) * size, s,
                   s->path + (size_t)k * (size_t)plans * size, plans);
    return status_ok();
}

static Status allocate(Sampling *s)
{
    size_t room = (size_t)s->room, size = (size_t)s->size;
    size_t rows = room * (size_t)(1 + factor_count(s->policy->space));
    s->x = calloc(room * size, sizeof *s->x);
    s->z = calloc(rows, sizeof *s->z);
    bool complete = s->x && s->z;
    if (s->how->path) {
        s->path = calloc((size_t)(s->plan.config.steps + 1) * room * size, sizeof *s->path);
        complete = complete && s->path;
    }
    if (s->policy->method == POLICY_KNET) {
        size_t networks = (size_t)s->policy->networks;
        s->shares = calloc(networks, sizeof *s->shares);
        s->rows = calloc(networks * rows, sizeof *s->rows);
        s->branches = calloc(rows * size, sizeof *s->branches);
        s->inputs = calloc(rows * size, sizeof *s->inputs);
        s->outputs = calloc(rows * size, sizeof *s->outputs);
        s->before = calloc(room * size, sizeof *s->before);
        complete =
            complete && s->shares && s->rows && s->branches && s->inputs && s->outputs && s->before;
    } else if (complete) {
        TRY(sampler_create(&s->sampler, s->policy->net, s->room));
        sampler_load(s->sampler, s->policy->params[0], s->pool);
    }
    return complete ? status_ok() : status_fail("out of memory for %d plans", s->room);
}

static void release(Sampling *s)
{
    for (int n = 0; s->shares && n < s->policy->networks; n++) sampler_free(s->shares[n].sampler);
    sampler_free(s->sampler);
    free(s->x);
    free(s->path);
    free(s->z);
    free(s->shares);
    free(s->rows);
    free(s->branches);
    free(s->inputs);
    free(s->outputs);
    free(s->before);
    free(s);
}

int policy_sampling_steps(const Policy *policy, const PolicySampling *sampling)
{
    return sampling->steps ? sampling->steps : policy->default_steps;
}

static Status plan_steps(SamplerPlan *plan, const Policy *policy, const PolicySampling *how)
{
    const SamplerConfig config = {
        .kind = how->sampler == POLICY_DPMPP ? SAMPLER_DPMPP : SAMPLER_DDIM,
        .steps = policy_sampling_steps(policy, how),
        .spacing = policy->spacing,
        .prediction = policy->prediction,
        .clip = policy->clip,
    };
    return sampler_plan(plan, &policy->schedule, config);
}

Status policy_noise_levels(double *levels, const Policy *policy, const PolicySampling *sampling)
{
    SamplerPlan *plan = malloc(sizeof *plan);
    if (!plan) return status_fail("out of memory for the steps of sampling");
    Status status = plan_steps(plan, policy, sampling);
    for (int i = 0; status.ok && i < plan->config.steps; i++) {
        levels[i] = sqrt(1.0 - plan->step[i].alpha_bar);
        levels[i + 1] = sqrt(1.0 - plan->step[i].alpha_bar_next);
    }
    free(plan);
    return status;
}

static Status sample_all(double *actions, Sampling *s, const FactorTask *tasks, int plans)
{
    const PolicySampling *how = s->how;
    TRY(plan_steps(&s->plan, s->policy, how));
    TRY(allocate(s));
    for (int first = 0; first < plans; first += BATCH) {
        int count = plans - first < BATCH ? plans - first : BATCH;
        for (int i = 0; i < count; i++) {
            uint64_t number = how->numbers ? how->numbers[first + i]
                                           : policy_noise_number(s->policy, tasks, first + i);
            policy_noise(s->x + (size_t)i * s->size, s->policy, how, number);
        }
        TRY(sample_batch(actions, s, tasks + first, count, first, plans));
    }
    return status_ok();
}

Status policy_sample(double *actions, const Policy *policy, const FactorTask *tasks, int plans,
                     const PolicySampling *sampling, ThreadPool *pool)
{
    if (plans < 1) return status_ok();
    TRY(check(policy, tasks, plans, sampling));
    Sampling *s = calloc(1, sizeof *s);
    if (!s) return status_fail("out of memory for %d plans", plans);
    s->policy = policy;
    s->how = sampling;
    s->pool = pool;
    s->composition = sampling->mode == POLICY_JOINT ? COMPOSE_JOINT : COMPOSE_FACTORS;
    s->size = policy_horizon(policy) * policy_dim(policy);
    s->room = plans < BATCH ? plans : BATCH;
    Status status = sample_all(actions, s, tasks, plans);
    release(s);
    return status;
}
