// Many trials of the single gate, one a thread at a time, and what they come to.
#include "base/file.h"
#include "base/pool.h"
#include "gate/crew.h"
#include "math/statistics.h"

#include <stdlib.h>

typedef struct Evaluation {
    FacetGateFlight *flights;
    FacetStatus *statuses;
    const FacetGateWorld *world;
    const Pilots *pilots;
    const FacetFactorTask *tasks;
    int task_count;
    uint64_t seed;
    const FacetGateWatch *watches; // [count], or NULL
    FacetProgress *progress;
} Evaluation;

static FacetStatus fly_trial(const Evaluation *work, int index, int worker)
{
    FacetGateTrial trial;
    TRY(facet_gate_trial(&trial, work->world, work->tasks[index % work->task_count], work->seed,
                         (uint64_t)index));
    return facet_gate_fly(&work->flights[index], work->world, &trial, &work->pilots->pilots[worker],
                          work->watches ? &work->watches[index] : NULL);
}

static void fly_one(void *context, int index, int worker)
{
    const Evaluation *work = context;
    work->statuses[index] = interrupt_requested() ? status_fail(FACET_INTERRUPTED, "interrupted")
                                                  : fly_trial(work, index, worker);
    facet_progress_add(work->progress, 1, NULL);
}

FacetStatus facet_gate_evaluate(FacetGateFlight *flights, const FacetGateWorld *world,
                                const FacetGateCrew *crew, const FacetFactorTask *tasks,
                                int task_count, int count, uint64_t seed,
                                const FacetGateWatch *watches, FacetPool *pool,
                                FacetProgress *progress)
{
    if (task_count < 1)
        return status_fail(FACET_BAD_ARGUMENT, "trials: expected at least one task, found none");
    FacetStatus *statuses = calloc((size_t)count + 1, sizeof *statuses);
    if (!statuses) return status_fail(FACET_NO_MEMORY, "out of memory for %d flights", count);
    Pilots pilots;
    FacetStatus status = pilots_make(&pilots, crew, facet_pool_threads(pool));
    if (status.ok) {
        Evaluation work = {flights,    statuses, world,   &pilots, tasks,
                           task_count, seed,     watches, progress};
        pool_for(pool, count, fly_one, &work);
        for (int i = count - 1; i >= 0; i--)
            if (!statuses[i].ok) status = statuses[i];
        pilots_release(&pilots);
    }
    free(statuses);
    return status;
}

FacetGateTally facet_gate_tally(const FacetGateFlight *flights, int count)
{
    FacetGateTally tally = {.trials = count};
    for (int i = 0; i < count; i++) {
        const FacetGateFlight *flight = &flights[i];
        tally.ends[flight->end]++;
        tally.estimate_error += flight->estimate_error / count;
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
