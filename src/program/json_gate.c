// JSON of `facet gate` (see json_gate.h).
#include "json_gate.h"

Json *json_from_tally(FacetGateTally tally)
{
    Json *object = json_object();
    json_set_number(object, "trials", tally.trials);
    for (int end = 0; end < FACET_GATE_ENDS; end++)
        json_set_number(object, facet_gate_end_name((FacetGateEnd)end), tally.ends[end]);
    return object;
}

Json *json_from_venues(const FacetGateWorld *world, const GateTrials *trials)
{
    Json *venues = json_object();
    for (int v = 0; v < world->venue_count; v++) {
        FacetGateTally tally = gate_trials_tally(trials, v, -1);
        if (tally.trials)
            json_set(venues, facet_venue_name(world->venues[v]), json_from_tally(tally));
    }
    return venues;
}
