// Tracing a denoising path (see certify/path.h).
#include "certify/path.h"

#include "base/progress.h"
#include "certify/score_jacobian.h"
#include "linalg/gemm.h"
#include "linalg/spectrum.h"
#include "policy/parts.h"
#include "policy/sight.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { COMPOSED, JOINT, CHAINS }; // the two chains from one noise

struct PathTracer {
    const FacetPolicy *policy;
    FacetPool *pool;
    SamplerPlan plan;
    Sampler *sampler;
    ScoreJacobian *jacobian;
    DenoisingPath path;
    double *numbers; // memory of the path and of `scratch`
    double *slope;   // [size][size], d p/d a of the composed prediction
    double *scratch; // of spectral norms
    float *memory;
    float *x, *before, *p; // [CHAINS][size]: the chains, their clean samples, joint predictions
    float *composed;       // [size]
    float *branches;       // [1 + K][size][size], Jacobians

    // Only for a policy that sees.
    Sight *sight;
    float *context; // [CHAINS][context], the features of the frame, alike for both chains
    bool looked;    // at a frame
};

static FacetStatus allocate(PathTracer *r, int steps)
{
    const ScoreNetConfig *net = &r->policy->net->config;
    size_t size = (size_t)net->horizon * (size_t)net->dim, square = size * size;
    size_t count = (size_t)steps, branches = (size_t)net->factors + 1;
    DenoisingPath *path = &r->path;
    path->steps = steps;
    path->size = (int)size;
    path->step = calloc(count, sizeof *path->step);
    r->numbers =
        calloc((count + 1) * (square + 2 * size) + spectrum_scratch((int)size), sizeof *r->numbers);
    r->memory = calloc((3 * CHAINS + 1) * size + branches * square, sizeof *r->memory);
    if (!path->step || !r->numbers || !r->memory)
        return status_fail(FACET_NO_MEMORY, "out of memory for a path of %d steps", steps);
    path->nominal = r->numbers;
    path->mismatch = path->nominal + (count + 1) * size;
    path->joint_end = path->mismatch + count * size;
    path->transition = path->joint_end + size;
    r->slope = path->transition + count * square;
    r->scratch = r->slope + square;
    r->x = r->memory;
    r->before = r->x + CHAINS * size;
    r->p = r->before + CHAINS * size;
    r->composed = r->p + CHAINS * size;
    r->branches = r->composed + size;
    return status_ok();
}

static FacetStatus create_sight(PathTracer *r)
{
    const FacetPolicy *policy = r->policy;
    r->context = calloc((size_t)CHAINS * (size_t)policy->net->config.context, sizeof *r->context);
    if (!r->context) return status_fail(FACET_NO_MEMORY, "out of memory for a frame");
    return sight_create(&r->sight, policy->encoder, policy->encoder_params[0], 1,
                        facet_pool_threads(r->pool), r->pool);
}

FacetStatus path_tracer_create(PathTracer **tracer, const FacetPolicy *policy, int steps,
                               FacetPool *pool)
{
    assert(policy->networks == 1);
    *tracer = NULL;
    TRY(gemm_prepare());
    PathTracer *r = calloc(1, sizeof *r);
    if (!r) return status_fail(FACET_NO_MEMORY, "out of memory for a path");
    r->policy = policy;
    r->pool = pool;
    const SamplerConfig config = {.kind = SAMPLER_DDIM,
                                  .steps = steps,
                                  .spacing = policy->spacing,
                                  .prediction = policy->prediction,
                                  .clip = policy->clip};
    int rows = 1 + policy->net->config.factors;
    FacetStatus status = sampler_plan(&r->plan, &policy->schedule, config);
    if (status.ok)
        status = sampler_create(&r->sampler, policy->net, CHAINS, facet_pool_threads(pool));
    if (status.ok)
        status = score_jacobian_create(&r->jacobian, policy->net, rows, facet_pool_threads(pool));
    if (status.ok) status = allocate(r, steps);
    if (status.ok && policy->encoder) status = create_sight(r);
    if (!status.ok) {
        path_tracer_destroy(r);
        return status;
    }
    sampler_load(r->sampler, policy->params[0], pool);
    *tracer = r;
    return status_ok();
}

void path_tracer_destroy(PathTracer *tracer)
{
    if (!tracer) return;
    sampler_free(tracer->sampler);
    score_jacobian_free(tracer->jacobian);
    sight_free(tracer->sight);
    free(tracer->context);
    free(tracer->path.step);
    free(tracer->numbers);
    free(tracer->memory);
    free(tracer);
}

FacetStatus path_look(PathTracer *r, const uint8_t *frame)
{
    if (!r->sight)
        return status_fail(FACET_BAD_ARGUMENT, "the policy does not see and takes no frame");
    size_t width = (size_t)r->policy->net->config.context;
    sight_features(r->context, r->sight, frame, 1, r->pool);
    memcpy(r->context + width, r->context, width * sizeof *r->context);
    r->looked = true;
    return status_ok();
}

// The clean sample that step `s` takes from a and p, and whether it was clipped.
static double clean_sample(bool *clipped, const SamplerStep *s, double clip, double a, double p)
{
    double x0 = s->clean.first * a + s->clean.second * p;
    *clipped = clip > 0.0 && fabs(x0) > clip;
    return *clipped ? copysign(clip, x0) : x0;
}

// The eps that the sampler uses at a, given the prediction p.
static double epsilon(const SamplerStep *s, double clip, double a, double p)
{
    bool clipped;
    double x0 = clean_sample(&clipped, s, clip, a, p);
    return (a - sqrt(s->alpha_bar) * x0) / sqrt(1.0 - s->alpha_bar);
}

