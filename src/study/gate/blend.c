// One plan denoised by two policies (see gate/blend.h).
#include "gate/blend.h"

#include "factor/factor.h"
#include "policy/parts.h"
#include "policy/sight.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Half {
    const FacetPolicy *policy;
    Sampler *sampler;
    Sight *sight;   // NULL of a policy that does not see
    float *context; // [plans][context]
    float *p;       // [plans][T][D], the prediction
    int *z;         // [plans][K]
    double weights[FACET_FACTOR_MAX];
} Half;

struct Blend {
    Half halves[2];
    int room, size;    // plans, and T D
    SamplerPlan plan;  // of the last sampling
    float *x, *before; // [plans][T][D], and the clean sample of the step before
};

// ---- Whether they fit ---------------------------------------------------------------------------

static FacetStatus differ(const char *what)
{
    return status_fail(FACET_BAD_ARGUMENT,
                       "expected the same %s of both policies, to denoise one plan, found others",
                       what);
}

static bool same_ranges(const Normalizer *a, const Normalizer *b)
{
    size_t size = (size_t)a->dim * sizeof *a->min;
    return a->dim == b->dim && a->knee == b->knee && memcmp(a->min, b->min, size) == 0 &&
           memcmp(a->max, b->max, size) == 0;
}

static bool same_schedule(const NoiseSchedule *a, const NoiseSchedule *b)
{
    return a->steps == b->steps &&
           memcmp(a->alpha_bar, b->alpha_bar, (size_t)a->steps * sizeof *a->alpha_bar) == 0;
}

FacetStatus blend_check(const FacetPolicy *a, const FacetPolicy *b, const FacetPolicySampling *how)
{
    if (a->networks != 1 || b->networks != 1)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected policies of one network to denoise one plan, found %d and %d",
                           a->networks, b->networks);
    if (!factor_space_equal(a->space, b->space)) return differ("factors");
    if (policy_horizon(a) != policy_horizon(b) || policy_dim(a) != policy_dim(b))
        return differ("chunks");
    if (!same_ranges(a->normalizer, b->normalizer)) return differ("ranges");
    if (!same_schedule(&a->schedule, &b->schedule)) return differ("noise schedule");
    if (a->prediction != b->prediction) return differ("prediction");
    if (a->spacing != b->spacing || a->clip != b->clip ||
        policy_sampling_steps(a, how) != policy_sampling_steps(b, how))
        return differ("steps of sampling");
    if (!(how->temperature > 0.0) && a->temperature != b->temperature) return differ("temperature");
    TRY(policy_check_sampling(a, how));
    return policy_check_sampling(b, how);
}

// ---- Memory -------------------------------------------------------------------------------------

static FacetStatus half_create(Half *h, const FacetPolicy *policy, int plans)
{
    size_t rows = (size_t)plans, context = (size_t)policy->net->config.context;
    h->policy = policy;
    h->context = calloc(rows * context + 1, sizeof *h->context);
    h->p = calloc(rows * (size_t)(policy_horizon(policy) * policy_dim(policy)), sizeof *h->p);
    h->z = calloc(rows * (size_t)(policy->net->config.factors + 1), sizeof *h->z);
    if (!h->context || !h->p || !h->z)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", plans);
    TRY(sampler_create(&h->sampler, policy->net, plans, 1));
    sampler_load(h->sampler, policy->params[0], NULL);
    return policy->encoder
               ? sight_create(&h->sight, policy->encoder, policy->encoder_params[0], 1, 1, NULL)
               : status_ok();
}

FacetStatus blend_create(Blend **out, const FacetPolicy *first, const FacetPolicy *second,
                         int plans)
{
    assert(plans > 0);
    *out = NULL;
    Blend *b = calloc(1, sizeof *b);
    if (!b) return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", plans);
    b->room = plans;
    b->size = policy_horizon(first) * policy_dim(first);
    b->x = calloc((size_t)plans * (size_t)b->size, sizeof *b->x);
    b->before = calloc((size_t)plans * (size_t)b->size, sizeof *b->before);
    FacetStatus status = b->x && b->before
                             ? half_create(&b->halves[0], first, plans)
                             : status_fail(FACET_NO_MEMORY, "out of memory for %d plans", plans);
    if (status.ok) status = half_create(&b->halves[1], second, plans);
    if (status.ok)
        *out = b;
    else
        blend_destroy(b);
    return status;
}

