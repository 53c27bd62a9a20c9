// Decomposition error and Lipschitz constants over noised demonstrations (see
// facet_study/certify.h; paper, Appendices B.5 and D).
//
// At one a_t all scores are differences of eps, and eps is linear in the prediction p:
// eps - eps' = second (p - p'). A sample takes 2 K + 3 rows of one batch: the null branch, each
// factor alone and all together for z, and the same without the null branch for z', which differs
// from z in every factor that can.
#include "certify/diagnostics.h"
#include "base/progress.h"
#include "base/rng.h"
#include "certify/path.h"
#include "diffusion/streams.h"
#include "nn/layers.h"
#include "policy/parts.h"

#include <assert.h>
#include <facet_study/certify.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 8 }; // samples that go through the network together

typedef struct Diagnosis {
    const FacetPolicy *policy;
    const FacetFactorTask *tasks;
    const double *clean;   // [tasks][size], normalised
    const float *contexts; // [tasks][context], of a policy that takes observations
    int task_count, samples;
    uint64_t seed;
    int factors, size, rows; // rows a sample
    ScoreWork *work;
    float *memory;
    float *x, *p, *t;  // [BATCH rows][size], and [BATCH rows]
    float *composed;   // [size]
    float *noise;      // [BATCH][size]
    float *context;    // [BATCH rows][context]
    int *z;            // [BATCH rows][factors]
    double *joint;     // [samples], L_joint
    double *eps_d;     // [samples]
    double *error[2];  // [samples], mean squares of the joint and of the composed noise's error
    double *lipschitz; // [factors][samples]
    double *channel;   // [samples][D], of the decomposition error
    double *sorted;    // [samples]
    double *doubles;   // memory of these and of `clean`
} Diagnosis;

// Noise levels are taken in turn, so that every band of them has its share.
static int time_of(const Diagnosis *d, int sample) { return sample % d->policy->schedule.steps; }

// Another value that the policy knows, or the same when there is none.
static int other_value(const FacetPolicy *policy, int factor, int value, FacetRng *rng)
{
    int count = facet_factor_value_count(policy->space, factor), known = 0, pick;
    for (int v = 0; v < count; v++) known += v != value && facet_policy_knows(policy, factor, v);
    if (known == 0) return value;
    pick = (int)(rng_uniform(rng) * known);
    for (int v = 0; v < count; v++)
        if (v != value && facet_policy_knows(policy, factor, v) && pick-- == 0) return v;
    return value;
}

static void fill_sample(Diagnosis *d, int sample, int slot)
{
    FacetRng rng = rng_make(d->seed, STREAM_CERTIFY + (uint64_t)sample);
    int task = (int)(rng_uniform(&rng) * d->task_count), first = slot * d->rows;
    const double *clean = d->clean + (size_t)task * d->size;
    double alpha_bar = d->policy->schedule.alpha_bar[time_of(d, sample)];
    float *x = d->x + (size_t)first * d->size, *noise = d->noise + (size_t)slot * d->size;
    size_t width = (size_t)d->policy->net->config.context;
    for (int i = 0; i < d->size; i++) {
        double epsilon = rng_normal(&rng);
        x[i] = (float)(sqrt(alpha_bar) * clean[i] + sqrt(1.0 - alpha_bar) * epsilon);
        noise[i] = (float)epsilon;
    }
    for (int r = 0; r < d->rows; r++) {
        if (width)
            memcpy(d->context + (size_t)(first + r) * width, d->contexts + (size_t)task * width,
                   width * sizeof *d->context);
        if (r > 0) memcpy(x + (size_t)r * d->size, x, (size_t)d->size * sizeof *x);
        d->t[first + r] = (float)time_of(d, sample);
        for (int f = 0; f < d->factors; f++) d->z[(first + r) * d->factors + f] = EMBEDDING_NULL;
    }
    // Row 0 is the null branch; 1, ..., K show one factor and K + 1 all; then the same for z'.
    int *z = d->z + (size_t)first * d->factors;
    for (int f = 0; f < d->factors; f++) {
        int value = d->tasks[task].value[f], other = other_value(d->policy, f, value, &rng);
        int joint = d->factors + 1;
        z[(1 + f) * d->factors + f] = z[joint * d->factors + f] = value;
        z[(joint + 1 + f) * d->factors + f] = z[(2 * joint) * d->factors + f] = other;
    }
}

static double distance(const float *a, const float *b, int size)
{
    double sum = 0.0;
    for (int i = 0; i < size; i++) {
        double gap = (double)a[i] - (double)b[i];
        sum += gap * gap;
    }
    return sqrt(sum);
}

