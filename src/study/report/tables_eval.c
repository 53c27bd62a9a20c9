// The tables of the evaluation: passage by method, held-out tasks, speeds, tracks, inference.
#include "paper/paper.h"
#include "report/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char no_eval[] = "There is no evaluation: run facet eval --json FILE, then facet "
                              "report --eval FILE.";

static JsonRef method_entry(const Report *report, const char *id)
{
    JsonRef root = input_root(report, INPUT_EVAL), methods = input_member(&root, "methods");
    return input_member(&methods, id);
}

static JsonRef task_entry(const Report *report, const char *method, FacetCourseTask task)
{
    JsonRef entry = method_entry(report, method), tasks = input_member(&entry, "tasks");
    return input_find_task(report, &tasks, task);
}

// The method whose tasks the tables show: ours, or the paper's loss. NULL without either.
static const char *main_eval_method(const Report *report)
{
    static const char *const order[] = {"ours_composed", "factored_composed"};
    for (int i = 0; i < 2; i++)
        if (method_entry(report, order[i]).node) return order[i];
    return NULL;
}

// ---- Passage ------------------------------------------------------------------------------------

// Gates passed of all, with the interval of the rate; NaN where unknown.
typedef struct Tally {
    double passed, gates, low, high;
} Tally;

static Tally tally_read(Report *report, const JsonRef *totals, const char *key)
{
    JsonRef at = input_member(totals, key);
    return (Tally){input_number(report, &at, "passed"), input_number(report, &at, "gates"),
                   input_number(report, &at, "low"), input_number(report, &at, "high")};
}

static void tally_cell(Sheet *sheet, Tally tally)
{
    if (isnan(tally.passed) || !(tally.gates > 0.0))
        sheet_number(sheet, nan(""));
    else
        sheet_text(sheet, "%.0f/%.0f", tally.passed, tally.gates);
}

static void interval_cell(Sheet *sheet, Tally tally)
{
    sheet_shares(sheet, tally.gates > 0.0 ? tally.low : nan(""), tally.high);
}

static void paper_cells(Sheet *sheet, Tally ours, PaperTally paper)
{
    if (paper.gates == 0 || !(ours.gates > 0.0)) {
        sheet_number(sheet, nan(""));
        sheet_number(sheet, nan(""));
        return;
    }
    sheet_text(sheet, "%d/%d", paper.passed, paper.gates);
    sheet_number(sheet, ours.gates == paper.gates ? ours.passed - paper.passed : nan(""));
}

// The whole name for the page, a short one for the terminal.
#define METHOD_COLUMNS TEXT("Method", NULL), TEXT(NULL, "method")

static void method_row(Sheet *sheet, const ReportMethod *method)
{
    sheet_row(sheet, false, SHEET_BOTH);
    sheet_text(sheet, "%s", method->name);
    sheet_text(sheet, "%s", method->short_name);
}

// What an evaluation tells of a method beside the gates that a point passes. No flights of a page
// tell it.
typedef struct Beside {
    Tally vehicle, vehicle_held_out; // gates that a vehicle with a radius passes
    double error;                    // m from the expert's path
    double right, pairs;             // of sizes, in the order of their speeds
} Beside;

static const Beside nothing_beside = {{NAN, NAN, NAN, NAN}, {NAN, NAN, NAN, NAN}, NAN, NAN, NAN};

static Beside beside_read(Report *report, const JsonRef *entry)
{
    JsonRef vehicle = input_member(entry, "vehicle"), order = input_member(entry, "speed_order");
    return (Beside){tally_read(report, &vehicle, "all"), tally_read(report, &vehicle, "held_out"),
                    input_number(report, entry, "error_m"), input_number(report, &order, "right"),
                    input_number(report, &order, "pairs")};
}

static void beside_cells(Sheet *sheet, bool split, Beside beside)
{
    tally_cell(sheet, beside.vehicle);
    if (split) tally_cell(sheet, beside.vehicle_held_out);
    sheet_number(sheet, beside.error);
    tally_cell(sheet, (Tally){beside.right, beside.pairs, NAN, NAN});
}

// `split`: some method has tasks that it held out, and the sheet has columns for them.
static void passage_row(Sheet *sheet, bool split, int method, Tally all, Tally training,
                        Tally held_out, double crashes, Beside beside)
{
    const ReportMethod *m = &report_methods[method];
    PaperTotals paper = m->paper ? paper_totals(m->paper) : (PaperTotals){0};
    method_row(sheet, m);
    tally_cell(sheet, all);
    paper_cells(sheet, all, paper.all);
    if (split) {
        tally_cell(sheet, training);
        tally_cell(sheet, held_out);
        interval_cell(sheet, held_out);
        paper_cells(sheet, held_out, paper.held_out);
    }
    sheet_number(sheet, crashes);
    beside_cells(sheet, split, beside);
}

