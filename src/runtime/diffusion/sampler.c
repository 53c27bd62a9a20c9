// Sampling and composition (see diffusion/sampler.h).
#include "diffusion/sampler.h"

#include "base/rng.h"
#include "diffusion/streams.h"
#include "nn/layers.h"

#include <assert.h>
#include <stdlib.h>

struct Sampler {
    const ScoreNet *net;
    ScoreWork *work;
    int rows; // branches of all plans at once
    Real *memory;
    Real *x, *out;    // [rows][T][D]
    Real *p, *before; // [plans][T][D]
    Real *t;          // [rows]
    Real *context;    // [rows][context]
    int *z;           // [rows][K]
};

static int plan_size(const ScoreNet *net) { return net->config.horizon * net->config.dim; }

static FacetStatus allocate(Sampler *s)
{
    size_t rows = (size_t)s->rows, numbers = rows * (size_t)plan_size(s->net);
    size_t width = (size_t)s->net->config.context;
    s->memory = calloc(4 * numbers + rows * (1 + width), sizeof *s->memory);
    s->z = calloc(rows * (size_t)(s->net->config.factors + 1), sizeof *s->z);
    if (!s->memory || !s->z)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d rows at once", s->rows);
    s->x = s->memory;
    s->out = s->x + numbers;
    s->p = s->out + numbers;
    s->before = s->p + numbers;
    s->t = s->before + numbers;
    s->context = s->t + rows;
    return status_ok();
}

// A lane when there are no threads.
static FacetStatus create(Sampler **out, const ScoreNet *net, int rows, int threads)
{
    assert(rows > 0);
    *out = NULL;
    Sampler *s = calloc(1, sizeof *s);
    if (!s) return status_fail(FACET_NO_MEMORY, "out of memory for the sampler");
    s->net = net;
    s->rows = rows;
    FacetStatus status = allocate(s);
    if (status.ok)
        status = threads ? score_work_create(&s->work, net, rows, threads)
                         : score_lane_create(&s->work, net, rows);
    if (!status.ok) {
        sampler_free(s);
        return status;
    }
    *out = s;
    return status_ok();
}

FacetStatus sampler_create(Sampler **sampler, const ScoreNet *net, int plans, int threads)
{
    assert(threads > 0);
    return create(sampler, net, plans * (1 + net->config.factors), threads);
}

FacetStatus sampler_lane_create(Sampler **lane, const ScoreNet *net, int rows)
{
    return create(lane, net, rows, 0);
}

void sampler_free(Sampler *sampler)
{
    if (!sampler) return;
    score_work_free(sampler->work);
    free(sampler->memory);
    free(sampler->z);
    free(sampler);
}

void sampler_noise(Real *x, uint64_t seed, uint64_t number, int size)
{
    FacetRng rng = rng_make(seed, STREAM_SAMPLE + number);
    for (int i = 0; i < size; i++) x[i] = (Real)rng_normal(&rng);
}

void compose_scores(Real *out, const Real *branches, const double *weights, int factors, int plans,
                    int size)
{
    for (int n = 0; n < plans; n++) {
        const Real *null = branches + (size_t)n * (1 + factors) * size;
        Real *sum = out + (size_t)n * size;
        for (int i = 0; i < size; i++) sum[i] = null[i];
        for (int k = 0; k < factors; k++) {
            const Real *branch = null + (size_t)(1 + k) * size;
            Real weight = weights ? (Real)weights[k] : R(1);
            for (int i = 0; i < size; i++) sum[i] += weight * (branch[i] - null[i]);
        }
    }
}

void sampler_predict(Real *p, Sampler *s, const Real *x, int t, Composition composition,
                     const double *weights, const int *z, const Real *context, int plans,
                     FacetPool *pool)
{
    int factors = s->net->config.factors, size = plan_size(s->net);
    size_t width = (size_t)s->net->config.context;
    int branches = composition == COMPOSE_JOINT ? 1 : 1 + factors;
    assert(plans > 0 && plans * branches <= s->rows);
    for (int r = 0; r < plans * branches; r++) {
        int plan = r / branches, branch = r % branches;
        s->t[r] = (Real)t;
        memcpy(s->x + (size_t)r * size, x + (size_t)plan * size, (size_t)size * sizeof *x);
        if (width)
            memcpy(s->context + (size_t)r * width, context + (size_t)plan * width,
                   width * sizeof *context);
        for (int k = 0; k < factors; k++) {
            bool shown = composition == COMPOSE_JOINT || branch == 1 + k;
            s->z[r * factors + k] = shown ? z[plan * factors + k] : EMBEDDING_NULL;
        }
    }
    if (branches == 1) {
        score_forward(p, s->work, s->x, s->t, s->z, s->context, plans, pool);
        return;
    }
    score_forward(s->out, s->work, s->x, s->t, s->z, s->context, plans * branches, pool);
    compose_scores(p, s->out, weights, factors, plans, size);
}

