// Many trials of the single gate, one a thread at a time, and what they come to.
#include "base/file.h"
#include "gate/crew.h"
#include "math/statistics.h"

#include <stdlib.h>

typedef struct Evaluation {
    GateFlight *flights;
    Status *statuses;
    const GateWorld *world;
    const Pilots *pilots;
    const FactorTask *tasks;
    int task_count;
    uint64_t seed;
    const GateWatch *watches; // [count], or NULL
    Progress *progress;
} Evaluation;

static Status fly_trial(const Evaluation *work, int index, int worker)
{
    GateTrial trial;
    TRY(gate_trial(&trial, work->world, work->tasks[index % work->task_count], work->seed,
                   (uint64_t)index));
    return gate_fly(&work->flights[index], work->world, &trial, &work->pilots->pilots[worker],
                    work->watches ? &work->watches[index] : NULL);
}

static void fly_one(void *context, int index, int worker)
{
    const Evaluation *work = context;
    work->statuses[index] =
        interrupt_requested() ? status_fail("interrupted") : fly_trial(work, index, worker);
    progress_add(work->progress, 1, NULL);
}

Status gate_evaluate(GateFlight *flights, const GateWorld *world, const GateCrew *crew,
                     const FactorTask *tasks, int task_count, int count, uint64_t seed,
                     const GateWatch *watches, ThreadPool *pool, Progress *progress)
{
    if (task_count < 1) return status_fail("trials: expected at least one task, found none");
    Status *statuses = calloc((size_t)count + 1, sizeof *statuses);
    if (!statuses) return status_fail("out of memory for %d flights", count);
    Pilots pilots;
    Status status = pilots_make(&pilots, crew, pool_threads(pool));
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

GateTally gate_tally(const GateFlight *flights, int count)
{
    GateTally tally = {.trials = count};
    for (int i = 0; i < count; i++) {
        const GateFlight *flight = &flights[i];
        tally.ends[flight->end]++;
        tally.estimate_error += flight->estimate_error / count;
        if (flight->end != GATE_SUCCESS) continue;
        tally.duration += flight->duration;
        tally.miss += flight->miss;
    }
    int successes = tally.ends[GATE_SUCCESS];
    if (successes) tally.duration /= successes, tally.miss /= successes;
    gate_tally_intervals(&tally);
    return tally;
}

void gate_tally_intervals(GateTally *tally)
{
    for (int end = 0; end < GATE_ENDS; end++) {
        Interval interval = wilson_interval(tally->ends[end], tally->trials);
        tally->low[end] = interval.low;
        tally->high[end] = interval.high;
    }
}