static Tally tally_of(FacetRaceTally tally)
{
    return (Tally){tally.passed, tally.gates, nan(""), nan("")};
}

// Of the flights of the page, when there is no evaluation.
static void passage_from_flights(Sheet *sheet, bool split, const Report *report)
{
    FacetRaceResult *results = calloc((size_t)report->task_count + 1, sizeof *results);
    if (!results) sheet_lose_row(sheet);
    for (int m = 0; results && m < REPORT_METHODS; m++) {
        int count = 0;
        for (int i = 0; i < report->task_count; i++) {
            const ReportFlight *flight = &report->flights[m * report->task_count + i];
            if (flight->flown) results[count++] = flight->result;
        }
        if (count == 0) continue;
        FacetRaceTotals totals = facet_race_totals(results, count);
        passage_row(sheet, split, m, tally_of(totals.all), tally_of(totals.training),
                    tally_of(totals.held_out), totals.crashes, nothing_beside);
    }
    free(results);
}

// Whether any policy of the evaluation, or any flight of the page without one, has tasks that it
// was not trained on.
static bool has_split(Report *report)
{
    JsonRef root = input_root(report, INPUT_EVAL), methods = input_member(&root, "methods");
    for (int m = 0; m < input_length(&methods); m++) {
        JsonRef entry = input_element(&methods, m);
        if (tally_read(report, &entry, "held_out").gates != 0.0) return true; // or unknown
    }
    for (int i = 0; input_length(&methods) == 0 && i < REPORT_METHODS * report->task_count; i++)
        if (report->flights[i].flown && report->flights[i].result.held_out) return true;
    return false;
}

static void table_passage(SheetSink *sink, Report *report)
{
    JsonRef root = input_root(report, INPUT_EVAL), methods = input_member(&root, "methods");
    bool evaluated = input_length(&methods) > 0, split = has_split(report);
    Sheet sheet;
    if (!sheet_begin(
            &sheet, sink,
            (SheetHead){
                "passage", "passage", "Gates passed by method",
                .note = evaluated && split
                            ? "First seed. 95 %: Wilson's interval of the held-out rate. Held "
                              "out are the tasks that a policy was not trained on; the "
                              "oracle, trained on all, is counted on those of the others. "
                              "veh.: gates that a vehicle of 0.125 m passes whole."
                        : evaluated ? "First seed. All policies were trained on all tasks."
                                    : "Flights of this page; facet eval gives intervals and more "
                                      "methods."},
            evaluated ? input_origin(report, INPUT_EVAL) : flights_origin(report), NULL))
        return;
    sheet_columns(&sheet, METHOD_COLUMNS, NUMBER("All", "all", 0), NUMBER("Paper, all", "paper", 0),
                  NUMBER("Difference", NULL, 0));
    if (split)
        sheet_columns(&sheet, NUMBER("Training", "training", 0), NUMBER("Held out", "held out", 0),
                      NUMBER("95 %", "95 %", 0), NUMBER("Paper, held out", "paper", 0),
                      NUMBER("Difference, held out", NULL, 0));
    sheet_columns(&sheet, NUMBER("Crashes", "crashes", 0), NUMBER("Vehicle of 0.125 m", "veh.", 0));
    if (split) sheet_columns(&sheet, NUMBER("Vehicle, held out", NULL, 0));
    sheet_columns(&sheet, NUMBER("Path error", NULL, 2, .unit = "m"),
                  NUMBER("Speeds in order", NULL, 0));
    if (!evaluated) passage_from_flights(&sheet, split, report);
    for (int m = 0; evaluated && m < REPORT_METHODS; m++) {
        JsonRef entry = method_entry(report, report_methods[m].id);
        if (!entry.node) continue;
        passage_row(&sheet, split, m, tally_read(report, &entry, "all"),
                    tally_read(report, &entry, "training"), tally_read(report, &entry, "held_out"),
                    input_number(report, &entry, "crashes"), beside_read(report, &entry));
    }
    sheet_end(&sheet);
}

static double rate(Tally tally)
{
    return tally.gates > 0.0 ? 100.0 * tally.passed / tally.gates : nan("");
}

