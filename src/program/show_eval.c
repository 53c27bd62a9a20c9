// Tables and JSON of `facet eval` (see show_eval.h).
#include "show_eval.h"

#include "math/statistics.h"
#include "paper/paper.h"
#include "report/table.h"
#include "show_race.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const EvalRow *eval_row(const Evaluation *evaluation, const char *key)
{
    for (int i = 0; i < evaluation->row_count; i++)
        if (strcmp(evaluation->rows[i].key, key) == 0) return &evaluation->rows[i];
    return NULL;
}

const EvalRow *eval_main_row(const Evaluation *evaluation)
{
    const EvalRow *ours = eval_row(evaluation, "ours_composed");
    return ours ? ours : eval_row(evaluation, "factored_composed");
}

static const char *track_of(const FacetRace *race, const FacetRaceResult *result)
{
    return race->course->tracks[result->task.track].name;
}

static const char *size_of(const FacetRace *race, const FacetRaceResult *result)
{
    return race->course->openings[result->task.opening].name;
}

// ---- Gate passage -----------------------------------------------------------------------------

static void tally_cell(Table *table, FacetRaceTally tally)
{
    if (tally.gates == 0)
        table_cell(table, "—");
    else
        table_cell(table, "%d/%d", tally.passed, tally.gates);
}

static void paper_cell(Table *table, PaperTally tally)
{
    tally_cell(table, (FacetRaceTally){tally.passed, tally.gates});
}

static void interval_cell(Table *table, FacetRaceTally tally)
{
    Interval interval = wilson_interval(tally.passed, tally.gates);
    table_cell(table, "%.0f–%.0f %%", 100.0 * interval.low, 100.0 * interval.high);
}

static void show_passage(const Evaluation *evaluation)
{
    const TableColumn heads[] = {{"method", TABLE_LEFT},     {"all", TABLE_RIGHT},
                                 {"training", TABLE_RIGHT},  {"held out", TABLE_RIGHT},
                                 {"95 %", TABLE_RIGHT},      {"crashes", TABLE_RIGHT},
                                 {"paper all", TABLE_RIGHT}, {"held out", TABLE_RIGHT}};
    printf("Gates passed, first seed, %d DDIM steps (95 %%: interval of the held-out rate)\n\n",
           evaluation->steps);
    Table *table = table_create(heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < evaluation->row_count; i++) {
        const EvalRow *row = &evaluation->rows[i];
        FacetRaceTotals totals = eval_totals(&row->run, 0);
        PaperTotals paper = paper_totals(row->paper_key);
        table_cell(table, "%s", row->name);
        tally_cell(table, totals.all);
        tally_cell(table, totals.training);
        tally_cell(table, totals.held_out);
        interval_cell(table, totals.held_out);
        table_cell(table, "%d", totals.crashes);
        paper_cell(table, paper.all);
        paper_cell(table, paper.held_out);
    }
    table_print(table, stdout);
    table_destroy(table);
}

// ---- Held-out tasks ---------------------------------------------------------------------------

static void share_cell(Table *table, const EvalRow *row, int task)
{
    if (!row) {
        table_cell(table, "—");
        return;
    }
    FacetRaceTally tally = eval_task_tally(&row->run, task);
    table_cell(table, "%.0f %%", 100.0 * tally.passed / tally.gates);
}

