// The exact interaction log-ratio and the test of Theorem 1 (see certify/interaction.h).
#include "certify/interaction.h"

#include "base/progress.h"
#include "linalg/eigen.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double GROWTH = 1.1; // of the length of the segments, from one look to the next
enum { LOOKS_MAX = 500 };

// ---- One point ----------------------------------------------------------------------------------

// The set of tasks `k` of g's terms: all of them, or those with the value of factor k - 1.
static FacetFactorTask set_of(const Mixture *m, int index, int k)
{
    FacetFactorTask z = facet_factor_task_null();
    if (k > 0) z.value[k - 1] = m->tasks[index].value[k - 1];
    return z;
}

static double weight_of(const Mixture *m, int k) { return k == 0 ? m->factors - 1.0 : -1.0; }

// hessian [n][n] += weight C(S) in the coordinates of the centres' span.
static void add_covariance(double *hessian, const Mixture *m, const double *r, double weight)
{
    int n = m->count;
    double mean[MIXTURE_TASKS_MAX] = {0}, away[MIXTURE_TASKS_MAX];
    for (int z = 0; z < n; z++)
        if (r[z] > 0.0)
            for (int k = 0; k < n; k++) mean[k] += r[z] * m->reduced[z * n + k];
    for (int z = 0; z < n; z++) {
        if (r[z] <= 0.0) continue;
        for (int k = 0; k < n; k++) away[k] = m->reduced[z * n + k] - mean[k];
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++) hessian[i * n + k] += weight * r[z] * away[i] * away[k];
    }
}

// g and the Hessian's norm from the logs l of the point. mix [n], if not NULL, gets the weights of
// the centres in the gradient.
static Interaction evaluate(double *mix, const Mixture *m, int index, const double *l,
                            double alpha_bar)
{
    double hessian[MIXTURE_TASKS_MAX * MIXTURE_TASKS_MAX] = {0};
    double r[MIXTURE_TASKS_MAX], values[MIXTURE_TASKS_MAX];
    int n = m->count;
    Interaction out = {.g = l[index]};
    if (mix)
        for (int z = 0; z < n; z++) mix[z] = z == index ? 1.0 : 0.0;
    for (int k = 0; k <= m->factors; k++) {
        double weight = weight_of(m, k);
        out.g += weight * mixture_shares(r, m, l, set_of(m, index, k));
        add_covariance(hessian, m, r, weight);
        if (mix)
            for (int z = 0; z < n; z++) mix[z] += weight * r[z];
    }
    eigen_symmetric(values, NULL, hessian, n);
    for (int z = 0; z < n; z++) out.curvature = fmax(out.curvature, fabs(values[z]));
    out.curvature *= alpha_bar / ((1.0 - alpha_bar) * (1.0 - alpha_bar));
    return out;
}

// The gradient from the weights of the centres in it; returns its norm.
static double gradient_of(double *gradient, const Mixture *m, const double *mix, double alpha_bar)
{
    double scale = sqrt(alpha_bar) / (1.0 - alpha_bar), square = 0.0;
    memset(gradient, 0, (size_t)m->size * sizeof *gradient);
    for (int z = 0; z < m->count; z++)
        for (int i = 0; i < m->size; i++)
            gradient[i] += scale * mix[z] * m->centres[(size_t)z * m->size + i];
    for (int i = 0; i < m->size; i++) square += gradient[i] * gradient[i];
    return sqrt(square);
}

// The gradient's norm alone, in the coordinates of the span: the weights add up to nothing.
static double gap_of(const Mixture *m, const double *mix, double alpha_bar)
{
    double square = 0.0;
    for (int k = 0; k < m->count; k++) {
        double sum = 0.0;
        for (int z = 0; z < m->count; z++) sum += mix[z] * m->reduced[z * m->count + k];
        square += sum * sum;
    }
    return sqrt(alpha_bar) / (1.0 - alpha_bar) * sqrt(square);
}