// Begins a sheet of the evaluation's main method, unless there is none.
static bool begin(Sheet *sheet, SheetSink *sink, Report *report, SheetHead head)
{
    return sheet_begin(sheet, sink, head, input_origin(report, INPUT_EVAL),
                       main_eval_method(report) ? NULL : no_eval);
}

static void table_seeds(SheetSink *sink, Report *report)
{
    const SheetHead head = {
        "passage-seeds", "passage", "Gates passed over all seeds",
        .note = "Share of gates over all seeds together, with Wilson's 95 % interval, "
                "which treats the seeds' gates as independent."};
    Sheet sheet;
    if (!begin(&sheet, sink, report, head)) return;
    sheet_columns(&sheet, METHOD_COLUMNS, NUMBER("Seeds", "seeds", 0, .key = "seeds"),
                  NUMBER("All", "all", 1, .unit = "%"), NUMBER("95 %", "95 %", 0));
    bool split = has_split(report);
    if (split)
        sheet_columns(&sheet, NUMBER("Training", "training", 1, .unit = "%"),
                      NUMBER("Held out", "held out", 1, .unit = "%"),
                      NUMBER("95 %, held out", "95 %", 0));
    sheet_columns(&sheet, NUMBER("Crashes", "crashes", 0, .key = "all_seeds.crashes"));
    for (int m = 0; m < REPORT_METHODS; m++) {
        JsonRef entry = method_entry(report, report_methods[m].id);
        JsonRef totals = input_member(&entry, "all_seeds");
        if (!totals.node) continue;
        Tally all = tally_read(report, &totals, "all");
        Tally held_out = tally_read(report, &totals, "held_out");
        method_row(&sheet, &report_methods[m]);
        sheet_members(&sheet, report, &entry);
        sheet_number(&sheet, rate(all));
        interval_cell(&sheet, all);
        if (split) {
            sheet_numbers(&sheet, rate(tally_read(report, &totals, "training")), rate(held_out));
            interval_cell(&sheet, held_out);
        }
        sheet_members(&sheet, report, &entry);
    }
    sheet_end(&sheet);
}

// ---- Tasks --------------------------------------------------------------------------------------

static double share_of(Report *report, const char *method, FacetCourseTask task)
{
    JsonRef row = task_entry(report, method, task);
    return 100.0 * input_number(report, &row, "share_all_seeds");
}

static void task_row(Sheet *sheet, const Report *report, FacetCourseTask task, bool held_out)
{
    char name[REPORT_TASK_NAME];
    report_task_name(name, report, task);
    sheet_row(sheet, held_out, SHEET_BOTH);
    sheet_text(sheet, "%s", name);
}

// Goes to the next task of the course that the method flew, from {0, -1} on. False after the last.
static bool next_flown(FacetCourseTask *task, JsonRef *row, const Report *report,
                       const char *method)
{
    const FacetCourse *course = report->race->course;
    do {
        if (++task->opening >= course->opening_count) task->track++, task->opening = 0;
        if (task->track >= course->track_count) return false;
        *row = task_entry(report, method, *task);
    } while (!row->node);
    return true;
}

static bool holds_out_any(const Report *report, const char *method)
{
    FacetCourseTask task = {0, -1};
    JsonRef row;
    while (next_flown(&task, &row, report, method))
        if (input_flag(&row, "held_out")) return true;
    return false;
}

