// The table of the race study: methods and controls over training seeds (facet reproduce).
#include "report/tables.h"

#include <math.h>

// Gates of one flight of every task, on the mean; the range of the seeds; the bootstrap's interval.
static void rate_cells(Sheet *sheet, Report *report, const JsonRef *row, const char *key,
                       double gates)
{
    JsonRef rate = input_member(row, key);
    double mean = input_share(report, &rate, "mean");
    double least = input_share(report, &rate, "least"), most = input_share(report, &rate, "most");
    sheet_number(sheet, gates * mean);
    if (isnan(least) || isnan(most))
        sheet_number(sheet, nan(""));
    else
        sheet_text(sheet, "%.1f–%.1f", gates * least, gates * most);
    sheet_shares(sheet, input_share(report, &rate, "low"), input_share(report, &rate, "high"));
}

static double mean_of(Report *report, const JsonRef *row, const char *key, double gates)
{
    JsonRef rate = input_member(row, key);
    return gates * input_share(report, &rate, "mean");
}

static void order_cell(Sheet *sheet, Report *report, const JsonRef *row)
{
    JsonRef order = input_member(row, "speed_order");
    double right = input_number(report, &order, "right");
    if (isnan(right))
        sheet_number(sheet, nan(""));
    else
        sheet_text(sheet, "%.1f/%.0f", right, input_number(report, &order, "pairs"));
}

void tables_race_study(SheetSink *sink, Report *report)
{
    const SheetHead head = {
        "race-study", "passage", "Methods and controls over training seeds",
        .note = "Gates of one flight of every task: mean over plans and trainings, range of the "
                "trainings, and the 95 % interval of the share by a bootstrap over tasks and "
                "trainings. New: held-out tasks whose path and speed no training task has. Speeds "
                "off: how far a plan's mean speed is from the reference, on the mean of held-out "
                "plans. Size in speeds: of how speeds differ between the sizes of a track, what "
                "share plans show; a policy that ignores the size has 0. Ours ahead: by how many "
                "held-out gates ours, composed, passes more, and "
                "the 95 % interval of that by a bootstrap that draws the same tasks for both.",
        .aside = "Gates of one flight of every task: mean over plans and trainings, range of the "
                 "trainings, and the 95 % interval of the share by a bootstrap over tasks and "
                 "trainings. New: held-out tasks whose path and speed no training task has. Speed: "
                 "how far a plan's mean speed is from the reference, on the mean of held-out "
                 "plans."};
    JsonRef root = input_root(report, INPUT_RACE_STUDY), rows = input_member(&root, "rows");
    Sheet sheet;
    if (!root.node ||
        !sheet_begin(&sheet, sink, head, input_origin(report, INPUT_RACE_STUDY), NULL))
        return;
    sheet_columns(&sheet, TEXT("Method", NULL), TEXT(NULL, "method"), NUMBER("Trainings", "n", 0),
                  NUMBER("All", "all", 1), NUMBER("Range", NULL, 0), NUMBER("95 %", NULL, 0),
                  NUMBER("Held out", "held out", 1), NUMBER("Range, held out", "range", 0),
                  NUMBER("95 %, held out", "95 %", 0), NUMBER("New", "new", 1),
                  NUMBER("Vehicle of 0.125 m", "veh.", 1), NUMBER("Vehicle, held out", NULL, 1),
                  NUMBER("Crashes", NULL, 1), NUMBER("Path error", NULL, 2, .unit = "m"),
                  NUMBER("Speeds off, held out", "speed", 1, .unit = "%"),
                  NUMBER("Speeds in order", NULL, 0),
                  NUMBER("Size in speeds, learned", NULL, 0, .unit = "%"),
                  NUMBER("Size in speeds, held out", NULL, 0, .unit = "%"),
                  NUMBER("Ours ahead, held out", NULL, 1), NUMBER("95 %, ours ahead", NULL, 0),
                  NUMBER("Rows of training", NULL, 0), NUMBER("Parameters", NULL, 0));
    for (int i = 0; i < input_length(&rows); i++) {
        JsonRef row = input_element(&rows, i), seeds = input_member(&row, "seeds");
        JsonRef fresh = input_member(&row, "held_out_new"), all = input_member(&row, "held_out");
        double gates = input_number(report, &row, "gates");
        double held_out = input_number(report, &row, "gates_held_out");
        double new_gates = held_out * input_number(report, &fresh, "trials") /
                           input_number(report, &all, "trials");
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", input_text(&row, "name"));
        sheet_text(&sheet, "%s", input_text(&row, "brief"));
        sheet_number(&sheet, input_length(&seeds));
        rate_cells(&sheet, report, &row, "all", gates);
        rate_cells(&sheet, report, &row, "held_out", held_out);
        sheet_numbers(&sheet, mean_of(report, &row, "held_out_new", new_gates),
                      mean_of(report, &row, "vehicle", gates),
                      mean_of(report, &row, "vehicle_held_out", held_out),
                      input_number(report, &row, "crashes"), input_number(report, &row, "error_m"));
        sheet_number(&sheet, 100.0 * input_number(report, &row, "speed_off_held_out"));
        order_cell(&sheet, report, &row);
        sheet_numbers(&sheet, 100.0 * input_at(report, &row, "speed_share.learned"),
                      100.0 * input_at(report, &row, "speed_share.left_out"));
        sheet_lead(&sheet, report, &row, "held_out", held_out);
        sheet_numbers(&sheet, input_number(report, &row, "rows"),
                      input_number(report, &row, "parameters"));
    }
    sheet_end(&sheet);
}
