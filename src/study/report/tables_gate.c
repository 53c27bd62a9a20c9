// The tables of the single gate: what became of the trials, by venue and by method, how well a
// policy sees, and its certificates, with the paper's numbers (Section 4.2) beside them.
#include "paper/paper.h"
#include "report/gate_study.h"
#include "report/tables.h"

#include <math.h>
#include <string.h>

static const PaperRates no_rates = {NAN, NAN};

// ---- Rows ---------------------------------------------------------------------------------------

static void rate_cells(Sheet *sheet, const FacetGateTally *tally, FacetGateEnd end)
{
    if (tally->trials == 0) {
        sheet_numbers(sheet, NAN, NAN);
        return;
    }
    sheet_number(sheet, 100.0 * tally->ends[end] / tally->trials);
    sheet_shares(sheet, tally->low[end], tally->high[end]);
}

// `late`: the terminal has room for the time-outs.
static void rate_columns(Sheet *sheet, bool late)
{
    sheet_columns(sheet, NUMBER("Trials", "trials", 0),
                  NUMBER("Success", "success", 1, .unit = "%"), NUMBER("95 %, success", "95 %", 0),
                  NUMBER("Paper, success", "paper", 1), NUMBER("Crash", "crash", 1, .unit = "%"),
                  NUMBER("95 %, crash", NULL, 0), NUMBER("Paper, crash", "paper", 1),
                  NUMBER("Time-out", late ? "time-out" : NULL, 1, .unit = "%"),
                  NUMBER("95 %, time-out", NULL, 0));
}

static void rates_row(Sheet *sheet, const FacetGateTally *tally, PaperRates paper)
{
    sheet_number(sheet, tally->trials > 0 ? tally->trials : nan(""));
    rate_cells(sheet, tally, FACET_GATE_SUCCESS);
    sheet_number(sheet, paper.success);
    rate_cells(sheet, tally, FACET_GATE_CRASH);
    sheet_number(sheet, paper.crash);
    rate_cells(sheet, tally, FACET_GATE_TIMEOUT);
}

static void add_tally(FacetGateTally *sum, const FacetGateTally *tally)
{
    sum->trials += tally->trials;
    for (int end = 0; end < FACET_GATE_ENDS; end++) sum->ends[end] += tally->ends[end];
    facet_gate_tally_intervals(sum);
}

// ---- By venue -----------------------------------------------------------------------------------

// `split` is NULL where there is no split of venues.
static void venue_row(Sheet *sheet, const char *name, const char *split,
                      const FacetGateTally *tally, PaperRates paper)
{
    sheet_row(sheet, split && strcmp(split, "zero-shot") == 0, SHEET_BOTH);
    sheet_text(sheet, "%s", name);
    if (split)
        sheet_text(sheet, "%s", split);
    else
        sheet_number(sheet, nan(""));
    rates_row(sheet, tally, paper);
}

// The venues of training, their sum, then the one that no training saw.
static void table_venues(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {
        "gate-venues", "gate", "Trials by venue",
        .note = "95 %: Wilson's interval of the rate. Paper: its factored policy, with "
                "pool held out.",
        .starred = true};
    JsonRef venues = input_member(root, "venues");
    const char *held_out = input_text(root, "held_out_venue");
    bool splits = held_out[0] && input_member(&venues, held_out).node;
    bool papers = splits && strcmp(held_out, paper_gate_held_out) == 0;
    PaperGateRow paper = paper_gate_row(papers ? "zero-shot factored" : NULL);
    const char *split = splits ? "training" : NULL;
    FacetGateTally training = {0};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_GATE), NULL)) return;
    sheet_columns(&sheet, TEXT("Venue", "venue"), TEXT("Split", NULL));
    rate_columns(&sheet, true);
    for (int i = 0; i < input_length(&venues); i++) {
        JsonRef venue = input_element(&venues, i);
        const char *name = json_key(&venue);
        FacetGateTally tally = study_counts(report, &venues, name);
        if (splits && strcmp(name, held_out) == 0) continue;
        sheet_group(&sheet, "venues");
        venue_row(&sheet, name, split, &tally, no_rates);
        add_tally(&training, &tally);
    }
    sheet_group(&sheet, "all");
    if (training.trials > 0)
        venue_row(&sheet, splits ? "all of training" : "all venues", split, &training,
                  paper.training);
    FacetGateTally unseen = study_counts(report, &venues, splits ? held_out : "");
    if (splits) venue_row(&sheet, held_out, "zero-shot", &unseen, paper.held_out);
    sheet_end(&sheet);
}

// ---- How well a policy sees ---------------------------------------------------------------------

static const char *const split_keys[] = {"train", "held_out"};

