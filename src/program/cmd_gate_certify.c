// facet gate certify: how far an error of the composed score can move the first plan of a flight.
//
// Paper, Section "Vision-based single gate", paragraph "Certificates". Trials of tasks that the
// policy was trained on; each one's first frame fixes what the policy sees, and the bounds are
// those of the very plan that its pilot would fly by. They are in normalised units, as the paper's
// are. The first offset, which tells the vehicle where it is, is also given in metres: how far the
// joint plan has it from the composed one, and the bound on that, through the largest slope of the
// map from normalised units to metres within the bound.
#include "bar.h"
#include "base/progress.h"
#include "base/rng.h"
#include "certify/path.h"
#include "commands.h"
#include "gate_world.h"
#include "interrupt.h"
#include "paper/paper.h"
#include "show_race.h"

#include <facet_study/certify.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct CertifyCommand {
    CommonOptions common;
    const char *policy;
    int tasks, steps;         // 0 steps for the policy's own
    char path[FILE_PATH_MAX]; // of the policy that ships
    char command[1024];
} CertifyCommand;

// What was found for one trial.
typedef struct FirstPlan {
    FacetFactorTask task;
    FacetPlanCertificate plan;
    double distance;      // m, of the spawn from the gate
    double row_bound;     // of the first offset by steps, normalised; NaN when it is not finite
    double bound, gap;    // m: of the first offset by steps, composed and joint
    double command_bound; // m: of the first offset from C_LTV eps_s
    double error;         // m, of the first offset from the truth
} FirstPlan;

// ---- Certifying ---------------------------------------------------------------------------------

static double bound_value(FacetCertifyBound bound)
{
    return bound.step < 0 ? bound.value : nan("");
}

// C eps as the paper takes it, C_LTV max_k ||d eps_k||.
static double command_of(const FacetPlanCertificate *plan)
{
    return bound_value(plan->ltv) * plan->eps_s;
}

// A trained task out of each of `count` equal parts of their list, so that all factors vary. None
// comes twice unless there are fewer of them.
static FacetFactorTask pick_task(const FacetPolicy *policy, int index, int count, FacetRng *rng)
{
    const FacetFactorSplit *trained = facet_policy_training(policy);
    int tasks = facet_factor_split_count(trained);
    int first = (int)((int64_t)index * tasks / count);
    int end = (int)((int64_t)(index + 1) * tasks / count);
    int at = first + (int)(rng_uniform(rng) * (end - first));
    return facet_factor_split_task(trained, at);
}

static double row_distance(const double *a, const double *b)
{
    return vec3_distance(vec3(a[0], a[1], a[2]), vec3(b[0], b[1], b[2]));
}

// The first offset of the plan last certified, in metres.
static void measure_first_offset(FirstPlan *out, FacetCertifier *certifier,
                                 const FacetGateWorld *world, const FacetGateTrial *trial)
{
    double composed[FACET_GATE_HORIZON * FACET_GATE_DIM],
        joint[FACET_GATE_HORIZON * FACET_GATE_DIM];
    double truth[FACET_GATE_HORIZON * FACET_GATE_DIM];
    facet_certifier_actions(composed, certifier);
    facet_certifier_joint_actions(joint, certifier);
    facet_gate_expert_offsets(truth, world, trial->task, &trial->start);
    out->row_bound = bound_value(facet_certifier_row_bound(certifier, 0));
    out->bound = facet_certifier_row_reach(certifier, 0, out->row_bound);
    out->command_bound = facet_certifier_row_reach(certifier, 0, command_of(&out->plan));
    out->gap = row_distance(composed, joint);
    out->error = row_distance(composed, truth);
    out->distance =
        vec3_distance(trial->start.pos_world, facet_gate_target(world, trial->task).center);
}

static FacetStatus certify_trial(FirstPlan *out, FacetCertifier *certifier,
                                 const FacetGateWorld *world, const FacetGateTrial *trial,
                                 uint8_t *frame, const FacetProgress *progress)
{
    out->task = trial->task;
    facet_gate_first_frame(frame, world, trial);
    TRY(facet_certifier_look(certifier, frame));
    TRY(facet_certifier_plan_from(&out->plan, certifier, trial->task, trial->seed,
                                  facet_gate_plan_number(trial, 0), progress));
    measure_first_offset(out, certifier, world, trial);
    return status_ok();
}

