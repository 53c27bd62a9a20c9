// Tables and JSON of `facet gate` (see show_gate.h).
#include "show_gate.h"

#include <stdio.h>
#include <stdlib.h>

// ---- Trials -----------------------------------------------------------------------------------

Status gate_trials_create(GateTrials *t, int capacity)
{
    *t = (GateTrials){.tasks = calloc((size_t)capacity + 1, sizeof *t->tasks),
                      .flights = calloc((size_t)capacity + 1, sizeof *t->flights),
                      .held_out = calloc((size_t)capacity + 1, sizeof *t->held_out)};
    if (t->tasks && t->flights && t->held_out) return status_ok();
    gate_trials_free(t);
    return status_fail("out of memory for %d trials", capacity);
}

void gate_trials_free(GateTrials *t)
{
    free(t->tasks);
    free(t->flights);
    free(t->held_out);
    *t = (GateTrials){0};
}

void gate_trials_add(GateTrials *t, FactorTask task, bool held_out)
{
    t->tasks[t->count] = task;
    t->held_out[t->count++] = held_out;
}

GateTally gate_trials_tally(const GateTrials *t, int venue, int held_out)
{
    GateTally tally = {0};
    GateFlight *chosen = calloc((size_t)t->count + 1, sizeof *chosen);
    int count = 0;
    for (int i = 0; chosen && i < t->count; i++) {
        if (venue >= 0 && t->tasks[i].value[GATE_FACTOR_VENUE] != venue) continue;
        if (held_out >= 0 && t->held_out[i] != (held_out > 0)) continue;
        chosen[count++] = t->flights[i];
    }
    if (count > 0) tally = gate_tally(chosen, count);
    free(chosen);
    return tally;
}

// ---- Tables -----------------------------------------------------------------------------------

static void tally_row(Table *table, const char *name, GateTally tally, const char *note)
{
    table_cell(table, "%s", name);
    table_cell(table, "%d", tally.trials);
    for (int end = 0; end < GATE_ENDS; end++) table_cell(table, "%d", tally.ends[end]);
    table_cell(table, "%.1f %%", 100.0 * tally.ends[GATE_SUCCESS] / tally.trials);
    table_cell(table, "%.0f–%.0f %%", 100.0 * tally.low[GATE_SUCCESS],
               100.0 * tally.high[GATE_SUCCESS]);
    table_cell(table, "%s", note);
}

void show_gate_venues(const GateWorld *world, const GateTrials *trials)
{
    const TableColumn heads[] = {{"venue", TABLE_LEFT},    {"trials", TABLE_RIGHT},
                                 {"success", TABLE_RIGHT}, {"crash", TABLE_RIGHT},
                                 {"timeout", TABLE_RIGHT}, {"rate", TABLE_RIGHT},
                                 {"95 %", TABLE_RIGHT},    {"", TABLE_LEFT}};
    Table *table = table_create(heads, sizeof heads / sizeof *heads);
    for (int v = 0; v < world->venue_count; v++) {
        GateTally tally = gate_trials_tally(trials, v, -1);
        if (tally.trials == 0) continue;
        bool unseen = gate_trials_tally(trials, v, 1).trials == tally.trials;
        tally_row(table, venue_name(world->venues[v]), tally, unseen ? "zero-shot" : "");
    }
    table_rule(table);
    tally_row(table, "all", gate_trials_tally(trials, -1, -1), "");
    table_print(table, stdout);
    table_destroy(table);
}

// ---- JSON -------------------------------------------------------------------------------------

Json *json_from_tally(GateTally tally)
{
    Json *object = json_object();
    json_set_number(object, "trials", tally.trials);
    for (int end = 0; end < GATE_ENDS; end++)
        json_set_number(object, gate_end_name((GateEnd)end), tally.ends[end]);
    return object;
}

Json *json_from_venues(const GateWorld *world, const GateTrials *trials)
{
    Json *venues = json_object();
    for (int v = 0; v < world->venue_count; v++) {
        GateTally tally = gate_trials_tally(trials, v, -1);
        if (tally.trials) json_set(venues, venue_name(world->venues[v]), json_from_tally(tally));
    }
    return venues;
}
