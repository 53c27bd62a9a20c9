// The tables of the certificates and of verification before flight.
#include "paper/paper.h"
#include "report/tables.h"

#include <facet_study/certify.h>
#include <math.h>
#include <string.h>

static const char no_certificates[] = "There are no certificates: run facet certify --json FILE, "
                                      "then facet report --certify FILE.";

// Gates certified of those with a certificate.
static void certified_cell(Sheet *sheet, const JsonRef *task)
{
    JsonRef gates = input_member(task, "gates");
    int count = input_length(&gates), certified = 0;
    for (int i = 0; i < count; i++) {
        JsonRef gate = input_element(&gates, i);
        certified += input_flag(&gate, "certified");
    }
    if (count > 0)
        sheet_text(sheet, "%d/%d", certified, count);
    else
        sheet_number(sheet, nan(""));
}

static void certificate_row(Sheet *sheet, Report *report, const JsonRef *task)
{
    static const char *const keys[] = {"c_emp", "c_gronwall", "eps_s", "r_ss_default",
                                       "r_ss_measured"};
    const char *track = input_text(task, "track"), *size = input_text(task, "size");
    double spread, ltv = report_ltv(&spread, report, task), paper = nan(""), deviation = nan("");
    bool held_out = input_flag(task, "held_out");
    paper_ltv_seeds(&paper, &deviation, track, size);
    sheet_row(sheet, held_out);
    sheet_text(sheet, "%.100s/%.100s", track, size);
    sheet_text(sheet, "%s", held_out ? "held out" : "training");
    sheet_number(sheet, ltv);
    sheet_number(sheet, spread);
    sheet_number(sheet, paper);
    sheet_number(sheet, deviation);
    sheet_number(sheet, ltv - paper);
    for (int k = 0; k < 5; k++) sheet_number(sheet, input_number(report, task, keys[k]));
    certified_cell(sheet, task);
    sheet_number(sheet, input_number(report, task, "passage_lower_bound"));
    sheet_text(sheet, "%.240s", input_text(task, "not_certified"));
}

static void table_certificates(Json *list, Report *report, const JsonRef *tasks)
{
    const SheetHead head = {
        "certificates", "certificates", "Certificates by task",
        "C_LTV bounds how an error of the score grows into the plan (mean and std over seeds where "
        "there are several; the paper's are over ten); C_emp is the growth measured; R_ss the tube "
        "in metres with the paper's constants and with measured ones; the last column bounds the "
        "rate of flights through all gates from below."};
    static const char *const names[] = {"C_LTV",
                                        "std",
                                        "Paper",
                                        "Paper, std",
                                        "Difference",
                                        "C_emp",
                                        "C_Grönwall",
                                        "ε_s",
                                        "R_ss, paper's (m)",
                                        "R_ss (m)",
                                        "Gates certified",
                                        "Passage at least"};
    static const int decimals[] = {2, 2, 2, 2, 2, 3, 0, 2, 2, 2, 0, 3};
    if (input_length(tasks) == 0) {
        sheet_missing(list, head, no_certificates);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_CERTIFY));
    sheet_text_column(&sheet, "Task");
    sheet_text_column(&sheet, "Split");
    for (int i = 0; i < 12; i++) sheet_number_column(&sheet, names[i], decimals[i]);
    sheet_text_column(&sheet, "Remark");
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i);
        certificate_row(&sheet, report, &task);
    }
    sheet_end(list, &sheet);
}

static void table_gates(Json *list, Report *report, const JsonRef *tasks)
{
    const SheetHead head = {"certificate-gates", "certificates", "Certificates by gate",
                            "A gate is certified when its nominal miss plus the radius is below "
                            "the half-width."};
    if (input_length(tasks) == 0) {
        sheet_missing(list, head, no_certificates);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_CERTIFY));
    sheet_text_column(&sheet, "Task");
    sheet_text_column(&sheet, "Gate");
    sheet_number_column(&sheet, "Miss (m)", 3);
    sheet_number_column(&sheet, "Radius (m)", 3);
    sheet_number_column(&sheet, "Half-width (m)", 3);
    sheet_text_column(&sheet, "Certified");
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i), gates = input_member(&task, "gates");
        for (int g = 0; g < input_length(&gates); g++) {
            JsonRef gate = input_element(&gates, g);
            sheet_row(&sheet, input_flag(&task, "held_out"));
            sheet_text(&sheet, "%.100s/%.100s", input_text(&task, "track"),
                       input_text(&task, "size"));
            sheet_text(&sheet, "%.100s", input_text(&gate, "gate"));
            sheet_number(&sheet, input_number(report, &gate, "miss_nominal"));
            sheet_number(&sheet, input_number(report, &gate, "radius"));
            sheet_number(&sheet, input_number(report, &gate, "half_width"));
            sheet_text(&sheet, "%s", input_flag(&gate, "certified") ? "yes" : "no");
        }
    }
    sheet_end(list, &sheet);
}

