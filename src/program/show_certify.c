// Tables of facet certify: ours beside the paper's (see show_certify.h).
#include "show_certify.h"

#include "paper/paper.h"
#include "report/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS(heads) (int)(sizeof(heads) / sizeof *(heads))

// ---- What the tables share ----------------------------------------------------------------------

const CertifyRecord *main_record(const Certification *all, int task)
{
    return certify_study_record(&all->study, all->options.tasks[task], all->options.steps, 0);
}

bool task_certified(const CertifyRecord *record)
{
    return gates_certified(record->gates, record->gate_count);
}

double command_bound(const FacetPlanCertificate *plan) { return plan->ltv.value * plan->eps_s; }

FacetTubeConstants measured_constants(const Certification *all)
{
    int count = all->options.task_count;
    ClosedLoop *loops = calloc((size_t)count, sizeof *loops);
    FacetTubeConstants worst = {1.0, nan(""), nan("")};
    for (int t = 0; loops && t < count; t++) loops[t] = main_record(all, t)->loop;
    if (loops) worst = closed_loop_worst(loops, count);
    free(loops);
    return worst;
}

static const char *track_of(const Certification *all, FacetCourseTask task)
{
    return all->race->course->tracks[task.track].name;
}

static const char *size_of(const Certification *all, FacetCourseTask task)
{
    return all->race->course->openings[task.opening].name;
}

static bool held_out(const Certification *all, FacetCourseTask task)
{
    return facet_course_is_held_out(all->race->course, task);
}

static void task_cell(Table *table, const Certification *all, FacetCourseTask task)
{
    table_cell(table, "%s/%s%s", track_of(all, task), size_of(all, task),
               held_out(all, task) ? "*" : "");
}

// A number in few characters, or "—" when there is none.
static void number_cell(Table *table, double value)
{
    if (!isfinite(value))
        table_cell(table, "—");
    else if (fabs(value) >= 1e5)
        table_cell(table, "%.1e", value);
    else
        table_cell(table,
                   fabs(value) >= 100.0  ? "%.0f"
                   : fabs(value) >= 10.0 ? "%.1f"
                                         : "%.3f",
                   value);
}

static double bound_value(FacetCertifyBound bound)
{
    return bound.step < 0 ? bound.value : nan("");
}

static void describe_bound(char out[240], const char *name, FacetCertifyBound bound, int steps)
{
    if (bound.step < 0 || out[0]) return;
    snprintf(out, 240, "not certified: %s is not finite at step %d of %d", name, bound.step + 1,
             steps);
}

void describe_failure(char out[240], const CertifyRecord *record)
{
    out[0] = '\0';
    if (record->failure[0]) snprintf(out, 240, "not certified: %.190s", record->failure);
    describe_bound(out, "C_LTV", record->plan.ltv, record->steps);
    describe_bound(out, "C_ode", record->plan.ode, record->steps);
}

// ---- Summaries of many numbers ------------------------------------------------------------------

typedef struct Summary {
    int count;
    double mean, median, max, deviation; // deviation with n - 1
} Summary;

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Of the finite ones of `values`, which are sorted.
static Summary summarise(double *values, int count)
{
    Summary out = {0};
    for (int i = 0; i < count; i++)
        if (isfinite(values[i])) values[out.count++] = values[i];
    int n = out.count;
    if (n == 0) return (Summary){0, nan(""), nan(""), nan(""), nan("")};
    qsort(values, (size_t)n, sizeof *values, ascending);
    for (int i = 0; i < n; i++) out.mean += values[i] / n;
    for (int i = 0; i < n; i++) out.deviation += pow(values[i] - out.mean, 2.0);
    out.deviation = n > 1 ? sqrt(out.deviation / (n - 1)) : 0.0;
    out.median = n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
    out.max = values[n - 1];
    return out;
}

enum { VALUES_MAX = 4096 };

