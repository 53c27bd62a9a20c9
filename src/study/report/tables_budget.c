// The table of Theorem 2's budget by noise level: of both losses and both sets of states.
#include "report/tables.h"

#include <string.h>

static const struct {
    const char *key, *name;
} sets[] = {{"along_network", "network's"}, {"along_exact", "exact"}};

static void method_rows(Sheet *sheet, Report *report, const JsonRef *budget, int set)
{
    enum { EVERY = 5 }; // levels that the terminal leaves out between two
    JsonRef levels = input_member(budget, sets[set].key);
    int count = input_length(&levels);
    for (int k = 0; k < count; k++) {
        JsonRef level = input_element(&levels, k);
        bool shown = k % EVERY == 0 || k == count - 1;
        sheet_group(sheet, sets[set].key);
        sheet_row(sheet, false, shown ? SHEET_BOTH : SHEET_PAGE);
        sheet_text(sheet, "%s", strcmp(input_text(budget, "method"), "ours") ? "paper's" : "ours");
        sheet_text(sheet, "%s", sets[set].name);
        sheet_members(sheet, report, &level);
    }
}

void tables_budget(SheetSink *sink, Report *report)
{
    InputKind kind = report->inputs[INPUT_BUDGET].document ? INPUT_BUDGET : INPUT_CERTIFY;
    JsonRef root = input_root(report, kind), budgets = input_member(&root, "budgets");
    const SheetHead head = {"budget", "certificates", "The budget of Theorem 2 by noise level",
                            .note = "In terms of the noise, on the training tasks: the largest "
                                    "over the states along the network's own paths, and along the "
                                    "exact joint score's."};
    Sheet sheet;
    if (input_length(&budgets) == 0) return;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, kind), NULL)) return;
    sheet_columns(&sheet, TEXT("Loss", "loss"), TEXT("States", "states"),
                  NUMBER("σ", "σ", 3, .key = "sigma"), NUMBER("G", "G", 2, .key = "g"),
                  NUMBER("M", "M", 2, .key = "m"),
                  NUMBER("2√(GM)", "2√(GM)", 2, .key = "interaction"),
                  NUMBER("Exact gap", NULL, 2, .key = "gap"),
                  NUMBER("η", "η", 2, .key = "eta", .meaning = "the network's largest error"),
                  NUMBER("Sum", "sum", 2, .key = "total", .meaning = "2√(GM) + 3η"),
                  NUMBER("Measured", "found", 2, .key = "measured",
                         .meaning = "the composed network against the exact joint score"),
                  NUMBER("L₁δ₁", "L₁", 2, .key = "l1",
                         .meaning = "the most that another track changes: δ = 1"),
                  NUMBER("L₂δ₂", "L₂", 2, .key = "l2", .meaning = "the same of another size"),
                  NUMBER("Sum, changed", "changed", 2, .key = "changed",
                         .meaning = "the sum with both factors shown wrong"));
    for (int i = 0; i < input_length(&budgets); i++) {
        JsonRef budget = input_element(&budgets, i);
        for (int set = 0; set < 2; set++) method_rows(&sheet, report, &budget, set);
    }
    sheet_end(&sheet);
}