void blend_destroy(Blend *b)
{
    if (!b) return;
    for (int i = 0; i < 2; i++) {
        sampler_free(b->halves[i].sampler);
        sight_free(b->halves[i].sight);
        free(b->halves[i].context);
        free(b->halves[i].p);
        free(b->halves[i].z);
    }
    free(b->x);
    free(b->before);
    free(b);
}

// ---- Sampling -----------------------------------------------------------------------------------

// What a policy is told, the same of all plans, and the beginning of its run.
static FacetStatus half_begin(Half *h, const SamplerPlan *plan, FacetFactorTask task,
                              const uint8_t *frame, const double *numbers, int plans,
                              const FacetPolicySampling *how)
{
    const FacetPolicy *policy = h->policy;
    const Observe *observe = policy->observe;
    int factors = policy->net->config.factors;
    size_t context = (size_t)policy->net->config.context;
    TRY(policy_mode_weights(h->weights, policy, how->mode, how->weights));
    TRY(policy_check_task(policy, task));
    if (observe && observe->dim) observe_apply(h->context, observe, numbers);
    if (h->sight) sight_features(h->context + observe_numbers(observe), h->sight, frame, 1, NULL);
    for (int i = 0; i < plans; i++) {
        if (i > 0) memcpy(h->context + (size_t)i * context, h->context, context * sizeof(float));
        for (int f = 0; f < factors; f++) h->z[i * factors + f] = task.value[f];
    }
    sampler_begin(h->sampler, plan,
                  how->mode == FACET_POLICY_JOINT ? COMPOSE_JOINT : COMPOSE_FACTORS, h->z,
                  context ? h->context : NULL, plans);
    return status_ok();
}

static FacetStatus plan_steps(Blend *b, const FacetPolicySampling *how)
{
    const FacetPolicy *policy = b->halves[0].policy;
    const SamplerConfig config = {
        .kind = how->sampler == FACET_POLICY_DPMPP ? SAMPLER_DPMPP : SAMPLER_DDIM,
        .steps = policy_sampling_steps(policy, how),
        .spacing = policy->spacing,
        .prediction = policy->prediction,
        .clip = policy->clip,
    };
    return sampler_plan(&b->plan, &policy->schedule, config);
}

// In double, where a weight of 1 or 0 gives one of the two back as it was.
static void mix(float *out, const float *first, const float *second, double weight, size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = (float)(weight * (double)first[i] + (1.0 - weight) * (double)second[i]);
}

FacetStatus blend_sample(double *actions, Blend *b, double weight, const FacetFactorTask tasks[2],
                         const uint8_t *frame, const double *numbers, int plans,
                         const FacetPolicySampling *how)
{
    assert(plans > 0 && plans <= b->room && weight >= 0.0 && weight <= 1.0);
    Half *first = &b->halves[0], *second = &b->halves[1];
    size_t size = (size_t)b->size, all = (size_t)plans * size;
    TRY(plan_steps(b, how));
    TRY(half_begin(first, &b->plan, tasks[0], frame, numbers, plans, how));
    TRY(half_begin(second, &b->plan, tasks[1], frame, numbers, plans, how));
    for (int i = 0; i < plans; i++)
        policy_noise(b->x + (size_t)i * size, first->policy, how, how->numbers[i]);
    for (int i = 0; i < b->plan.config.steps; i++) {
        sampler_step(first->p, first->sampler, b->x, i, first->weights, plans, NULL);
        sampler_step(second->p, second->sampler, b->x, i, second->weights, plans, NULL);
        mix(first->p, first->p, second->p, weight, all);
        TRY(sampler_advance(b->x, b->before, first->p, &b->plan, i, all));
    }
    for (size_t i = 0; i < all; i++) actions[i] = (double)b->x[i];
    normalizer_invert(actions, first->policy->normalizer, actions,
                      (size_t)plans * (size_t)policy_horizon(first->policy));
    return status_ok();
}