// One number of every task's record with these steps and turn.
static Summary over_tasks(const Certification *all, int steps, int turn,
                          double (*value)(const FacetPlanCertificate *), bool training_only)
{
    double values[VALUES_MAX];
    int count = 0;
    for (int t = 0; t < all->options.task_count && count < VALUES_MAX; t++) {
        FacetCourseTask task = all->options.tasks[t];
        const CertifyRecord *record = certify_study_record(&all->study, task, steps, turn);
        if (record && !(training_only && held_out(all, task)))
            values[count++] = value(&record->plan);
    }
    return summarise(values, count);
}

static double ltv_of(const FacetPlanCertificate *plan) { return bound_value(plan->ltv); }
static double emp_of(const FacetPlanCertificate *plan) { return plan->amplification; }
static double actual_of(const FacetPlanCertificate *plan) { return plan->actual; }
static double linear_of(const FacetPlanCertificate *plan) { return plan->linear; }
static double path_of(const FacetPlanCertificate *plan) { return bound_value(plan->path); }

static double emp_radius_of(const FacetPlanCertificate *plan)
{
    return facet_tube_radius(facet_tube_paper_constants(), plan->actual);
}

// ---- Tables -------------------------------------------------------------------------------------

static const PaperLtv *paper_row(int steps)
{
    for (int i = 0; i < PAPER_LTV_ROWS; i++)
        if (paper_ltv[i].steps == steps) return &paper_ltv[i];
    return NULL;
}

// Mean, median and greatest C_LTV over the tasks, and how far it is above C_emp.
static void show_ltv_summary(const Certification *all)
{
    int steps = all->options.steps;
    const PaperLtv *paper = paper_row(steps);
    Summary ltv = over_tasks(all, steps, 0, ltv_of, false);
    Summary emp = over_tasks(all, steps, 0, emp_of, false);
    if (ltv.count == 0) return;
    printf("\nC_LTV: mean %.2f, median %.2f, max %.2f; %.0f times C_emp", ltv.mean, ltv.median,
           ltv.max, ltv.mean / emp.mean);
    if (paper) {
        printf(" (paper: mean %.2f", paper->mean);
        if (isfinite(paper->median)) printf(", median %.2f", paper->median);
        printf(", max %.1f; %.0f times)", paper->max, paper->ratio);
    }
    printf(".\n");
}

static void show_plans(const Certification *all)
{
    const TableColumn heads[] = {{"task", TABLE_LEFT},    {"C_LTV", TABLE_RIGHT},
                                 {"paper", TABLE_RIGHT},  {"C_ode", TABLE_RIGHT},
                                 {"C_emp", TABLE_RIGHT},  {"eps_s", TABLE_RIGHT},
                                 {"C·eps", TABLE_RIGHT},  {"by steps", TABLE_RIGHT},
                                 {"R_ss m", TABLE_RIGHT}, {"limit m", TABLE_RIGHT}};
    printf("\nBounds of the plans (N = %d, seed %llu, * is held out)\n\n", all->options.steps,
           (unsigned long long)all->options.seed);
    Table *table = table_create(heads, COLUMNS(heads));
    for (int t = 0; t < all->options.task_count; t++) {
        FacetCourseTask task = all->options.tasks[t];
        const CertifyRecord *record = main_record(all, t);
        double mean, deviation;
        bool known = paper_ltv_seeds(&mean, &deviation, track_of(all, task), size_of(all, task));
        if (t > 0 && task.track != all->options.tasks[t - 1].track) table_rule(table);
        task_cell(table, all, task);
        number_cell(table, bound_value(record->plan.ltv));
        number_cell(table, known ? mean : nan(""));
        number_cell(table, bound_value(record->plan.ode));
        number_cell(table, record->plan.amplification);
        number_cell(table, record->plan.eps_s);
        number_cell(table, command_bound(&record->plan));
        number_cell(table, bound_value(record->plan.path));
        number_cell(table,
                    facet_tube_radius(facet_tube_paper_constants(), command_bound(&record->plan)));
        table_cell(table, "%.3f", all->race->course->openings[task.opening].half_width);
    }
    table_print(table, stdout);
    table_destroy(table);
    printf(
        "\nC·eps is C_LTV eps_s, and by steps is Σ |c₂| ‖Φ‖ ‖dε‖, the same without the maximum.\n"
        "R_ss is of C·eps with the paper's constants (%g, %g, %g). The paper's C_LTV is\n"
        "its mean over ten seeds; its C_ode is %.1e on race3/standard, C_emp %.3f to %.3f,\n"
        "eps_s %.2f to %.2f, R_ss %.2f to %.1f m, with %d of %d tasks below their limit.\n",
        paper_constants.lambda, paper_constants.b_kappa, paper_constants.w, paper_tube.gronwall,
        paper_tube.c_emp_least, paper_tube.c_emp_most, paper_tube.eps_s_least,
        paper_tube.eps_s_most, paper_tube.r_ss_least, paper_tube.r_ss_most, paper_tube.certified,
        paper_tube.tasks);
    show_ltv_summary(all);
    for (int t = 0; t < all->options.task_count; t++) {
        char text[240];
        describe_failure(text, main_record(all, t));
        if (text[0])
            printf("%s/%s: %s\n", track_of(all, all->options.tasks[t]),
                   size_of(all, all->options.tasks[t]), text);
    }
}