static void table_splits(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {"gate-splits", "gate", "Trials by task",
                            "95 %: Wilson's interval of the rate.", .place = SHEET_TERMINAL};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_GATE), NULL)) return;
    sheet_columns(&sheet, TEXT("Tasks", "tasks"));
    rate_columns(&sheet, true);
    for (int k = 0; k < 2; k++) {
        FacetGateTally tally = study_counts(report, root, split_keys[k]);
        if (tally.trials == 0) continue;
        sheet_row(&sheet, k == 1, SHEET_BOTH);
        sheet_text(&sheet, "%s", k == 1 ? "held out" : "training");
        rates_row(&sheet, &tally, no_rates);
    }
    sheet_end(&sheet);
}

// Errors of the first offset by the distance from the gate.
static void table_sight(SheetSink *sink, Report *report, const JsonRef *errors)
{
    const SheetHead head = {"gate-sight", "gate", "Error of the first offset by the distance",
                            "Along and across the line of sight, mean over the frames, m.",
                            .place = SHEET_TERMINAL};
    JsonRef lists[] = {input_member(errors, split_keys[0]), input_member(errors, split_keys[1])};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_GATE), NULL)) return;
    sheet_columns(&sheet, TEXT("Distance", "distance"),
                  NUMBER("Frames, training", "training: frames", 0), NUMBER("Along", "along", 2),
                  NUMBER("Across", "across", 2), NUMBER("Frames, held out", "held out: frames", 0),
                  NUMBER("Along", "along", 2), NUMBER("Across", "across", 2));
    for (int b = 0; b < input_length(&lists[0]); b++) {
        JsonRef first = input_element(&lists[0], b);
        double below = input_number(report, &first, "below_m");
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, isnan(below) ? "beyond" : "below %g m", below);
        for (int k = 0; k < 2; k++) {
            JsonRef bin = input_element(&lists[k], b);
            double frames = input_number(report, &bin, "frames");
            bool seen = frames > 0.0;
            sheet_numbers(&sheet, seen ? frames : nan(""),
                          seen ? input_number(report, &bin, "along_m") : nan(""),
                          seen ? input_number(report, &bin, "across_m") : nan(""));
        }
    }
    sheet_end(&sheet);
}

// ---- Certificates of first plans ----------------------------------------------------------------

// Mean, least and most of the columns, from an object with these for each key. The paper has one
// number for some.
static void range_rows(Sheet *sheet, Report *report, const JsonRef *ranges, const char *whose)
{
    static const char *const rows[] = {"mean", "least", "most"};
    sheet_group(sheet, whose);
    for (int r = 0; r < 3; r++) {
        sheet_row(sheet, false, SHEET_BOTH);
        sheet_text(sheet, "%s%s", whose, rows[r]);
        while (sheet->next < sheet->column_count) {
            const char *key = sheet->columns[sheet->next].key;
            JsonRef range = input_member(ranges, key);
            bool one = r == 0 && range.node && !json_is_object(&range);
            sheet_number(sheet, one ? input_number(report, ranges, key)
                                    : input_number(report, &range, rows[r]));
        }
    }
}

static void plan_rows(Sheet *sheet, Report *report, const JsonRef *root, bool with_paper)
{
    JsonRef plans = input_member(root, "plans"), summary = input_member(root, "summary");
    JsonRef paper = input_member(root, "paper");
    for (int i = 0; i < input_length(&plans); i++) {
        JsonRef plan = input_element(&plans, i);
        sheet_group(sheet, "plans");
        sheet_row(sheet, false, SHEET_BOTH);
        sheet_text(sheet, "%s/%s/%s/%s", input_text(&plan, "venue"), input_text(&plan, "color"),
                   input_text(&plan, "gate"), input_text(&plan, "side"));
        sheet_members(sheet, report, &plan);
    }
    range_rows(sheet, report, &summary, "");
    if (with_paper) range_rows(sheet, report, &paper, "paper: ");
    sheet_end(sheet);
}

