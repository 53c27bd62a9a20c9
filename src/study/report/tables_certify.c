// The tables of the certificates.
#include "certify/summary.h"
#include "paper/paper.h"
#include "report/tables.h"

#include <math.h>
#include <string.h>

// Begins a sheet of the certificates, unless what it is to show is not there.
static bool begin(Sheet *sheet, SheetSink *sink, Report *report, SheetHead head, bool there)
{
    head.group = "certificates";
    return sheet_begin(sheet, sink, head, input_origin(report, INPUT_CERTIFY),
                       there ? NULL
                             : "There are no certificates: run facet certify --json FILE, then "
                               "facet report --certify FILE.");
}

// The half-width of a task's openings, m.
static double limit_of(const Report *report, const JsonRef *entry)
{
    FacetCourseTask task;
    if (!input_task(&task, report, entry)) return nan("");
    return report->race->course->openings[task.opening].half_width;
}

static SheetPlace page_unless_held_out(const JsonRef *entry)
{
    return input_flag(entry, "held_out") ? SHEET_BOTH : SHEET_PAGE;
}

// ---- Plans --------------------------------------------------------------------------------------

// How many of a task's gates are certified, "not attacked" where that is not known.
static void share_cell(Sheet *sheet, const JsonRef *gates)
{
    if (input_length(gates) == 0)
        sheet_number(sheet, nan(""));
    else if (input_attacked(gates))
        sheet_text(sheet, "%d/%d", input_certified(gates), input_length(gates));
    else
        sheet_text(sheet, "not attacked");
}

static void certificate_row(Sheet *sheet, Report *report, const JsonRef *task)
{
    const char *track = input_text(task, "track"), *size = input_text(task, "size");
    double spread, ltv = report_ltv(&spread, report, task), paper = nan(""), deviation = nan("");
    JsonRef gates = input_member(task, "gates");
    paper_ltv_seeds(&paper, &deviation, track, size);
    sheet_group(sheet, track);
    sheet_task(sheet, task, SHEET_BOTH);
    sheet_text(sheet, "%s", input_flag(task, "held_out") ? "held out" : "training");
    sheet_numbers(sheet, ltv, spread, paper, deviation, ltv - paper);
    sheet_members(sheet, report, task);
    sheet_number(sheet, command_bound(input_number(report, task, "c_ltv"),
                                      input_number(report, task, "eps_s")));
    sheet_members(sheet, report, task);
    sheet_number(sheet, limit_of(report, task));
    share_cell(sheet, &gates);
    sheet_members(sheet, report, task);
}

static void table_certificates(SheetSink *sink, Report *report, const JsonRef *tasks)
{
    const SheetHead head = {
        .id = "certificates",
        .title = "Certificates by task",
        .note = "C_LTV bounds how an error of the score grows into the plan (mean and std over "
                "seeds where there are several; the paper's are over ten); C_emp is the growth "
                "measured; R_ss the tube in metres with the paper's constants and with measured "
                "ones; the last column bounds the rate of flights through all gates from below.",
        .aside = "C_LTV bounds how an error of the score grows into the plan; the paper's is a "
                 "mean over ten seeds.",
        .starred = true};
    Sheet sheet;
    if (!begin(&sheet, sink, report, head, input_length(tasks) > 0)) return;
    sheet_columns(
        &sheet, TASK_COLUMN, TEXT("Split", NULL), NUMBER("C_LTV", "C_LTV", 2),
        NUMBER("std", NULL, 2), NUMBER("Paper", "paper", 2), NUMBER("Paper, std", NULL, 2),
        NUMBER("Difference", NULL, 2),
        NUMBER("C_emp", "C_emp", 3, .key = "c_emp", .meaning = "the growth measured"),
        NUMBER("C_Grönwall", "C_ode", 0, .key = "c_gronwall", .meaning = "Grönwall's bound of it"),
        NUMBER("ε_s", "ε_s", 2, .key = "eps_s", .meaning = "the largest error composing"),
        NUMBER(NULL, "C·ε", 3, .meaning = "C_LTV ε_s"),
        NUMBER(NULL, "by steps", 3, .key = "path_bound",
               .meaning = "Σ |c₂| ‖Φ‖ ‖dε‖, the same without the maximum"),
        NUMBER("R_ss, paper's", "R_ss", 2, .key = "r_ss_default", .unit = "m",
               .meaning = "the tube of C·ε with the paper's constants"),
        NUMBER("R_ss", NULL, 2, .key = "r_ss_measured", .unit = "m"),
        NUMBER(NULL, "limit", 3, .unit = "m"), NUMBER("Gates certified", NULL, 0),
        NUMBER("Passage at least", NULL, 3, .key = "passage_lower_bound"),
        TEXT("Remark", NULL, .key = "not_certified"));
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i);
        certificate_row(&sheet, report, &task);
    }
    sheet_end(&sheet);
}

