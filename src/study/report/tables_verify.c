// The tables of verification before flight.
#include "report/tables.h"

#include <math.h>

static void table_verified(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {"verify", "certificates", "Verification before flight",
                            "The plan is simulated before it is flown, its path repaired where it "
                            "would miss, and slowed where that is not enough; the raw plan's "
                            "gates stand beside it. The repair knows the course and the "
                            "simulator, which the policy is not told.",
                            .starred = true};
    JsonRef tasks = input_member(root, "tasks"), notes = input_member(root, "verification");
    JsonRef raw = input_member(root, "raw"), before = input_member(&raw, "tasks");
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_VERIFY),
                     input_length(&tasks) > 0
                         ? NULL
                         : "Nothing was verified before flight: run facet fly --verify --json "
                           "FILE, then facet report --verify FILE."))
        return;
    sheet_columns(
        &sheet, TASK_COLUMN, NUMBER("Gates", "gates", 0, .key = "gates"), NUMBER("Raw", "raw", 0),
        NUMBER("Verified", "verif.", 0), NUMBER("Difference", NULL, 0),
        NUMBER("Raw", NULL, 2, .unit = "m/s"),
        NUMBER("Verified", NULL, 2, .key = "speed_flown", .unit = "m/s"),
        NUMBER(NULL, "raw", 1, .unit = "s"),
        NUMBER(NULL, "verif.", 1, .key = "duration", .unit = "s"),
        NUMBER("Shift", "shift", 2, .unit = "m", .meaning = "the largest move of a keypoint"),
        NUMBER("Slowest share", "slowest", 2,
               .meaning = "the least share of its speed that a keypoint keeps"),
        NUMBER(NULL, "plans", 0,
               .meaning = "looked at, with the seeds that follow, until one was good"),
        TEXT("Remark", NULL));
    for (int i = 0; i < input_length(&tasks); i++) {
        JsonRef task = input_element(&tasks, i), unchanged = input_same_task(&before, &task);
        JsonRef note = input_same_task(&notes, &task);
        double passed = input_number(report, &task, "passed");
        double passed_raw = input_number(report, &unchanged, "passed");
        sheet_group(&sheet, input_text(&task, "track"));
        sheet_task(&sheet, &task, SHEET_BOTH);
        sheet_members(&sheet, report, &task);
        sheet_numbers(&sheet, passed_raw, passed, passed - passed_raw,
                      input_number(report, &unchanged, "speed_flown"));
        sheet_members(&sheet, report, &task);
        sheet_number(&sheet, input_number(report, &unchanged, "duration"));
        sheet_members(&sheet, report, &task);
        sheet_numbers(&sheet, input_number(report, &note, "shift"),
                      input_number(report, &note, "slowest_factor"),
                      input_number(report, &note, "tries"));
        sheet_text(&sheet, "%s", input_text(&note, "reason"));
    }
    sheet_end(&sheet);
}

// The plans that fail their check, in still air or in gusts, and why.
static void table_refused(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {"refused", "certificates", "Not good", .place = SHEET_TERMINAL};
    JsonRef notes = input_member(root, "verification");
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_VERIFY), NULL)) return;
    sheet_columns(&sheet, TASK_COLUMN, TEXT("Why", "why", .key = "reason"));
    for (int i = 0; i < input_length(&notes); i++) {
        JsonRef note = input_element(&notes, i);
        if (input_flag(&note, "good")) continue;
        sheet_task(&sheet, &note, SHEET_BOTH);
        sheet_members(&sheet, report, &note);
    }
    sheet_end(&sheet);
}

// The gates that neither repair nor slowing brings within their margin.
static void table_blocked(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {"blocked", "certificates", "What nothing cures",
                            .place = SHEET_TERMINAL};
    JsonRef notes = input_member(root, "verification");
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_VERIFY), NULL)) return;
    sheet_columns(&sheet, TASK_COLUMN, TEXT("Gate", "gate", .key = "gate"),
                  NUMBER("Misses by", "misses by", 3, .key = "miss", .unit = "m"),
                  NUMBER("Even at", "even at", 2, .key = "speed", .unit = "m/s"),
                  NUMBER("Its path by", "its path by", 3, .key = "path_miss", .unit = "m"));
    for (int i = 0; i < input_length(&notes); i++) {
        JsonRef note = input_element(&notes, i), blocked = input_member(&note, "blocked");
        for (int k = 0; k < input_length(&blocked); k++) {
            JsonRef block = input_element(&blocked, k);
            sheet_task(&sheet, &note, SHEET_BOTH);
            sheet_members(&sheet, report, &block);
        }
    }
    sheet_end(&sheet);
}

