// The tables of the Meta-World study (docs/metaworld.md): success by method, and by skill.
#include "report/tables.h"

#include <math.h>

#define METAWORLD_GROUP "Meta-World"

// The rate in percent, Wilson's interval and the least and most of the training seeds, from an
// object with trials, success and their bounds.
static void rate_cells(Sheet *sheet, Report *report, const JsonRef *rate)
{
    double trials = input_number(report, rate, "trials");
    sheet_number(sheet,
                 trials > 0.0 ? 100.0 * input_number(report, rate, "success") / trials : nan(""));
    sheet_shares(sheet, input_number(report, rate, "low"), input_number(report, rate, "high"));
    sheet_shares(sheet, input_number(report, rate, "seed_least"),
                 input_number(report, rate, "seed_most"));
}

static void rate_columns(Sheet *sheet)
{
    sheet_columns(sheet, NUMBER("Training", "training", 1, .unit = "%"),
                  NUMBER("95 %, training", "95 %", 0), NUMBER("Seeds, training", "seeds", 0),
                  NUMBER("Held out", "held out", 1, .unit = "%"),
                  NUMBER("95 %, held out", "95 %", 0), NUMBER("Seeds, held out", "seeds", 0));
}

static void half_cells(Sheet *sheet, Report *report, const JsonRef *halves)
{
    JsonRef training = input_member(halves, "training"),
            held_out = input_member(halves, "held_out");
    rate_cells(sheet, report, &training);
    rate_cells(sheet, report, &held_out);
}

static void table_methods(SheetSink *sink, Report *report, const JsonRef *methods)
{
    const SheetHead head = {
        "metaworld", METAWORLD_GROUP, "Success in Meta-World",
        .note =
            "Reach, push and pick-place with hidden goals, pairs of skill and goal held out. 95 %: "
            "Wilson's interval over the trials; seeds: least and most of the training seeds."};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_METAWORLD), NULL)) return;
    sheet_columns(&sheet, TEXT("Method", "method"));
    rate_columns(&sheet);
    sheet_columns(&sheet, NUMBER("Trainings", "trainings", 0));
    for (int i = 0; i < input_length(methods); i++) {
        JsonRef method = input_element(methods, i), trainings = input_member(&method, "trainings");
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", input_text(&method, "name"));
        half_cells(&sheet, report, &method);
        sheet_number(&sheet, input_length(&trainings));
    }
    sheet_end(&sheet);
}

static void table_skills(SheetSink *sink, Report *report, const JsonRef *methods)
{
    const SheetHead head = {"metaworld-skills", METAWORLD_GROUP, "Success by skill",
                            .note = "A skill without held-out pairs has none to count."};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_METAWORLD), NULL)) return;
    sheet_columns(&sheet, TEXT("Method", "method"), TEXT("Skill", "skill"));
    rate_columns(&sheet);
    for (int i = 0; i < input_length(methods); i++) {
        JsonRef method = input_element(methods, i), skills = input_member(&method, "skills");
        for (int k = 0; k < input_length(&skills); k++) {
            JsonRef skill = input_element(&skills, k);
            sheet_group(&sheet, input_text(&method, "name"));
            sheet_row(&sheet, false, SHEET_BOTH);
            sheet_text(&sheet, "%s", input_text(&method, "name"));
            sheet_text(&sheet, "%s", json_key(&skill));
            half_cells(&sheet, report, &skill);
        }
    }
    sheet_end(&sheet);
}

void tables_metaworld(SheetSink *sink, Report *report)
{
    JsonRef root = input_root(report, INPUT_METAWORLD), methods = input_member(&root, "methods");
    if (!root.node) return;
    table_methods(sink, report, &methods);
    table_skills(sink, report, &methods);
}
