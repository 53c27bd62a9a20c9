// Rates over tasks and training seeds (see evidence/evidence.h).
#include "evidence/evidence.h"

#include "base/rng.h"
#include "base/status.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { DRAWS = 10000, BOOTSTRAP_SEED = 1 };

FacetStatus evidence_counts_create(EvidenceCounts *counts, int tasks, int seeds)
{
    assert(tasks >= 0 && seeds >= 0);
    size_t cells = (size_t)tasks * (size_t)seeds + 1;
    *counts = (EvidenceCounts){.tasks = tasks,
                               .seeds = seeds,
                               .passed = calloc(cells, sizeof *counts->passed),
                               .trials = calloc(cells, sizeof *counts->trials)};
    if (counts->passed && counts->trials) return status_ok();
    evidence_counts_free(counts);
    return status_fail(FACET_NO_MEMORY, "out of memory for %d tasks and %d seeds", tasks, seeds);
}

void evidence_counts_free(EvidenceCounts *counts)
{
    free(counts->passed);
    free(counts->trials);
    *counts = (EvidenceCounts){0};
}

void evidence_count(EvidenceCounts *counts, int task, int seed, double passed, double trials)
{
    assert(task >= 0 && task < counts->tasks && seed >= 0 && seed < counts->seeds);
    counts->passed[task * counts->seeds + seed] += passed;
    counts->trials[task * counts->seeds + seed] += trials;
}

// ---- The bootstrap ------------------------------------------------------------------------------

// The numbers of those that have trials, in their order; returns how many.
static int present(int *out, const EvidenceCounts *c, bool tasks)
{
    int count = 0, rows = tasks ? c->tasks : c->seeds, columns = tasks ? c->seeds : c->tasks;
    for (int i = 0; i < rows; i++) {
        double trials = 0.0;
        for (int j = 0; j < columns; j++)
            trials += c->trials[tasks ? i * c->seeds + j : j * c->seeds + i];
        if (trials > 0.0) out[count++] = i;
    }
    return count;
}