Interaction interaction_at(double *gradient, const Mixture *m, int index, const double *a,
                           double alpha_bar)
{
    double l[MIXTURE_TASKS_MAX], mix[MIXTURE_TASKS_MAX];
    assert(index >= 0 && index < m->count);
    mixture_logs(l, m, a, alpha_bar);
    Interaction out = evaluate(mix, m, index, l, alpha_bar);
    out.gap = gradient ? gradient_of(gradient, m, mix, alpha_bar) : gap_of(m, mix, alpha_bar);
    return out;
}

// ---- Segments -----------------------------------------------------------------------------------

// A state and the way its logs change along the gradient: at distance t they are l + t slope, up to
// a constant that all tasks share.
typedef struct Segment {
    bool flat; // no gradient beyond rounding, so no segment
    double l[MIXTURE_TASKS_MAX], slope[MIXTURE_TASKS_MAX];
} Segment;

typedef struct MeasureWork {
    const Mixture *mixture;
    const double *states, *alpha_bar;
    const int *index;
    int count;
    Segment *segments; // [threads][count]
    double *gradients; // [threads][size]
    InteractionLevel *levels;
    Progress *progress;
} MeasureWork;

static void take_in(InteractionLevel *level, Interaction seen)
{
    level->g = fmax(level->g, fabs(seen.g));
    level->m = fmax(level->m, seen.curvature);
    level->points++;
}

// What rounding makes of a gradient that is zero.
static double gap_rounding(const Mixture *m, double alpha_bar)
{
    return 1e-13 * sqrt(alpha_bar) / (1.0 - alpha_bar) * m->spread;
}

// The state itself, and its segment for later.
static void begin_segment(Segment *segment, InteractionLevel *level, double *gradient,
                          const Mixture *m, int index, const double *a, double alpha_bar)
{
    double mix[MIXTURE_TASKS_MAX];
    mixture_logs(segment->l, m, a, alpha_bar);
    Interaction seen = evaluate(mix, m, index, segment->l, alpha_bar);
    seen.gap = gradient_of(gradient, m, mix, alpha_bar);
    take_in(level, seen);
    level->max_gap = fmax(level->max_gap, seen.gap);
    segment->flat = seen.gap <= gap_rounding(m, alpha_bar);
    if (segment->flat) return;
    double scale = sqrt(alpha_bar) / (1.0 - alpha_bar) / seen.gap;
    for (int z = 0; z < m->count; z++) {
        const double *centre = m->centres + (size_t)z * m->size;
        double dot = 0.0;
        for (int i = 0; i < m->size; i++) dot += gradient[i] * centre[i];
        segment->slope[z] = scale * dot;
    }
}

// The next distance beyond `from` at which another task of set z becomes the likeliest; infinite
// when none does. There the Hessian of the set's log-sum has its peak, which is narrow where the
// noise is small.
static double next_switch(const Segment *segment, const Mixture *m, FacetFactorTask z, double from)
{
    int best = -1;
    double most = 0.0, next = HUGE_VAL;
    for (int i = 0; i < m->count; i++) {
        double l = segment->l[i] + from * segment->slope[i];
        if (!mixture_fits(m, i, z)) continue;
        if (best >= 0 && (l < most || (l == most && segment->slope[i] <= segment->slope[best])))
            continue;
        best = i;
        most = l;
    }
    for (int i = 0; i < m->count; i++) {
        double faster = segment->slope[i] - segment->slope[best];
        if (!mixture_fits(m, i, z) || faster <= 0.0) continue;
        double distance = (segment->l[best] - segment->l[i]) / faster;
        if (distance > from) next = fmin(next, distance);
    }
    return next;
}

static void look_at(InteractionLevel *level, const Segment *segment, const Mixture *m, int index,
                    double distance, double alpha_bar)
{
    double l[MIXTURE_TASKS_MAX];
    for (int z = 0; z < m->count; z++) l[z] = segment->l[z] + distance * segment->slope[z];
    take_in(level, evaluate(NULL, m, index, l, alpha_bar));
}

// Looks at the end of a stretch of a segment, and wherever the likeliest task changes within it.
static void look_along(InteractionLevel *level, const Segment *segment, const Mixture *m, int index,
                       double from, double to, double alpha_bar)
{
    if (segment->flat) return;
    for (int k = 0; k <= m->factors; k++) {
        FacetFactorTask set = set_of(m, index, k);
        double at = next_switch(segment, m, set, from);
        for (; at < to; at = next_switch(segment, m, set, at))
            look_at(level, segment, m, index, at, alpha_bar);
    }
    look_at(level, segment, m, index, to, alpha_bar);
}