static void table_failures(SheetSink *sink, Report *report, const JsonRef *tasks)
{
    Sheet sheet;
    const SheetHead head = {"failures", .title = "Not certified", .place = SHEET_TERMINAL};
    if (!begin(&sheet, sink, report, head, true)) return;
    sheet_columns(&sheet, TASK_COLUMN, TEXT("Why", "why", .key = "not_certified"));
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i);
        if (!input_text(&task, "not_certified")[0]) continue;
        sheet_task(&sheet, &task, SHEET_BOTH);
        sheet_members(&sheet, report, &task);
    }
    sheet_end(&sheet);
}

static PaperLtv paper_at(double steps)
{
    for (int k = 0; k < PAPER_LTV_ROWS; k++)
        if (paper_ltv[k].steps == steps) return paper_ltv[k];
    return (PaperLtv){0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

// The numbers of all tasks in short, beside those that the paper gives.
static void table_all_tasks(SheetSink *sink, Report *report, const JsonRef *root,
                            const JsonRef *tasks)
{
    const PaperLtv ltv = paper_at(input_number(report, root, "steps"));
    const PaperTube *tube = &paper_tube;
    const struct {
        const char *key, *name;
        double paper[4]; // least, mean, median, most
    } rows[] = {
        {"c_ltv", "C_LTV", {NAN, ltv.mean, ltv.median, ltv.max}},
        {"c_emp", "C_emp", {tube->c_emp_least, NAN, NAN, tube->c_emp_most}},
        {"eps_s", "ε_s", {tube->eps_s_least, NAN, NAN, tube->eps_s_most}},
        {"r_ss_default", "R_ss, m", {tube->r_ss_least, NAN, NAN, tube->r_ss_most}},
        {"c_gronwall", "C_ode", {NAN, tube->gronwall, NAN, NAN}},
        {"c_gronwall_discrete", "C_product", {NAN, NAN, NAN, NAN}},
    };
    Sheet sheet;
    const SheetHead head = {"all-tasks", .title = "All tasks in short",
                            .note = "The paper's C_ode is that of race3/standard. C_product is the "
                                    "same bound over the sampler's own steps. ε_s over the data "
                                    "is the error of composing at noised demonstrations instead of "
                                    "along a task's path.",
                            .place = SHEET_TERMINAL};
    if (!begin(&sheet, sink, report, head, true)) return;
    sheet_columns(&sheet, TEXT("Quantity", "quantity"), NUMBER("Least", "least", 3),
                  NUMBER("Mean", "mean", 3), NUMBER("Median", "median", 3),
                  NUMBER("Most", "most", 3), NUMBER("Paper, least", "paper: least", 3),
                  NUMBER("Paper, mean", "mean", 3), NUMBER("Paper, median", "median", 3),
                  NUMBER("Paper, most", "most", 3));
    for (int i = 0; i < SHEET_COUNT(rows); i++) {
        Summary ours = input_summary(report, tasks, rows[i].key, false);
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", rows[i].name);
        sheet_numbers(&sheet, ours.least, ours.mean, ours.median, ours.most);
        sheet_add_numbers(&sheet, rows[i].paper, 4);
    }
    JsonRef spread = input_member(root, "eps_d");
    sheet_row(&sheet, false, SHEET_BOTH);
    sheet_text(&sheet, "ε_s over the data");
    sheet_numbers(&sheet, NAN, input_number(report, &spread, "mean"), NAN,
                  input_number(report, &spread, "max"), NAN, NAN, NAN, NAN);
    sheet_row(&sheet, false, SHEET_BOTH);
    sheet_text(&sheet, "C_LTV / C_emp");
    sheet_numbers(&sheet, NAN,
                  input_summary(report, tasks, "c_ltv", false).mean /
                      input_summary(report, tasks, "c_emp", false).mean,
                  NAN, NAN, NAN, ltv.ratio, NAN, NAN);
    sheet_end(&sheet);
}

// Which tasks a mean is over.
typedef enum SeedGroup { SEEDS_ALL, SEEDS_TRAINING, SEEDS_HELD_OUT, SEED_GROUPS } SeedGroup;

// Of each seed's mean over a group of tasks.
static Summary over_seeds(Report *report, const JsonRef *tasks, int seeds, SeedGroup group)
{
    enum { SEEDS_MAX = 1024 };
    double means[SEEDS_MAX];
    int count = 0;
    for (; count < seeds && count < SEEDS_MAX; count++) {
        double sum = 0.0;
        int members = 0;
        for (int i = 0; i < input_length(tasks); i++) {
            JsonRef task = input_element(tasks, i), list = input_member(&task, "seeds");
            JsonRef seed = input_element(&list, count);
            bool held_out = input_flag(&task, "held_out");
            if (group != SEEDS_ALL && held_out != (group == SEEDS_HELD_OUT)) continue;
            sum += input_number(report, &seed, "c_ltv");
            members++;
        }
        means[count] = members > 0 ? sum / members : nan("");
    }
    return summarise(means, count);
}

static void seeds_cells(Sheet *sheet, Summary ours, double mean, double deviation)
{
    sheet_numbers(sheet, ours.count, ours.mean, ours.deviation, ours.deviation / ours.mean,
                  ours.most, mean, deviation, deviation / mean);
}

static void table_seeds(SheetSink *sink, Report *report, const JsonRef *tasks)
{
    Sheet sheet;
    const SheetHead head = {"ltv-seeds", .title = "C_LTV over the seeds", .place = SHEET_TERMINAL,
                            .starred = true};
    if (!begin(&sheet, sink, report, head, true)) return;
    sheet_columns(&sheet, TASK_COLUMN, NUMBER("Seeds", "seeds", 0), NUMBER("Mean", "mean", 2),
                  NUMBER("std", "std", 2), NUMBER("CV", "CV", 3, .meaning = "std / mean"),
                  NUMBER("Most", "most", 2), NUMBER("Paper, mean", "paper: mean", 2),
                  NUMBER("Paper, std", "std", 2), NUMBER("Paper, CV", "CV", 3));
    int most = 0;
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i), seeds = input_member(&task, "seeds");
        double mean = nan(""), deviation = nan("");
        if (input_length(&seeds) < 2) continue;
        if (input_length(&seeds) > most) most = input_length(&seeds);
        paper_ltv_seeds(&mean, &deviation, input_text(&task, "track"), input_text(&task, "size"));
        sheet_group(&sheet, "tasks");
        sheet_task(&sheet, &task, SHEET_BOTH);
        seeds_cells(&sheet, input_summary(report, &seeds, "c_ltv", false), mean, deviation);
    }
    static const char *const names[SEED_GROUPS] = {"mean of all", "of training", "of held out"};
    for (int group = 0; group < SEED_GROUPS && most > 0; group++) {
        Summary ours = over_seeds(report, tasks, most, (SeedGroup)group);
        bool all = group == SEEDS_ALL;
        if (ours.count == 0) continue;
        sheet_group(&sheet, "all");
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", names[group]);
        seeds_cells(&sheet, ours, all ? paper_seeds.mean : nan(""),
                    all ? paper_seeds.deviation : nan(""));
    }
    sheet_end(&sheet);
}

