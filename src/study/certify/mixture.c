// Exact scores of an expert under noise (see certify/mixture.h).
//
// In double throughout; log-sums are taken about their greatest term, so that responsibilities
// become one-hot at small sigma without overflow.
#include "certify/mixture.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Making one ---------------------------------------------------------------------------------

static double squared_distance(const double *a, const double *b, double scale, int size)
{
    double sum = 0.0;
    for (int i = 0; i < size; i++) {
        double gap = a[i] - scale * b[i];
        sum += gap * gap;
    }
    return sum;
}

static double dot(const double *a, const double *b, int size)
{
    double sum = 0.0;
    for (int i = 0; i < size; i++) sum += a[i] * b[i];
    return sum;
}

// The centre that is farthest from the axes so far.
static int farthest(const Mixture *m, const double *rest)
{
    int best = 0;
    double most = -1.0;
    for (int z = 0; z < m->count; z++) {
        double square = dot(rest + (size_t)z * m->size, rest + (size_t)z * m->size, m->size);
        if (square <= most) continue;
        most = square;
        best = z;
    }
    return best;
}

// Coordinates of the centres about their mean along orthonormal axes (Gram and Schmidt, the
// farthest centre first): distances stay, and what is left of a centre counts as zero below 1e-12
// of the spread. rest [count][size] and axis [size] are scratch.
static void reduce_centres(Mixture *m, double *rest, double *axis)
{
    int n = m->count, size = m->size;
    for (int y = 0; y < n; y++)
        for (int z = 0; z < n; z++) {
            const double *a = m->centres + (size_t)y * size, *b = m->centres + (size_t)z * size;
            m->spread = fmax(m->spread, sqrt(squared_distance(a, b, 1.0, size)));
        }
    for (int i = 0; i < size; i++) {
        double mean = 0.0;
        for (int z = 0; z < n; z++) mean += m->centres[(size_t)z * size + i] / n;
        for (int z = 0; z < n; z++)
            rest[(size_t)z * size + i] = m->centres[(size_t)z * size + i] - mean;
    }
    for (int k = 0; k < n; k++) {
        const double *pivot = rest + (size_t)farthest(m, rest) * size;
        double length = sqrt(dot(pivot, pivot, size));
        if (length <= 1e-12 * m->spread) break;
        for (int i = 0; i < size; i++) axis[i] = pivot[i] / length;
        for (int z = 0; z < n; z++) {
            double *left = rest + (size_t)z * size, along = dot(left, axis, size);
            for (int i = 0; i < size; i++) left[i] -= along * axis[i];
            m->reduced[z * n + k] = along;
        }
    }
}

FacetStatus mixture_create(Mixture **out, const double *centres, const FacetFactorTask *tasks,
                           const double *weights, int count, int factors, int size)
{
    assert(factors >= 1 && factors <= FACET_FACTOR_MAX && size >= 1);
    *out = NULL;
    if (count < 1 || count > MIXTURE_TASKS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "exact scores: expected 1 to %d tasks, found %d",
                           MIXTURE_TASKS_MAX, count);
    size_t n = (size_t)count, total = n * (size_t)size;
    Mixture *m = calloc(1, sizeof *m);
    double *scratch = calloc(total + (size_t)size, sizeof *scratch);
    if (m) {
        *m = (Mixture){.count = count, .factors = factors, .size = size};
        m->tasks = calloc(n, sizeof *m->tasks);
        m->centres = calloc(total, sizeof *m->centres);
        m->log_weight = calloc(n, sizeof *m->log_weight);
        m->reduced = calloc(n * n, sizeof *m->reduced);
    }
    if (!m || !scratch || !m->tasks || !m->centres || !m->log_weight || !m->reduced) {
        mixture_destroy(m);
        free(scratch);
        return status_fail(FACET_NO_MEMORY, "out of memory for the exact scores of %d tasks",
                           count);
    }
    memcpy(m->tasks, tasks, n * sizeof *tasks);
    memcpy(m->centres, centres, total * sizeof *centres);
    for (int z = 0; z < count; z++) {
        assert(!weights || weights[z] > 0.0);
        m->log_weight[z] = weights ? log(weights[z]) : 0.0;
    }
    reduce_centres(m, scratch, scratch + total);
    free(scratch);
    *out = m;
    return status_ok();
}

