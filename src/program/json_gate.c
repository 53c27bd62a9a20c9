// JSON of `facet gate` (see json_gate.h).
#include "json_gate.h"

#include "factor/factor.h"

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

Json *json_from_gate_tasks(const FacetGateWorld *world, const GateTrials *trials)
{
    Json *list = json_array();
    for (int64_t i = 0; i < factor_task_count(world->space); i++) {
        FacetFactorTask task = factor_task_at(world->space, i);
        FacetGateTally tally = {0};
        bool held_out = false;
        for (int k = 0; k < trials->count; k++) {
            if (!factor_task_equal(trials->tasks[k], task)) continue;
            tally.trials++;
            tally.ends[trials->flights[k].end]++;
            held_out = trials->held_out[k];
        }
        if (tally.trials == 0) continue;
        char name[FACET_FACTOR_TASK_TEXT];
        facet_factor_task_format(name, world->space, task, FACET_FACTOR_STYLE_VALUES);
        Json *object = json_from_tally(tally);
        json_set_string(object, "task", name);
        json_set_bool(object, "held_out", held_out);
        json_push(list, object);
    }
    return list;
}