// ---- Gates --------------------------------------------------------------------------------------

#define GATE_COLUMNS                                                                               \
    TEXT("Gate", "gate", .key = "gate"),                                                           \
        NUMBER("Miss", "miss", 3, .key = "miss_nominal", .unit = "m"),                             \
        NUMBER("Radius", "R_g", 3, .key = "radius", .unit = "m",                                   \
               .meaning = "how far an error of the score moves the crossing, to first order"),     \
        NUMBER("Bound", "bound", 3, .key = "bound", .unit = "m",                                   \
               .meaning = "1.25 R_g, which the certificate states"),                               \
        NUMBER(NULL, "gusts", 3, .key = "disturbance", .meaning = "the largest shift seen"),       \
        NUMBER(NULL, "sum", 3),                                                                    \
        NUMBER("Half-width", "limit", 3, .key = "half_width", .unit = "m"),                        \
        NUMBER("Probe", "probe", 2, .key = "probe",                                                \
               .meaning = "gap of the first order in the bound's own directions"),                 \
        NUMBER("Attack", "attack", 2, .key = "attack",                                             \
               .meaning =                                                                          \
                   "the largest shift that allowed errors were found to make, over the bound")

static GateRecord read_gate(Report *report, const JsonRef *entry)
{
    return (GateRecord){.miss = input_number(report, entry, "miss_nominal"),
                        .radius = input_number(report, entry, "radius"),
                        .bound = input_number(report, entry, "bound"),
                        .disturbance = input_number(report, entry, "disturbance")};
}

static void gate_cells(Sheet *sheet, Report *report, const JsonRef *entry)
{
    GateRecord gate = read_gate(report, entry);
    sheet_members(sheet, report, entry);
    sheet_number(sheet, crossing_used(&gate));
    sheet_members(sheet, report, entry);
}

static JsonRef tightest_gate(Report *report, const JsonRef *gates)
{
    GateRecord records[FACET_TRACK_GATES_MAX];
    int count = 0;
    for (; count < input_length(gates) && count < FACET_TRACK_GATES_MAX; count++) {
        JsonRef entry = input_element(gates, count);
        records[count] = read_gate(report, &entry);
        if (!input_attacked(gates)) records[count].bound = records[count].radius;
    }
    return input_element(gates, gates_tightest(records, count));
}

// Whether every task's gates were attacked.
static bool all_attacked(const JsonRef *tasks)
{
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i), gates = input_member(&task, "gates");
        if (input_length(&gates) > 0 && !input_attacked(&gates)) return false;
    }
    return true;
}

