// Cells of the single-gate study and their tables (see gate_cells.h).
#include "gate_cells.h"

#include "base/text.h"
#include "evidence/evidence.h"
#include "json_gate.h"
#include "paper/paper.h"
#include "report/gate_study.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Protocols ----------------------------------------------------------------------------------

// The triples of colour, gate and side that within-venue training sees: every value of every factor
// is among them.
static const char *const seen_triples[][3] = {
    {"red", "1", "+1"}, {"white", "2", "-1"}, {"blue", "3", "+1"},
    {"red", "4", "-1"}, {"white", "5", "+1"},
};
enum { SEEN_TRIPLES = sizeof seen_triples / sizeof *seen_triples };

static bool is_seen(const char *color, const char *gate, const char *side)
{
    for (int i = 0; i < SEEN_TRIPLES; i++)
        if (strcmp(seen_triples[i][0], color) == 0 && strcmp(seen_triples[i][1], gate) == 0 &&
            strcmp(seen_triples[i][2], side) == 0)
            return true;
    return false;
}

void gate_hold_outs(Step *step, int protocol)
{
    static const char *const colors[] = {"red", "white", "blue"}, *const sides[] = {"+1", "-1"},
                             *const gates[] = {"1", "2", "3", "4", "5"};
    if (protocol == ZERO_SHOT) step_pair(step, "--hold-out", "venue=pool");
    for (int i = 0; protocol == WITHIN && i < 30; i++) {
        const char *color = colors[i / 10], *gate = gates[i / 2 % 5], *side = sides[i % 2];
        char task[80];
        snprintf(task, sizeof task, "color=%s,gate=%s,side=%s", color, gate, side);
        if (!is_seen(color, gate, side)) step_pair(step, "--hold-out", task);
    }
}

// ---- Models and rows ----------------------------------------------------------------------------

// One set of frames a protocol.
static const GateDemos demos[PROTOCOLS] = {
    {"zero-shot.h5", ZERO_SHOT, NULL}, {"within.h5", WITHIN, NULL}, {"all.h5", ALL_TASKS, NULL}};

// A network that is told its task without dropout never learns a null token, and pool is one: the
// zero-shot one is never shown the venue at all.
static const GateModel models[] = {
    {"zero-shot-baseline", ZERO_SHOT, "baseline", NULL, NULL, NULL, false, NULL},
    {"zero-shot-factored", ZERO_SHOT, "factored", NULL, NULL, NULL, false, NULL},
    {"zero-shot-ours", ZERO_SHOT, "factored", "0.3", NULL, NULL, false, NULL},
    {"oracle", ALL_TASKS, "oracle", NULL, NULL, NULL, false, NULL},
    {"within-baseline", WITHIN, "baseline", NULL, NULL, NULL, false, NULL},
    {"within-factored", WITHIN, "factored", NULL, NULL, NULL, false, NULL},
    {"within-ours", WITHIN, "factored", "0.3", NULL, NULL, false, NULL},
    {"zero-shot-told", ZERO_SHOT, "factored", NULL, "venue=1,color=0,gate=0,side=0", NULL, false,
     NULL},
    {"within-told", WITHIN, "factored", NULL, "0", NULL, false, NULL},
    {"zero-shot-longer", ZERO_SHOT, "factored", NULL, NULL, NULL, true, NULL},
    {"within-longer", WITHIN, "factored", NULL, NULL, NULL, true, NULL},
    {"zero-shot-drop5", ZERO_SHOT, "factored", NULL, "0.5", NULL, false, NULL},
    {"within-drop5", WITHIN, "factored", NULL, "0.5", NULL, false, NULL},
    {"oracle-ours", ALL_TASKS, "oracle", "0.3", NULL, NULL, false, NULL},
    {"zero-shot-drop", ZERO_SHOT, "factored", NULL, "venue=0.4", NULL, false, NULL},
    {"zero-shot-frozen", ZERO_SHOT, "factored", NULL, NULL, "zero-shot-baseline", false, NULL},
};