static void table_held_out(SheetSink *sink, Report *report)
{
    const SheetHead head = {"held-out", "passage", "Held-out tasks",
                            .note =
                                "Share of gates passed over all seeds, in %, and mean speed of the "
                                "plans beside the reference. The oracle was trained on these pairs "
                                "too. A pair with the path and speed of a training pair is new in "
                                "name alone."};
    static const struct {
        const char *id, *brief;
    } shown[] = {{"baseline", "base"},
                 {"knet", "K-net"},
                 {"factored_composed", "fact."},
                 {"ours_composed", "ours"},
                 {"oracle", "oracle"}};
    const char *method = main_eval_method(report);
    const FacetCourse *course = report->race->course;
    FacetCourseTask task = {0, -1};
    JsonRef row;
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_EVAL),
                     !method                          ? no_eval
                     : !holds_out_any(report, method) ? "The policy was trained on every task."
                                                      : NULL))
        return;
    sheet_columns(&sheet, TASK_COLUMN);
    for (int k = 0; k < SHEET_COUNT(shown); k++)
        if (method_entry(report, shown[k].id).node)
            sheet_columns(&sheet, NUMBER(report_methods[report_method(shown[k].id)].short_name,
                                         shown[k].brief, 0));
    sheet_columns(&sheet, NUMBER("Paper, factored", "paper", 0), NUMBER("Difference", NULL, 0),
                  NUMBER("Plan", "plan", 2, .key = "speed_generated", .unit = "m/s"),
                  NUMBER("Reference", "ref", 2, .key = "speed_reference", .unit = "m/s"),
                  NUMBER("Paper, plan", "paper", 1), NUMBER("Paper, reference", "ref", 1),
                  TEXT("Path and speed of", NULL));
    while (next_flown(&task, &row, report, method)) {
        if (!input_flag(&row, "held_out")) continue;
        const FacetTrack *track = &course->tracks[task.track];
        const char *size = course->openings[task.opening].name;
        int passed = paper_passed(track->name, size);
        double paper = passed >= 0 ? 100.0 * passed / track->gate_count : nan("");
        double generated = nan(""), reference = nan("");
        paper_held_out_speeds(&generated, &reference, track->name, size);
        task_row(&sheet, report, task, true);
        for (int k = 0; k < SHEET_COUNT(shown); k++)
            if (method_entry(report, shown[k].id).node)
                sheet_number(&sheet, share_of(report, shown[k].id, task));
        sheet_numbers(&sheet, paper, share_of(report, method, task) - paper);
        sheet_members(&sheet, report, &row);
        sheet_numbers(&sheet, generated, reference);
        sheet_text(&sheet, "%s", input_text(&row, "same_as"));
    }
    sheet_end(&sheet);
}

static void table_speeds(SheetSink *sink, Report *report)
{
    const SheetHead head = {
        "speeds", "passage", "Speed of the plans by gate size",
        .note = "Mean over the keypoints and seeds, beside the reference that the "
                "expert flies. Wider gates should give faster plans. The shipped layout "
                "was searched so that its references are like the paper's."};
    const FacetCourse *course = report->race->course;
    FacetCourseTask task = {0, -1};
    JsonRef row;
    Sheet sheet;
    if (!begin(&sheet, sink, report, head)) return;
    sheet_columns(&sheet, TEXT("Track", "track"), TEXT("Size", "size"),
                  NUMBER("Plan", "plan", 2, .unit = "m/s"),
                  NUMBER("Reference", "ref", 2, .unit = "m/s"),
                  NUMBER("Difference", "difference", 2, .unit = "m/s"),
                  NUMBER("Paper's reference", "paper's ref", 1, .unit = "m/s"));
    while (next_flown(&task, &row, report, main_eval_method(report))) {
        const char *track = course->tracks[task.track].name;
        const char *size = course->openings[task.opening].name;
        double paper = paper_speed(track, size);
        sheet_group(&sheet, track);
        sheet_row(&sheet, input_flag(&row, "held_out"), SHEET_BOTH);
        sheet_text(&sheet, "%s", track);
        sheet_text(&sheet, "%s", size);
        sheet_compared(&sheet, input_number(report, &row, "speed_generated"),
                       input_number(report, &row, "speed_reference"));
        sheet_number(&sheet, paper > 0.0 ? paper : nan(""));
    }
    sheet_end(&sheet);
}

static void table_tracks(SheetSink *sink, Report *report)
{
    const SheetHead head = {"tracks", "passage", "Gates passed by track and gate size",
                            "First seed, the paper's factored policy beside it.", .starred = true};
    const FacetCourse *course = report->race->course;
    const char *method = main_eval_method(report);
    FacetCourseTask task = {0, -1};
    JsonRef row;
    Sheet sheet;
    if (!begin(&sheet, sink, report, head)) return;
    sheet_columns(&sheet, TASK_COLUMN, TEXT("Split", NULL), NUMBER("Passed", "passed", 0),
                  NUMBER("Gates", "gates", 0, .key = "gates"), NUMBER("Paper", "paper", 0),
                  NUMBER("Difference", "difference", 0),
                  NUMBER("All seeds", "all seeds", 1, .unit = "%"),
                  NUMBER("Std", "std", 1, .unit = "%"));
    while (next_flown(&task, &row, report, method)) {
        double passed = input_number(report, &row, "passed");
        double paper =
            paper_passed(course->tracks[task.track].name, course->openings[task.opening].name);
        if (paper < 0.0) paper = nan("");
        sheet_group(&sheet, course->tracks[task.track].name);
        bool held_out = input_flag(&row, "held_out");
        task_row(&sheet, report, task, held_out);
        sheet_text(&sheet, "%s", held_out ? "held out" : "training");
        sheet_number(&sheet, passed);
        sheet_members(&sheet, report, &row);
        sheet_numbers(&sheet, paper, passed - paper, share_of(report, method, task),
                      100.0 * input_number(report, &row, "share_std"));
    }
    sheet_end(&sheet);
}