// ---- Measured over many points ------------------------------------------------------------------

static void table_diagnostics(Json *list, Report *report, const JsonRef *root)
{
    const SheetHead head = {
        "diagnostics", "certificates", "Decomposition error and sensitivities",
        "At noised demonstrations of the training tasks: ε_D is the distance of "
        "composed and joint prediction, L1 that of two tracks, L2 that of two "
        "gate sizes."};
    static const struct {
        const char *key, *name, *paper;
    } rows[] = {
        {"eps_d", "ε_D", "eps_d"}, {"l1", "L1, track", "track"}, {"l2", "L2, size", "size"}};
    JsonRef first = input_member(root, "eps_d");
    if (!first.node) {
        sheet_missing(list, head, no_certificates);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_CERTIFY));
    sheet_text_column(&sheet, "Quantity");
    static const char *const names[] = {"Mean",        "Paper, mean", "Difference",    "95th pct.",
                                        "Paper, 95th", "Maximum",     "Paper, maximum"};
    for (int i = 0; i < 7; i++) sheet_number_column(&sheet, names[i], 2);
    for (int i = 0; i < 3; i++) {
        JsonRef entry = input_member(root, rows[i].key);
        PaperSpread paper = paper_spread(rows[i].paper);
        if (!entry.node) continue;
        double mean = input_number(report, &entry, "mean");
        sheet_row(&sheet, false);
        sheet_text(&sheet, "%s", rows[i].name);
        sheet_number(&sheet, mean);
        sheet_number(&sheet, paper.mean);
        sheet_number(&sheet, mean - paper.mean);
        sheet_number(&sheet, input_number(report, &entry, "p95"));
        sheet_number(&sheet, paper.p95);
        sheet_number(&sheet, input_number(report, &entry, "max"));
        sheet_number(&sheet, paper.max);
    }
    sheet_end(list, &sheet);
}

static void table_constants(Json *list, Report *report, const JsonRef *root)
{
    const SheetHead head = {"constants", "certificates", "Closed-loop and interaction constants",
                            "The paper's closed-loop constants are defaults, pending measurement; "
                            "it does not compute the exact interaction."};
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
    if (!constants.node && !exact.node) {
        sheet_missing(list, head, no_certificates);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_CERTIFY));
    sheet_text_column(&sheet, "Constant");
    sheet_number_column(&sheet, "Ours", 4);
    sheet_number_column(&sheet, "Paper", 4);
    sheet_number_column(&sheet, "Difference", 4);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        JsonRef group = input_member(root, rows[i].group);
        double ours = input_number(report, &group, rows[i].key);
        if (isnan(ours)) continue;
        sheet_row(&sheet, false);
        sheet_text(&sheet, "%s", rows[i].name);
        sheet_number(&sheet, ours);
        sheet_number(&sheet, rows[i].paper);
        sheet_number(&sheet, ours - rows[i].paper);
    }
    sheet_end(list, &sheet);
}

// ---- Over steps, and where the bound is loose ---------------------------------------------------

// Mean and greatest value of a member over the tasks of a list; NaN without any.
static double mean_over(double *greatest, Report *report, const JsonRef *tasks, const char *key)
{
    double sum = 0.0;
    int count = 0;
    *greatest = nan("");
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i);
        double value = input_number(report, &task, key);
        if (isnan(value)) continue;
        sum += value;
        *greatest = fmax(*greatest, value);
        count++;
    }
    return count > 0 ? sum / count : nan("");
}

