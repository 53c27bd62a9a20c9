// The tables of leave-one-pair-out: the plans of each pair that was left out, the bounds that
// follow, and the check on what the course holds out.
#include "report/tables.h"

#include <math.h>

// The bound that belongs to the least alpha.
static double first_bound(Report *report, const JsonRef *recipe)
{
    JsonRef bounds = input_member(recipe, "bounds"), first = input_element(&bounds, 0);
    return input_number(report, &first, "largest_m");
}

// A row a pair, as far as the columns are those of both tables.
static void pair_cells(Sheet *sheet, Report *report, const JsonRef *recipe, const JsonRef *pair)
{
    char name[REPORT_RECIPE_NAME];
    report_recipe_name(name, report, recipe);
    sheet_task(sheet, pair, SHEET_BOTH);
    sheet_text(sheet, "%s", name);
    sheet_members(sheet, report, pair);
    sheet_text(sheet, "%.0f/%.0f", input_number(report, pair, "passed"),
               input_number(report, pair, "crossings"));
}

// The columns of both tables; `brief` are the heads on the terminal that only the first has room
// for.
static void pair_columns(Sheet *sheet, bool brief)
{
    sheet_columns(sheet, TASK_COLUMN, TEXT("Recipe", "recipe"),
                  NUMBER("Largest", "largest", 3, .key = "largest_m", .unit = "m",
                         .meaning = "distance of a keypoint from the expert's, in any plan"),
                  NUMBER("Mean", brief ? "mean" : NULL, 3, .key = "mean_m", .unit = "m",
                         .meaning = "distance of the keypoints of the worst plan"),
                  NUMBER("Speed", brief ? "speed" : NULL, 2, .key = "speed_ratio",
                         .meaning = "of the plans over the expert's"),
                  NUMBER("Crashes", brief ? "crashes" : NULL, 0, .key = "crashes"));
    if (brief)
        sheet_columns(
            sheet, NUMBER("Joint apart", "joint", 3, .key = "joint_apart_m", .unit = "m",
                          .meaning = "distance of a keypoint of the joint plan of the same noise "
                                     "from the composed one's, in any plan"));
    sheet_columns(sheet, NUMBER("Gates", "gates", 0));
}

static void table_pairs(SheetSink *sink, Report *report, const JsonRef *recipes)
{
    const SheetHead head = {"leave-one-out", "certificates", "Pairs that training did not show",
                            .note = "A network that learned the other training pairs plans each "
                                    "pair several times; gates are counted over all of them."};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_LEAVE_ONE_OUT), NULL)) return;
    pair_columns(&sheet, true);
    for (int i = 0; i < input_length(recipes); i++) {
        JsonRef recipe = input_element(recipes, i);
        JsonRef pairs = input_member(&recipe, "pairs");
        for (int k = 0; k < input_length(&pairs); k++) {
            JsonRef pair = input_element(&pairs, k);
            pair_cells(&sheet, report, &recipe, &pair);
        }
    }
    sheet_end(&sheet);
}

static void table_bounds(SheetSink *sink, Report *report, const JsonRef *recipes)
{
    const SheetHead head = {"new-pair", "certificates", "How far off the plan of a new pair can be",
                            .note = "Conformal: with this probability over exchangeable pairs no "
                                    "keypoint of its plans is farther from the expert's. The "
                                    "first row of a recipe has the most that its pairs can speak "
                                    "for."};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_LEAVE_ONE_OUT), NULL)) return;
    sheet_columns(&sheet, TEXT("Recipe", "recipe"), NUMBER("Pairs", "pairs", 0),
                  NUMBER("Probability", "probability", 3, .key = "confidence"),
                  NUMBER("Largest", "largest", 3, .key = "largest_m", .unit = "m"),
                  NUMBER("Mean", "mean", 3, .key = "mean_m", .unit = "m"));
    for (int i = 0; i < input_length(recipes); i++) {
        JsonRef recipe = input_element(recipes, i), bounds = input_member(&recipe, "bounds");
        JsonRef pairs = input_member(&recipe, "pairs");
        char name[REPORT_RECIPE_NAME];
        report_recipe_name(name, report, &recipe);
        for (int k = 0; k < input_length(&bounds); k++) {
            JsonRef bound = input_element(&bounds, k);
            sheet_row(&sheet, false, SHEET_BOTH);
            sheet_text(&sheet, "%s", name);
            sheet_number(&sheet, input_length(&pairs));
            sheet_members(&sheet, report, &bound);
        }
    }
    sheet_end(&sheet);
}

static void table_check(SheetSink *sink, Report *report, const JsonRef *recipes)
{
    const SheetHead head = {"new-pair-check", "certificates",
                            "The bound on the pairs that the course holds out",
                            .note = "Of networks of the same size that learned all training pairs. "
                                    "Jackknife+ asks for no more than exchangeable pairs, at twice "
                                    "the alpha.",
                            .starred = true};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_LEAVE_ONE_OUT), NULL)) return;
    pair_columns(&sheet, false);
    sheet_columns(&sheet, NUMBER("Bound", "bound", 3, .unit = "m"),
                  TEXT("Within", "within", .key = "within"),
                  NUMBER("Jackknife+", "plus", 3, .key = "jackknife_m", .unit = "m",
                         .meaning = "the bound by jackknife+"));
    for (int i = 0; i < input_length(recipes); i++) {
        JsonRef recipe = input_element(recipes, i), pairs = input_member(&recipe, "check");
        for (int k = 0; k < input_length(&pairs); k++) {
            JsonRef pair = input_element(&pairs, k);
            pair_cells(&sheet, report, &recipe, &pair);
            sheet_number(&sheet, first_bound(report, &recipe));
            sheet_members(&sheet, report, &pair);
        }
    }
    sheet_end(&sheet);
}

void tables_leave_one_out(SheetSink *sink, Report *report)
{
    JsonRef root = input_root(report, INPUT_LEAVE_ONE_OUT),
            recipes = input_member(&root, "recipes");
    bool checked = false;
    for (int i = 0; i < input_length(&recipes); i++) {
        JsonRef recipe = input_element(&recipes, i), check = input_member(&recipe, "check");
        checked |= input_length(&check) > 0;
    }
    if (input_length(&recipes) == 0) return;
    table_pairs(sink, report, &recipes);
    table_bounds(sink, report, &recipes);
    if (checked) table_check(sink, report, &recipes);
}