static void show_held_out(const FacetRace *race, const Evaluation *evaluation)
{
    const EvalRow *row = eval_main_row(evaluation);
    const TableColumn heads[] = {{"held-out task", TABLE_LEFT}, {"factored", TABLE_RIGHT},
                                 {"ours", TABLE_RIGHT},         {"oracle", TABLE_RIGHT},
                                 {"plan m/s", TABLE_RIGHT},     {"ref m/s", TABLE_RIGHT},
                                 {"paper plan", TABLE_RIGHT},   {"ref", TABLE_RIGHT}};
    printf("\nHeld-out tasks, gates passed over %d seeds\n\n", row->run.seeds);
    Table *table = table_create(heads, sizeof heads / sizeof *heads);
    for (int t = 0; t < row->run.tasks; t++) {
        const FacetRaceResult *result = eval_result(&row->run, 0, t);
        double generated, reference;
        if (!result->held_out) continue;
        table_cell(table, "%s/%s", track_of(race, result), size_of(race, result));
        share_cell(table, eval_row(evaluation, "factored_composed"), t);
        share_cell(table, eval_row(evaluation, "ours_composed"), t);
        share_cell(table, eval_row(evaluation, "oracle"), t);
        table_cell(table, "%.2f", eval_speed(&row->run, t));
        table_cell(table, "%.2f", result->speed_reference);
        bool known = paper_held_out_speeds(&generated, &reference, track_of(race, result),
                                           size_of(race, result));
        table_cell(table, known ? "%.1f" : "—", generated);
        table_cell(table, known ? "%.1f" : "—", reference);
    }
    table_print(table, stdout);
    table_destroy(table);
}

// ---- Speed and passage by track and size --------------------------------------------------------

// The index of a task among those flown, or -1.
static int flown_task(const EvalRun *run, int track, int opening)
{
    for (int t = 0; t < run->tasks; t++) {
        FacetCourseTask task = eval_result(run, 0, t)->task;
        if (task.track == track && task.opening == opening) return t;
    }
    return -1;
}

static Table *size_table(const FacetRace *race)
{
    int columns = race->course->opening_count + 1;
    TableColumn *heads = calloc((size_t)columns, sizeof *heads);
    if (!heads) return NULL;
    heads[0] = (TableColumn){"track", TABLE_LEFT};
    for (int o = 0; o + 1 < columns; o++)
        heads[1 + o] = (TableColumn){race->course->openings[o].name, TABLE_RIGHT};
    Table *table = table_create(heads, columns);
    free(heads);
    return table;
}

static void speed_by_size(Table *table, const FacetRace *race, const EvalRun *run, int t, int o)
{
    (void)race, (void)o;
    const FacetRaceResult *result = eval_result(run, 0, t);
    table_cell(table, "%.2f (%.2f)", eval_speed(run, t), result->speed_reference);
}

static void passage_by_size(Table *table, const FacetRace *race, const EvalRun *run, int t, int o)
{
    const FacetRaceResult *result = eval_result(run, 0, t);
    int paper = paper_passed(track_of(race, result), race->course->openings[o].name);
    char beside[24] = "";
    if (paper >= 0) snprintf(beside, sizeof beside, " (%d)", paper);
    table_cell(table, "%d/%d%s%s", result->flight.passed, result->flight.gate_count, beside,
               result->held_out ? "*" : "");
}

static void show_by_size(const FacetRace *race, const EvalRun *run,
                         void (*cell)(Table *, const FacetRace *, const EvalRun *, int, int))
{
    Table *table = size_table(race);
    if (!table) return;
    for (int track = 0; track < race->course->track_count; track++) {
        table_cell(table, "%s", race->course->tracks[track].name);
        for (int o = 0; o < race->course->opening_count; o++) {
            int t = flown_task(run, track, o);
            if (t < 0)
                table_cell(table, "—");
            else
                cell(table, race, run, t, o);
        }
    }
    table_print(table, stdout);
    table_destroy(table);
}

// ---- Composed and joint, and the sweep ----------------------------------------------------------

