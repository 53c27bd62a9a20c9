// Tables and JSON of `facet gate` and its sub-commands.
#ifndef FACET_CLI_SHOW_GATE_H
#define FACET_CLI_SHOW_GATE_H

#include "base/json.h"
#include "report/table.h"

#include <facet_study/gate.h>

// Trials of a policy, what became of them, and which group of a table each belongs to.
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

void show_gate_venues(const FacetGateWorld *world, const GateTrials *trials);

Json *json_from_tally(FacetGateTally tally); // {"trials","success","crash","timeout"}
Json *json_from_venues(const FacetGateWorld *world, const GateTrials *trials);

#endif
