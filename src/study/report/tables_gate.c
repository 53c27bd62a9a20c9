// The tables of the single gate: what became of the trials, by venue and by method, with the
// paper's numbers (Section 4.2) beside them.
#include "math/statistics.h"
#include "paper/paper.h"
#include "report/gate_study.h"
#include "report/tables.h"

#include <math.h>
#include <string.h>

static const PaperRates no_rates = {NAN, NAN};

// ---- Rows ---------------------------------------------------------------------------------------

static void rate_cells(Sheet *sheet, const StudyCounts *counts, FacetGateEnd end)
{
    Interval rate = wilson_interval(counts->ends[end], counts->trials);
    if (counts->trials == 0) {
        sheet_number(sheet, nan(""));
        sheet_number(sheet, nan(""));
        return;
    }
    sheet_number(sheet, 100.0 * counts->ends[end] / counts->trials);
    sheet_text(sheet, "%.0f–%.0f %%", 100.0 * rate.low, 100.0 * rate.high);
}

static void rate_columns(Sheet *sheet)
{
    sheet_number_column(sheet, "Trials", 0);
    sheet_number_column(sheet, "Success (%)", 1);
    sheet_number_column(sheet, "95 %, success", 0);
    sheet_number_column(sheet, "Paper, success", 1);
    sheet_number_column(sheet, "Crash (%)", 1);
    sheet_number_column(sheet, "95 %, crash", 0);
    sheet_number_column(sheet, "Paper, crash", 1);
    sheet_number_column(sheet, "Time-out (%)", 1);
    sheet_number_column(sheet, "95 %, time-out", 0);
}

static void rates_row(Sheet *sheet, const StudyCounts *counts, PaperRates paper)
{
    sheet_number(sheet, counts->trials > 0 ? counts->trials : nan(""));
    rate_cells(sheet, counts, FACET_GATE_SUCCESS);
    sheet_number(sheet, paper.success);
    rate_cells(sheet, counts, FACET_GATE_CRASH);
    sheet_number(sheet, paper.crash);
    rate_cells(sheet, counts, FACET_GATE_TIMEOUT);
}

static void add_counts(StudyCounts *sum, const StudyCounts *counts)
{
    sum->trials += counts->trials;
    for (FacetGateEnd end = 0; end <= FACET_GATE_TIMEOUT; end++)
        sum->ends[end] += counts->ends[end];
}

// ---- By venue -----------------------------------------------------------------------------------

static const StudyVenue *held_out_venue(const GateStudy *study)
{
    for (int i = 0; i < study->venue_count; i++)
        if (study->venues[i].held_out) return &study->venues[i];
    return NULL;
}

// `split` is NULL where there is no split of venues.
static void venue_row(Sheet *sheet, const char *name, const char *split, const StudyCounts *counts,
                      PaperRates paper)
{
    sheet_row(sheet, split && strcmp(split, "zero-shot") == 0);
    sheet_text(sheet, "%s", name);
    if (split)
        sheet_text(sheet, "%s", split);
    else
        sheet_number(sheet, nan(""));
    rates_row(sheet, counts, paper);
}

// The venues of training, their sum, then the one that no training saw.
static void table_venues(Json *list, Report *report)
{
    const GateStudy *study = report->gate;
    const StudyVenue *held_out = held_out_venue(study);
    const char *split = held_out ? "training" : NULL;
    bool papers = held_out && strcmp(held_out->name, paper_gate_held_out) == 0;
    PaperGateRow paper = paper_gate_row(papers ? "zero-shot factored" : NULL);
    StudyCounts training = {0};
    Sheet sheet = sheet_begin(
        (SheetHead){"gate-venues", "gate", "Trials by venue",
                    "95 %: Wilson's interval of the rate. Paper: its factored policy, with pool "
                    "held out."},
        input_origin(report, INPUT_GATE));
    sheet_text_column(&sheet, "Venue");
    sheet_text_column(&sheet, "Split");
    rate_columns(&sheet);
    for (int i = 0; i < study->venue_count; i++) {
        const StudyVenue *venue = &study->venues[i];
        if (venue == held_out) continue;
        venue_row(&sheet, venue->name, split, &venue->counts, no_rates);
        add_counts(&training, &venue->counts);
    }
    if (training.trials > 0)
        venue_row(&sheet, held_out ? "all of training" : "all venues", split, &training,
                  paper.training);
    if (held_out) venue_row(&sheet, held_out->name, "zero-shot", &held_out->counts, paper.held_out);
    sheet_end(list, &sheet);
}

