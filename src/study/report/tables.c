// The tables of a report in the order that the page shows them, those of its own flights, and the
// same for a terminal.
#include "report/tables.h"

#include "paper/paper.h"

#include <math.h>

InputOrigin flights_origin(const Report *report)
{
    return (InputOrigin){.path = "flights of this page",
                         .command = report->command,
                         .version = report->version,
                         .seed = (double)report->seed};
}

// ---- Flights ------------------------------------------------------------------------------------

static const char *outcome(const FacetFlight *flight)
{
    if (flight->end == FACET_FLIGHT_CRASHED) return facet_crash_name(flight->crash);
    if (flight->end == FACET_FLIGHT_TIMED_OUT) return "timed out";
    return flight->passed == flight->gate_count ? "clear" : "missed";
}

static double worst_miss(const FacetFlight *flight)
{
    double worst = 0.0;
    for (int i = 0; i < flight->gate_count; i++) worst = fmax(worst, flight->gates[i].miss);
    return worst;
}

static void task_cell(Sheet *sheet, const FacetCourse *course, FacetCourseTask task)
{
    sheet_text(sheet, "%s/%s", course->tracks[task.track].name,
               course->openings[task.opening].name);
}

// `learned`: by somebody who learned from tasks and may not have from this one.
static void flight_row(Sheet *sheet, const FacetCourse *course, const FacetRaceResult *result,
                       bool learned)
{
    const FacetOpening *opening = &course->openings[result->task.opening];
    const FacetFlight *flight = &result->flight;
    const char *track = course->tracks[result->task.track].name;
    double paper = paper_passed(track, opening->name);
    if (paper < 0.0) paper = nan("");
    sheet_group(sheet, track);
    sheet_row(sheet, result->held_out, SHEET_BOTH);
    task_cell(sheet, course, result->task);
    sheet_text(sheet, "%s", !learned ? "" : result->held_out ? "held out" : "training");
    sheet_text(sheet, "%d/%d", flight->passed, flight->gate_count);
    sheet_numbers(sheet, flight->passed, flight->gate_count, paper, flight->passed - paper,
                  worst_miss(flight), opening->half_width, result->speed_generated,
                  result->speed_reference, result->error);
    sheet_text(sheet, "%s", outcome(flight));
}

// One row a task.
static bool begin_flights(Sheet *sheet, SheetSink *sink, const char *title, InputOrigin origin)
{
    const SheetHead head = {"race", "race", title,
                            "Miss is the distance from a gate's centre, the worst of the flight; "
                            "error the mean distance from the expert's path.",
                            .starred = true};
    if (!sheet_begin(sheet, sink, head, origin, NULL)) return false;
    sheet_columns(
        sheet, TASK_COLUMN, TEXT("Split", NULL), NUMBER(NULL, "gates", 0),
        NUMBER("Passed", NULL, 0), NUMBER("Gates", NULL, 0), NUMBER("Paper", "paper", 0),
        NUMBER("Difference", NULL, 0), NUMBER("Worst miss", "miss", 2, .unit = "m"),
        NUMBER("Half-width", "limit", 3, .unit = "m"), NUMBER("Plan", "plan", 2, .unit = "m/s"),
        NUMBER("Reference", "ref", 2, .unit = "m/s"), NUMBER("Error", "error", 3, .unit = "m"),
        TEXT("Outcome", "outcome", .meaning = "clear, a gate missed, or what made it crash"));
    return true;
}

// The flights of the main method.
static void table_flights(SheetSink *sink, const Report *report)
{
    int method = report_main_method(report);
    char title[160];
    snprintf(title, sizeof title, "Flights: %s", report_methods[method].name);
    Sheet sheet;
    if (!begin_flights(&sheet, sink, title, flights_origin(report))) return;
    for (int i = 0; i < report->task_count; i++) {
        const ReportFlight *flight = &report->flights[method * report->task_count + i];
        if (flight->flown)
            flight_row(&sheet, report->race->course, &flight->result, method != METHOD_EXPERT);
    }
    sheet_end(&sheet);
}

static void total_row(Sheet *sheet, const char *name, int count, int all)
{
    if (all == 0) return;
    sheet_row(sheet, false, SHEET_BOTH);
    sheet_text(sheet, "%s", name);
    sheet_numbers(sheet, count, all, 100.0 * count / all);
}