static FacetStatus certify_trials(FirstPlan *plans, FacetCertifier *certifier,
                                  const FacetGateWorld *world, const FacetPolicy *policy,
                                  const CertifyCommand *o)
{
    uint8_t *frame = malloc((size_t)world->camera.width * (size_t)world->camera.height * 3);
    if (!frame) return status_fail(FACET_NO_MEMORY, "out of memory for a frame");
    FacetRng rng = rng_make(o->common.seed, UINT64_MAX); // no trial has this stream
    FacetStatus status = status_ok();
    Progress steps;
    progress_begin(&steps, bar_open(o->common.quiet), "steps", (long)o->tasks * o->steps);
    const FacetProgress part = progress_part(&steps);
    for (int i = 0; status.ok && i < o->tasks; i++) {
        FacetGateTrial trial;
        FacetFactorTask task = pick_task(policy, i, o->tasks, &rng);
        status = facet_gate_trial(&trial, world, task, o->common.seed, (uint64_t)i);
        if (status.ok) status = certify_trial(&plans[i], certifier, world, &trial, frame, &part);
    }
    progress_end(&steps);
    free(frame);
    return status;
}

// ---- Numbers ------------------------------------------------------------------------------------

typedef double Number(const FirstPlan *plan);

static double ltv_of(const FirstPlan *p) { return bound_value(p->plan.ltv); }
static double eps_of(const FirstPlan *p) { return p->plan.eps_s; }
static double command_bound_of(const FirstPlan *p) { return command_of(&p->plan); }
static double steps_of(const FirstPlan *p) { return bound_value(p->plan.path); }
static double linear_of(const FirstPlan *p) { return p->plan.linear; }
static double actual_of(const FirstPlan *p) { return p->plan.actual; }
static double row_of(const FirstPlan *p) { return p->row_bound; }
static double distance_of(const FirstPlan *p) { return p->distance; }
static double reach_of(const FirstPlan *p) { return p->command_bound; }
static double bound_of(const FirstPlan *p) { return p->bound; }
static double gap_of(const FirstPlan *p) { return p->gap; }
static double error_of(const FirstPlan *p) { return p->error; }
static double tube_of(const FirstPlan *p)
{
    return facet_tube_radius(facet_tube_paper_constants(), command_of(&p->plan));
}

// A column of a table, and a member of the JSON.
typedef struct Column {
    const char *head, *key;
    Number *of;
} Column;

enum { PLAN_COLUMNS = 7, FIRST_COLUMNS = 6, COLUMNS = PLAN_COLUMNS + FIRST_COLUMNS };

static const Column columns[COLUMNS] = {
    // Of the whole plan, normalised.
    {"C_LTV", "c_ltv", ltv_of},
    {"eps_s", "eps_s", eps_of},
    {"C·eps", "ltv_bound", command_bound_of},
    {"R_ss", "r_ss_default", tube_of},
    {"by steps", "path_bound", steps_of},
    {"linear", "linearised", linear_of},
    {"actual", "actual", actual_of},
    // Of the first offset, in metres after the first one.
    {"by steps", "first_bound", row_of},
    {"distance m", "distance_m", distance_of},
    {"C·eps m", "first_ltv_bound_m", reach_of},
    {"by steps m", "first_bound_m", bound_of},
    {"actual m", "first_gap_m", gap_of},
    {"error m", "first_error_m", error_of},
};

// Of the finite ones among the plans' numbers.
typedef struct Spread {
    int count;
    double mean, least, most; // NaN without any
} Spread;

static Spread spread_of(const FirstPlan *plans, int count, Number *of)
{
    Spread spread = {0, 0.0, INFINITY, -INFINITY};
    for (int i = 0; i < count; i++) {
        double value = of(&plans[i]);
        if (!isfinite(value)) continue;
        spread.count++;
        spread.mean += value;
        spread.least = fmin(spread.least, value);
        spread.most = fmax(spread.most, value);
    }
    if (spread.count == 0) return (Spread){0, nan(""), nan(""), nan("")};
    spread.mean /= spread.count;
    return spread;
}

// ---- Tables -------------------------------------------------------------------------------------