static void table_ltv_sweep(Json *list, Report *report, const JsonRef *root)
{
    const SheetHead head = {"certificate-sweep", "certificates", "Bound by denoising steps",
                            "C_LTV over the tasks, first seed, with N DDIM steps, and the growth "
                            "that was measured."};
    JsonRef sweep = input_member(root, "sweep");
    if (input_length(&sweep) == 0) {
        sheet_missing(list, head, "There is no sweep of the certificates over denoising steps.");
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_CERTIFY));
    static const char *const names[] = {"C_LTV, mean", "Paper, mean", "Difference",
                                        "C_LTV, max",  "Paper, max",  "C_emp, mean"};
    sheet_number_column(&sheet, "N", 0);
    for (int i = 0; i < 6; i++) sheet_number_column(&sheet, names[i], i < 5 ? 2 : 3);
    for (int i = 0; i < input_length(&sweep); i++) {
        JsonRef row = input_element(&sweep, i), tasks = input_member(&row, "tasks");
        double steps = input_number(report, &row, "steps"), most, other;
        double mean = mean_over(&most, report, &tasks, "c_ltv");
        double paper_mean = nan(""), paper_max = nan("");
        for (int k = 0; k < PAPER_LTV_ROWS; k++)
            if (paper_ltv[k].steps == steps)
                paper_mean = paper_ltv[k].mean, paper_max = paper_ltv[k].max;
        sheet_row(&sheet, false);
        sheet_number(&sheet, steps);
        sheet_number(&sheet, mean);
        sheet_number(&sheet, paper_mean);
        sheet_number(&sheet, mean - paper_mean);
        sheet_number(&sheet, most);
        sheet_number(&sheet, paper_max);
        sheet_number(&sheet, mean_over(&other, report, &tasks, "c_emp"));
    }
    sheet_end(list, &sheet);
}

// Means over the training tasks, as the paper has them.
static void table_residual(Json *list, Report *report, const JsonRef *tasks)
{
    const SheetHead head = {"residual", "certificates", "Where the bound is loose",
                            "Distance of the composed from the joint plan: as it was, as the "
                            "linear prediction has it, and as C_LTV bounds it; means over the "
                            "training tasks, in the policy's normalised units."};
    static const char *const keys[] = {"actual", "linearised", "ltv"};
    static const char *const names[] = {"actual", "linearised", "LTV bound"};
    const double paper[] = {paper_residual.actual, paper_residual.linear, paper_residual.bound};
    double sums[3] = {0};
    int counts[3] = {0};
    for (int i = 0; i < input_length(tasks); i++) {
        JsonRef task = input_element(tasks, i), residual = input_member(&task, "residual");
        for (int k = 0; k < 3 && !input_flag(&task, "held_out"); k++) {
            double value = input_number(report, &residual, keys[k]);
            if (!isnan(value)) sums[k] += value, counts[k]++;
        }
    }
    if (counts[0] == 0) {
        sheet_missing(list, head, no_certificates);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_CERTIFY));
    sheet_text_column(&sheet, "Quantity");
    sheet_number_column(&sheet, "Ours", 3);
    sheet_number_column(&sheet, "Ratio to actual", 1);
    sheet_number_column(&sheet, "Paper", 3);
    sheet_number_column(&sheet, "Paper's ratio", 1);
    sheet_number_column(&sheet, "Difference", 3);
    double actual = sums[0] / counts[0];
    for (int k = 0; k < 3; k++) {
        double mean = counts[k] > 0 ? sums[k] / counts[k] : nan("");
        sheet_row(&sheet, false);
        sheet_text(&sheet, "%s", names[k]);
        sheet_number(&sheet, mean);
        sheet_number(&sheet, actual > 0.0 ? mean / actual : nan(""));
        sheet_number(&sheet, paper[k]);
        sheet_number(&sheet, paper[k] / paper[0]);
        sheet_number(&sheet, mean - paper[k]);
    }
    sheet_end(list, &sheet);
}