static void table_totals(SheetSink *sink, const FacetRace *race, const FacetRaceResult *results,
                         int count)
{
    const SheetHead head = {"totals", "race", "", .place = SHEET_TERMINAL};
    FacetRaceTotals totals = facet_race_totals(results, count);
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, (InputOrigin){0}, NULL)) return;
    sheet_columns(&sheet, TEXT("Of", "total"), NUMBER("Count", "count", 0), NUMBER("Of", "of", 0),
                  NUMBER("Share", "%", 0));
    total_row(&sheet, "gates passed", totals.all.passed, totals.all.gates);
    if (totals.held_out.gates > 0)
        total_row(&sheet, "in training tasks", totals.training.passed, totals.training.gates);
    total_row(&sheet, "in held-out tasks", totals.held_out.passed, totals.held_out.gates);
    total_row(&sheet, "crashes in flights", totals.crashes, count);
    total_row(&sheet, "tasks feasible", facet_race_feasible_count(race), facet_race_task_max(race));
    sheet_end(&sheet);
}

// One row a task, for results [samples][tasks] of several flights a task.
static void sample_row(Sheet *sheet, const FacetCourse *course, const FacetRaceResult *results,
                       int task, int tasks, int samples)
{
    const FacetRaceResult *first = &results[task];
    int clear = 0, crashes = 0, passed = 0;
    double miss = 0.0, speed = 0.0, error = 0.0;
    for (int k = 0; k < samples; k++) {
        const FacetRaceResult *result = &results[k * tasks + task];
        const FacetFlight *flight = &result->flight;
        clear += flight->passed == flight->gate_count;
        crashes += flight->end == FACET_FLIGHT_CRASHED;
        passed += flight->passed;
        miss = fmax(miss, worst_miss(flight));
        speed += result->speed_generated / samples;
        error += result->error / samples;
    }
    sheet_group(sheet, course->tracks[first->task.track].name);
    sheet_row(sheet, first->held_out, SHEET_BOTH);
    task_cell(sheet, course, first->task);
    sheet_numbers(sheet, clear);
    sheet_text(sheet, "%d/%d", passed, samples * first->flight.gate_count);
    sheet_numbers(sheet, crashes, miss, course->openings[first->task.opening].half_width, speed,
                  first->speed_reference, error);
}

static void table_samples(SheetSink *sink, const FacetRace *race, const FacetRaceResult *results,
                          int tasks, int samples)
{
    char note[200];
    snprintf(note, sizeof note,
             "%d flights a task, each with a plan of its own. Miss is the worst of all flights; "
             "plan and error are means.",
             samples);
    const SheetHead head = {"samples", "race", "", note, .place = SHEET_TERMINAL, .starred = true};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, (InputOrigin){0}, NULL)) return;
    sheet_columns(
        &sheet, TASK_COLUMN, NUMBER("Clear", "clear", 0, .meaning = "flights through all gates"),
        NUMBER("Gates", "gates", 0), NUMBER("Crashes", "crashes", 0),
        NUMBER("Worst miss", "miss", 2, .unit = "m"), NUMBER("Half-width", "limit", 3, .unit = "m"),
        NUMBER("Plan", "plan", 2, .unit = "m/s"), NUMBER("Reference", "ref", 2, .unit = "m/s"),
        NUMBER("Error", "error", 3, .unit = "m"));
    for (int t = 0; t < tasks; t++) sample_row(&sheet, race->course, results, t, tasks, samples);
    sheet_end(&sheet);
}

// ---- Speeds -------------------------------------------------------------------------------------