// Over the training tasks, as the paper takes it.
static double largest_tube(const Certification *all, int steps)
{
    double largest = nan("");
    for (int t = 0; t < all->options.task_count; t++) {
        FacetCourseTask task = all->options.tasks[t];
        const CertifyRecord *record = certify_study_record(&all->study, task, steps, 0);
        if (record && !held_out(all, task)) largest = fmax(largest, record->tube);
    }
    return largest;
}

static void sweep_row(Table *table, const Certification *all, int steps)
{
    static const PaperLtv none = {0, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const PaperLtv *paper = paper_row(steps);
    Summary ltv = over_tasks(all, steps, 0, ltv_of, false);
    Summary emp = over_tasks(all, steps, 0, emp_of, false);
    Summary radius = over_tasks(all, steps, 0, emp_radius_of, false);
    if (!paper) paper = &none;
    table_cell(table, "%d", steps);
    number_cell(table, ltv.mean);
    number_cell(table, paper->mean);
    number_cell(table, ltv.max);
    number_cell(table, paper->max);
    number_cell(table, emp.mean);
    number_cell(table, paper->c_emp);
    number_cell(table, radius.mean);
    number_cell(table, paper->r_ss);
    number_cell(table, largest_tube(all, steps));
    number_cell(table, paper->tube_max);
}

static void show_sweep(const Certification *all)
{
    const TableColumn heads[] = {
        {"N", TABLE_RIGHT},     {"C_LTV", TABLE_RIGHT}, {"paper", TABLE_RIGHT},
        {"max", TABLE_RIGHT},   {"paper", TABLE_RIGHT}, {"C_emp", TABLE_RIGHT},
        {"paper", TABLE_RIGHT}, {"R_emp", TABLE_RIGHT}, {"paper", TABLE_RIGHT},
        {"tube", TABLE_RIGHT},  {"paper", TABLE_RIGHT}};
    printf(
        "\nDenoising steps (C_LTV over %d tasks, first seed; R_emp, m, of C_emp; tube, m, the\n"
        "largest distance of the flights of the composed and the joint plan in training tasks)\n\n",
        all->options.task_count);
    Table *table = table_create(heads, COLUMNS(heads));
    for (int i = 0; i < all->options.sweep_count; i++) sweep_row(table, all, all->options.sweep[i]);
    table_print(table, stdout);
    table_destroy(table);
    printf("\nN = 200 is left out: the policy has %d noise levels, and to visit one twice is a\n"
           "step that changes nothing (c₁ = 1, c₂ = 0). It would be the row of N = %d.\n",
           policy_noise_steps(all->policy), policy_noise_steps(all->policy));
}

static void show_seeds(const Certification *all)
{
    const TableColumn heads[] = {
        {"task", TABLE_LEFT}, {"mean", TABLE_RIGHT},  {"std", TABLE_RIGHT}, {"CV", TABLE_RIGHT},
        {"max", TABLE_RIGHT}, {"paper", TABLE_RIGHT}, {"std", TABLE_RIGHT}, {"CV", TABLE_RIGHT}};
    printf("\nC_LTV over %d seeds (N = %d, * is held out)\n\n", all->options.seeds,
           all->options.steps);
    Table *table = table_create(heads, COLUMNS(heads));
    for (int t = 0; t < all->options.task_count; t++) {
        FacetCourseTask task = all->options.tasks[t];
        double values[VALUES_MAX], mean, deviation;
        int count = 0;
        for (int k = 0; k < all->options.seeds && count < VALUES_MAX; k++)
            values[count++] =
                ltv_of(&certify_study_record(&all->study, task, all->options.steps, k)->plan);
        Summary ours = summarise(values, count);
        bool known = paper_ltv_seeds(&mean, &deviation, track_of(all, task), size_of(all, task));
        task_cell(table, all, task);
        number_cell(table, ours.mean);
        number_cell(table, ours.deviation);
        number_cell(table, ours.deviation / ours.mean);
        number_cell(table, ours.max);
        number_cell(table, known ? mean : nan(""));
        number_cell(table, known ? deviation : nan(""));
        number_cell(table, known ? deviation / mean : nan(""));
    }
    table_print(table, stdout);
    table_destroy(table);
    double means[VALUES_MAX];
    int count = 0;
    for (int k = 0; k < all->options.seeds && count < VALUES_MAX; k++)
        means[count++] = over_tasks(all, all->options.steps, k, ltv_of, false).mean;
    Summary seeds = summarise(means, count);
    printf("\nMean over the tasks: %.2f ± %.2f over the seeds (paper: %.1f ± %.1f).\n", seeds.mean,
           seeds.deviation, paper_seeds.mean, paper_seeds.deviation);
}

static void residual_row(Table *table, const char *name, Summary ours, double paper, double actual)
{
    table_cell(table, "%s", name);
    table_cell(table, "%.4f", ours.mean);
    table_cell(table, "%.1f×", ours.mean / actual);
    table_cell(table, "%.3f", paper);
    table_cell(table, "%.1f×", paper / paper_residual.actual);
}

static void show_residual(const Certification *all)
{
    const TableColumn heads[] = {{"quantity", TABLE_LEFT},
                                 {"ours", TABLE_RIGHT},
                                 {"to actual", TABLE_RIGHT},
                                 {"paper", TABLE_RIGHT},
                                 {"to actual", TABLE_RIGHT}};
    int steps = all->options.steps;
    Summary actual = over_tasks(all, steps, 0, actual_of, true);
    if (actual.count == 0) return;
    printf(
        "\nWhere the bound is loose (N = %d, means over %d training tasks, normalised units)\n\n",
        steps, actual.count);
    Table *table = table_create(heads, COLUMNS(heads));
    residual_row(table, "actual ‖a_comp − a_joint‖", actual, paper_residual.actual, actual.mean);
    residual_row(table, "linearised ‖Σ c₂ Φ dε‖", over_tasks(all, steps, 0, linear_of, true),
                 paper_residual.linear, actual.mean);
    residual_row(table, "LTV bound Σ |c₂| ‖Φ‖ ‖dε‖", over_tasks(all, steps, 0, path_of, true),
                 paper_residual.bound, actual.mean);
    table_print(table, stdout);
    table_destroy(table);
}

// ---- Diagnostics --------------------------------------------------------------------------------

static void spread_row(Table *table, const char *name, FacetCertifySpread ours, PaperSpread paper)
{
    table_cell(table, "%s", name);
    number_cell(table, ours.mean);
    number_cell(table, ours.p95);
    number_cell(table, ours.max);
    number_cell(table, paper.mean);
    number_cell(table, paper.p95);
    number_cell(table, paper.max);
}

static void show_diagnostics(const Certification *all)
{
    const TableColumn heads[] = {{"quantity", TABLE_LEFT},    {"mean", TABLE_RIGHT},
                                 {"95 %", TABLE_RIGHT},       {"max", TABLE_RIGHT},
                                 {"paper mean", TABLE_RIGHT}, {"95 %", TABLE_RIGHT},
                                 {"max", TABLE_RIGHT}};
    const FacetCertifyDiagnostics *d = &all->diagnostics;
    const FacetFactorSpace *space = facet_policy_space(all->policy);
    printf("\nDecomposition error and Lipschitz constants (%d noised demonstrations)\n\n",
           d->samples);
    Table *table = table_create(heads, COLUMNS(heads));
    spread_row(table, "eps_D, joint − composed", d->eps_d, paper_spread("eps_d"));
    for (int f = 0; f < d->factors; f++) {
        char name[FACET_FACTOR_NAME_SIZE + 16];
        snprintf(name, sizeof name, "L_%d, %s", f + 1, facet_factor_name(space, f));
        spread_row(table, name, d->lipschitz[f], paper_spread(facet_factor_name(space, f)));
    }
    spread_row(table, "L_joint", d->joint, paper_spread(""));
    table_print(table, stdout);
    table_destroy(table);
    if (d->factors != 2) return;
    double l1 = d->lipschitz[0].mean, l2 = d->lipschitz[1].mean, eps = d->eps_d.mean;
    printf(
        "\nRatios of the means: L_1/L_2 = %.1f (paper %.1f), eps_D/L_1 = %.2f (%.2f), eps_D/L_2 = "
        "%.2f (%.2f).\n",
        l1 / l2, paper_ratios.l1_l2, eps / l1, paper_ratios.eps_l1, eps / l2, paper_ratios.eps_l2);
}

// Appendix D: eps_D + sum L_i delta_i beside L_joint ||delta||, for a change of each factor and
// all.
static void show_factored_or_joint(const Certification *all)
{
    const TableColumn heads[] = {{"changed", TABLE_LEFT}, {"factored", TABLE_RIGHT},
                                 {"joint", TABLE_RIGHT},  {"of maxima: factored", TABLE_RIGHT},
                                 {"joint", TABLE_RIGHT},  {"tighter", TABLE_LEFT}};
    const FacetCertifyDiagnostics *d = &all->diagnostics;
    printf("\nFactored and joint bound of the score's change, eps_D + Σ L δ and L_joint ‖δ‖\n\n");
    Table *table = table_create(heads, COLUMNS(heads));
    for (int f = 0; f <= d->factors; f++) {
        double mean = d->eps_d.mean, max = d->eps_d.max;
        int changed = f < d->factors ? 1 : d->factors;
        for (int i = 0; i < d->factors; i++) {
            if (f < d->factors && i != f) continue;
            mean += d->lipschitz[i].mean;
            max += d->lipschitz[i].max;
        }
        double joint = d->joint.mean * sqrt(changed), joint_max = d->joint.max * sqrt(changed);
        table_cell(table, "%s",
                   f < d->factors ? facet_factor_name(facet_policy_space(all->policy), f) : "all");
        number_cell(table, mean);
        number_cell(table, joint);
        number_cell(table, max);
        number_cell(table, joint_max);
        table_cell(table, "%s", max < joint_max ? "factored" : "joint");
    }
    table_print(table, stdout);
    table_destroy(table);
}

// ---- Gates --------------------------------------------------------------------------------------

// The gate with the least room left: half-width less miss, radius and disturbance.
static int tightest_gate(const GateRecord *gates, int count)
{
    int tightest = 0;
    double most = -1.0;
    for (int g = 0; g < count; g++) {
        const GateRecord *gate = &gates[g];
        double used = gate->miss + gate->radius + gate->disturbance;
        if (!isfinite(used)) return g;
        if (used > most) most = used, tightest = g;
    }
    return tightest;
}

static void gate_cells(Table *table, const GateRecord *gate, double half_width)
{
    table_cell(table, "%.3f", gate->miss);
    number_cell(table, gate->radius);
    number_cell(table, gate->disturbance);
    number_cell(table, gate->miss + gate->radius + gate->disturbance);
    table_cell(table, "%.3f", half_width);
}

static void show_gates(const Certification *all)
{
    const TableColumn heads[] = {
        {"task", TABLE_LEFT},    {"certified", TABLE_RIGHT}, {"gate", TABLE_LEFT},
        {"miss m", TABLE_RIGHT}, {"R_g", TABLE_RIGHT},       {"gusts", TABLE_RIGHT},
        {"sum", TABLE_RIGHT},    {"limit", TABLE_RIGHT},     {"", TABLE_LEFT}};
    const FacetCourse *course = all->race->course;
    int tasks = 0, whole = 0, gates = 0, certified = 0, still = 0, still_gates = 0;
    printf("\nGates certified, and each task's tightest gate (gusts of %g m/s, * is held out)\n\n",
           all->options.gusts);
    Table *table = table_create(heads, COLUMNS(heads));
    for (int t = 0; t < all->options.task_count; t++) {
        const CertifyRecord *record = main_record(all, t);
        FacetCourseTask task = record->task;
        int count = 0, tightest = tightest_gate(record->gates, record->gate_count);
        if (record->gate_count == 0) continue;
        for (int g = 0; g < record->gate_count; g++) count += record->gates[g].certified;
        int calm = 0;
        for (int g = 0; g < record->gate_count; g++) calm += record->gates[g].certified_still;
        tasks++, whole += task_certified(record), still += calm == record->gate_count;
        still_gates += calm;
        gates += record->gate_count, certified += count;
        task_cell(table, all, task);
        table_cell(table, "%d/%d", count, record->gate_count);
        table_cell(table, "%s", course->tracks[task.track].gates[tightest].name);
        gate_cells(table, &record->gates[tightest], course->openings[task.opening].half_width);
        table_cell(table, "%s", task_certified(record) ? "certified" : "");
    }
    table_print(table, stdout);
    table_destroy(table);
    printf(
        "\n%d of %d tasks certified whole and %d of %d gates; in still air %d tasks and %d gates\n"
        "(paper: %d of %d tasks).\n",
        whole, tasks, certified, gates, still, still_gates, paper_tube.certified, paper_tube.tasks);
}

// The same plans flown slower: the highest pace at which every gate is certified.
static void show_paces(const Certification *all)
{
    const TableColumn heads[] = {
        {"task", TABLE_LEFT},   {"pace", TABLE_RIGHT},   {"time s", TABLE_RIGHT},
        {"gate", TABLE_LEFT},   {"miss m", TABLE_RIGHT}, {"R_g", TABLE_RIGHT},
        {"gusts", TABLE_RIGHT}, {"sum", TABLE_RIGHT},    {"limit", TABLE_RIGHT}};
    const FacetCourse *course = all->race->course;
    int tasks = 0, whole = 0;
    printf("\nThe same paths flown slower: the highest pace at which every gate is certified,\n"
           "and the tightest gate there\n\n");
    Table *table = table_create(heads, COLUMNS(heads));
    for (int t = 0; t < all->options.task_count; t++) {
        const CertifyRecord *record = main_record(all, t);
        const PaceRecord *paced = &record->paced;
        if (record->gate_count == 0) continue;
        int tightest = tightest_gate(paced->gates, record->gate_count);
        tasks++, whole += paced->pace > 0.0;
        task_cell(table, all, record->task);
        if (paced->pace > 0.0) {
            table_cell(table, "%.2f", paced->pace);
            table_cell(table, "%.1f", paced->time);
        } else {
            table_cell(table, "none");
            table_cell(table, "%s", "");
        }
        table_cell(table, "%s", course->tracks[record->task.track].gates[tightest].name);
        gate_cells(table, &paced->gates[tightest],
                   course->openings[record->task.opening].half_width);
    }
    table_print(table, stdout);
    table_destroy(table);
    printf("\n%d of %d tasks certified whole at some pace.\n", whole, tasks);
}

static void show_held_out_gates(const Certification *all)
{
    const TableColumn heads[] = {{"held-out task", TABLE_LEFT}, {"gate", TABLE_LEFT},
                                 {"miss m", TABLE_RIGHT},       {"R_g", TABLE_RIGHT},
                                 {"gusts", TABLE_RIGHT},        {"sum", TABLE_RIGHT},
                                 {"limit", TABLE_RIGHT},        {"", TABLE_LEFT}};
    const FacetCourse *course = all->race->course;
    int count = 0;
    for (int t = 0; t < all->options.task_count; t++)
        count += held_out(all, all->options.tasks[t]) && main_record(all, t)->gate_count > 0;
    if (count == 0) return;
    printf("\nEvery gate of the held-out tasks\n\n");
    Table *table = table_create(heads, COLUMNS(heads));
    for (int t = 0; t < all->options.task_count; t++) {
        const CertifyRecord *record = main_record(all, t);
        FacetCourseTask task = record->task;
        if (!held_out(all, task)) continue;
        for (int g = 0; g < record->gate_count; g++) {
            task_cell(table, all, task);
            table_cell(table, "%s", course->tracks[task.track].gates[g].name);
            gate_cells(table, &record->gates[g], course->openings[task.opening].half_width);
            table_cell(table, "%s", record->gates[g].certified ? "certified" : "");
        }
    }
    table_print(table, stdout);
    table_destroy(table);
}

// ---- The closed loop ----------------------------------------------------------------------------

static void show_loops(const Certification *all)
{
    const TableColumn heads[] = {
        {"task", TABLE_LEFT},     {"lambda", TABLE_RIGHT},   {"B m", TABLE_RIGHT},
        {"w m", TABLE_RIGHT},     {"R_ss m", TABLE_RIGHT},   {"by steps", TABLE_RIGHT},
        {"paper's", TABLE_RIGHT}, {"by steps", TABLE_RIGHT}, {"limit", TABLE_RIGHT}};
    printf("\nClosed-loop constants along each plan, in steps of at most %g s, and the tube\n"
           "R_ss with them and with the paper's (%g, %g, %g)\n\n",
           closed_loop_defaults().step, paper_constants.lambda, paper_constants.b_kappa,
           paper_constants.w);
    Table *table = table_create(heads, COLUMNS(heads));
    for (int t = 0; t < all->options.task_count; t++) {
        const CertifyRecord *record = main_record(all, t);
        const FacetPlanCertificate *plan = &record->plan;
        FacetTubeConstants measured = record->loop.constants, paper = facet_tube_paper_constants();
        if (record->gate_count == 0) continue;
        task_cell(table, all, record->task);
        number_cell(table, record->loop.contracts ? measured.lambda : nan(""));
        number_cell(table, measured.b_kappa);
        number_cell(table, measured.w);
        number_cell(table, facet_tube_radius(measured, command_bound(plan)));
        number_cell(table, facet_tube_radius(measured, plan->path.value));
        number_cell(table, facet_tube_radius(paper, command_bound(plan)));
        number_cell(table, facet_tube_radius(paper, plan->path.value));
        table_cell(table, "%.3f", all->race->course->openings[record->task.opening].half_width);
    }
    table_print(table, stdout);
    table_destroy(table);
    FacetTubeConstants worst = measured_constants(all);
    printf("\nFor all tasks: lambda %.3f, B %.3g m a normalised unit, w %.3g m.\n", worst.lambda,
           worst.b_kappa, worst.w);
}

// ---- Exact interaction --------------------------------------------------------------------------

InteractionReport worst_interaction(const Certification *all)
{
    InteractionReport worst = {.holds = true};
    for (int i = 0; i < all->products.count; i++) {
        const InteractionReport *report = &all->products.product[i].report;
        worst.g = fmax(worst.g, report->g);
        worst.m = fmax(worst.m, report->m);
        worst.bound = fmax(worst.bound, report->bound);
        worst.max_gap = fmax(worst.max_gap, report->max_gap);
        worst.worst_ratio = fmax(worst.worst_ratio, report->worst_ratio);
        worst.holds = worst.holds && report->holds;
    }
    return worst;
}

static void show_interaction(const Certification *all)
{
    const TableColumn heads[] = {
        {"product of tasks", TABLE_LEFT}, {"G", TABLE_RIGHT},           {"M", TABLE_RIGHT},
        {"2√(GM)", TABLE_RIGHT},          {"largest gap", TABLE_RIGHT}, {"gap/bound", TABLE_RIGHT},
        {"Theorem 1", TABLE_LEFT}};
    if (all->no_interaction[0]) printf("\nExact interaction left out: %s\n", all->no_interaction);
    if (all->products.count == 0) return;
    printf("\nExact interaction of the expert's tasks (gap/bound at the worst noise level)\n\n");
    Table *table = table_create(heads, COLUMNS(heads));
    for (int i = 0; i < all->products.count; i++) {
        const ExactProduct *product = &all->products.product[i];
        table_cell(table, "%s", product->name);
        number_cell(table, product->report.g);
        number_cell(table, product->report.m);
        number_cell(table, product->report.bound);
        number_cell(table, product->report.max_gap);
        number_cell(table, product->report.worst_ratio);
        table_cell(table, "%s", product->report.holds ? "holds" : "fails");
    }
    table_print(table, stdout);
    table_destroy(table);
}

static void show_exact_plans(const Certification *all)
{
    const TableColumn heads[] = {{"held-out task", TABLE_LEFT},
                                 {"exact score m", TABLE_RIGHT},
                                 {"network m", TABLE_RIGHT},
                                 {"exact is nearest to", TABLE_LEFT},
                                 {"by m", TABLE_RIGHT}};
    int count = 0;
    for (int i = 0; i < all->exact_count; i++) count += all->exact[i].held_out;
    if (count == 0) return;
    printf("\nWhat the exact composed score of the training tasks generates, and the network:\n"
           "mean distance of the keypoints from the expert's\n\n");
    Table *table = table_create(heads, COLUMNS(heads));
    for (int i = 0; i < all->exact_count; i++) {
        const ExactPlan *plan = &all->exact[i];
        if (!plan->held_out) continue;
        table_cell(table, "%s/%s", track_of(all, plan->task), size_of(all, plan->task));
        table_cell(table, "%.2f", plan->exact.position);
        table_cell(table, "%.2f", plan->network.position);
        table_cell(table, "%s/%s", track_of(all, plan->nearest), size_of(all, plan->nearest));
        table_cell(table, "%.2f", plan->nearest_error.position);
    }
    table_print(table, stdout);
    table_destroy(table);
}

static void show_passage(const Certification *all)
{
    const TableColumn heads[] = {{"task", TABLE_LEFT},
                                 {"clear", TABLE_RIGHT},
                                 {"at least", TABLE_RIGHT},
                                 {"weakest gate", TABLE_LEFT},
                                 {"at least", TABLE_RIGHT}};
    printf("\nPassage of all gates, with a confidence of %g a task (fresh noise, fresh starts,\n"
           "gusts of %g m/s; * is held out)\n\n",
           all->passage_options.confidence, all->passage_options.gust_speed);
    Table *table = table_create(heads, COLUMNS(heads));
    for (int t = 0; t < all->options.task_count; t++) {
        const PassageResult *result = &all->passage[t];
        int weakest = 0;
        for (int g = 1; g < result->gate_count; g++)
            if (result->gate_lower[g] < result->gate_lower[weakest]) weakest = g;
        task_cell(table, all, result->task);
        table_cell(table, "%d/%d", result->clear, result->samples);
        table_cell(table, "%.3f", result->lower);
        table_cell(table, "%s", all->race->course->tracks[result->task.track].gates[weakest].name);
        table_cell(table, "%.3f", result->gate_lower[weakest]);
    }
    table_print(table, stdout);
    table_destroy(table);
}

void show_certification(const Certification *all)
{
    show_plans(all);
    show_residual(all);
    if (all->options.seeds > 1) show_seeds(all);
    if (all->options.sweep_count > 0) show_sweep(all);
    show_diagnostics(all);
    show_factored_or_joint(all);
    show_loops(all);
    show_gates(all);
    show_paces(all);
    show_held_out_gates(all);
    show_interaction(all);
    show_exact_plans(all);
    if (all->passage) show_passage(all);
}
