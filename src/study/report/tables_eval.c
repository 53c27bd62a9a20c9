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
    for (int i = 0; i < input_length(&tasks); i++) {
        JsonRef row = input_element(&tasks, i);
        FacetCourseTask found;
        if (input_task(&found, report, &row) && found.track == task.track &&
            found.opening == task.opening)
            return row;
    }
    return (JsonRef){.file = entry.file};
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
    if (isnan(tally.passed) || isnan(tally.gates))
        sheet_number(sheet, nan(""));
    else
        sheet_text(sheet, "%.0f/%.0f", tally.passed, tally.gates);
}

static void interval_cell(Sheet *sheet, Tally tally)
{
    if (isnan(tally.low) || isnan(tally.high))
        sheet_number(sheet, nan(""));
    else
        sheet_text(sheet, "%.0f–%.0f %%", 100.0 * tally.low, 100.0 * tally.high);
}

static void paper_cells(Sheet *sheet, Tally ours, PaperTally paper)
{
    if (paper.gates == 0) {
        sheet_number(sheet, nan(""));
        sheet_number(sheet, nan(""));
        return;
    }
    sheet_text(sheet, "%d/%d", paper.passed, paper.gates);
    sheet_number(sheet, ours.gates == paper.gates ? ours.passed - paper.passed : nan(""));
}

static void passage_columns(Sheet *sheet)
{
    sheet_text_column(sheet, "Method");
    sheet_number_column(sheet, "All", 0);
    sheet_number_column(sheet, "Paper, all", 0);
    sheet_number_column(sheet, "Difference", 0);
    sheet_number_column(sheet, "Training", 0);
    sheet_number_column(sheet, "Held out", 0);
    sheet_number_column(sheet, "95 %", 0);
    sheet_number_column(sheet, "Paper, held out", 0);
    sheet_number_column(sheet, "Difference, held out", 0);
    sheet_number_column(sheet, "Crashes", 0);
}

static void passage_row(Sheet *sheet, int method, Tally all, Tally training, Tally held_out,
                        double crashes)
{
    const ReportMethod *m = &report_methods[method];
    PaperTotals paper = m->paper ? paper_totals(m->paper) : (PaperTotals){0};
    sheet_row(sheet, false);
    sheet_text(sheet, "%s", m->name);
    tally_cell(sheet, all);
    paper_cells(sheet, all, paper.all);
    tally_cell(sheet, training);
    tally_cell(sheet, held_out);
    interval_cell(sheet, held_out);
    paper_cells(sheet, held_out, paper.held_out);
    sheet_number(sheet, crashes);
}

static Tally tally_of(FacetRaceTally tally)
{
    return (Tally){tally.passed, tally.gates, nan(""), nan("")};
}

// Of the flights of the page, when there is no evaluation.
static void passage_from_flights(Sheet *sheet, const Report *report)
{
    FacetRaceResult *results = calloc((size_t)report->task_count + 1, sizeof *results);
    for (int m = 0; results && m < REPORT_METHODS; m++) {
        int count = 0;
        for (int i = 0; i < report->task_count; i++) {
            const ReportFlight *flight = &report->flights[m * report->task_count + i];
            if (flight->flown) results[count++] = flight->result;
        }
        if (count == 0) continue;
        FacetRaceTotals totals = facet_race_totals(results, count);
        passage_row(sheet, m, tally_of(totals.all), tally_of(totals.training),
                    tally_of(totals.held_out), totals.crashes);
    }
    free(results);
}

static void table_passage(Json *list, Report *report)
{
    JsonRef root = input_root(report, INPUT_EVAL), methods = input_member(&root, "methods");
    bool evaluated = input_length(&methods) > 0;
    Sheet sheet = sheet_begin(
        (SheetHead){"passage", "passage", "Gates passed by method",
                    evaluated ? "First seed. 95 %: Wilson's interval of the held-out rate."
                              : "Flights of this page; facet eval gives intervals and more "
                                "methods."},
        evaluated ? input_origin(report, INPUT_EVAL) : flights_origin(report));
    passage_columns(&sheet);
    if (!evaluated) passage_from_flights(&sheet, report);
    for (int m = 0; evaluated && m < REPORT_METHODS; m++) {
        JsonRef entry = method_entry(report, report_methods[m].id);
        if (!entry.node) continue;
        passage_row(&sheet, m, tally_read(report, &entry, "all"),
                    tally_read(report, &entry, "training"), tally_read(report, &entry, "held_out"),
                    input_number(report, &entry, "crashes"));
    }
    sheet_end(list, &sheet);
}