static void draw_again(int *out, const int *from, int count, FacetRng *rng)
{
    for (int i = 0; i < count; i++) out[i] = from[(int)(rng_uniform(rng) * count)];
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Between the sorted values, at a share of the way.
static double quantile(const double *sorted, int count, double share)
{
    double at = share * (count - 1);
    int below = (int)at, above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

// The middle 95 % of values, which are sorted; NaN of none.
static Interval middle(double *values, int count)
{
    if (count == 0) return (Interval){nan(""), nan("")};
    qsort(values, (size_t)count, sizeof *values, rising);
    return (Interval){quantile(values, count, 0.025), quantile(values, count, 0.975)};
}

// Tasks or seeds: those with trials, and those of one draw.
typedef struct Numbers {
    int *all, *drawn;
    int count;
} Numbers;

static FacetStatus numbers_create(Numbers *n, const EvidenceCounts *c, bool tasks)
{
    size_t size = (size_t)(tasks ? c->tasks : c->seeds) + 1;
    *n = (Numbers){.all = calloc(2 * size, sizeof *n->all)};
    if (!n->all) return status_fail(FACET_NO_MEMORY, "out of memory for a bootstrap");
    n->drawn = n->all + size;
    n->count = present(n->all, c, tasks);
    return status_ok();
}

static void numbers_draw(Numbers *n, FacetRng *rng) { draw_again(n->drawn, n->all, n->count, rng); }

// Of one draw; NaN when it has no trials.
static double drawn_rate(const EvidenceCounts *c, const Numbers *tasks, const Numbers *seeds)
{
    double passed = 0.0, trials = 0.0;
    for (int t = 0; t < tasks->count; t++)
        for (int s = 0; s < seeds->count; s++) {
            int cell = tasks->drawn[t] * c->seeds + seeds->drawn[s];
            passed += c->passed[cell];
            trials += c->trials[cell];
        }
    return trials > 0.0 ? passed / trials : nan("");
}

// Of one rate or, with `other`, of how far it is ahead.
static Interval bootstrap(const EvidenceCounts *counts, const EvidenceCounts *other, int draws,
                          uint64_t seed)
{
    Interval interval = {nan(""), nan("")};
    Numbers tasks = {0}, seeds = {0}, other_seeds = {0};
    double *rates = calloc((size_t)draws + 1, sizeof *rates);
    bool complete = rates && numbers_create(&tasks, counts, true).ok &&
                    numbers_create(&seeds, counts, false).ok &&
                    (!other || numbers_create(&other_seeds, other, false).ok);
    int count = 0;
    for (int i = 0; complete && i < draws; i++) {
        FacetRng rng = rng_make(seed, (uint64_t)i);
        numbers_draw(&tasks, &rng);
        numbers_draw(&seeds, &rng);
        if (other) numbers_draw(&other_seeds, &rng);
        double rate = drawn_rate(counts, &tasks, &seeds);
        if (other) rate -= drawn_rate(other, &tasks, &other_seeds);
        if (!isnan(rate)) rates[count++] = rate;
    }
    if (complete) interval = middle(rates, count);
    free(rates);
    free(tasks.all);
    free(seeds.all);
    free(other_seeds.all);
    return interval;
}

Interval evidence_bootstrap(const EvidenceCounts *counts, int draws, uint64_t seed)
{
    return bootstrap(counts, NULL, draws, seed);
}

// ---- A rate -------------------------------------------------------------------------------------

EvidenceRate evidence_rate(const EvidenceCounts *counts)
{
    EvidenceRate rate = {.mean = 0.0, .least = nan(""), .most = nan("")};
    for (int s = 0; s < counts->seeds; s++) {
        double passed = 0.0, trials = 0.0;
        for (int t = 0; t < counts->tasks; t++) {
            passed += counts->passed[t * counts->seeds + s];
            trials += counts->trials[t * counts->seeds + s];
        }
        if (!(trials > 0.0)) continue;
        double share = passed / trials;
        rate.seeds++;
        rate.passed += passed;
        rate.trials += trials;
        rate.mean += share;
        rate.least = fmin(rate.least, share); // of NaN and a number, the number
        rate.most = fmax(rate.most, share);
    }
    for (int t = 0; t < counts->tasks; t++) {
        double trials = 0.0;
        for (int s = 0; s < counts->seeds; s++) trials += counts->trials[t * counts->seeds + s];
        rate.tasks += trials > 0.0;
    }
    rate.mean = rate.seeds ? rate.mean / rate.seeds : nan("");
    rate.bootstrap = evidence_bootstrap(counts, DRAWS, BOOTSTRAP_SEED);
    rate.wilson = rate.seeds ? wilson_interval((int)lround(rate.passed), (int)lround(rate.trials))
                             : (Interval){nan(""), nan("")};
    return rate;
}

EvidenceLead evidence_lead(const EvidenceCounts *counts, const EvidenceCounts *other)
{
    assert(counts->tasks == other->tasks);
    return (EvidenceLead){.mean = evidence_rate(counts).mean - evidence_rate(other).mean,
                          .bootstrap = bootstrap(counts, other, DRAWS, BOOTSTRAP_SEED)};
}

Json *json_from_lead(EvidenceLead lead)
{
    Json *out = json_object();
    json_set_numbers(out, {"mean", lead.mean}, {"low", lead.bootstrap.low},
                     {"high", lead.bootstrap.high});
    return out;
}

Json *json_from_evidence(EvidenceRate rate)
{
    Json *out = json_object();
    json_set_numbers(out, {"passed", rate.passed}, {"trials", rate.trials}, {"mean", rate.mean},
                     {"least", rate.least}, {"most", rate.most}, {"low", rate.bootstrap.low},
                     {"high", rate.bootstrap.high}, {"wilson_low", rate.wilson.low},
                     {"wilson_high", rate.wilson.high}, {"tasks", rate.tasks},
                     {"seeds", rate.seeds});
    return out;
}
