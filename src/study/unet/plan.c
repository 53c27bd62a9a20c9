// From noise to a plan with a U-Net (see unet/policy.h): DDIM on the composed or the joint
// prediction, with the sampler's steps and composition.
#include "base/progress.h"
#include "nn/layers.h"
#include "unet/pass.h"
#include "unet/policy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Plans {
    const UnetPolicy *policy;
    const FacetFactorTask *tasks;
    int count, branches, factors, size; // branches a plan: 1, or 1 + K
    SamplerPlan plan;
    UnetWork *work;
    float *x, *before, *p;  // [count][T][D]
    float *inputs, *output; // [count][branches][T][D]
    float *t;               // [count][branches]
    int *z;                 // [count][branches][K]
} Plans;

static FacetStatus allocate(Plans *k)
{
    size_t numbers = (size_t)k->count * (size_t)k->size,
           rows = (size_t)k->count * (size_t)k->branches;
    k->x = calloc(numbers, sizeof *k->x);
    k->before = calloc(numbers, sizeof *k->before);
    k->p = calloc(numbers, sizeof *k->p);
    k->inputs = calloc(rows * (size_t)k->size, sizeof *k->inputs);
    k->output = calloc(rows * (size_t)k->size, sizeof *k->output);
    k->t = calloc(rows, sizeof *k->t);
    k->z = calloc(rows * (size_t)(k->factors + 1), sizeof *k->z);
    if (!k->x || !k->before || !k->p || !k->inputs || !k->output || !k->t || !k->z)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", k->count);
    return unet_work_create(&k->work, k->policy->net, (int)rows, false);
}

static void release(Plans *k)
{
    unet_work_free(k->work);
    free(k->x);
    free(k->before);
    free(k->p);
    free(k->inputs);
    free(k->output);
    free(k->t);
    free(k->z);
}

// The noise of every plan, and the factors that each of its branches is shown: all of them, or
// none, the first alone, the second alone and so on.
static void begin(Plans *k, const uint64_t *seeds)
{
    const FacetPolicy *policy = k->policy->training.policy;
    for (int i = 0; i < k->count; i++) {
        const FacetPolicySampling how = {.seed = seeds[i]};
        policy_noise(k->x + (size_t)i * (size_t)k->size, policy, &how,
                     policy_noise_number(policy, &k->tasks[i], NULL, 0));
        for (int b = 0; b < k->branches; b++)
            for (int f = 0; f < k->factors; f++) {
                bool shown = k->branches == 1 || b == 1 + f;
                k->z[(i * k->branches + b) * k->factors + f] =
                    shown ? k->tasks[i].value[f] : EMBEDDING_NULL;
            }
    }
}

static void predict(Plans *k, int t, FacetPool *pool)
{
    int rows = k->count * k->branches;
    size_t size = (size_t)k->size;
    for (int r = 0; r < rows; r++) {
        k->t[r] = (float)t;
        memcpy(k->inputs + (size_t)r * size, k->x + (size_t)(r / k->branches) * size,
               size * sizeof *k->x);
    }
    unet_forward(k->output, k->work, k->policy->params, k->inputs, k->t, k->z, rows, pool);
    if (k->branches == 1)
        memcpy(k->p, k->output, (size_t)k->count * size * sizeof *k->p);
    else
        compose_scores(k->p, k->output, NULL, k->factors, k->count, k->size);
}

static FacetStatus run(double *actions, Plans *k, const uint64_t *seeds, FacetPool *pool,
                       Progress *progress)
{
    const FacetPolicy *policy = k->policy->training.policy;
    size_t numbers = (size_t)k->count * (size_t)k->size;
    TRY(allocate(k));
    begin(k, seeds);
    for (int i = 0; i < k->plan.config.steps; i++) {
        TRY(progress_add(progress, 0, NULL));
        predict(k, k->plan.step[i].t, pool);
        TRY(sampler_advance(k->x, k->before, k->p, &k->plan, i, numbers));
    }
    for (size_t i = 0; i < numbers; i++) actions[i] = (double)k->x[i];
    normalizer_invert(actions, policy->normalizer, actions,
                      (size_t)k->count * (size_t)policy_horizon(policy));
    return progress_add(progress, k->count, NULL);
}

FacetStatus unet_policy_sample(double *actions, const UnetPolicy *policy,
                               const FacetFactorTask *tasks, const uint64_t *seeds, int plans,
                               FacetPolicyMode mode, int steps, FacetPool *pool,
                               const FacetProgress *progress)
{
    const FacetPolicy *settings = policy->training.policy;
    const UnetConfig *c = &policy->net->config;
    assert(mode == FACET_POLICY_COMPOSED || mode == FACET_POLICY_JOINT);
    for (int i = 0; i < plans; i++) TRY(policy_check_task(settings, tasks[i]));
    Plans *k = calloc(1, sizeof *k);
    if (!k) return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", plans);
    *k = (Plans){.policy = policy,
                 .tasks = tasks,
                 .count = plans,
                 .branches = mode == FACET_POLICY_JOINT ? 1 : 1 + c->factors,
                 .factors = c->factors,
                 .size = c->horizon * c->dim};
    const SamplerConfig config = {.kind = SAMPLER_DDIM,
                                  .steps = steps,
                                  .spacing = settings->spacing,
                                  .prediction = settings->prediction,
                                  .clip = settings->clip};
    Progress done;
    progress_begin(&done, progress, "plans", plans);
    FacetStatus status = sampler_plan(&k->plan, &settings->schedule, config);
    if (status.ok) status = run(actions, k, seeds, pool, &done);
    progress_end(&done);
    release(k);
    free(k);
    return status;
}
