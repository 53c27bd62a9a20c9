// JSON of `facet gate` and its sub-commands.
#ifndef FACET_CLI_JSON_GATE_H
#define FACET_CLI_JSON_GATE_H

#include "base/json.h"
#include "gate/trials.h"

Json *json_from_tally(FacetGateTally tally); // {"trials","success","crash","timeout"}

// [{"task": "pool/red/1/+1", "held_out", "trials", "success", "crash", "timeout"}] of those flown.
Json *json_from_gate_tasks(const FacetGateWorld *world, const GateTrials *trials);
Json *json_from_venues(const FacetGateWorld *world, const GateTrials *trials);

#endif