static double rate(Tally tally)
{
    return tally.gates > 0.0 ? 100.0 * tally.passed / tally.gates : nan("");
}

static void table_seeds(Json *list, Report *report)
{
    const SheetHead head = {"passage-seeds", "passage", "Gates passed over all seeds",
                            "Share of gates over all seeds together, with Wilson's 95 % interval, "
                            "which treats the seeds' gates as independent."};
    if (!main_eval_method(report)) {
        sheet_missing(list, head, no_eval);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_EVAL));
    sheet_text_column(&sheet, "Method");
    sheet_number_column(&sheet, "Seeds", 0);
    sheet_number_column(&sheet, "All (%)", 1);
    sheet_number_column(&sheet, "95 %", 0);
    sheet_number_column(&sheet, "Training (%)", 1);
    sheet_number_column(&sheet, "Held out (%)", 1);
    sheet_number_column(&sheet, "95 %, held out", 0);
    sheet_number_column(&sheet, "Crashes", 0);
    for (int m = 0; m < REPORT_METHODS; m++) {
        JsonRef entry = method_entry(report, report_methods[m].id);
        JsonRef totals = input_member(&entry, "all_seeds");
        if (!totals.node) continue;
        Tally all = tally_read(report, &totals, "all");
        Tally held_out = tally_read(report, &totals, "held_out");
        sheet_row(&sheet, false);
        sheet_text(&sheet, "%s", report_methods[m].name);
        sheet_number(&sheet, input_number(report, &entry, "seeds"));
        sheet_number(&sheet, rate(all));
        interval_cell(&sheet, all);
        sheet_number(&sheet, rate(tally_read(report, &totals, "training")));
        sheet_number(&sheet, rate(held_out));
        interval_cell(&sheet, held_out);
        sheet_number(&sheet, input_number(report, &totals, "crashes"));
    }
    sheet_end(list, &sheet);
}

// ---- Tasks --------------------------------------------------------------------------------------

static double share_of(Report *report, const char *method, FacetCourseTask task)
{
    JsonRef row = task_entry(report, method, task);
    return 100.0 * input_number(report, &row, "share_all_seeds");
}

static void table_held_out(Json *list, Report *report)
{
    const SheetHead head = {"held-out", "passage", "Held-out tasks",
                            "Share of gates passed over all seeds, in %, and mean speed of the "
                            "plans beside the reference. No training saw these pairs, but the "
                            "oracle's."};
    const char *method = main_eval_method(report);
    const FacetCourse *course = report->race->course;
    if (!method) {
        sheet_missing(list, head, no_eval);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_EVAL));
    static const char *const shown[] = {"baseline", "knet", "factored_composed", "ours_composed",
                                        "oracle"};
    sheet_text_column(&sheet, "Task");
    for (int k = 0; k < 5; k++)
        if (method_entry(report, shown[k]).node)
            sheet_number_column(&sheet, report_methods[report_method(shown[k])].short_name, 0);
    sheet_number_column(&sheet, "Paper, factored", 0);
    sheet_number_column(&sheet, "Difference", 0);
    sheet_number_column(&sheet, "Plan (m/s)", 2);
    sheet_number_column(&sheet, "Reference (m/s)", 2);
    sheet_number_column(&sheet, "Paper, plan", 1);
    sheet_number_column(&sheet, "Paper, reference", 1);
    for (int i = 0; i < course->held_out_count; i++) {
        FacetCourseTask task = course->held_out[i];
        const FacetTrack *track = &course->tracks[task.track];
        const char *size = course->openings[task.opening].name;
        JsonRef row = task_entry(report, method, task);
        char name[REPORT_TASK_NAME];
        int passed = paper_passed(track->name, size);
        double paper = passed >= 0 ? 100.0 * passed / track->gate_count : nan("");
        double generated = nan(""), reference = nan("");
        if (!row.node) continue;
        paper_held_out_speeds(&generated, &reference, track->name, size);
        report_task_name(name, report, task);
        sheet_row(&sheet, true);
        sheet_text(&sheet, "%s", name);
        for (int k = 0; k < 5; k++)
            if (method_entry(report, shown[k]).node)
                sheet_number(&sheet, share_of(report, shown[k], task));
        sheet_number(&sheet, paper);
        sheet_number(&sheet, share_of(report, method, task) - paper);
        sheet_number(&sheet, input_number(report, &row, "speed_generated"));
        sheet_number(&sheet, input_number(report, &row, "speed_reference"));
        sheet_number(&sheet, generated);
        sheet_number(&sheet, reference);
    }
    sheet_end(list, &sheet);
}