// The mean square of what a prediction says of the noise beside the noise.
static double noise_error(const Diagnosis *d, const float *p, const float *x, int slot,
                          double alpha_bar)
{
    Mix mix = prediction_to_epsilon(d->policy->prediction, alpha_bar);
    const float *noise = d->noise + (size_t)slot * d->size;
    double sum = 0.0;
    for (int i = 0; i < d->size; i++) {
        double gap = mix.first * (double)x[i] + mix.second * (double)p[i] - (double)noise[i];
        sum += gap * gap;
    }
    return sum / d->size;
}

static void measure_sample(Diagnosis *d, int sample, int slot)
{
    int size = d->size, joint = d->factors + 1, dim = d->policy->net->config.dim, changed = 0;
    const float *p = d->p + (size_t)slot * d->rows * size;
    const int *z = d->z + (size_t)slot * d->rows * d->factors;
    double alpha_bar = d->policy->schedule.alpha_bar[time_of(d, sample)];
    double scale = fabs(prediction_to_epsilon(d->policy->prediction, alpha_bar).second);
    const float *x = d->x + (size_t)slot * d->rows * size;
    compose_scores(d->composed, p, NULL, d->factors, 1, size);
    d->error[0][sample] = noise_error(d, p + (size_t)joint * size, x, slot, alpha_bar);
    d->error[1][sample] = noise_error(d, d->composed, x, slot, alpha_bar);
    double *channel = d->channel + (size_t)sample * dim, sum = 0.0;
    for (int c = 0; c < dim; c++) {
        double square = 0.0;
        for (int i = c; i < size; i += dim) {
            double gap = scale * ((double)d->composed[i] - (double)p[(size_t)joint * size + i]);
            square += gap * gap;
        }
        channel[c] = sqrt(square);
        sum += square;
    }
    d->eps_d[sample] = sqrt(sum);
    for (int f = 0; f < d->factors; f++) {
        const float *one = p + (size_t)(1 + f) * size, *other = one + (size_t)joint * size;
        d->lipschitz[(size_t)f * d->samples + sample] = scale * distance(one, other, size);
        changed += z[joint * d->factors + f] != z[2 * joint * d->factors + f];
    }
    double gap = distance(p + (size_t)joint * size, p + (size_t)(2 * joint) * size, size);
    d->joint[sample] = changed ? scale * gap / sqrt(changed) : 0.0;
}

// ---- Statistics ---------------------------------------------------------------------------------

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Mean, 95th percentile (the least value that 95 % do not exceed) and greatest. Sorts.
static FacetCertifySpread spread_of(double *values, int count)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += values[i];
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (FacetCertifySpread){sum / count, values[(95 * count + 99) / 100 - 1],
                                values[count - 1]};
}

static FacetCertifySpread spread(const Diagnosis *d, const double *values)
{
    memcpy(d->sorted, values, (size_t)d->samples * sizeof *values);
    return spread_of(d->sorted, d->samples);
}

static FacetCertifyLevel level(const Diagnosis *d, int band)
{
    int times = d->policy->schedule.steps, dim = d->policy->net->config.dim;
    FacetCertifyLevel out = {.t_first = band * times / FACET_CERTIFY_LEVELS,
                             .t_last = (band + 1) * times / FACET_CERTIFY_LEVELS - 1};
    for (int s = 0; s < d->samples; s++) {
        int t = time_of(d, s);
        if (t < out.t_first || t > out.t_last) continue;
        for (int c = 0; c < dim; c++) {
            double norm = d->channel[(size_t)s * dim + c];
            out.channel[c] += norm * norm;
        }
        out.joint_error += d->error[0][s];
        out.composed_error += d->error[1][s];
        d->sorted[out.count++] = d->eps_d[s];
    }
    if (out.count == 0) return out;
    for (int c = 0; c < dim; c++) out.channel[c] = sqrt(out.channel[c] / out.count);
    out.joint_error = sqrt(out.joint_error / out.count);
    out.composed_error = sqrt(out.composed_error / out.count);
    FacetCertifySpread all = spread_of(d->sorted, out.count);
    out.mean = all.mean;
    out.p95 = all.p95;
    return out;
}

static void summarise(FacetCertifyDiagnostics *out, const Diagnosis *d)
{
    *out = (FacetCertifyDiagnostics){.samples = d->samples,
                                     .factors = d->factors,
                                     .channels = d->policy->net->config.dim,
                                     .eps_d = spread(d, d->eps_d),
                                     .joint = spread(d, d->joint)};
    for (int f = 0; f < d->factors; f++)
        out->lipschitz[f] = spread(d, d->lipschitz + (size_t)f * d->samples);
    for (int band = 0; band < FACET_CERTIFY_LEVELS; band++) out->levels[band] = level(d, band);
}

