// Sampling and composition (see diffusion/sampler.h).
#include "diffusion/sampler.h"

#include "base/rng.h"
#include "diffusion/streams.h"
#include "nn/layers.h"

#include <assert.h>
#include <stdlib.h>

// What stays the same over the steps of plans.
typedef struct Run {
    const SamplerPlan *plan;
    Composition composition;
    const int *z;
    const Real *context;
    int plans;
} Run;

struct Sampler {
    const ScoreNet *net;
    ScoreWork *work;
    int rows; // branches of all plans at once
    Real *memory;
    Real *x, *out;    // [rows][T][D]
    Real *p, *before; // [plans][T][D]

    // The conditions that were computed at once: those of all branches at one time after another.
    int conditions; // of which there is room for so many
    Real *t;        // [conditions]
    Real *context;  // [conditions][context]
    int *z;         // [conditions][K]
    Run run;        // of the last sampler_begin
    int from, to;   // its steps that they belong to
};

static int plan_size(const ScoreNet *net) { return net->config.horizon * net->config.dim; }

static FacetStatus allocate(Sampler *s)
{
    size_t numbers = (size_t)s->rows * (size_t)plan_size(s->net);
    size_t conditions = (size_t)s->conditions, width = (size_t)s->net->config.context;
    s->memory = calloc(4 * numbers + conditions * (1 + width), sizeof *s->memory);
    s->z = calloc(conditions * (size_t)(s->net->config.factors + 1), sizeof *s->z);
    if (!s->memory || !s->z)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d rows at once", s->rows);
    s->x = s->memory;
    s->out = s->x + numbers;
    s->p = s->out + numbers;
    s->before = s->p + numbers;
    s->t = s->before + numbers;
    s->context = s->t + conditions;
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
    s->conditions = score_conditions(rows, false);
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

static int run_branches(const Sampler *s, const Run *run)
{
    return run->composition == COMPOSE_JOINT ? 1 : 1 + s->net->config.factors;
}

// The condition of branch `row` of a run at time t, as number `at` of those computed at once.
static void lay_condition(Sampler *s, const Run *run, int at, int row, int t)
{
    int factors = s->net->config.factors, branches = run_branches(s, run);
    int plan = row / branches, branch = row % branches;
    size_t width = (size_t)s->net->config.context;
    s->t[at] = (Real)t;
    if (width)
        memcpy(s->context + (size_t)at * width, run->context + (size_t)plan * width,
               width * sizeof *s->context);
    for (int k = 0; k < factors; k++) {
        bool shown = branches == 1 || branch == 1 + k;
        s->z[at * factors + k] = shown ? run->z[plan * factors + k] : EMBEDDING_NULL;
    }
}

// The prediction of the first `plans` of a run, whose conditions begin at number `first`.
static void predict_under(Real *p, Sampler *s, const Real *x, const Run *run, int first,
                          const double *weights, int plans, FacetPool *pool)
{
    int branches = run_branches(s, run), size = plan_size(s->net);
    if (branches == 1) {
        score_forward_under(p, s->work, x, first, plans, pool);
        return;
    }
    for (int r = 0; r < plans * branches; r++)
        memcpy(s->x + (size_t)r * size, x + (size_t)(r / branches) * size,
               (size_t)size * sizeof *x);
    score_forward_under(s->out, s->work, s->x, first, plans * branches, pool);
    compose_scores(p, s->out, weights, branches - 1, plans, size);
}

void sampler_predict(Real *p, Sampler *s, const Real *x, int t, Composition composition,
                     const double *weights, const int *z, const Real *context, int plans,
                     FacetPool *pool)
{
    const Run run = {NULL, composition, z, context, plans};
    int rows = plans * run_branches(s, &run);
    assert(plans > 0 && rows <= s->rows);
    s->from = s->to = 0;
    for (int row = 0; row < rows; row++) lay_condition(s, &run, row, row, t);
    score_condition(s->work, s->t, s->z, s->context, rows, pool);
    predict_under(p, s, x, &run, 0, weights, plans, pool);
}

void sampler_begin(Sampler *s, const SamplerPlan *plan, Composition composition, const int *z,
                   const Real *context, int plans)
{
    s->run = (Run){plan, composition, z, context, plans};
    s->from = s->to = 0;
    assert(plans > 0 && plans * run_branches(s, &s->run) <= s->rows);
}

// The conditions of the run from step `index` on, for as many steps as there is room.
static void look_ahead(Sampler *s, int index, int rows, FacetPool *pool)
{
    int steps = s->run.plan->config.steps - index, room = s->conditions / rows;
    if (steps > room) steps = room;
    for (int i = 0; i < steps * rows; i++)
        lay_condition(s, &s->run, i, i % rows, s->run.plan->step[index + i / rows].t);
    score_condition(s->work, s->t, s->z, s->context, steps * rows, pool);
    s->from = index;
    s->to = index + steps;
}

void sampler_step(Real *p, Sampler *s, const Real *x, int index, const double *weights, int plans,
                  FacetPool *pool)
{
    int rows = s->run.plans * run_branches(s, &s->run);
    assert(plans > 0 && plans <= s->run.plans);
    if (index < s->from || index >= s->to) look_ahead(s, index, rows, pool);
    predict_under(p, s, x, &s->run, (index - s->from) * rows, weights, plans, pool);
}

void sampler_load(Sampler *sampler, const Real *params, FacetPool *pool)
{
    score_load(sampler->work, params, pool);
}

void sampler_share(Sampler *lane, const Sampler *with) { score_share(lane->work, with->work); }

const ScoreWork *sampler_work(const Sampler *sampler) { return sampler->work; }

FacetStatus sampler_run(Real *x, Real *path, Sampler *s, const SamplerPlan *plan,
                        Composition composition, const double *weights, const int *z,
                        const Real *context, int plans, FacetPool *pool)
{
    size_t size = (size_t)plans * plan_size(s->net);
    sampler_begin(s, plan, composition, z, context, plans);
    for (int i = 0; i < plan->config.steps; i++) {
        if (path) memcpy(path + (size_t)i * size, x, size * sizeof *x);
        sampler_step(s->p, s, x, i, weights, plans, pool);
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
    step->now = fma(-kept, sqrt(step->alpha_bar), sqrt(step->alpha_bar_next));
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
