// The table of the mechanism study: networks that differ in one thing each, and their plans of
// pairs that training did not show.
#include "report/tables.h"

#include <math.h>

static void share_cell(Sheet *sheet, Report *report, const JsonRef *row, const char *path)
{
    sheet_number(sheet, 100.0 * input_at(report, row, path));
}

void tables_mechanism(SheetSink *sink, Report *report)
{
    const SheetHead head = {
        "mechanism", "passage", "What makes composition work",
        .note = "Mean distance of a plan's keypoints from the expert's, of networks that did not "
                "learn the pair, over the pairs left out in turn; training: over those learned. "
                "Field: the keypoints that an output can see; 63 or more see the whole plan from "
                "everywhere. Seen: how many of the 32 there are, on the mean. Size in speeds: of "
                "how speeds differ between the sizes of a track, what share plans show; a policy "
                "that ignores the size has 0.",
        .aside =
            "Mean distance of a plan's keypoints from the expert's, of pairs left out: "
            "composed, joint; train: composed, of pairs learned. Gates: "
            "of pairs left out, composed. Size: of how speeds differ between the sizes of a "
            "track, what share composed plans of pairs left out show. Field: the keypoints that "
            "an output can see; 63 see the whole plan from everywhere."};
    JsonRef root = input_root(report, INPUT_MECHANISM), rows = input_member(&root, "variants");
    Sheet sheet;
    if (input_length(&rows) == 0 ||
        !sheet_begin(&sheet, sink, head, input_origin(report, INPUT_MECHANISM), NULL))
        return;
    sheet_columns(&sheet, TEXT("Network", "network"), NUMBER("Composed loss", "loss", 0),
                  NUMBER("Folds", NULL, 0), NUMBER("Field", "field", 0), NUMBER("Seen", NULL, 1),
                  NUMBER("Parameters", NULL, 0),
                  NUMBER("Composed, left out", "comp.", 3, .unit = "m"),
                  NUMBER("Range of the folds", NULL, 0), NUMBER("Median", NULL, 3, .unit = "m"),
                  NUMBER("Joint, left out", "joint", 3, .unit = "m"),
                  NUMBER("Composed, training", "train", 3, .unit = "m"),
                  NUMBER("Gates, left out", "gates", 0, .unit = "%"),
                  NUMBER("Gates, joint", NULL, 0, .unit = "%"),
                  NUMBER("Gates, training", NULL, 0, .unit = "%"),
                  NUMBER("Size in speeds, left out", "size", 0, .unit = "%"),
                  NUMBER("Size in speeds, joint", NULL, 0, .unit = "%"),
                  NUMBER("Size in speeds, training", NULL, 0, .unit = "%"));
    for (int i = 0; i < input_length(&rows); i++) {
        JsonRef row = input_element(&rows, i);
        double least = input_at(report, &row, "left_out.composed.least_m");
        double most = input_at(report, &row, "left_out.composed.most_m");
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", input_text(&row, "name"));
        sheet_numbers(&sheet, input_number(report, &row, "composed_loss"),
                      input_number(report, &row, "folds"), input_number(report, &row, "field"),
                      input_number(report, &row, "seen"), input_number(report, &row, "parameters"),
                      input_at(report, &row, "left_out.composed.error_m"));
        if (isnan(least) || isnan(most))
            sheet_number(&sheet, nan(""));
        else
            sheet_text(&sheet, "%.3f–%.3f", least, most);
        sheet_numbers(&sheet, input_at(report, &row, "left_out.composed.median_m"),
                      input_at(report, &row, "left_out.joint.error_m"),
                      input_at(report, &row, "training.composed.error_m"));
        share_cell(&sheet, report, &row, "left_out.composed.share");
        share_cell(&sheet, report, &row, "left_out.joint.share");
        share_cell(&sheet, report, &row, "training.composed.share");
        share_cell(&sheet, report, &row, "speed_share.composed.left_out");
        share_cell(&sheet, report, &row, "speed_share.joint.left_out");
        share_cell(&sheet, report, &row, "speed_share.composed.learned");
    }
    sheet_end(&sheet);
}
