// Many trials of the single gate, one a thread at a time, and what they come to.
#include "base/pool.h"
#include "base/progress.h"
#include "base/status.h"
#include "gate/crew.h"
#include "math/statistics.h"

typedef struct Evaluation {
    FacetGateFlight *flights;
    const FacetGateWorld *world;
    const Pilots *pilots;
    const FacetFactorTask *tasks;
    int task_count;
    FacetGatePurpose purpose;
    uint64_t seed;
    const FacetGateWatch *watches; // [count], or NULL
    Progress *progress;
} Evaluation;

// Asks at every frame whether to go on, for a flight takes seconds, and lets the caller's watch
// see.
typedef struct Asking {
    Progress *progress;
    const FacetGateWatch *watch; // NULL for none
} Asking;

static FacetStatus ask(void *context, const FacetGateView *view, const double *offsets,
                       FacetVec3 estimate)
{
    const Asking *asking = context;
    TRY(progress_add(asking->progress, 0, NULL));
    if (!asking->watch || !asking->watch->frame) return status_ok();
    return asking->watch->frame(asking->watch->context, view, offsets, estimate);
}

static FacetStatus fly_trial(void *context, int index, int worker)
{
    const Evaluation *work = context;
    FacetGateTrial trial;
    TRY(facet_gate_trial(&trial, work->world, work->tasks[index % work->task_count], work->seed,
                         facet_gate_number(work->purpose, (uint64_t)index)));
    Asking asking = {work->progress, work->watches ? &work->watches[index] : NULL};
    const FacetGateWatch watch = {
        .frame = ask, .context = &asking, .sees = asking.watch && asking.watch->sees};
    TRY(facet_gate_fly(&work->flights[index], work->world, &trial, &work->pilots->pilots[worker],
                       &watch));
    return progress_add(work->progress, 1, NULL);
}

FacetStatus facet_gate_evaluate(FacetGateFlight *flights, const FacetGateWorld *world,
                                const FacetGateCrew *crew, const FacetFactorTask *tasks,
                                int task_count, int count, FacetGatePurpose purpose, uint64_t seed,
                                const FacetGateWatch *watches, FacetPool *pool,
                                const FacetProgress *progress)
{
    if (task_count < 1)
        return status_fail(FACET_BAD_ARGUMENT, "trials: expected at least one task, found none");
    Pilots pilots;
    Progress trials;
    TRY(pilots_make(&pilots, crew, facet_pool_threads(pool)));
    progress_begin(&trials, progress, "flights", count);
    Evaluation work = {flights, world, &pilots, tasks, task_count, purpose, seed, watches, &trials};
    FacetStatus status = pool_try(pool, count, fly_trial, &work);
    progress_end(&trials);
    pilots_release(&pilots);
    return status;
}

FacetGateTally facet_gate_tally(const FacetGateFlight *flights, int count)
{
    FacetGateTally tally = {.trials = count};
    for (int i = 0; i < count; i++) {
        const FacetGateFlight *flight = &flights[i];
        tally.ends[flight->end]++;
        tally.estimate_error += flight->estimate_error / count;
        tally.frames += flight->frames;
        tally.refused += flight->refused;
        if (flight->end != FACET_GATE_SUCCESS) continue;
        tally.duration += flight->duration;
        tally.miss += flight->miss;
    }
    int successes = tally.ends[FACET_GATE_SUCCESS];
    if (successes) tally.duration /= successes, tally.miss /= successes;
    facet_gate_tally_intervals(&tally);
    return tally;
}

void facet_gate_tally_intervals(FacetGateTally *tally)
{
    for (int end = 0; end < FACET_GATE_ENDS; end++) {
        Interval interval = wilson_interval(tally->ends[end], tally->trials);
        tally->low[end] = interval.low;
        tally->high[end] = interval.high;
    }
}