// Every gate on the page, those of held-out tasks on the terminal.
static void table_gates(SheetSink *sink, Report *report, const JsonRef *tasks)
{
    static const char rules[] =
        "A gate is certified when miss, bound and gusts sum up to less than the half-width, the "
        "probe is at most 0.25, the path cannot fold, and no attack shifts by more than the bound.";
    static const char formula[] =
        "Gates that were not attacked have the formula alone, miss, R_g and gusts, of plans that "
        "were not repaired. None of them is certified.";
    bool attacked = all_attacked(tasks);
    bool raw = strstr(input_origin(report, INPUT_CERTIFY).command, " --raw") != NULL;
    char note[400];
    snprintf(note, sizeof note, "%s%s",
             !attacked ? ""
             : raw     ? "Of raw plans. "
                       : "Of repaired plans. ",
             attacked ? rules : formula);
    const SheetHead head = {"certificate-gates", .title = "Certificates by gate", .note = note,
                            .aside = "Of held-out tasks."};
    Sheet sheet;
    if (!begin(&sheet, sink, report, head, input_length(tasks) > 0)) return;
    sheet_columns(&sheet, TASK_COLUMN, GATE_COLUMNS, TEXT("Certified", "certified"));
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i), gates = input_member(&task, "gates");
        for (int g = 0; g < input_length(&gates); g++) {
            JsonRef gate = input_element(&gates, g);
            sheet_task(&sheet, &task, page_unless_held_out(&task));
            gate_cells(&sheet, report, &gate);
            bool certified = input_flag(&gate, "certified");
            sheet_text(&sheet, "%s",
                       !input_attacked(&gates) ? "not attacked"
                       : certified             ? "yes"
                                               : "no");
        }
    }
    sheet_end(&sheet);
}

// Each task's tightest gate: of the plan as it is, or as slow as it must be to be certified.
static void table_tightest(SheetSink *sink, Report *report, const JsonRef *tasks, bool paced)
{
    SheetHead head = {"tightest", .title = "Gates certified, and each task's tightest gate",
                      .place = SHEET_TERMINAL, .starred = true};
    if (paced) head.id = "paced", head.title = "The highest pace at which every gate is certified";
    head.note = paced ? "Where there is none, the gates at the slowest pace."
                      : "fold: how much allowed errors change a segment of the plan along itself, "
                        "over its length; from 0.8 on, a quarter below 1, the path can fold.";
    Sheet sheet;
    if (!begin(&sheet, sink, report, head, true)) return;
    sheet_columns(&sheet, TASK_COLUMN, NUMBER("Gates", "gates", 0),
                  NUMBER("Pace", "pace", 2, .meaning = "share of the plan's speed"),
                  NUMBER("Time", "time", 1, .unit = "s"), NUMBER("Fold", "fold", 2), GATE_COLUMNS);
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i), gates = input_member(&task, "gates");
        JsonRef pace = input_member(&task, "paced");
        JsonRef none = {.file = task.file};
        if (input_length(&gates) == 0) continue;
        if (paced) gates = input_member(&pace, "gates");
        JsonRef gate = tightest_gate(report, &gates);
        bool known = paced && input_attacked(&gates);
        sheet_task(&sheet, &task, SHEET_BOTH);
        share_cell(&sheet, paced && known ? &none : &gates);
        sheet_number(&sheet, input_number(report, known ? &pace : &none, "pace"));
        sheet_number(&sheet, input_number(report, known ? &pace : &none, "time"));
        sheet_number(&sheet, input_number(report, paced ? &pace : &task, "fold"));
        gate_cells(&sheet, report, &gate);
    }
    sheet_end(&sheet);
}

// Gates that the formula alone, miss, R_g and gusts, would pass. Older files call them certified.
static int formula_count(const JsonRef *gates)
{
    return input_count(gates, input_attacked(gates) ? "formula" : "certified");
}