void mixture_destroy(Mixture *m)
{
    if (!m) return;
    free(m->tasks);
    free(m->centres);
    free(m->log_weight);
    free(m->reduced);
    free(m);
}

// ---- Scores -------------------------------------------------------------------------------------

bool mixture_fits(const Mixture *m, int index, FacetFactorTask z)
{
    for (int f = 0; f < m->factors; f++)
        if (z.value[f] != FACET_FACTOR_NULL && z.value[f] != m->tasks[index].value[f]) return false;
    return true;
}

void mixture_logs(double *l, const Mixture *m, const double *a, double alpha_bar)
{
    double alpha = sqrt(alpha_bar), half = 0.5 / (1.0 - alpha_bar), least = HUGE_VAL;
    for (int z = 0; z < m->count; z++) {
        l[z] = squared_distance(a, m->centres + (size_t)z * m->size, alpha, m->size);
        least = fmin(least, l[z]);
    }
    for (int z = 0; z < m->count; z++) l[z] = m->log_weight[z] - half * (l[z] - least);
}

double mixture_shares(double *r, const Mixture *m, const double *l, FacetFactorTask z)
{
    double most = -HUGE_VAL, sum = 0.0;
    for (int i = 0; i < m->count; i++)
        if (mixture_fits(m, i, z)) most = fmax(most, l[i]);
    assert(most > -HUGE_VAL && "no task of the mixture has these values");
    for (int i = 0; i < m->count; i++) {
        r[i] = mixture_fits(m, i, z) ? exp(l[i] - most) : 0.0;
        sum += r[i];
    }
    for (int i = 0; i < m->count; i++) r[i] /= sum;
    return most + log(sum);
}

// x0 += scale * (mean of the centres that fit z)
static void add_mean(double *x0, const Mixture *m, const double *l, FacetFactorTask z, double scale)
{
    double r[MIXTURE_TASKS_MAX];
    mixture_shares(r, m, l, z);
    for (int i = 0; i < m->count; i++) {
        const double *centre = m->centres + (size_t)i * m->size;
        if (r[i] > 0.0)
            for (int j = 0; j < m->size; j++) x0[j] += scale * r[i] * centre[j];
    }
}

void mixture_denoise(double *x0, const Mixture *m, FacetFactorTask z, const double *a,
                     double alpha_bar)
{
    double l[MIXTURE_TASKS_MAX];
    mixture_logs(l, m, a, alpha_bar);
    memset(x0, 0, (size_t)m->size * sizeof *x0);
    add_mean(x0, m, l, z, 1.0);
}

void mixture_compose(double *x0, const Mixture *m, FacetFactorTask z, const double *a,
                     double alpha_bar)
{
    double l[MIXTURE_TASKS_MAX];
    mixture_logs(l, m, a, alpha_bar);
    memset(x0, 0, (size_t)m->size * sizeof *x0);
    add_mean(x0, m, l, facet_factor_task_null(), 1.0 - m->factors);
    for (int f = 0; f < m->factors; f++) {
        FacetFactorTask shown = facet_factor_task_null();
        shown.value[f] = z.value[f];
        add_mean(x0, m, l, shown, 1.0);
    }
}

FacetStatus mixture_sample(double *x, double *path, const Mixture *m, const SamplerPlan *plan,
                           Composition composition, FacetFactorTask z)
{
    assert(plan->config.prediction == PREDICT_X0);
    size_t size = (size_t)m->size;
    double *x0 = calloc(2 * size, sizeof *x0);
    if (!x0) return status_fail(FACET_NO_MEMORY, "out of memory for a sample");
    double *before = x0 + size;
    FacetStatus status = status_ok();
    for (int k = 0; k < plan->config.steps && status.ok; k++) {
        if (path) memcpy(path + (size_t)k * size, x, size * sizeof *x);
        if (composition == COMPOSE_JOINT)
            mixture_denoise(x0, m, z, x, plan->step[k].alpha_bar);
        else
            mixture_compose(x0, m, z, x, plan->step[k].alpha_bar);
        if (!mixture_step(x, before, x0, plan, k, size))
            status = status_fail(FACET_NOT_FINITE, "exact sampling: step %d of %d is not finite",
                                 k + 1, plan->config.steps);
    }
    if (path && status.ok) memcpy(path + (size_t)plan->config.steps * size, x, size * sizeof *x);
    free(x0);
    return status;
}