static void table_speeds(Json *list, Report *report)
{
    const SheetHead head = {"speeds", "passage", "Speed of the plans by gate size",
                            "Mean over the keypoints and seeds, beside the reference that the "
                            "expert flies. Wider gates should give faster plans."};
    const char *method = main_eval_method(report);
    const FacetCourse *course = report->race->course;
    if (!method) {
        sheet_missing(list, head, no_eval);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_EVAL));
    sheet_text_column(&sheet, "Track");
    sheet_text_column(&sheet, "Size");
    sheet_number_column(&sheet, "Plan (m/s)", 2);
    sheet_number_column(&sheet, "Reference (m/s)", 2);
    sheet_number_column(&sheet, "Difference (m/s)", 2);
    sheet_number_column(&sheet, "Paper's reference (m/s)", 1);
    for (int t = 0; t < course->track_count; t++)
        for (int o = 0; o < course->opening_count; o++) {
            FacetCourseTask task = {t, o};
            JsonRef row = task_entry(report, method, task);
            if (!row.node) continue;
            double plan = input_number(report, &row, "speed_generated");
            double reference = input_number(report, &row, "speed_reference");
            double paper = paper_speed(course->tracks[t].name, course->openings[o].name);
            sheet_row(&sheet, facet_course_is_held_out(course, task));
            sheet_text(&sheet, "%s", course->tracks[t].name);
            sheet_text(&sheet, "%s", course->openings[o].name);
            sheet_number(&sheet, plan);
            sheet_number(&sheet, reference);
            sheet_number(&sheet, plan - reference);
            sheet_number(&sheet, paper > 0.0 ? paper : nan(""));
        }
    sheet_end(list, &sheet);
}

static void table_tracks(Json *list, Report *report)
{
    const SheetHead head = {"tracks", "passage", "Gates passed by track and gate size",
                            "First seed, the paper's factored policy beside it."};
    const char *method = main_eval_method(report);
    const FacetCourse *course = report->race->course;
    if (!method) {
        sheet_missing(list, head, no_eval);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_EVAL));
    sheet_text_column(&sheet, "Task");
    sheet_text_column(&sheet, "Split");
    sheet_number_column(&sheet, "Passed", 0);
    sheet_number_column(&sheet, "Gates", 0);
    sheet_number_column(&sheet, "Paper", 0);
    sheet_number_column(&sheet, "Difference", 0);
    sheet_number_column(&sheet, "All seeds (%)", 1);
    sheet_number_column(&sheet, "Std (%)", 1);
    for (int t = 0; t < course->track_count; t++)
        for (int o = 0; o < course->opening_count; o++) {
            FacetCourseTask task = {t, o};
            JsonRef row = task_entry(report, method, task);
            char name[REPORT_TASK_NAME];
            if (!row.node) continue;
            double passed = input_number(report, &row, "passed");
            double paper = paper_passed(course->tracks[t].name, course->openings[o].name);
            if (paper < 0.0) paper = nan("");
            bool held_out = facet_course_is_held_out(course, task);
            report_task_name(name, report, task);
            sheet_row(&sheet, held_out);
            sheet_text(&sheet, "%s", name);
            sheet_text(&sheet, "%s", held_out ? "held out" : "training");
            sheet_number(&sheet, passed);
            sheet_number(&sheet, input_number(report, &row, "gates"));
            sheet_number(&sheet, paper);
            sheet_number(&sheet, passed - paper);
            sheet_number(&sheet, share_of(report, method, task));
            sheet_number(&sheet, 100.0 * input_number(report, &row, "share_std"));
        }
    sheet_end(list, &sheet);
}