static void table_counts(SheetSink *sink, Report *report, const JsonRef *tasks)
{
    Sheet sheet;
    const SheetHead head = {"certified", .title = "What is certified", .place = SHEET_TERMINAL};
    if (!begin(&sheet, sink, report, head, true)) return;
    sheet_columns(&sheet, TEXT("Certified", "certified"), NUMBER("Tasks", "whole tasks", 0),
                  NUMBER("Of", "of", 0), NUMBER("Gates", "gates", 0), NUMBER("Of", "of", 0));
    int all = 0, whole = 0, still = 0, slower = 0, gates = 0, calm_gates = 0, of = 0;
    int formula = 0, formula_gates = 0;
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i), list = input_member(&task, "gates");
        JsonRef paced = input_member(&task, "paced"), slow = input_member(&paced, "gates");
        int count = input_length(&list), certified = input_certified(&list);
        int calm = input_attacked(&list) ? input_count(&list, "certified_still") : 0;
        if (count == 0) continue;
        all++, of += count, calm_gates += calm, still += calm == count;
        gates += certified, whole += certified == count;
        formula_gates += formula_count(&list), formula += formula_count(&list) == count;
        slower += input_attacked(&slow) && isfinite(input_number(report, &paced, "pace"));
    }
    const struct {
        const char *name;
        double numbers[4];
    } rows[] = {{"in gusts", {whole, all, gates, of}},
                {"in still air", {still, all, calm_gates, of}},
                {"in gusts, at some pace", {slower, all, NAN, NAN}},
                {"not certified: the formula alone", {formula, all, formula_gates, of}},
                {"paper", {paper_tube.certified, paper_tube.tasks, NAN, NAN}}};
    for (int i = 0; i < SHEET_COUNT(rows) && all > 0; i++) {
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", rows[i].name);
        sheet_add_numbers(&sheet, rows[i].numbers, 4);
    }
    sheet_end(&sheet);
}

static void table_passage(SheetSink *sink, Report *report, const JsonRef *tasks)
{
    const SheetHead head = {"passage-bound",
                            .title = "Flights through all gates, and the rate that they bound",
                            .note = "Fresh noise, starts and gusts; the confidence is a task's.",
                            .place = SHEET_TERMINAL, .starred = true};
    Sheet sheet;
    if (!begin(&sheet, sink, report, head, true)) return;
    sheet_columns(&sheet, TASK_COLUMN, NUMBER("Clear", "clear", 0, .key = "passage.clear"),
                  NUMBER("Flights", "of", 0, .key = "passage.samples"),
                  NUMBER("At least", "at least", 3, .key = "passage_lower_bound"),
                  TEXT("Weakest gate", "weakest gate"), NUMBER("At least", "at least", 3));
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i), gates = input_member(&task, "gates");
        JsonRef passage = input_member(&task, "passage");
        JsonRef bounds = input_member(&passage, "gate_lower_bounds");
        if (!passage.node) continue;
        int weakest = 0;
        double least = INFINITY, bound;
        for (int g = 0; g < input_length(&bounds); g++) {
            JsonRef at = input_element(&bounds, g);
            if (json_number(&bound, &at, 0.0, 1.0).ok && bound < least) least = bound, weakest = g;
        }
        JsonRef gate = input_element(&gates, weakest);
        sheet_task(&sheet, &task, SHEET_BOTH);
        sheet_members(&sheet, report, &task);
        sheet_text(&sheet, "%s", input_text(&gate, "gate"));
        sheet_number(&sheet, least);
    }
    sheet_end(&sheet);
}

// ---- Measured over many points ------------------------------------------------------------------

enum { SPREADS = 4 };
static const struct {
    const char *key, *name, *paper;
    SheetPlace place;
} spreads[SPREADS] = {{"eps_d", "ε_D", "eps_d", SHEET_BOTH},
                      {"l1", "L1, track", "track", SHEET_BOTH},
                      {"l2", "L2, size", "size", SHEET_BOTH},
                      {"l_joint", "L_joint", "", SHEET_TERMINAL}};

static void table_diagnostics(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {.id = "diagnostics",
                            .title = "Decomposition error and sensitivities",
                            .note = "At noised demonstrations of the training tasks: ε_D is the "
                                    "distance of composed and joint prediction, L1 that of two "
                                    "tracks, L2 that of two gate sizes."};
    JsonRef first = input_member(root, "eps_d");
    Sheet sheet;
    if (!begin(&sheet, sink, report, head, first.node)) return;
    sheet_columns(&sheet, TEXT("Quantity", "quantity"), NUMBER("Mean", "mean", 2),
                  NUMBER("Paper, mean", "paper", 2), NUMBER("Difference", NULL, 2),
                  NUMBER("95th pct.", "95 %", 2), NUMBER("Paper, 95th", "paper", 2),
                  NUMBER("Maximum", "most", 2), NUMBER("Paper, maximum", "paper", 2));
    for (int i = 0; i < SPREADS; i++) {
        JsonRef entry = input_member(root, spreads[i].key);
        PaperSpread paper = paper_spread(spreads[i].paper);
        if (!entry.node) continue;
        sheet_row(&sheet, false, spreads[i].place);
        sheet_text(&sheet, "%s", spreads[i].name);
        sheet_compared(&sheet, input_number(report, &entry, "mean"), paper.mean);
        sheet_numbers(&sheet, input_number(report, &entry, "p95"), paper.p95,
                      input_number(report, &entry, "max"), paper.max);
    }
    sheet_end(&sheet);
}