static void show_composed_and_joint(const Evaluation *evaluation)
{
    static const char *const keys[] = {"factored_joint", "factored_composed", "ours_joint",
                                       "ours_composed"};
    const TableColumn heads[] = {{"inference", TABLE_LEFT},
                                 {"gates", TABLE_RIGHT},
                                 {"rate", TABLE_RIGHT},
                                 {"error m", TABLE_RIGHT}};
    PaperTally joint = paper_totals("factored_joint").all, composed = paper_totals("factored").all;
    printf(
        "\nComposed and joint inference, first seed (paper: joint %d/%d, %.2f m; composed %d/%d, "
        "%.2f m)\n\n",
        joint.passed, joint.gates, paper_error("factored_joint"), composed.passed, composed.gates,
        paper_error("factored"));
    Table *table = table_create(heads, 4);
    for (int i = 0; i < 4; i++) {
        const EvalRow *row = eval_row(evaluation, keys[i]);
        if (!row) continue;
        FacetRaceTally all = eval_totals(&row->run, 0).all;
        table_cell(table, "%s", row->name);
        tally_cell(table, all);
        table_cell(table, "%.0f %%", 100.0 * all.passed / all.gates);
        table_cell(table, "%.3f", eval_error(&row->run, 0));
    }
    table_print(table, stdout);
    table_destroy(table);
}

static void percent_cell(Table *table, FacetRaceTally tally)
{
    table_cell(table, "%.0f %%", tally.gates ? 100.0 * tally.passed / tally.gates : 0.0);
}

static const PaperSweep *paper_sweep_row(int steps)
{
    for (int i = 0; i < PAPER_SWEEP_ROWS; i++)
        if (paper_sweep[i].steps == steps) return &paper_sweep[i];
    return NULL;
}

static void show_sweep(const Evaluation *evaluation)
{
    const TableColumn heads[] = {{"N", TABLE_RIGHT},           {"composed", TABLE_RIGHT},
                                 {"held out", TABLE_RIGHT},    {"joint", TABLE_RIGHT},
                                 {"paper comp.", TABLE_RIGHT}, {"held out", TABLE_RIGHT},
                                 {"joint", TABLE_RIGHT}};
    printf("\nDDIM steps (%s), share of gates passed, first seed\n\n", evaluation->sweep_method);
    Table *table = table_create(heads, sizeof heads / sizeof *heads);
    for (int i = 0; i < evaluation->sweep_count; i++) {
        const EvalSweepRow *row = &evaluation->sweep[i];
        const PaperSweep *paper = paper_sweep_row(row->steps);
        table_cell(table, "%d", row->steps);
        percent_cell(table, row->composed.all);
        percent_cell(table, row->composed.held_out);
        percent_cell(table, row->joint.all);
        table_cell(table, paper ? "%.0f %%" : "—", paper ? 100.0 * paper->composed_all : 0.0);
        table_cell(table, paper ? "%.0f %%" : "—", paper ? 100.0 * paper->composed_held_out : 0.0);
        table_cell(table, paper ? "%.0f %%" : "—", paper ? 100.0 * paper->joint_all : 0.0);
    }
    table_print(table, stdout);
    table_destroy(table);
}

void show_evaluation(const FacetRace *race, const Evaluation *evaluation)
{
    show_passage(evaluation);
    const EvalRow *row = eval_main_row(evaluation);
    if (!row) return;
    show_held_out(race, evaluation);
    printf("\nMean speed of the plans, m/s, reference in brackets (%s, %d seeds)\n\n", row->name,
           row->run.seeds);
    show_by_size(race, &row->run, speed_by_size);
    printf("\nGates passed by track and size (%s, first seed), the paper's in brackets, * is held "
           "out\n\n",
           row->name);
    show_by_size(race, &row->run, passage_by_size);
    show_composed_and_joint(evaluation);
    if (evaluation->sweep_count > 0) show_sweep(evaluation);
}

// ---- JSON ---------------------------------------------------------------------------------------

static Json *json_from_rate(FacetRaceTally tally)
{
    Json *out = json_object();
    Interval interval = wilson_interval(tally.passed, tally.gates);
    json_set_number(out, "passed", tally.passed);
    json_set_number(out, "gates", tally.gates);
    json_set_number(out, "low", interval.low);
    json_set_number(out, "high", interval.high);
    return out;
}

static Json *json_from_totals(FacetRaceTotals totals)
{
    Json *out = json_object();
    json_set(out, "all", json_from_rate(totals.all));
    json_set(out, "training", json_from_rate(totals.training));
    json_set(out, "held_out", json_from_rate(totals.held_out));
    json_set_number(out, "crashes", totals.crashes);
    return out;
}

