// The table of composition against the number of training pairs (facet study pairs).
#include "report/tables.h"

#include <string.h>

void tables_pairs(SheetSink *sink, Report *report)
{
    const SheetHead head = {
        "pairs", "passage", "Composition against the number of training pairs",
        .note = "Gates passed, composed unless it says joint, mean over the splits, which are "
                "orders of the pairs. New: of those left out, pairs whose path and speed no "
                "training pair has. Last: pairs that no number of the split was trained on. "
                "Speeds: how far those of plans of pairs left out, and of the last, are off their "
                "references. 95 %: bootstrap over pairs and splits.",
        .aside = "Gates passed, composed, mean over the splits, which are orders of the pairs. "
                 "Last: pairs that no number of the split was trained on. Speeds: how far those "
                 "of plans of pairs left out are off. 95 %: bootstrap over pairs and splits."};
    static const char *const groups[] = {"training", "held_out", "held_out_new", "last"};
    JsonRef root = input_root(report, INPUT_PAIRS), rows = input_member(&root, "rows");
    Sheet sheet;
    if (input_length(&rows) == 0 ||
        !sheet_begin(&sheet, sink, head, input_origin(report, INPUT_PAIRS), NULL))
        return;
    sheet_columns(&sheet, TEXT("Loss", "loss"), NUMBER("Pairs", "pairs", 0),
                  NUMBER("Splits", "splits", 0), NUMBER("Training", "training", 1, .unit = "%"),
                  NUMBER("Left out", "left out", 1, .unit = "%"),
                  NUMBER("New", NULL, 1, .unit = "%"), NUMBER("Last", "last", 1, .unit = "%"),
                  NUMBER("Speeds off, left out", "speeds", 1, .unit = "%"),
                  NUMBER("Speeds off, last", NULL, 1, .unit = "%"),
                  NUMBER("Left out, joint", NULL, 1, .unit = "%"),
                  NUMBER("Speeds off, joint", NULL, 1, .unit = "%"),
                  NUMBER("Left out, range of the splits", NULL, 0),
                  NUMBER("95 %, left out", "95 %, left out", 0));
    for (int i = 0; i < input_length(&rows); i++) {
        JsonRef row = input_element(&rows, i), left_out = input_member(&row, "held_out");
        const char *loss = input_text(&row, "method");
        sheet_group(&sheet, loss);
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", strcmp(loss, "paper") == 0 ? "the paper's" : loss);
        sheet_numbers(&sheet, input_number(report, &row, "pairs"),
                      input_number(report, &row, "splits"));
        for (int g = 0; g < 4; g++) {
            JsonRef rate = input_member(&row, groups[g]);
            sheet_number(&sheet, 100.0 * input_number(report, &rate, "mean"));
        }
        sheet_numbers(&sheet, 100.0 * input_number(report, &row, "speed_off_held_out"),
                      100.0 * input_number(report, &row, "speed_off_last"));
        sheet_numbers(&sheet, 100.0 * input_at(report, &row, "joint.held_out.mean"),
                      100.0 * input_at(report, &row, "joint.speed_off_held_out"));
        sheet_shares(&sheet, input_number(report, &left_out, "least"),
                     input_number(report, &left_out, "most"));
        sheet_shares(&sheet, input_number(report, &left_out, "low"),
                     input_number(report, &left_out, "high"));
    }
    sheet_end(&sheet);
}