static void table_ratios(SheetSink *sink, Report *report, const double mean[SPREADS])
{
    static const int pairs[][2] = {{1, 2}, {0, 1}, {0, 2}};
    const double paper[] = {paper_ratios.l1_l2, paper_ratios.eps_l1, paper_ratios.eps_l2};
    Sheet sheet;
    const SheetHead head = {"ratios", .title = "Ratios of the means", .place = SHEET_TERMINAL};
    if (!begin(&sheet, sink, report, head, true)) return;
    sheet_columns(&sheet, TEXT("Ratio", "ratio"), NUMBER("Ours", "ours", 2),
                  NUMBER("Paper", "paper", 2));
    for (int i = 0; i < SHEET_COUNT(pairs); i++) {
        int over = pairs[i][0], under = pairs[i][1];
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "(%s) / (%s)", spreads[over].name, spreads[under].name);
        sheet_numbers(&sheet, mean[over] / mean[under], paper[i]);
    }
    sheet_end(&sheet);
}

// Appendix D: the factored beside the joint bound of the score's change.
static void table_changes(SheetSink *sink, Report *report, const JsonRef *root)
{
    static const struct {
        const char *name;
        int first, count;
    } changes[] = {{"track", 1, 1}, {"size", 2, 1}, {"all", 1, 2}};
    const SheetHead head = {
        "factored-or-joint",
        .title = "Factored and joint bound of the score's change, ε_D + Σ L δ and L_joint ‖δ‖",
        .place = SHEET_TERMINAL};
    double mean[SPREADS], most[SPREADS];
    for (int i = 0; i < SPREADS; i++) {
        JsonRef entry = input_member(root, spreads[i].key);
        mean[i] = input_number(report, &entry, "mean");
        most[i] = input_number(report, &entry, "max");
    }
    Sheet sheet;
    if (isnan(mean[0] + mean[3])) return;
    table_ratios(sink, report, mean);
    if (!begin(&sheet, sink, report, head, true)) return;
    sheet_columns(&sheet, TEXT("Changed", "changed"), NUMBER("Factored", "factored", 2),
                  NUMBER("Joint", "joint", 2),
                  NUMBER("Of maxima, factored", "of maxima: factored", 2),
                  NUMBER("Joint", "joint", 2), TEXT("Tighter", "tighter"));
    for (int i = 0; i < SHEET_COUNT(changes); i++) {
        int first = changes[i].first, count = changes[i].count;
        double factored = factored_change(most[0], most + first, count);
        double joint = joint_change(most[3], count);
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", changes[i].name);
        sheet_numbers(&sheet, factored_change(mean[0], mean + first, count),
                      joint_change(mean[3], count), factored, joint);
        sheet_text(&sheet, "%s", factored < joint ? "factored" : "joint");
    }
    sheet_end(&sheet);
}

// ---- The closed loop, and the exact interaction -------------------------------------------------

static void table_loops(SheetSink *sink, Report *report, const JsonRef *tasks)
{
    const SheetHead head = {"closed-loop",
                            .title = "Closed-loop constants along each plan, and the tube R_ss",
                            .place = SHEET_TERMINAL, .starred = true};
    Sheet sheet;
    if (!begin(&sheet, sink, report, head, true)) return;
    sheet_columns(&sheet, TASK_COLUMN, NUMBER("λ", "λ", 3),
                  NUMBER("B_κ", "B_κ", 2, .key = "closed_loop.b_kappa", .unit = "m"),
                  NUMBER("w", "w", 3, .key = "closed_loop.w", .unit = "m"),
                  NUMBER("R_ss", "R_ss", 2, .key = "r_ss_measured", .unit = "m"),
                  NUMBER("By steps", "by steps", 3, .key = "r_ss_measured_path"),
                  NUMBER("R_ss, paper's", "paper's", 2, .key = "r_ss_default",
                         .meaning = "R_ss with the paper's constants (0.9, 0.05, 0.01)"),
                  NUMBER("By steps", "by steps", 3, .key = "r_ss_default_path"),
                  NUMBER("Half-width", "limit", 3, .unit = "m"));
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i), loop = input_member(&task, "closed_loop");
        JsonRef gates = input_member(&task, "gates");
        double lambda = input_number(report, &loop, "lambda");
        if (input_length(&gates) == 0) continue;
        sheet_task(&sheet, &task, SHEET_BOTH);
        sheet_number(&sheet, input_flag(&loop, "contracts") ? lambda : nan(""));
        sheet_members(&sheet, report, &task);
        sheet_number(&sheet, limit_of(report, &task));
    }
    sheet_end(&sheet);
}