static const GateRow rows[] = {
    {"Baseline", "zero-shot-baseline", "zero-shot-baseline", ZERO_SHOT, "joint", NULL,
     "zero-shot baseline", "zero-shot-ours"},
    {"Told, no dropout", "zero-shot-told", "zero-shot-told", ZERO_SHOT, "joint", NULL, NULL,
     "zero-shot-ours"},
    {"Factored, the paper's loss", "zero-shot-factored", "zero-shot-factored", ZERO_SHOT,
     "composed", NULL, "zero-shot factored", "zero-shot-ours"},
    {"The paper's loss, longer", "zero-shot-longer", "zero-shot-longer", ZERO_SHOT, "composed",
     NULL, NULL, "zero-shot-ours"},
    {"The paper's loss, drop 0.5", "zero-shot-drop5", "zero-shot-drop5", ZERO_SHOT, "composed",
     NULL, NULL, "zero-shot-ours"},
    {"Factored, ours", "zero-shot-ours", "zero-shot-ours", ZERO_SHOT, "composed", NULL, NULL, NULL},
    {"Oracle", "zero-shot-oracle", "oracle", ZERO_SHOT, "composed", NULL, NULL, "zero-shot-ours"},
    {"Oracle, our loss", "zero-shot-oracle-ours", "oracle-ours", ZERO_SHOT, "composed", NULL, NULL,
     "zero-shot-ours"},
    {"Baseline", "within-baseline", "within-baseline", WITHIN, "joint", NULL, "within baseline",
     "within-ours"},
    {"Told, no dropout", "within-told", "within-told", WITHIN, "joint", NULL, NULL, "within-ours"},
    {"Factored, the paper's loss", "within-factored", "within-factored", WITHIN, "composed", NULL,
     "within factored", "within-ours"},
    {"The paper's loss, longer", "within-longer", "within-longer", WITHIN, "composed", NULL, NULL,
     "within-ours"},
    {"The paper's loss, drop 0.5", "within-drop5", "within-drop5", WITHIN, "composed", NULL, NULL,
     "within-ours"},
    {"Factored, ours", "within-ours", "within-ours", WITHIN, "composed", NULL, NULL, NULL},
    {"Oracle", "within-oracle", "oracle", WITHIN, "composed", NULL, NULL, "within-ours"},
    {"Oracle, our loss", "within-oracle-ours", "oracle-ours", WITHIN, "composed", NULL, NULL,
     "within-ours"},
    {"ours, joint", "zero-shot-joint", "zero-shot-ours", ALL_TASKS, "joint", NULL, NULL, NULL},
    {"ours, null venue in flight", "zero-shot-null", "zero-shot-ours", ALL_TASKS, "composed",
     "venue", NULL, NULL},
    {"venue dropout 0.4", "zero-shot-drop", "zero-shot-drop", ALL_TASKS, "composed", NULL,
     "venue dropout", NULL},
    {"venue dropout 0.4, null venue", "zero-shot-drop-null", "zero-shot-drop", ALL_TASKS,
     "composed", "venue", "venue dropout, null venue", NULL},
    {"frozen encoder (Baseline's)", "zero-shot-frozen", "zero-shot-frozen", ALL_TASKS, "composed",
     NULL, NULL, NULL},
};

static const GateTitle titles[] = {
    {"zero-shot", "Zero-shot venue: pool is never seen in training"},
    {"within-venue",
     "Within venues: 25 of 30 triples of colour, gate and side are never seen in training"}};

const GateTable gate_study_table = {
    .demos = demos,
    .models = models,
    .rows = rows,
    .titles = titles,
    .demo_count = PROTOCOLS,
    .model_count = sizeof models / sizeof *models,
    .row_count = sizeof rows / sizeof *rows,
    .title_count = sizeof titles / sizeof *titles,
};
static_assert(sizeof models / sizeof *models <= GATE_MODELS_MAX, "room for all models");
static_assert(sizeof rows / sizeof *rows <= GATE_ROWS_MAX, "room for all rows");

int gate_model_find(const GateTable *table, const char *name)
{
    int i = 0;
    while (i < table->model_count && strcmp(table->models[i].name, name) != 0) i++;
    assert(i < table->model_count);
    return i;
}

// Rounded up, but for what the share itself is rounded by.
static int share_of(double share, int count)
{
    return share > 0.0 ? (int)ceil(share * count - 1e-9) : count;
}

int gate_demos_flights(const GateDemos *of, int flights)
{
    return share_of(of->setting ? of->setting->demos : 0.0, flights);
}

int gate_model_updates(const GateModel *model, int updates)
{
    updates = share_of(model->setting ? model->setting->updates : 0.0, updates);
    return model->longer ? (int)ceil(1.645 * updates) : updates;
}