static void tables_plans(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead plans = {"gate-plans", "gate",
                             "First plans of trials of training tasks, in normalised units",
                             "The paper calls R_ss metres.", .place = SHEET_TERMINAL};
    const SheetHead offsets = {"gate-offsets", "gate", "Their first offset",
                               "Bounds in metres are — where they pass the sampler's clip.",
                               .place = SHEET_TERMINAL};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, plans, input_origin(report, INPUT_GATE), NULL)) return;
    sheet_columns(
        &sheet, TASK_COLUMN, NUMBER("C_LTV", "C_LTV", 1, .key = "c_ltv"),
        NUMBER("ε_s", "ε_s", 3, .key = "eps_s"),
        NUMBER("C·ε", "C·ε", 2, .key = "ltv_bound", .meaning = "C_LTV ε_s"),
        NUMBER("R_ss", "R_ss", 2, .key = "r_ss_default",
               .meaning = "the tube of C·ε with the paper's constants"),
        NUMBER("By steps", "by steps", 3, .key = "path_bound", .meaning = "Σ |c₂| ‖Φ‖ ‖dε‖"),
        NUMBER("Linear", "linear", 3, .key = "linearised"),
        NUMBER("Actual", "actual", 3, .key = "actual",
               .meaning = "the difference of composed and joint"));
    plan_rows(&sheet, report, root, true);
    if (!sheet_begin(&sheet, sink, offsets, input_origin(report, INPUT_GATE), NULL)) return;
    sheet_columns(&sheet, TASK_COLUMN,
                  NUMBER("By steps", "by steps", 3, .key = "first_bound",
                         .meaning = "the bound, normalised and in metres"),
                  NUMBER("Distance", "distance", 2, .key = "distance_m", .unit = "m"),
                  NUMBER("C·ε", "C·ε", 3, .key = "first_ltv_bound_m", .unit = "m"),
                  NUMBER("By steps", "by steps", 3, .key = "first_bound_m", .unit = "m"),
                  NUMBER("Actual", "actual", 3, .key = "first_gap_m", .unit = "m",
                         .meaning = "the difference of composed and joint"),
                  NUMBER("Error", "error", 3, .key = "first_error_m", .unit = "m",
                         .meaning = "of the offset itself"));
    plan_rows(&sheet, report, root, false);
}

// ---- The study ----------------------------------------------------------------------------------

static PaperRates read_paper(Report *report, const JsonRef *entry, const char *split)
{
    JsonRef paper = input_member(entry, "paper"), rates = input_member(&paper, split);
    return (PaperRates){input_number(report, &rates, "success"),
                        input_number(report, &rates, "crash")};
}

// The least and most of the training seeds, and the bootstrap's interval.
static void seed_cells(Sheet *sheet, Report *report, const JsonRef *entry, const char *end,
                       const char *split)
{
    JsonRef ends = input_member(entry, end), rate = input_member(&ends, split);
    sheet_shares(sheet, input_number(report, &rate, "least"), input_number(report, &rate, "most"));
    sheet_shares(sheet, input_number(report, &rate, "low"), input_number(report, &rate, "high"));
}

// Two rows for each entry: what training saw, and what it did not.
static void table_methods(SheetSink *sink, Report *report, InputKind kind, SheetHead head,
                          const JsonRef *entries, const char *key, const char *unseen)
{
    Sheet sheet;
    head.group = "gate";
    head.note =
        "Trials of all training seeds together. 95 %: Wilson's interval of the rate, as if "
        "all trials were independent. Over seeds: the least and the most of the training "
        "seeds, and the 95 % interval by a bootstrap over tasks and seeds. Ours ahead: "
        "by how much ours succeeds more often, and the 95 % interval of that by a bootstrap "
        "that draws the same tasks for both.";
    head.aside = "95 %: Wilson's interval of the rate, as if all trials were independent.";
    head.starred = true;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, kind), NULL)) return;
    sheet_columns(&sheet, TEXT(strcmp(key, "method") == 0 ? "Method" : "Change", key),
                  TEXT("Split", NULL));
    rate_columns(&sheet, false);
    sheet_columns(&sheet, NUMBER("Trainings", NULL, 0), NUMBER("Success over seeds", NULL, 0),
                  NUMBER("95 %, bootstrap", NULL, 0), NUMBER("Crash over seeds", NULL, 0),
                  NUMBER("95 %, bootstrap, crash", NULL, 0), NUMBER("Ours ahead, points", NULL, 1),
                  NUMBER("95 %, ours ahead", NULL, 0));
    for (int i = 0; i < input_length(entries); i++) {
        JsonRef entry = input_element(entries, i);
        for (int k = 0; k < 2; k++) {
            FacetGateTally tally = study_counts(report, &entry, split_keys[k]);
            PaperRates paper = read_paper(report, &entry, split_keys[k]);
            if (tally.trials == 0 && isnan(paper.success)) continue;
            sheet_row(&sheet, k == 1, SHEET_BOTH);
            sheet_text(&sheet, "%s", input_text(&entry, key));
            sheet_text(&sheet, "%s", k == 1 ? unseen : "training");
            rates_row(&sheet, &tally, paper);
            JsonRef seeds = input_member(&entry, "seeds");
            sheet_number(&sheet, seeds.node ? input_length(&seeds) : nan(""));
            seed_cells(&sheet, report, &entry, "success", split_keys[k]);
            seed_cells(&sheet, report, &entry, "crash", split_keys[k]);
            sheet_lead(&sheet, report, &entry, split_keys[k], 100.0);
        }
    }
    sheet_end(&sheet);
}