static void table_totals(SheetSink *sink, Report *report, const JsonRef *root)
{
    JsonRef raw = input_member(root, "raw"), before = input_member(&raw, "totals");
    JsonRef totals = input_member(root, "totals"), notes = input_member(root, "verification");
    const struct {
        const char *name, *key, *all;
    } rows[] = {{"gates", "all.passed", "all.gates"},
                {"gates, training", "training.passed", "training.gates"},
                {"gates, held out", "held_out.passed", "held_out.gates"},
                {"crashes", "crashes", NULL}};
    char note[200];
    snprintf(note, sizeof note,
             "A task keeps its margin when %.0f %% of every half-width stay free in still air, and "
             "is good when its flights in gusts pass as well.",
             100.0 * input_number(report, root, "margin"));
    const SheetHead head = {"verified-totals", "certificates", "Totals", note,
                            .place = SHEET_TERMINAL};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_VERIFY), NULL)) return;
    sheet_columns(&sheet, TEXT("Of", "total"), NUMBER("Raw", "raw", 0),
                  NUMBER("Verified", "verified", 0), NUMBER("All", "of", 0));
    for (int i = 0; i < SHEET_COUNT(rows); i++) {
        double all = rows[i].all ? input_at(report, &totals, rows[i].all) : input_length(&notes);
        if (!(all > 0.0)) continue;
        if (i == 1 && !(input_at(report, &totals, "held_out.gates") > 0.0)) continue;
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", rows[i].name);
        sheet_numbers(&sheet, input_at(report, &before, rows[i].key),
                      input_at(report, &totals, rows[i].key), all);
    }
    sheet_row(&sheet, false, SHEET_BOTH);
    sheet_text(&sheet, "tasks with their margin");
    sheet_numbers(&sheet, NAN, input_count(&notes, "within_margin"), input_length(&notes));
    sheet_row(&sheet, false, SHEET_BOTH);
    sheet_text(&sheet, "tasks that are good");
    sheet_numbers(&sheet, NAN, input_count(&notes, "good"), input_length(&notes));
    sheet_end(&sheet);
}

// How surely the plans pass, and what to do about it.
static void table_verdicts(SheetSink *sink, Report *report, const JsonRef *root)
{
    JsonRef verdicts = input_member(root, "verdicts"), tasks = input_member(&verdicts, "tasks");
    if (!verdicts.node) return;
    char note[480];
    snprintf(note, sizeof note,
             "Of %.0f flights each, in gusts of %.2g m/s from starts spread by %.2g m: how many "
             "pass all gates, and the exact lower bound of that probability, at a confidence of "
             "%.3g for all tasks at once. A go needs %.0f %%. The pace was chosen with other "
             "flights. All of it is about the simulator.",
             input_number(report, &verdicts, "samples"), input_number(report, &verdicts, "gusts"),
             input_number(report, &verdicts, "start_spread"),
             input_number(report, &verdicts, "confidence"),
             100.0 * input_number(report, &verdicts, "least"));
    const SheetHead head = {"verdicts", "certificates", "Verdicts", note, .starred = true};
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_VERIFY), NULL)) return;
    sheet_columns(&sheet, TASK_COLUMN, NUMBER("Raw clear", "raw", 0, .key = "raw_clear"),
                  NUMBER("Raw at least", "at least", 3, .key = "raw_lower"),
                  NUMBER("Verified clear", "verif.", 0, .key = "clear"),
                  NUMBER("Verified at least", "at least", 3, .key = "lower"),
                  NUMBER("Pace", "pace", 2, .key = "pace",
                         .meaning = "share of the plan's own speed that the verdict is for"),
                  TEXT("Verdict", "verdict", .key = "verdict"));
    for (int i = 0; i < input_length(&tasks); i++) {
        JsonRef task = input_element(&tasks, i);
        sheet_group(&sheet, input_text(&task, "track"));
        sheet_task(&sheet, &task, SHEET_BOTH);
        sheet_members(&sheet, report, &task);
    }
    sheet_end(&sheet);
}

void tables_verify(SheetSink *sink, Report *report)
{
    JsonRef root = input_root(report, INPUT_VERIFY);
    table_verified(sink, report, &root);
    if (!root.node) return;
    table_refused(sink, report, &root);
    table_blocked(sink, report, &root);
    table_totals(sink, report, &root);
    table_verdicts(sink, report, &root);
}