void tables_eval(SheetSink *sink, Report *report)
{
    table_passage(sink, report);
    table_held_out(sink, report);
    table_seeds(sink, report);
    table_tracks(sink, report);
    table_speeds(sink, report);
}

// ---- Inference ----------------------------------------------------------------------------------

static void table_inference(SheetSink *sink, Report *report)
{
    const SheetHead head = {
        "inference", "sampling", "Composed and joint inference",
        .note = "The same network, its factors added up or shown at once. First seed; "
                "error is the mean distance from the expert's path."};
    static const char *const shown[] = {"factored_joint", "factored_composed", "ours_joint",
                                        "ours_composed"};
    Sheet sheet;
    if (!begin(&sheet, sink, report, head)) return;
    sheet_columns(&sheet, TEXT("Inference", NULL), TEXT(NULL, "inference"),
                  NUMBER("Gates", "gates", 0), NUMBER("Paper, gates", "paper", 0),
                  NUMBER("Difference", NULL, 0), NUMBER("Rate", "rate", 1, .unit = "%"),
                  NUMBER("Error", "error", 3, .unit = "m"),
                  NUMBER("Paper, error", "paper", 2, .unit = "m"),
                  NUMBER("Difference", "difference", 3, .unit = "m"));
    for (int i = 0; i < SHEET_COUNT(shown); i++) {
        const ReportMethod *method = &report_methods[report_method(shown[i])];
        JsonRef entry = method_entry(report, method->id);
        if (!entry.node) continue;
        Tally all = tally_read(report, &entry, "all");
        method_row(&sheet, method);
        tally_cell(&sheet, all);
        paper_cells(&sheet, all, paper_totals(method->paper).all);
        sheet_number(&sheet, rate(all));
        sheet_compared(&sheet, input_number(report, &entry, "error_m"), paper_error(method->paper));
    }
    sheet_end(&sheet);
}

static void table_sweep(SheetSink *sink, Report *report)
{
    const SheetHead head = {"ddim-sweep", "sampling", "Denoising steps",
                            .note = "Share of gates passed with N DDIM steps, in %, first seed."};
    JsonRef root = input_root(report, INPUT_EVAL), sweep = input_member(&root, "ddim_sweep");
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_EVAL),
                     input_length(&sweep) > 0
                         ? NULL
                         : "There is no sweep over denoising steps: run facet eval --json FILE, "
                           "without --no-sweep."))
        return;
    sheet_columns(&sheet, NUMBER("N", "N", 0), NUMBER("Composed", "composed", 1),
                  NUMBER("Paper", "paper", 1), NUMBER("Difference", NULL, 1));
    bool split = has_split(report);
    if (split)
        sheet_columns(&sheet, NUMBER("Composed, held out", "held out", 1),
                      NUMBER("Paper, held out", "paper", 1),
                      NUMBER("Difference, held out", NULL, 1));
    sheet_columns(&sheet, NUMBER("Joint", "joint", 1), NUMBER("Paper, joint", "paper", 1),
                  NUMBER("Difference, joint", NULL, 1));
    for (int i = 0; i < input_length(&sweep); i++) {
        JsonRef row = input_element(&sweep, i);
        JsonRef composed = input_member(&row, "composed"), joint = input_member(&row, "joint");
        double steps = input_number(report, &row, "steps");
        PaperSweep paper = {0, nan(""), nan(""), nan("")};
        for (int k = 0; k < PAPER_SWEEP_ROWS; k++)
            if (paper_sweep[k].steps == steps) paper = paper_sweep[k];
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_number(&sheet, steps);
        sheet_compared(&sheet, rate(tally_read(report, &composed, "all")),
                       100.0 * paper.composed_all);
        if (split)
            sheet_compared(&sheet, rate(tally_read(report, &composed, "held_out")),
                           100.0 * paper.composed_held_out);
        sheet_compared(&sheet, rate(tally_read(report, &joint, "all")), 100.0 * paper.joint_all);
    }
    sheet_end(&sheet);
}

void tables_sampling(SheetSink *sink, Report *report)
{
    table_inference(sink, report);
    table_sweep(sink, report);
}