void sampler_load(Sampler *sampler, const Real *params, FacetPool *pool)
{
    score_load(sampler->work, params, pool);
}

void sampler_share(Sampler *lane, const Sampler *with) { score_share(lane->work, with->work); }

const ScoreWork *sampler_work(const Sampler *sampler) { return sampler->work; }

FacetStatus sampler_advance(Real *x, Real *x0_before, const Real *p, const SamplerPlan *plan,
                            int index, size_t size)
{
    const SamplerStep *step = &plan->step[index];
    Real limit = plan->config.clip > 0.0 ? (Real)plan->config.clip : R(INFINITY);
    Real from_x = R(step->clean.first), from_p = R(step->clean.second);
    Real keep = R(step->keep), now = R(step->now), before = R(step->before);
    Real sum = 0;
    for (size_t j = 0; j < size; j++) {
        Real clean = from_x * x[j] + from_p * p[j];
        clean = clean > limit ? limit : clean < -limit ? -limit : clean;
        x[j] = keep * x[j] + now * clean + (index > 0 ? before * x0_before[j] : R(0));
        x0_before[j] = clean;
        sum += x[j];
    }
    if (isfinite(sum)) return status_ok();
    return status_fail(FACET_NOT_FINITE, "sampling: step %d of %d (t = %d) is not finite",
                       index + 1, plan->config.steps, step->t);
}

FacetStatus sampler_run(Real *x, Real *path, Sampler *s, const SamplerPlan *plan,
                        Composition composition, const double *weights, const int *z,
                        const Real *context, int plans, FacetPool *pool)
{
    size_t size = (size_t)plans * plan_size(s->net);
    for (int i = 0; i < plan->config.steps; i++) {
        if (path) memcpy(path + (size_t)i * size, x, size * sizeof *x);
        sampler_predict(s->p, s, x, plan->step[i].t, composition, weights, z, context, plans, pool);
        TRY(sampler_advance(x, s->before, s->p, plan, i, size));
    }
    if (path) memcpy(path + (size_t)plan->config.steps * size, x, size * sizeof *x);
    return status_ok();
}

#ifndef FACET_REAL_DOUBLE

static void ddim_step(SamplerStep *step)
{
    double kept = sqrt((1.0 - step->alpha_bar_next) / (1.0 - step->alpha_bar));
    step->keep = kept;
    step->now = sqrt(step->alpha_bar_next) - kept * sqrt(step->alpha_bar);
}

static double log_snr(double alpha_bar) { return 0.5 * (log(alpha_bar) - log1p(-alpha_bar)); }

// `before` is the step taken before this one, or NULL for the first. The first and the last step
// are of first order, where the step is DDIM's.
static void dpmpp_step(SamplerStep *step, const SamplerStep *before)
{
    ddim_step(step);
    if (!before || step->alpha_bar_next >= 1.0) return;
    double h = log_snr(step->alpha_bar_next) - log_snr(step->alpha_bar);
    double r = (log_snr(step->alpha_bar) - log_snr(before->alpha_bar)) / h;
    double gain = -sqrt(step->alpha_bar_next) * expm1(-h);
    step->now = gain * (1.0 + 0.5 / r);
    step->before = -gain * 0.5 / r;
}

FacetStatus sampler_plan(SamplerPlan *plan, const NoiseSchedule *schedule, SamplerConfig config)
{
    int times[SCHEDULE_STEPS_MAX];
    TRY(schedule_times(times, config.steps, schedule, config.spacing));
    if (!(config.clip >= 0.0))
        return status_fail(FACET_BAD_ARGUMENT, "sampler: expected a clip of 0 or more, found %g",
                           config.clip);
    *plan = (SamplerPlan){.config = config};
    for (int i = 0; i < config.steps; i++) {
        SamplerStep *step = &plan->step[i];
        step->t = times[i];
        step->alpha_bar = schedule->alpha_bar[times[i]];
        step->alpha_bar_next = i + 1 < config.steps ? schedule->alpha_bar[times[i + 1]] : 1.0;
        step->clean = prediction_to_x0(config.prediction, step->alpha_bar);
        if (config.kind == SAMPLER_DPMPP)
            dpmpp_step(step, i > 0 ? step - 1 : NULL);
        else
            ddim_step(step);
    }
    return status_ok();
}

#endif