// ---- The whole ----------------------------------------------------------------------------------

static FacetStatus allocate(Diagnosis *d, const double *actions, int threads)
{
    const ScoreNetConfig *net = &d->policy->net->config;
    size_t rows = (size_t)BATCH * d->rows, size = (size_t)d->size, samples = (size_t)d->samples;
    size_t clean = (size_t)d->task_count * size;
    size_t context = (size_t)net->context;
    d->memory = calloc(rows * (2 * size + 1 + context) + (1 + BATCH) * size, sizeof *d->memory);
    d->z = calloc(rows * (size_t)d->factors, sizeof *d->z);
    d->doubles = calloc(clean + samples * (size_t)(5 + d->factors + net->dim), sizeof *d->doubles);
    if (!d->memory || !d->z || !d->doubles)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d samples", d->samples);
    d->x = d->memory;
    d->p = d->x + rows * size;
    d->t = d->p + rows * size;
    d->composed = d->t + rows;
    d->noise = d->composed + size;
    d->context = d->noise + BATCH * size;
    normalizer_apply(d->doubles, d->policy->normalizer, actions,
                     (size_t)d->task_count * (size_t)net->horizon);
    d->clean = d->doubles;
    d->joint = d->doubles + clean;
    d->eps_d = d->joint + samples;
    d->sorted = d->eps_d + samples;
    d->error[0] = d->sorted + samples;
    d->error[1] = d->error[0] + samples;
    d->lipschitz = d->error[1] + samples;
    d->channel = d->lipschitz + (size_t)d->factors * samples;
    return score_work_create(&d->work, d->policy->net, (int)rows, threads);
}

static FacetStatus diagnose(Diagnosis *d, FacetPool *pool, Progress *progress)
{
    score_load(d->work, d->policy->params[0], pool);
    for (int first = 0; first < d->samples; first += BATCH) {
        int count = d->samples - first < BATCH ? d->samples - first : BATCH;
        for (int i = 0; i < count; i++) fill_sample(d, first + i, i);
        score_forward(d->p, d->work, d->x, d->t, d->z, d->contexts ? d->context : NULL,
                      count * d->rows, pool);
        for (int i = 0; i < count; i++) measure_sample(d, first + i, i);
        TRY(progress_add(progress, count, NULL));
    }
    return status_ok();
}

FacetStatus certify_diagnose(FacetCertifyDiagnostics *diagnostics, const FacetPolicy *policy,
                             const FacetFactorTask *tasks, const double *actions,
                             const float *contexts, int task_count, int samples, uint64_t seed,
                             FacetPool *pool, const FacetProgress *progress)
{
    const ScoreNetConfig *net = &policy->net->config;
    TRY(certify_check_policy(policy));
    assert((contexts != NULL) == (net->context > 0));
    if (net->dim > FACET_CERTIFY_CHANNELS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "expected a policy of at most %d channels, found %d",
                           FACET_CERTIFY_CHANNELS_MAX, net->dim);
    if (samples < 1 || task_count < 1)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected at least one sample of one task, found %d of %d", samples,
                           task_count);
    for (int i = 0; i < task_count; i++) TRY(policy_check_task(policy, tasks[i]));
    Diagnosis d = {.policy = policy,
                   .tasks = tasks,
                   .contexts = contexts,
                   .task_count = task_count,
                   .samples = samples,
                   .seed = seed,
                   .factors = net->factors,
                   .size = net->horizon * net->dim,
                   .rows = 2 * net->factors + 3};
    FacetStatus status = allocate(&d, actions, facet_pool_threads(pool));
    if (status.ok) {
        Progress done;
        progress_begin(&done, progress, "diagnostics", samples);
        status = diagnose(&d, pool, &done);
        progress_end(&done);
    }
    if (status.ok) summarise(diagnostics, &d);
    score_work_free(d.work);
    free(d.memory);
    free(d.z);
    free(d.doubles);
    return status;
}

FacetStatus facet_certify_diagnostics(FacetCertifyDiagnostics *diagnostics,
                                      const FacetPolicy *policy, const FacetFactorTask *tasks,
                                      const double *actions, int task_count, int samples,
                                      uint64_t seed, FacetPool *pool, const FacetProgress *progress)
{
    TRY(certify_check_blind(policy));
    return certify_diagnose(diagnostics, policy, tasks, actions, NULL, task_count, samples, seed,
                            pool, progress);
}
