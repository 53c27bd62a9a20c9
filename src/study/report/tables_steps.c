// The table of the step study: gates passed by the number of denoising steps, and where plans lie.
#include "report/tables.h"

#include <math.h>
#include <string.h>

// "96–98", or nothing where there is no number.
static void range_cell(Sheet *sheet, Summary summary)
{
    if (summary.count == 0)
        sheet_number(sheet, nan(""));
    else
        sheet_text(sheet, "%.0f–%.0f", summary.least, summary.most);
}

static void passed_cells(Sheet *sheet, Report *report, const JsonRef *cell, const char *tasks)
{
    JsonRef seeds = input_member(cell, "passed");
    Summary passed = input_summary(report, &seeds, tasks, false);
    sheet_number(sheet, passed.mean);
    range_cell(sheet, passed);
}

// The rows of one policy, sampler and mode. Tasks that a policy's training held out, those of the
// course's list and others, are shown where there are any.
static void curve_rows(Sheet *sheet, Report *report, const JsonRef *curve, bool held_out,
                       bool left_out)
{
    JsonRef cells = input_member(curve, "steps");
    char id[40];
    snprintf(id, sizeof id, "%.16s_%.16s", input_text(curve, "method"), input_text(curve, "mode"));
    int method = report_method(id);
    for (int i = 0; method >= 0 && i < input_length(&cells); i++) {
        JsonRef cell = input_element(&cells, i);
        sheet_row(sheet, false, SHEET_BOTH);
        sheet_text(sheet, "%s", report_methods[method].name);
        sheet_text(sheet, "%s", report_methods[method].short_name);
        sheet_text(sheet, "%s",
                   strcmp(input_text(curve, "sampler"), "ddim") == 0 ? "DDIM" : "DPM++");
        sheet_number(sheet, input_number(report, &cell, "steps"));
        passed_cells(sheet, report, &cell, "all");
        if (held_out) passed_cells(sheet, report, &cell, "held_out");
        if (left_out) passed_cells(sheet, report, &cell, "left_out");
        sheet_members(sheet, report, &cell);
    }
}

static bool has_gates(Report *report, const JsonRef *curves, const char *kind)
{
    for (int i = 0; i < input_length(curves); i++) {
        JsonRef curve = input_element(curves, i);
        if (input_at(report, &curve, kind) > 0.0) return true;
    }
    return false;
}

void tables_steps(SheetSink *sink, Report *report)
{
    JsonRef root = input_root(report, INPUT_STEPS), curves = input_member(&root, "curves");
    const SheetHead head = {
        "step-study", "sampling", "Gates passed with few steps",
        .note = "Mean over the seeds, least and most. Spread is the standard deviation of a "
                "task's plans over the seeds, the distance that from the plans with 50 steps and "
                "the same noise."};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_STEPS),
                     input_length(&curves) > 0
                         ? NULL
                         : "There is no step study: run facet eval --step-study --json FILE, then "
                           "facet report --steps FILE."))
        return;
    bool held_out = has_gates(report, &curves, "gates.held_out");
    bool left_out = has_gates(report, &curves, "gates.left_out");
    sheet_columns(&sheet, TEXT("Method", NULL), TEXT(NULL, "method"), TEXT("Sampler", "sampler"),
                  NUMBER("N", "N", 0), NUMBER("All", "all", 1), NUMBER("Range", "range", 0));
    if (held_out)
        sheet_columns(&sheet, NUMBER("Held out", "held out", 1),
                      NUMBER("Range, held out", "range", 0));
    if (left_out)
        sheet_columns(&sheet, NUMBER("Left out", "left out", 1),
                      NUMBER("Range, left out", "range", 0));
    sheet_columns(&sheet, NUMBER("Crashes", NULL, 0, .key = "crashes"),
                  NUMBER("Spread", "spread", 3, .key = "spread_m", .unit = "m"),
                  NUMBER("Distance", "distance", 3, .key = "from_last_m", .unit = "m"));
    for (int i = 0; i < input_length(&curves); i++) {
        JsonRef curve = input_element(&curves, i);
        curve_rows(&sheet, report, &curve, held_out, left_out);
    }
    sheet_end(&sheet);
}