// d p/d a of the composed prediction, s_null + sum (s_i - s_null), from those of the branches.
static void compose_jacobians(double *slope, const float *branches, int factors, size_t square)
{
    for (size_t i = 0; i < square; i++) {
        double sum = (1.0 - factors) * (double)branches[i];
        for (int b = 1; b <= factors; b++) sum += (double)branches[(size_t)b * square + i];
        slope[i] = sum;
    }
}

// M_k into `transition`, and L_a = ||J_k||, from d p/d a.
static void linearise(PathTracer *r, int k, const float *a, const float *p)
{
    const SamplerStep *s = &r->plan.step[k];
    int n = r->path.size;
    double *m = r->path.transition + (size_t)k * n * n, *j = r->slope;
    double signal = sqrt(s->alpha_bar), noise = sqrt(1.0 - s->alpha_bar);
    for (int row = 0; row < n; row++) {
        bool clipped;
        clean_sample(&clipped, s, r->plan.config.clip, (double)a[row], (double)p[row]);
        for (int i = 0; i < n; i++) {
            size_t at = (size_t)row * n + i;
            double one = row == i ? 1.0 : 0.0;
            double clean = clipped ? 0.0 : s->clean.first * one + s->clean.second * j[at];
            m[at] = s->keep * one + s->now * clean;
            j[at] = (one - signal * clean) / noise;
        }
    }
    r->path.step[k].lipschitz = spectral_norm(j, r->scratch, n, n);
}

static void measure_mismatch(PathTracer *r, int k)
{
    const SamplerStep *s = &r->plan.step[k];
    double clip = r->plan.config.clip, sum = 0.0;
    int n = r->path.size;
    double *d = r->path.mismatch + (size_t)k * n;
    for (int i = 0; i < n; i++) {
        double a = (double)r->x[i];
        d[i] = epsilon(s, clip, a, (double)r->composed[i]) - epsilon(s, clip, a, (double)r->p[i]);
        sum += d[i] * d[i];
    }
    r->path.step[k].mismatch = sqrt(sum);
}

static FacetStatus trace_step(PathTracer *r, int k, const int *z, Progress *progress)
{
    const SamplerStep *s = &r->plan.step[k];
    int n = r->path.size, factors = r->policy->net->config.factors;
    int twice[CHAINS * SCORE_FACTORS_MAX];
    for (int i = 0; i < CHAINS * factors; i++) twice[i] = z[i % factors];
    sampler_predict(r->p, r->sampler, r->x, s->t, COMPOSE_JOINT, NULL, twice, r->context, CHAINS,
                    r->pool);
    sampler_predict(r->composed, r->sampler, r->x, s->t, COMPOSE_FACTORS, NULL, z, r->context, 1,
                    r->pool);
    TRY(score_jacobian(r->branches, r->jacobian, sampler_work(r->sampler), r->pool, progress));
    compose_jacobians(r->slope, r->branches, factors, (size_t)n * n);

    double signal = sqrt(s->alpha_bar_next / s->alpha_bar);
    r->path.step[k] = (PathStep){
        .t = s->t,
        .sigma = sqrt(1.0 - s->alpha_bar),
        .c1 = signal,
        .c2 = sqrt(1.0 - s->alpha_bar_next) - signal * sqrt(1.0 - s->alpha_bar),
    };
    linearise(r, k, r->x, r->composed);
    measure_mismatch(r, k);
    size_t bytes = (size_t)n * sizeof *r->x;
    memcpy(r->p, r->composed, bytes);
    return sampler_advance(r->x, r->before, r->p, &r->plan, k, (size_t)CHAINS * (size_t)n);
}

static FacetStatus trace_steps(PathTracer *r, const int *z, Progress *progress)
{
    int n = r->path.size;
    for (int k = 0; k < r->path.steps; k++) {
        for (int i = 0; i < n; i++) r->path.nominal[(size_t)k * n + i] = (double)r->x[i];
        TRY(trace_step(r, k, z, progress));
        TRY(progress_add(progress, 1, NULL));
    }
    return status_ok();
}

FacetStatus path_trace(const DenoisingPath **path, PathTracer *r, FacetFactorTask task,
                       uint64_t seed, const FacetProgress *progress)
{
    TRY(policy_check_task(r->policy, task));
    return path_trace_from(path, r, task, seed, policy_noise_number(r->policy, &task, NULL, 0),
                           progress);
}

FacetStatus path_trace_from(const DenoisingPath **path, PathTracer *r, FacetFactorTask task,
                            uint64_t seed, uint64_t number, const FacetProgress *progress)
{
    int n = r->path.size, z[SCORE_FACTORS_MAX];
    if (r->sight && !r->looked)
        return status_fail(FACET_BAD_ARGUMENT,
                           "the policy sees: expected a frame of its camera before a plan");
    TRY(policy_check_task(r->policy, task));
    for (int f = 0; f < r->policy->net->config.factors; f++) z[f] = task.value[f];
    const FacetPolicySampling how = {.seed = seed};
    policy_noise(r->x, r->policy, &how, number);
    memcpy(r->x + (size_t)JOINT * n, r->x, (size_t)n * sizeof *r->x);
    Progress steps;
    progress_begin(&steps, progress, "denoising steps", r->path.steps);
    FacetStatus status = trace_steps(r, z, &steps);
    progress_end(&steps);
    TRY(status);
    for (int i = 0; i < n; i++) {
        r->path.nominal[(size_t)r->path.steps * n + i] = (double)r->x[i];
        r->path.joint_end[i] = (double)r->x[(size_t)JOINT * n + i];
    }
    *path = &r->path;
    return status_ok();
}