static void number_cell(Table *table, double value)
{
    double size = fabs(value);
    if (!isfinite(value))
        table_cell(table, "—");
    else if (size >= 1e5)
        table_cell(table, "%.1e", value);
    else
        table_cell(table, size >= 100.0 ? "%.0f" : size >= 10.0 ? "%.1f" : "%.3f", value);
}

// The paper has the range of C_LTV, and one number for all tasks of the others.
static double paper_number(Number *of, int row)
{
    const PaperGateLtv *paper = &paper_gate_ltv;
    if (of == ltv_of) return row == 0 ? paper->mean : row == 1 ? paper->least : paper->most;
    if (row == 0 && of == eps_of) return paper->eps_s;
    if (row == 0 && of == tube_of) return paper->r_ss;
    return nan("");
}

// Mean, least and most of the columns, ours or the paper's.
static void spread_rows(Table *table, const char *const names[3], const Column *of, int count,
                        const FirstPlan *plans, int plan_count)
{
    for (int row = 0; row < 3; row++) {
        table_cell(table, "%s", names[row]);
        for (int c = 0; c < count; c++) {
            if (!plans) {
                number_cell(table, paper_number(of[c].of, row));
                continue;
            }
            Spread s = spread_of(plans, plan_count, of[c].of);
            number_cell(table, row == 0 ? s.mean : row == 1 ? s.least : s.most);
        }
    }
}

static void show_table(const Column *of, int count, const FirstPlan *plans, int plan_count,
                       const FacetFactorSpace *space, bool with_paper)
{
    static const char *const ours[] = {"mean", "least", "most"};
    static const char *const papers[] = {"paper: mean", "paper: least", "paper: most"};
    TableColumn heads[1 + COLUMNS] = {{"task", TABLE_LEFT}};
    for (int c = 0; c < count; c++) heads[1 + c] = (TableColumn){of[c].head, TABLE_RIGHT};
    Table *table = table_create(heads, 1 + count);
    for (int i = 0; i < plan_count; i++) {
        char text[FACET_FACTOR_TASK_TEXT];
        facet_factor_task_format(text, space, plans[i].task, FACET_FACTOR_STYLE_VALUES);
        table_cell(table, "%s", text);
        for (int c = 0; c < count; c++) number_cell(table, of[c].of(&plans[i]));
    }
    table_rule(table);
    spread_rows(table, ours, of, count, plans, plan_count);
    if (with_paper) {
        table_rule(table);
        spread_rows(table, papers, of, count, NULL, 0);
    }
    table_print(table, stdout);
    table_destroy(table);
}

static void show(const FirstPlan *plans, const FacetGateWorld *world, const CertifyCommand *o)
{
    printf("%s, composed, DDIM %d, seed %llu\n\nFirst plans of %d trials of training tasks, in "
           "normalised units (the paper calls R_ss metres)\n\n",
           o->policy, o->steps, (unsigned long long)o->common.seed, o->tasks);
    show_table(columns, PLAN_COLUMNS, plans, o->tasks, world->space, true);
    printf("\nTheir first offset: bounds in metres (— where they pass the sampler's clip), the "
           "actual\ndifference of composed and joint, and the error of the offset itself\n\n");
    show_table(columns + PLAN_COLUMNS, FIRST_COLUMNS, plans, o->tasks, world->space, false);
}

// ---- JSON ---------------------------------------------------------------------------------------

static Json *json_from_first_plan(const FirstPlan *plan, const FacetGateWorld *world)
{
    Json *object = json_object();
    for (int f = 0; f < FACET_GATE_FACTORS; f++)
        json_set_string(object, facet_factor_name(world->space, f),
                        facet_factor_value_name(world->space, f, plan->task.value[f]));
    for (int c = 0; c < COLUMNS; c++) json_set_number(object, columns[c].key, columns[c].of(plan));
    if (plan->plan.ltv.step >= 0) {
        char text[80];
        snprintf(text, sizeof text, "C_LTV is not finite at step %d of %d", plan->plan.ltv.step + 1,
                 plan->plan.steps);
        json_set_string(object, "not_certified", text);
    }
    return object;
}