static void table_constants(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {.id = "constants",
                            .title = "Closed-loop and interaction constants",
                            .note = "The paper's closed-loop constants are defaults, pending "
                                    "measurement; it does not compute the exact interaction."};
    const FacetTubeConstants tube = facet_tube_paper_constants();
    const struct {
        const char *group, *key, *name;
        double paper;
    } rows[] = {
        {"constants", "lambda", "λ, contraction of a step", tube.lambda},
        {"constants", "b_kappa", "B_κ, gain of a command's error", tube.b_kappa},
        {"constants", "w", "w, disturbance (m)", tube.w},
        {"interaction", "g", "G, interaction log-ratio", nan("")},
        {"interaction", "m", "M, curvature", nan("")},
        {"interaction", "bound", "2√(GM), Theorem 1", nan("")},
        {"interaction", "max_gap", "greatest gap measured", nan("")},
    };
    JsonRef constants = input_member(root, "constants"), exact = input_member(root, "interaction");
    Sheet sheet;
    if (!begin(&sheet, sink, report, head, constants.node || exact.node)) return;
    sheet_columns(&sheet, TEXT("Constant", "constant"), NUMBER("Ours", "ours", 4),
                  NUMBER("Paper", "paper", 4), NUMBER("Difference", "difference", 4));
    for (int i = 0; i < SHEET_COUNT(rows); i++) {
        JsonRef group = input_member(root, rows[i].group);
        double ours = input_number(report, &group, rows[i].key);
        if (isnan(ours)) continue;
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", rows[i].name);
        sheet_compared(&sheet, ours, rows[i].paper);
    }
    sheet_end(&sheet);
}

static void table_interaction(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {"interaction", .title = "Exact interaction of the expert's tasks",
                            .place = SHEET_TERMINAL};
    JsonRef exact = input_member(root, "interaction"), products = input_member(&exact, "products");
    Sheet sheet;
    if (!begin(&sheet, sink, report, head, true)) return;
    sheet_columns(&sheet, TEXT("Product", "product of tasks", .key = "tasks"),
                  NUMBER("G", "G", 3, .key = "g"), NUMBER("M", "M", 3, .key = "m"),
                  NUMBER("2√(GM)", "2√(GM)", 3, .key = "bound"),
                  NUMBER("Largest gap", "largest gap", 3, .key = "max_gap"),
                  NUMBER("Gap/bound", "gap/bound", 3, .key = "worst_ratio",
                         .meaning = "at the worst noise level"),
                  TEXT("Holds", "holds", .key = "theorem_holds", .meaning = "Theorem 1"));
    for (int i = 0; i < input_length(&products); i++) {
        JsonRef product = input_element(&products, i);
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_members(&sheet, report, &product);
    }
    sheet_end(&sheet);
}

// ---- Over steps, and where the bound is loose ---------------------------------------------------

// The tube of the growth measured, mean over the tasks, with the paper's constants.
static double measured_tube(Report *report, const JsonRef *tasks)
{
    double sum = 0.0;
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i);
        sum += facet_tube_radius(facet_tube_paper_constants(),
                                 command_bound(input_number(report, &task, "c_emp"),
                                               input_number(report, &task, "eps_s")));
    }
    return sum / input_length(tasks);
}

// The largest tube of training tasks, as the paper takes it. A sweep does not say which those are.
static double largest_tube(Report *report, const JsonRef *tasks, const JsonRef *known)
{
    double largest = nan("");
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i), entry = input_same_task(known, &task);
        if (!input_flag(&entry, "held_out"))
            largest = fmax(largest, input_number(report, &task, "tube_seen"));
    }
    return largest;
}

static void table_ltv_sweep(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {"certificate-sweep", "certificates", "Bound by denoising steps",
                            "C_LTV over the tasks, first seed, with N DDIM steps, and the growth "
                            "that was measured.",
                            .aside = "First seed. N = 200 is left out where the policy has fewer "
                                     "noise levels: to visit one twice changes nothing."};
    JsonRef sweep = input_member(root, "sweep"), known = input_member(root, "tasks");
    Sheet sheet;
    if (!sheet_begin(&sheet, sink, head, input_origin(report, INPUT_CERTIFY),
                     input_length(&sweep) > 0
                         ? NULL
                         : "There is no sweep of the certificates over denoising steps."))
        return;
    sheet_columns(&sheet, NUMBER("N", "N", 0), NUMBER("C_LTV, mean", "C_LTV", 2),
                  NUMBER("Paper, mean", "paper", 2), NUMBER("Difference", NULL, 2),
                  NUMBER("C_LTV, max", "most", 2), NUMBER("Paper, max", "paper", 2),
                  NUMBER("C_emp, mean", "C_emp", 3), NUMBER(NULL, "paper", 3),
                  NUMBER(NULL, "R_emp", 3, .unit = "m", .meaning = "the tube of C_emp"),
                  NUMBER(NULL, "paper", 3),
                  NUMBER(NULL, "tube", 3, .unit = "m",
                         .meaning = "the largest distance of the flights of the composed and the "
                                    "joint plan in training tasks"),
                  NUMBER(NULL, "paper", 3));
    for (int i = 0; i < input_length(&sweep); i++) {
        JsonRef row = input_element(&sweep, i), tasks = input_member(&row, "tasks");
        double steps = input_number(report, &row, "steps");
        Summary ltv = input_summary(report, &tasks, "c_ltv", false);
        PaperLtv paper = paper_at(steps);
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_number(&sheet, steps);
        sheet_compared(&sheet, ltv.mean, paper.mean);
        sheet_numbers(&sheet, ltv.most, paper.max,
                      input_summary(report, &tasks, "c_emp", false).mean, paper.c_emp,
                      measured_tube(report, &tasks), paper.r_ss,
                      largest_tube(report, &tasks, &known), paper.tube_max);
    }
    sheet_end(&sheet);
}