FacetStatus gate_row_find(int *index, const GateTable *table, const char *cell)
{
    const char *cells[GATE_ROWS_MAX];
    char text[600];
    for (int i = 0; i < table->row_count; i++) {
        cells[i] = table->rows[i].cell;
        *index = i;
        if (strcmp(cell, cells[i]) == 0) return status_ok();
    }
    text_unknown(text, sizeof text, "row", cell, cells, table->row_count);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

void gate_cell_file(char out[STEP_WORD_SIZE], const char *folder, const char *name, uint64_t seed,
                    const char *suffix)
{
    char file[100];
    snprintf(file, sizeof file, "%.40s-%llu.%.40s", name, (unsigned long long)seed, suffix);
    step_file(out, folder, file);
}

// ---- One row over its seeds ---------------------------------------------------------------------

enum { TASKS_MAX = 1024, NAME_SIZE = 96, SPLITS = 2, TRIALS_MAX = 1000000000 };

static const char *const split_keys[SPLITS] = {"train", "held_out"};
static const FacetGateEnd counted[] = {FACET_GATE_SUCCESS, FACET_GATE_CRASH}; // success first
enum { COUNTED = sizeof counted / sizeof *counted };

typedef struct Rates {
    int tasks, seeds;
    char (*names)[NAME_SIZE]; // [TASKS_MAX], of the first cell
    bool held_out[TASKS_MAX]; // there
    uint64_t seed[GATE_SEEDS_MAX];
    FacetGateTally tally[SPLITS]; // of all seeds together
    EvidenceCounts counts[COUNTED][SPLITS];
} Rates;

static FacetStatus rates_create(Rates *rates)
{
    *rates = (Rates){.names = calloc(TASKS_MAX, sizeof *rates->names)};
    if (!rates->names) return status_fail(FACET_NO_MEMORY, "out of memory for the tables");
    for (int e = 0; e < COUNTED; e++)
        for (int k = 0; k < SPLITS; k++)
            TRY(evidence_counts_create(&rates->counts[e][k], TASKS_MAX, GATE_SEEDS_MAX));
    return status_ok();
}

static void rates_free(Rates *rates)
{
    free(rates->names);
    for (int e = 0; e < COUNTED; e++)
        for (int k = 0; k < SPLITS; k++) evidence_counts_free(&rates->counts[e][k]);
}

static FacetStatus read_task(Rates *rates, const JsonRef *at, int t)
{
    char name[NAME_SIZE];
    bool held_out;
    FacetGateTally tally;
    TRY(json_member_string(name, sizeof name, at, "task"));
    TRY(json_member_bool(&held_out, at, "held_out"));
    TRY(study_read_counts(&tally, at));
    if (rates->seeds == 0) {
        snprintf(rates->names[t], NAME_SIZE, "%s", name);
        rates->held_out[t] = held_out;
    }
    if (strcmp(name, rates->names[t]) != 0 || held_out != rates->held_out[t])
        return json_wrong(at, "the task of the other seeds");
    for (int e = 0; e < COUNTED; e++)
        evidence_count(&rates->counts[e][held_out], t, rates->seeds, tally.ends[counted[e]],
                       tally.trials);
    FacetGateTally *sum = &rates->tally[held_out];
    if (sum->trials > TRIALS_MAX - tally.trials) return json_wrong(at, "fewer trials in all");
    sum->trials += tally.trials;
    for (int end = 0; end < FACET_GATE_ENDS; end++) sum->ends[end] += tally.ends[end];
    return status_ok();
}

static FacetStatus read_tasks(Rates *rates, const JsonRef *root)
{
    JsonRef list, at = {0};
    int count, t = 0;
    TRY(json_member(&list, root, "tasks"));
    TRY(json_length(&count, &list));
    if (count > TASKS_MAX || (rates->seeds > 0 && count != rates->tasks))
        return json_wrong(&list, "the tasks of the other seeds");
    rates->tasks = count;
    while (json_next(&at, &list)) TRY(read_task(rates, &at, t++));
    return status_ok();
}

static FacetStatus read_cells(Rates *rates, const GateRow *row, const char *folder, uint64_t first)
{
    FacetStatus status = status_ok();
    for (uint64_t seed = first; status.ok && seed < first + GATE_SEEDS_MAX; seed++) {
        char path[STEP_WORD_SIZE];
        Json *document;
        gate_cell_file(path, folder, row->cell, seed, "json");
        if (!file_exists(path)) continue;
        TRY(json_read(&document, path));
        JsonRef root = json_root(document, path);
        status = read_tasks(rates, &root);
        if (status.ok) rates->seed[rates->seeds++] = seed;
        json_free(document);
    }
    return status;
}

// ---- The tables ---------------------------------------------------------------------------------

static void set_paper(Json *paper, const char *split, PaperRates rates)
{
    if (isnan(rates.success)) return;
    Json *object = json_object();
    json_set_number(object, "success", rates.success);
    if (!isnan(rates.crash)) json_set_number(object, "crash", rates.crash);
    json_set(paper, split, object);
}

static Json *row_json(const GateRow *row, const Rates *rates)
{
    Json *object = json_object(), *paper = json_object(), *seeds = json_array();
    json_set_string(object, row->protocol == ALL_TASKS ? "name" : "method", row->name);
    json_set_string(object, "cell", row->cell);
    for (int s = 0; s < rates->seeds; s++) json_push_number(seeds, (double)rates->seed[s]);
    json_set(object, "seeds", seeds);
    for (int k = 0; k < SPLITS; k++)
        json_set(object, split_keys[k], json_from_tally(rates->tally[k]));
    for (int e = 0; e < COUNTED; e++) {
        Json *splits = json_object();
        for (int k = 0; k < SPLITS; k++)
            if (rates->tally[k].trials > 0)
                json_set(splits, split_keys[k],
                         json_from_evidence(evidence_rate(&rates->counts[e][k])));
        json_set(object, facet_gate_end_name(counted[e]), splits);
    }
    set_paper(paper, "train", paper_gate_row(row->paper).training);
    set_paper(paper, "held_out", paper_gate_row(row->paper).held_out);
    json_set(object, "paper", paper);
    return object;
}

// Whether both flew the same tasks.
static bool same_tasks(const Rates *a, const Rates *b)
{
    bool same = a->seeds > 0 && b->seeds > 0 && a->tasks == b->tasks;
    for (int t = 0; same && t < a->tasks; t++)
        same = strcmp(a->names[t], b->names[t]) == 0 && a->held_out[t] == b->held_out[t];
    return same;
}

// How far ours is ahead in successes, if it has cells.
static FacetStatus add_lead(Json *object, const GateTable *table, const GateRow *row,
                            const Rates *rates, const char *folder, uint64_t seed)
{
    Rates ours;
    int index = 0;
    if (!row->ours) return status_ok();
    TRY(gate_row_find(&index, table, row->ours));
    FacetStatus status = rates_create(&ours);
    if (status.ok) status = read_cells(&ours, &table->rows[index], folder, seed);
    if (status.ok && same_tasks(&ours, rates)) {
        Json *lead = json_object();
        for (int k = 0; k < SPLITS; k++)
            if (rates->tally[k].trials > 0)
                json_set(lead, split_keys[k],
                         json_from_lead(evidence_lead(&ours.counts[0][k], &rates->counts[0][k])));
        json_set(object, "ours_ahead", lead);
    }
    rates_free(&ours);
    return status;
}

// Adds the row if it has a cell.
static FacetStatus add_row(Json *list, const GateTable *table, const GateRow *row,
                           const char *folder, uint64_t seed)
{
    Rates rates;
    FacetStatus status = rates_create(&rates);
    if (status.ok) status = read_cells(&rates, row, folder, seed);
    if (status.ok && rates.seeds > 0) {
        Json *object = row_json(row, &rates);
        json_push(list, object);
        status = add_lead(object, table, row, &rates, folder, seed);
    }
    rates_free(&rates);
    return status;
}

static FacetStatus add_rows(Json *list, const GateTable *table, int protocol, const char *folder,
                            uint64_t seed)
{
    for (int i = 0; i < table->row_count; i++)
        if (table->rows[i].protocol == protocol)
            TRY(add_row(list, table, &table->rows[i], folder, seed));
    return status_ok();
}

FacetStatus gate_cells_summary(Json **document, const GateTable *table, const char *folder,
                               uint64_t seed)
{
    Json *study = json_object(), *list = json_array(), *ablations = json_array();
    FacetStatus status = status_ok();
    for (int p = 0; p < table->title_count; p++) {
        Json *protocol = json_object(), *array = json_array();
        json_set_string(protocol, "name", table->titles[p].name);
        json_set_string(protocol, "title", table->titles[p].title);
        if (status.ok) status = add_rows(array, table, p, folder, seed);
        json_set(protocol, "rows", array);
        json_push(list, protocol);
    }
    if (status.ok) status = add_rows(ablations, table, ALL_TASKS, folder, seed);
    json_set(study, "protocols", list);
    json_set(study, "ablations", ablations);
    if (status.ok)
        *document = study;
    else
        json_free(study);
    return status;
}
