// Trials of a policy, what became of them, and which group of a table each belongs to.
#ifndef FACET_GATE_TRIALS_H
#define FACET_GATE_TRIALS_H

#include <facet_study/gate.h>

typedef struct GateTrials {
    int count;
    FacetFactorTask *tasks;
    FacetGateFlight *flights;
    bool *held_out; // tasks that training left out
} GateTrials;

FacetStatus gate_trials_create(GateTrials *trials, int capacity);
void gate_trials_free(GateTrials *trials);
void gate_trials_add(GateTrials *trials, FacetFactorTask task, bool held_out);

// What became of those in a venue (-1: any) that are held out or not (-1: any).
FacetGateTally gate_trials_tally(const GateTrials *trials, int venue, int held_out);

#endif
