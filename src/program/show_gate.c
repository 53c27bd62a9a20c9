// Tables and JSON of `facet gate` (see show_gate.h).
#include "show_gate.h"

#include <stdio.h>
#include <stdlib.h>

// ---- Trials -----------------------------------------------------------------------------------

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

// ---- Tables -----------------------------------------------------------------------------------

static void tally_row(Table *table, const char *name, FacetGateTally tally, const char *note)
{
    table_cell(table, "%s", name);
    table_cell(table, "%d", tally.trials);
    for (int end = 0; end < FACET_GATE_ENDS; end++) table_cell(table, "%d", tally.ends[end]);
    table_cell(table, "%.1f %%", 100.0 * tally.ends[FACET_GATE_SUCCESS] / tally.trials);
    table_cell(table, "%.0f–%.0f %%", 100.0 * tally.low[FACET_GATE_SUCCESS],
               100.0 * tally.high[FACET_GATE_SUCCESS]);
    table_cell(table, "%s", note);
}

void show_gate_venues(const FacetGateWorld *world, const GateTrials *trials)
{
    const TableColumn heads[] = {{"venue", TABLE_LEFT},    {"trials", TABLE_RIGHT},
                                 {"success", TABLE_RIGHT}, {"crash", TABLE_RIGHT},
                                 {"timeout", TABLE_RIGHT}, {"rate", TABLE_RIGHT},
                                 {"95 %", TABLE_RIGHT},    {"", TABLE_LEFT}};
    Table *table = table_create(heads, sizeof heads / sizeof *heads);
    for (int v = 0; v < world->venue_count; v++) {
        FacetGateTally tally = gate_trials_tally(trials, v, -1);
        if (tally.trials == 0) continue;
        bool unseen = gate_trials_tally(trials, v, 1).trials == tally.trials;
        tally_row(table, facet_venue_name(world->venues[v]), tally, unseen ? "zero-shot" : "");
    }
    table_rule(table);
    tally_row(table, "all", gate_trials_tally(trials, -1, -1), "");
    table_print(table, stdout);
    table_destroy(table);
}

// ---- JSON -------------------------------------------------------------------------------------

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