// Lengthens the segments of all states of a level until they are as long as the proof wants them.
static FacetStatus measure_level(void *context, int k, int worker)
{
    const MeasureWork *work = context;
    const Mixture *m = work->mixture;
    TRY(progress_add(work->progress, 0, NULL));
    double alpha_bar = work->alpha_bar[k];
    Segment *segments = work->segments + (size_t)worker * work->count;
    double *gradient = work->gradients + (size_t)worker * m->size;
    InteractionLevel *level = &work->levels[k];
    *level = (InteractionLevel){.sigma = sqrt(1.0 - alpha_bar)};
    for (int i = 0; i < work->count; i++)
        begin_segment(&segments[i], level, gradient, m, work->index[i],
                      work->states + ((size_t)k * work->count + i) * m->size, alpha_bar);
    double rounding = gap_rounding(m, alpha_bar);
    if (level->max_gap > rounding) {
        // The first look is well within the width of a boundary between two centres.
        double width = (1.0 - alpha_bar) / (sqrt(alpha_bar) * m->spread);
        double length = 0.1 * fmin(width, 2.0 * sqrt(level->g / level->m));
        int looks = 0;
        do {
            for (int i = 0; i < work->count; i++)
                look_along(level, &segments[i], m, work->index[i], level->length, length,
                           alpha_bar);
            level->length = length;
            length *= GROWTH;
        } while (!(level->length >= 2.0 * sqrt(level->g / level->m)) && ++looks < LOOKS_MAX);
        if (looks == LOOKS_MAX) level->length = HUGE_VAL;
    }
    level->bound = isinf(level->length) ? HUGE_VAL : 2.0 * sqrt(level->g * level->m);
    level->holds = level->max_gap <= level->bound + rounding;
    return progress_add(work->progress, 1, NULL);
}

static void sum_up(InteractionReport *report)
{
    report->holds = true;
    for (int k = 0; k < report->level_count; k++) {
        const InteractionLevel *level = &report->levels[k];
        report->points += level->points;
        report->g = fmax(report->g, level->g);
        report->m = fmax(report->m, level->m);
        report->max_gap = fmax(report->max_gap, level->max_gap);
        report->length = fmax(report->length, level->length);
        report->holds &= level->holds;
        if (level->length > 0.0)
            report->worst_ratio = fmax(report->worst_ratio, level->max_gap / level->bound);
    }
    report->bound = isinf(report->length) ? HUGE_VAL : 2.0 * sqrt(report->g * report->m);
}

FacetStatus interaction_measure(InteractionReport *report, const Mixture *m, const double *states,
                                const double *alpha_bar, int levels, const int *index, int count,
                                FacetPool *pool, const FacetProgress *progress)
{
    size_t threads = (size_t)facet_pool_threads(pool), room = (size_t)count + 1;
    *report = (InteractionReport){.tasks = m->count, .states = count, .level_count = levels};
    report->levels = calloc((size_t)levels + 1, sizeof *report->levels);
    Segment *segments = calloc(threads * room, sizeof *segments);
    double *gradients = calloc(threads * (size_t)m->size, sizeof *gradients);
    FacetStatus status =
        report->levels && segments && gradients
            ? status_ok()
            : status_fail(FACET_NO_MEMORY, "out of memory for the interaction at %d states", count);
    if (status.ok) {
        Progress done;
        progress_begin(&done, progress, "noise levels", levels);
        MeasureWork work = {m,        states,    alpha_bar,      index, count,
                            segments, gradients, report->levels, &done};
        status = pool_try(pool, levels, measure_level, &work);
        progress_end(&done);
    }
    if (status.ok)
        sum_up(report);
    else
        interaction_report_free(report);
    free(segments);
    free(gradients);
    return status;
}

void interaction_report_free(InteractionReport *report)
{
    free(report->levels);
    *report = (InteractionReport){0};
}
