// The table of composition operators over the same networks (facet study operators).
#include "report/tables.h"

#include <math.h>

// Weights of track and size, as chosen; a router's are null.
static void weights_cell(Sheet *sheet, const JsonRef *entry)
{
    JsonRef list = input_member(entry, "weights");
    double weights[2];
    for (int f = 0; f < 2; f++) {
        JsonRef at = input_element(&list, f);
        if (at.node && !json_is_null(&at) && json_number(&weights[f], &at, -1e9, 1e9).ok) continue;
        sheet_text(sheet, "learned");
        return;
    }
    sheet_text(sheet, "%.1f, %.1f", weights[0], weights[1]);
}

static void gates_cell(Sheet *sheet, Report *report, const JsonRef *totals, const char *key)
{
    JsonRef rate = input_member(totals, key);
    double passed = input_number(report, &rate, "passed");
    double gates = input_number(report, &rate, "gates");
    if (isnan(passed) || isnan(gates))
        sheet_number(sheet, nan(""));
    else
        sheet_text(sheet, "%.0f/%.0f", passed, gates);
}

void tables_operators(SheetSink *sink, Report *report)
{
    const SheetHead head = {
        "operators", "passage", "Composition operators over the same networks",
        .note = "Gates passed over all plans. Networks, parameters and rows through networks in "
                "training are those of the policy; the router's are added to its own row, whose "
                "rows go forwards alone. Passes are the predictions of a step that count. Weights "
                "of track and size are chosen by flying training tasks; those of the sum are the "
                "paper's."};
    JsonRef root = input_root(report, INPUT_OPERATORS), list = input_member(&root, "operators");
    JsonRef methods = input_member(&root, "methods");
    Sheet sheet;
    if (!root.node || !sheet_begin(&sheet, sink, head, input_origin(report, INPUT_OPERATORS), NULL))
        return;
    sheet_columns(&sheet, TEXT("Operator", NULL), TEXT("Mode", "mode"),
                  NUMBER("Weights", "weights", 0), NUMBER("Networks", "nets", 0),
                  NUMBER("Parameters", "param.", 1, .unit = "M"),
                  NUMBER("Rows of training", "rows", 2, .unit = "M"),
                  NUMBER("Passes a step", "passes", 0), NUMBER("All", "all", 0),
                  NUMBER("Training", "training", 0), NUMBER("Held out", "held out", 0));
    for (int i = 0; i < input_length(&list); i++) {
        JsonRef entry = input_element(&list, i);
        JsonRef method = input_member(&methods, input_text(&entry, "mode"));
        JsonRef totals = input_member(&method, "all_seeds");
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", input_text(&entry, "name"));
        sheet_text(&sheet, "%s", input_text(&entry, "mode"));
        weights_cell(&sheet, &entry);
        sheet_numbers(&sheet, input_number(report, &entry, "networks"),
                      1e-6 * input_number(report, &entry, "parameters"),
                      1e-6 * input_number(report, &entry, "rows"),
                      input_number(report, &entry, "passes"));
        gates_cell(&sheet, report, &totals, "all");
        gates_cell(&sheet, report, &totals, "training");
        gates_cell(&sheet, report, &totals, "held_out");
    }
    sheet_end(&sheet);
}