// A table a protocol, with its number behind the id where a study may have several.
static void tables_protocols(SheetSink *sink, Report *report, InputKind kind, const JsonRef *study,
                             const char *id)
{
    JsonRef protocols = input_member(study, "protocols");
    if (kind != INPUT_GATE && input_length(&protocols) == 0)
        report_note(report, "%s: no protocols of a study, left out", study->file);
    for (int i = 0; i < input_length(&protocols); i++) {
        JsonRef protocol = input_element(&protocols, i), rows = input_member(&protocol, "rows");
        const char *name = input_text(&protocol, "name"), *title = input_text(&protocol, "title");
        bool within = strcmp(name, "within-venue") == 0; // in venues that training saw
        char numbered[48];
        snprintf(numbered, sizeof numbered, "%s-%d", id, i + 1);
        table_methods(sink, report, kind, (SheetHead){numbered, .title = title[0] ? title : name},
                      &rows, "method", within ? "held out" : "zero-shot");
    }
}

// The study of its own file, or the one that stands beside the flights; then the ladder.
static void tables_study(SheetSink *sink, Report *report)
{
    InputKind kind = report->inputs[INPUT_GATE_STUDY].document ? INPUT_GATE_STUDY : INPUT_GATE;
    JsonRef root = input_root(report, kind), study = root;
    JsonRef ladder = input_root(report, INPUT_GATE_LADDER);
    if (kind == INPUT_GATE) study = input_member(&root, "study");
    JsonRef ablations = input_member(&study, "ablations");
    tables_protocols(sink, report, kind, &study, "gate-protocol");
    if (input_length(&ablations) > 0)
        table_methods(sink, report, kind, (SheetHead){"gate-ablations", .title = "Ablations"},
                      &ablations, "name", "zero-shot");
    if (ladder.node) tables_protocols(sink, report, INPUT_GATE_LADDER, &ladder, "gate-ladder");
}

// ---- Two senses ---------------------------------------------------------------------------------

static void weight_cell(Sheet *sheet, Report *report, const JsonRef *row)
{
    sheet_text(sheet, "%.2f", input_number(report, row, "weight"));
}

// The weights that were tried, on training tasks.
static void table_choice(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {"gate-choice", "gate", "Weights of the camera, on training tasks",
                            .note = "Trials that no table has. 95 %: Wilson's interval of the "
                                    "rate."};
    JsonRef choice = input_member(root, "choice"), tried = input_member(&choice, "tried");
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_MODALITY), NULL)) return;
    sheet_columns(&sheet, TEXT("Weight", "weight"));
    rate_columns(&sheet, true);
    for (int i = 0; i < input_length(&tried); i++) {
        JsonRef row = input_element(&tried, i);
        FacetGateTally tally = study_counts(report, &row, "train");
        sheet_row(&sheet, false, SHEET_BOTH);
        weight_cell(&sheet, report, &row);
        rates_row(&sheet, &tally, no_rates);
    }
    sheet_end(&sheet);
}

// Camera, beacon and both, on training and on held-out tasks.
static void table_modality(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {"gate-modality", "gate", "Camera, beacon and both",
                            "95 %: Wilson's interval of the rate.", .starred = true};
    JsonRef rows = input_member(root, "rows");
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_MODALITY), NULL)) return;
    sheet_columns(&sheet, TEXT("Senses", "senses"), TEXT("Weight", "weight"),
                  TEXT("Tasks", "tasks"));
    rate_columns(&sheet, true);
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < input_length(&rows); i++) {
            JsonRef row = input_element(&rows, i);
            FacetGateTally tally = study_counts(report, &row, split_keys[k]);
            if (tally.trials == 0) continue;
            sheet_row(&sheet, k == 1, SHEET_BOTH);
            sheet_text(&sheet, "%s", input_text(&row, "name"));
            weight_cell(&sheet, report, &row);
            sheet_text(&sheet, "%s", k == 1 ? "held out" : "training");
            rates_row(&sheet, &tally, no_rates);
        }
    sheet_end(&sheet);
}

void tables_gate(SheetSink *sink, Report *report)
{
    JsonRef root = input_root(report, INPUT_GATE), venues = input_member(&root, "venues");
    JsonRef sight = input_member(&root, "offset_error"), summary = input_member(&root, "summary");
    JsonRef modality = input_root(report, INPUT_MODALITY);
    if (venues.node && json_is_object(&venues) && input_length(&venues) > 0)
        table_venues(sink, report, &root);
    if (sight.node) table_splits(sink, report, &root);
    if (sight.node) table_sight(sink, report, &sight);
    if (summary.node) tables_plans(sink, report, &root);
    tables_study(sink, report);
    if (input_member(&modality, "choice").node) {
        table_choice(sink, report, &modality);
        table_modality(sink, report, &modality);
    }
}