// Means over the training tasks, as the paper has them.
static void table_residual(SheetSink *sink, Report *report, const JsonRef *tasks)
{
    const SheetHead head = {.id = "residual",
                            .title = "Where the bound is loose",
                            .note = "Distance of the composed from the joint plan: as it was, as "
                                    "the linear prediction has it, and as C_LTV bounds it; means "
                                    "over the training tasks, in the policy's normalised units."};
    static const char *const keys[] = {"residual.actual", "residual.linearised", "residual.ltv"};
    static const char *const names[] = {"actual", "linearised", "LTV bound"};
    const double paper[] = {paper_residual.actual, paper_residual.linear, paper_residual.bound};
    double actual = input_summary(report, tasks, keys[0], true).mean;
    Sheet sheet;
    if (!begin(&sheet, sink, report, head, !isnan(actual))) return;
    sheet_columns(&sheet, TEXT("Quantity", "quantity"), NUMBER("Ours", "ours", 3),
                  NUMBER("Ratio to actual", "to actual", 1), NUMBER("Paper", "paper", 3),
                  NUMBER("Paper's ratio", "to actual", 1), NUMBER("Difference", "difference", 3));
    for (int k = 0; k < 3; k++) {
        double mean = input_summary(report, tasks, keys[k], true).mean;
        sheet_row(&sheet, false, SHEET_BOTH);
        sheet_text(&sheet, "%s", names[k]);
        sheet_numbers(&sheet, mean, actual > 0.0 ? mean / actual : nan(""), paper[k],
                      paper[k] / paper[0], mean - paper[k]);
    }
    sheet_end(&sheet);
}

// What the exact composed score would plan, beside what the network plans: for every task on the
// page, for held-out ones on the terminal.
static void table_exact(SheetSink *sink, Report *report, const JsonRef *root)
{
    const SheetHead head = {
        .id = "exact-plans",
        .title = "Plans of the exact composed score",
        .note = "How far the plan is off the expert's, in place and in speed, with the exact score "
                "of the demonstrations composed and with the network. The task whose expert lies "
                "nearest to the exact plan stands beside it."};
    JsonRef plans = input_member(root, "exact_plans");
    Sheet sheet;
    if (!begin(&sheet, sink, report, head, input_length(&plans) > 0)) return;
    sheet_columns(&sheet, TASK_COLUMN, NUMBER("Exact", "exact", 3, .key = "exact_m", .unit = "m"),
                  NUMBER("Network", "network", 3, .key = "network_m", .unit = "m"),
                  NUMBER("Exact", "exact", 3, .key = "exact_speed", .unit = "m/s"),
                  NUMBER("Network", "network", 3, .key = "network_speed", .unit = "m/s"),
                  TEXT("Nearest expert", "nearest"),
                  NUMBER("at", "at", 3, .key = "nearest_m", .unit = "m"));
    for (int i = 0; i < input_length(&plans); i++) {
        JsonRef plan = input_element(&plans, i);
        sheet_task(&sheet, &plan, page_unless_held_out(&plan));
        sheet_members(&sheet, report, &plan);
        sheet_text(&sheet, "%.100s/%.100s", input_text(&plan, "nearest_track"),
                   input_text(&plan, "nearest_size"));
        sheet_members(&sheet, report, &plan);
    }
    sheet_end(&sheet);
}

void tables_certify(SheetSink *sink, Report *report)
{
    JsonRef root = input_root(report, INPUT_CERTIFY), tasks = input_member(&root, "tasks");
    table_certificates(sink, report, &tasks);
    table_failures(sink, report, &tasks);
    table_all_tasks(sink, report, &root, &tasks);
    table_seeds(sink, report, &tasks);
    table_tightest(sink, report, &tasks, false);
    table_tightest(sink, report, &tasks, true);
    table_counts(sink, report, &tasks);
    table_gates(sink, report, &tasks);
    table_passage(sink, report, &tasks);
    table_diagnostics(sink, report, &root);
    table_changes(sink, report, &root);
    table_loops(sink, report, &tasks);
    table_constants(sink, report, &root);
    table_interaction(sink, report, &root);
    tables_budget(sink, report);
    table_ltv_sweep(sink, report, &root);
    table_residual(sink, report, &tasks);
    table_exact(sink, report, &root);
}