void tables_eval(Json *list, Report *report)
{
    table_passage(list, report);
    table_held_out(list, report);
    table_seeds(list, report);
    table_tracks(list, report);
    table_speeds(list, report);
}

// ---- Inference ----------------------------------------------------------------------------------

static void table_inference(Json *list, Report *report)
{
    const SheetHead head = {"inference", "sampling", "Composed and joint inference",
                            "The same network, its factors added up or shown at once. First seed; "
                            "error is the mean distance from the expert's path."};
    static const char *const shown[] = {"factored_joint", "factored_composed", "ours_joint",
                                        "ours_composed"};
    if (!main_eval_method(report)) {
        sheet_missing(list, head, no_eval);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_EVAL));
    sheet_text_column(&sheet, "Inference");
    sheet_number_column(&sheet, "Gates", 0);
    sheet_number_column(&sheet, "Paper, gates", 0);
    sheet_number_column(&sheet, "Difference", 0);
    sheet_number_column(&sheet, "Rate (%)", 1);
    sheet_number_column(&sheet, "Error (m)", 3);
    sheet_number_column(&sheet, "Paper, error (m)", 2);
    sheet_number_column(&sheet, "Difference (m)", 3);
    for (int i = 0; i < 4; i++) {
        const ReportMethod *method = &report_methods[report_method(shown[i])];
        JsonRef entry = method_entry(report, method->id);
        if (!entry.node) continue;
        Tally all = tally_read(report, &entry, "all");
        double error = input_number(report, &entry, "error_m");
        sheet_row(&sheet, false);
        sheet_text(&sheet, "%s", method->name);
        tally_cell(&sheet, all);
        paper_cells(&sheet, all, paper_totals(method->paper).all);
        sheet_number(&sheet, rate(all));
        sheet_number(&sheet, error);
        sheet_number(&sheet, paper_error(method->paper));
        sheet_number(&sheet, error - paper_error(method->paper));
    }
    sheet_end(list, &sheet);
}

static void compared(Sheet *sheet, double ours, double paper)
{
    sheet_number(sheet, ours);
    sheet_number(sheet, paper);
    sheet_number(sheet, ours - paper);
}

static void table_sweep(Json *list, Report *report)
{
    const SheetHead head = {"ddim-sweep", "sampling", "Denoising steps",
                            "Share of gates passed with N DDIM steps, in %, first seed."};
    JsonRef root = input_root(report, INPUT_EVAL), sweep = input_member(&root, "ddim_sweep");
    if (input_length(&sweep) == 0) {
        sheet_missing(list, head,
                      "There is no sweep over denoising steps: run facet eval --json "
                      "FILE, without --no-sweep.");
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_EVAL));
    static const char *const names[] = {"Composed",
                                        "Paper",
                                        "Difference",
                                        "Composed, held out",
                                        "Paper, held out",
                                        "Difference, held out",
                                        "Joint",
                                        "Paper, joint",
                                        "Difference, joint"};
    sheet_number_column(&sheet, "N", 0);
    for (int i = 0; i < 9; i++) sheet_number_column(&sheet, names[i], 1);
    for (int i = 0; i < input_length(&sweep); i++) {
        JsonRef row = input_element(&sweep, i);
        JsonRef composed = input_member(&row, "composed"), joint = input_member(&row, "joint");
        double steps = input_number(report, &row, "steps");
        PaperSweep paper = {0, nan(""), nan(""), nan("")};
        for (int k = 0; k < PAPER_SWEEP_ROWS; k++)
            if (paper_sweep[k].steps == steps) paper = paper_sweep[k];
        sheet_row(&sheet, false);
        sheet_number(&sheet, steps);
        compared(&sheet, rate(tally_read(report, &composed, "all")), 100.0 * paper.composed_all);
        compared(&sheet, rate(tally_read(report, &composed, "held_out")),
                 100.0 * paper.composed_held_out);
        compared(&sheet, rate(tally_read(report, &joint, "all")), 100.0 * paper.joint_all);
    }
    sheet_end(list, &sheet);
}

void tables_sampling(Json *list, Report *report)
{
    table_inference(list, report);
    table_sweep(list, report);
}