// ---- The study ----------------------------------------------------------------------------------

static PaperRates read_paper(Report *report, const JsonRef *entry, const char *split)
{
    JsonRef paper = input_member(entry, "paper"), rates = input_member(&paper, split);
    return (PaperRates){input_number(report, &rates, "success"),
                        input_number(report, &rates, "crash")};
}

// Two rows for each entry: what training saw, and what it did not.
static void study_rows(Sheet *sheet, Report *report, const JsonRef *entries, const char *name_key,
                       const char *held_out_name)
{
    static const char *const splits[] = {"train", "held_out"};
    for (int i = 0; i < input_length(entries); i++) {
        JsonRef entry = input_element(entries, i);
        for (int k = 0; k < 2; k++) {
            StudyCounts counts = study_counts(report, &entry, splits[k]);
            PaperRates paper = read_paper(report, &entry, splits[k]);
            if (counts.trials == 0 && isnan(paper.success)) continue;
            sheet_row(sheet, k == 1);
            sheet_text(sheet, "%s", input_text(&entry, name_key));
            sheet_text(sheet, "%s", k == 1 ? held_out_name : "training");
            rates_row(sheet, &counts, paper);
        }
    }
}

static void table_protocol(Json *list, Report *report, InputKind kind, const JsonRef *protocol,
                           int index)
{
    const char *name = input_text(protocol, "name"), *title = input_text(protocol, "title");
    JsonRef rows = input_member(protocol, "rows");
    char id[48];
    snprintf(id, sizeof id, "gate-protocol-%d", index + 1);
    Sheet sheet = sheet_begin(
        (SheetHead){id, "gate", title[0] ? title : name, "95 %: Wilson's interval of the rate."},
        input_origin(report, kind));
    sheet_text_column(&sheet, "Method");
    sheet_text_column(&sheet, "Split");
    rate_columns(&sheet);
    study_rows(&sheet, report, &rows, "method",
               strcmp(name, "zero-shot") == 0 ? "zero-shot" : "held out");
    sheet_end(list, &sheet);
}

static void table_ablations(Json *list, Report *report, InputKind kind, const JsonRef *ablations)
{
    Sheet sheet = sheet_begin(
        (SheetHead){"gate-ablations", "gate", "Ablations", "95 %: Wilson's interval of the rate."},
        input_origin(report, kind));
    sheet_text_column(&sheet, "Change");
    sheet_text_column(&sheet, "Split");
    rate_columns(&sheet);
    study_rows(&sheet, report, ablations, "name", "zero-shot");
    sheet_end(list, &sheet);
}

// The study of its own file, or the one that stands beside the flights.
static void tables_study(Json *list, Report *report)
{
    InputKind kind = report->inputs[INPUT_GATE_STUDY].document ? INPUT_GATE_STUDY : INPUT_GATE;
    JsonRef root = input_root(report, kind), study = root;
    if (kind == INPUT_GATE) study = input_member(&root, "study");
    JsonRef protocols = input_member(&study, "protocols");
    JsonRef ablations = input_member(&study, "ablations");
    if (kind == INPUT_GATE_STUDY && input_length(&protocols) == 0)
        report_note(report, "%s: no protocols of a study, left out", root.file);
    for (int i = 0; i < input_length(&protocols); i++) {
        JsonRef protocol = input_element(&protocols, i);
        table_protocol(list, report, kind, &protocol, i);
    }
    if (input_length(&ablations) > 0) table_ablations(list, report, kind, &ablations);
}

void tables_gate(Json *list, Report *report)
{
    if (report->gate) table_venues(list, report);
    tables_study(list, report);
}