// The highest feasible speed of every task beside the paper's.
static void table_speed_map(SheetSink *sink, const FacetRace *race, InputOrigin origin)
{
    const FacetCourse *course = race->course;
    char aside[240];
    snprintf(aside, sizeof aside,
             "The expert's highest speed that clears every gate; — is infeasible. %d of %d tasks "
             "are feasible. The shipped layout was searched so that its speeds are like the "
             "paper's.",
             facet_race_feasible_count(race), facet_race_task_max(race));
    const SheetHead head = {"speed-map",
                            "race",
                            "Highest feasible speeds",
                            "The expert's highest speed that clears every gate; — is infeasible, "
                            "or a task that the paper does not have. The shipped layout was "
                            "searched so that its speeds are like the paper's.",
                            .aside = aside,
                            .starred = true};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, origin, NULL)) return;
    sheet_columns(&sheet, TASK_COLUMN, NUMBER("Gates", "gates", 0),
                  NUMBER("Ours", "ours", 2, .unit = "m/s"),
                  NUMBER("Paper", "paper", 1, .unit = "m/s"), NUMBER("Difference", "difference", 2),
                  TEXT(NULL, "track"));
    for (int t = 0; t < course->track_count; t++)
        for (int o = 0; o < course->opening_count; o++) {
            FacetCourseTask task = {t, o};
            const FacetSpeedCell *cell = facet_speed_map_at(&race->speeds, task);
            double ours = cell->feasible ? cell->speed : nan("");
            double paper = paper_speed(course->tracks[t].name, course->openings[o].name);
            sheet_group(&sheet, course->tracks[t].name);
            sheet_row(&sheet, false, SHEET_BOTH);
            task_cell(&sheet, course, task);
            sheet_number(&sheet, course->tracks[t].gate_count);
            sheet_compared(&sheet, ours, paper > 0.0 ? paper : nan(""));
            sheet_text(&sheet, "%s", course->tracks[t].description);
        }
    sheet_end(&sheet);
}

void tables_race(SheetSink *sink, Report *report)
{
    table_flights(sink, report);
    table_speed_map(sink, report->race, flights_origin(report));
}

// ---- All of them --------------------------------------------------------------------------------

Json *document_tables(Report *report)
{
    SheetSink sink = {.page = json_array()};
    if (report->race) {
        tables_eval(&sink, report);
        tables_race_study(&sink, report);
        tables_pairs(&sink, report);
        tables_operators(&sink, report);
        tables_race(&sink, report);
        tables_sampling(&sink, report);
        tables_steps(&sink, report);
        tables_certify(&sink, report);
        tables_verify(&sink, report);
        tables_leave_one_out(&sink, report);
        tables_mechanism(&sink, report);
        tables_metaworld(&sink, report);
    }
    tables_gate(&sink, report);
    return sink.page;
}

void print_document(FILE *stream, const FacetRace *race, InputKind kind, Json *document)
{
    SheetSink sink = {.terminal = stream};
    Report report = {.race = race};
    report.inputs[kind].document = document;
    if (kind == INPUT_EVAL) {
        tables_eval(&sink, &report);
        tables_sampling(&sink, &report);
    }
    if (kind == INPUT_STEPS) tables_steps(&sink, &report);
    if (kind == INPUT_CERTIFY) tables_certify(&sink, &report);
    if (kind == INPUT_BUDGET) tables_budget(&sink, &report);
    if (kind == INPUT_VERIFY) tables_verify(&sink, &report);
    if (kind == INPUT_LEAVE_ONE_OUT) tables_leave_one_out(&sink, &report);
    if (kind == INPUT_MECHANISM) tables_mechanism(&sink, &report);
    if (kind == INPUT_RACE_STUDY) tables_race_study(&sink, &report);
    if (kind == INPUT_PAIRS) tables_pairs(&sink, &report);
    if (kind == INPUT_OPERATORS) tables_operators(&sink, &report);
    if (kind >= INPUT_GATE) tables_gate(&sink, &report);
}

void print_flights(FILE *stream, const FacetRace *race, const FacetRaceResult *results, int count)
{
    SheetSink sink = {.terminal = stream};
    Sheet sheet;
    if (!begin_flights(&sheet, &sink, "", (InputOrigin){0})) return;
    for (int i = 0; i < count; i++) flight_row(&sheet, race->course, &results[i], true);
    sheet_end(&sheet);
    table_totals(&sink, race, results, count);
}

void print_samples(FILE *stream, const FacetRace *race, const FacetRaceResult *results, int tasks,
                   int samples)
{
    SheetSink sink = {.terminal = stream};
    table_samples(&sink, race, results, tasks, samples);
    table_totals(&sink, race, results, tasks * samples);
}

void print_speeds(FILE *stream, const FacetRace *race)
{
    SheetSink sink = {.terminal = stream};
    table_speed_map(&sink, race, (InputOrigin){0});
}