static Json *json_from_range(int count, double mean, double least, double most)
{
    Json *object = json_object();
    json_set_number(object, "count", count);
    json_set_number(object, "mean", mean);
    json_set_number(object, "least", least);
    json_set_number(object, "most", most);
    return object;
}

static Json *json_from_paper(void)
{
    const PaperGateLtv *paper = &paper_gate_ltv;
    Json *object = json_object();
    json_set_number(object, "steps", paper->steps);
    json_set(object, "c_ltv",
             json_from_range(paper->tasks, paper->mean, paper->least, paper->most));
    json_set_number(object, "eps_s", paper->eps_s);
    json_set_number(object, "r_ss_default", paper->r_ss);
    return object;
}

static FacetStatus write_json(const FirstPlan *plans, const FacetGateWorld *world,
                              const CertifyCommand *o)
{
    Json *document = json_object(), *list = json_array(), *summary = json_object();
    json_set_string(document, "policy", o->policy);
    json_set_number(document, "steps", o->steps);
    for (int i = 0; i < o->tasks; i++) json_push(list, json_from_first_plan(&plans[i], world));
    for (int c = 0; c < COLUMNS; c++) {
        Spread s = spread_of(plans, o->tasks, columns[c].of);
        json_set(summary, columns[c].key, json_from_range(s.count, s.mean, s.least, s.most));
    }
    json_set(document, "plans", list);
    json_set(document, "summary", summary);
    json_set(document, "paper", json_from_paper());
    json_set_origin(document, o->command, o->common.seed);
    return json_write(document, o->common.json);
}

// ---- The command --------------------------------------------------------------------------------

static FacetStatus certify(const FacetGateWorld *world, const FacetPolicy *policy,
                           CertifyCommand *o)
{
    const FacetPolicySampling how = {.steps = o->steps};
    FacetCertifier *certifier = NULL;
    FacetPool *pool;
    TRY(certify_check_policy(policy));
    if (facet_factor_split_count(facet_policy_training(policy)) == 0)
        return status_fail(FACET_BAD_FILE, "%s: expected tasks that it was trained on, found none",
                           o->policy);
    o->steps = policy_sampling_steps(policy, &how);
    FirstPlan *plans = calloc((size_t)o->tasks, sizeof *plans);
    if (!plans) return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", o->tasks);
    FacetStatus status = facet_pool_create(&pool, o->common.threads);
    if (status.ok) {
        status = facet_certifier_create(&certifier, policy, o->steps, pool);
        if (status.ok) status = certify_trials(plans, certifier, world, policy, o);
        facet_certifier_destroy(certifier);
        facet_pool_destroy(pool);
    }
    if (status.ok) show(plans, world, o);
    if (status.ok && o->common.json) status = write_json(plans, world, o);
    free(plans);
    return status;
}

int cmd_gate_certify(int argc, char **argv)
{
    CertifyCommand o = {.common = common_defaults(), .tasks = paper_gate_ltv.tasks};
    const Option options[] = {
        option_text("policy", &o.policy, "FILE", "the policy (default: the one that ships)"),
        option_int("tasks", &o.tasks, "N", 1, 10000,
                   "trials, of training tasks spread over all of them"),
        option_int("steps", &o.steps, "N", 0, 1000, "denoising steps, 0 for the policy's own"),
    };
    const Usage usage = {
        .command = "gate certify",
        .description =
            "Bounds how far an error of the composed score can move the plan that a policy makes "
            "of the first frame of a flight, on tasks that it was trained on, and prints the "
            "paper's numbers with ours beside them.",
        .example = "facet gate certify --json certificate.json",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!o.policy) {
        if (!shipped_gate_policy(o.path))
            return command_failed(usage.command,
                                  status_fail(FACET_BAD_ARGUMENT,
                                              "no policy ships with this copy: give one with "
                                              "--policy FILE"));
        o.policy = o.path;
    }
    command_text(o.command, sizeof o.command, argc, argv);
    interrupt_watch();
    FacetGateWorld *world = NULL;
    FacetPolicy *policy = NULL;
    FacetStatus status = facet_gate_world_create(&world, o.common.courses);
    if (status.ok) status = gate_policy_load(&policy, world, o.policy);
    if (status.ok) status = certify(world, policy, &o);
    facet_policy_destroy(policy);
    facet_gate_world_destroy(world);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