static Json *json_from_row(const FacetRace *race, const EvalRow *row)
{
    Json *out = json_from_totals(eval_totals(&row->run, 0)), *tasks = json_array();
    json_set_number(out, "error_m", eval_error(&row->run, 0));
    json_set_number(out, "seeds", row->run.seeds);
    json_set(out, "all_seeds", json_from_totals(eval_totals_all(&row->run)));
    for (int t = 0; t < row->run.tasks; t++) {
        const FacetRaceResult *result = eval_result(&row->run, 0, t);
        FacetRaceTally tally = eval_task_tally(&row->run, t);
        Json *task = json_object();
        json_set_string(task, "track", track_of(race, result));
        json_set_string(task, "size", size_of(race, result));
        json_set_bool(task, "held_out", result->held_out);
        json_set_number(task, "gates", result->flight.gate_count);
        json_set_number(task, "passed", result->flight.passed);
        json_set_number(task, "share_all_seeds", (double)tally.passed / tally.gates);
        json_set_number(task, "share_std", eval_task_spread(&row->run, t));
        json_set_number(task, "speed_generated", eval_speed(&row->run, t));
        json_set_number(task, "speed_reference", result->speed_reference);
        json_set_number(task, "error_m", result->error);
        json_push(tasks, task);
    }
    json_set(out, "tasks", tasks);
    return out;
}

static Json *json_from_held_out(const FacetRace *race, const Evaluation *evaluation)
{
    Json *out = json_array();
    for (int i = 0; i < evaluation->row_count; i++) {
        const EvalRow *row = &evaluation->rows[i];
        for (int k = 0; k < row->run.seeds; k++)
            for (int t = 0; t < row->run.tasks; t++) {
                const FacetRaceResult *result = eval_result(&row->run, k, t);
                if (!result->held_out) continue;
                Json *entry = json_object();
                json_set_string(entry, "method", row->key);
                json_set_string(entry, "track", track_of(race, result));
                json_set_string(entry, "size", size_of(race, result));
                json_set_number(entry, "seed", (double)result->seed);
                json_set_number(entry, "passed", result->flight.passed);
                json_set_number(entry, "gates", result->flight.gate_count);
                json_set_bool(entry, "crashed", result->flight.end == FACET_FLIGHT_CRASHED);
                json_set_number(entry, "speed_generated", result->speed_generated);
                json_set_number(entry, "speed_reference", result->speed_reference);
                json_push(out, entry);
            }
    }
    return out;
}

Json *json_from_evaluation(const FacetRace *race, const Evaluation *evaluation)
{
    Json *document = json_object(), *methods = json_object(), *sweep = json_array();
    json_set_number(document, "steps", evaluation->steps);
    for (int i = 0; i < evaluation->row_count; i++)
        json_set(methods, evaluation->rows[i].key, json_from_row(race, &evaluation->rows[i]));
    json_set(document, "methods", methods);
    for (int i = 0; i < evaluation->sweep_count; i++) {
        const EvalSweepRow *row = &evaluation->sweep[i];
        Json *entry = json_object();
        json_set_string(entry, "method", evaluation->sweep_method);
        json_set_number(entry, "steps", row->steps);
        json_set(entry, "composed", json_from_totals(row->composed));
        json_set(entry, "joint", json_from_totals(row->joint));
        json_push(sweep, entry);
    }
    json_set(document, "ddim_sweep", sweep);
    json_set(document, "heldout", json_from_held_out(race, evaluation));
    Json *plans = json_object();
    for (int i = 0; i < evaluation->row_count; i++) {
        const EvalRun *run = &evaluation->rows[i].run;
        json_set(plans, evaluation->rows[i].key,
                 json_from_plans(race, eval_result(run, 0, 0), run->tasks));
    }
    json_set(document, "plans", plans);
    return document;
}