// What the exact composed score would plan, beside what the network plans.
static void table_exact(Json *list, Report *report, const JsonRef *root)
{
    const SheetHead head = {"exact-plans", "certificates", "Plans of the exact composed score",
                            "How far the plan is off the expert's, in place and in speed, with the "
                            "exact score of the demonstrations composed and with the network. The "
                            "task whose expert lies nearest to the exact plan stands beside it."};
    JsonRef plans = input_member(root, "exact_plans");
    if (input_length(&plans) == 0) {
        sheet_missing(list, head, no_certificates);
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_CERTIFY));
    sheet_text_column(&sheet, "Task");
    sheet_number_column(&sheet, "Exact (m)", 3);
    sheet_number_column(&sheet, "Network (m)", 3);
    sheet_number_column(&sheet, "Exact (m/s)", 3);
    sheet_number_column(&sheet, "Network (m/s)", 3);
    sheet_text_column(&sheet, "Nearest expert");
    sheet_number_column(&sheet, "at (m)", 3);
    for (int i = 0; i < input_length(&plans); i++) {
        JsonRef plan = input_element(&plans, i);
        sheet_row(&sheet, input_flag(&plan, "held_out"));
        sheet_text(&sheet, "%.100s/%.100s", input_text(&plan, "track"), input_text(&plan, "size"));
        sheet_number(&sheet, input_number(report, &plan, "exact_m"));
        sheet_number(&sheet, input_number(report, &plan, "network_m"));
        sheet_number(&sheet, input_number(report, &plan, "exact_speed"));
        sheet_number(&sheet, input_number(report, &plan, "network_speed"));
        sheet_text(&sheet, "%.100s/%.100s", input_text(&plan, "nearest_track"),
                   input_text(&plan, "nearest_size"));
        sheet_number(&sheet, input_number(report, &plan, "nearest_m"));
    }
    sheet_end(list, &sheet);
}

void tables_certify(Json *list, Report *report)
{
    JsonRef root = input_root(report, INPUT_CERTIFY), tasks = input_member(&root, "tasks");
    table_certificates(list, report, &tasks);
    table_gates(list, report, &tasks);
    table_diagnostics(list, report, &root);
    table_constants(list, report, &root);
    table_ltv_sweep(list, report, &root);
    table_residual(list, report, &tasks);
    table_exact(list, report, &root);
}

// ---- Verification before flight -----------------------------------------------------------------

// The entry of the same task in another list of the file.
static JsonRef same_task(const JsonRef *list, const JsonRef *task)
{
    for (int i = 0; i < input_length(list); i++) {
        JsonRef entry = input_element(list, i);
        if (strcmp(input_text(&entry, "track"), input_text(task, "track")) == 0 &&
            strcmp(input_text(&entry, "size"), input_text(task, "size")) == 0)
            return entry;
    }
    return (JsonRef){.file = list->file};
}

void tables_verify(Json *list, Report *report)
{
    const SheetHead head = {"verify", "certificates", "Verification before flight",
                            "The plan is simulated before it is flown and slowed around the gates "
                            "it would miss; the raw plan's gates stand beside it."};
    JsonRef root = input_root(report, INPUT_VERIFY), tasks = input_member(&root, "tasks");
    JsonRef raw = input_member(&root, "raw"), before = input_member(&raw, "tasks");
    JsonRef notes = input_member(&root, "verification");
    if (input_length(&tasks) == 0) {
        sheet_missing(list, head,
                      "Nothing was verified before flight: run facet fly --verify "
                      "--json FILE, then facet report --verify FILE.");
        return;
    }
    Sheet sheet = sheet_begin(head, input_origin(report, INPUT_VERIFY));
    sheet_text_column(&sheet, "Task");
    sheet_number_column(&sheet, "Gates", 0);
    sheet_number_column(&sheet, "Raw", 0);
    sheet_number_column(&sheet, "Verified", 0);
    sheet_number_column(&sheet, "Difference", 0);
    sheet_number_column(&sheet, "Raw (m/s)", 2);
    sheet_number_column(&sheet, "Verified (m/s)", 2);
    sheet_number_column(&sheet, "Slowest share", 2);
    for (int i = 0; i < input_length(&tasks); i++) {
        JsonRef task = input_element(&tasks, i), unchanged = same_task(&before, &task);
        JsonRef note = same_task(&notes, &task);
        double passed = input_number(report, &task, "passed");
        double passed_raw = input_number(report, &unchanged, "passed");
        sheet_row(&sheet, input_flag(&task, "held_out"));
        sheet_text(&sheet, "%.100s/%.100s", input_text(&task, "track"), input_text(&task, "size"));
        sheet_number(&sheet, input_number(report, &task, "gates"));
        sheet_number(&sheet, passed_raw);
        sheet_number(&sheet, passed);
        sheet_number(&sheet, passed - passed_raw);
        sheet_number(&sheet, input_number(report, &unchanged, "speed_flown"));
        sheet_number(&sheet, input_number(report, &task, "speed_flown"));
        sheet_number(&sheet, input_number(report, &note, "slowest_factor"));
    }
    sheet_end(list, &sheet);
}
