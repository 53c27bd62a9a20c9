// Trials of a policy and what became of them (see gate/trials.h).
#include "gate/trials.h"

#include "base/status.h"

#include <stdlib.h>

FacetStatus gate_trials_create(GateTrials *t, int capacity)
{
    *t = (GateTrials){.tasks = calloc((size_t)capacity + 1, sizeof *t->tasks),
                      .flights = calloc((size_t)capacity + 1, sizeof *t->flights),
                      .held_out = calloc((size_t)capacity + 1, sizeof *t->held_out)};
    if (t->tasks && t->flights && t->held_out) return status_ok();
    gate_trials_free(t);
    return status_fail(FACET_NO_MEMORY, "out of memory for %d trials", capacity);
}

void gate_trials_free(GateTrials *t)
{
    free(t->tasks);
    free(t->flights);
    free(t->held_out);
    *t = (GateTrials){0};
}

void gate_trials_add(GateTrials *t, FacetFactorTask task, bool held_out)
{
    t->tasks[t->count] = task;
    t->held_out[t->count++] = held_out;
}

FacetGateTally gate_trials_tally(const GateTrials *t, int venue, int held_out)
{
    FacetGateTally tally = {0};
    FacetGateFlight *chosen = calloc((size_t)t->count + 1, sizeof *chosen);
    int count = 0;
    for (int i = 0; chosen && i < t->count; i++) {
        if (venue >= 0 && t->tasks[i].value[FACET_GATE_FACTOR_VENUE] != venue) continue;
        if (held_out >= 0 && t->held_out[i] != (held_out > 0)) continue;
        chosen[count++] = t->flights[i];
    }
    if (count > 0) tally = facet_gate_tally(chosen, count);
    free(chosen);
    return tally;
}
