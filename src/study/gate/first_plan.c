// The certificate of the first plan of a flight (see gate/first_plan.h).
#include "gate/first_plan.h"

#include "base/status.h"
#include "certify/summary.h"
#include "math/geometry.h"

#include <stdlib.h>

// C eps as the paper takes it, C_LTV max_k ||d eps_k||.
static double command_of(const FacetPlanCertificate *plan)
{
    return command_bound(bound_value(plan->ltv), plan->eps_s);
}

FacetFactorTask first_plan_task(const FacetPolicy *policy, int index, int count, FacetRng *rng)
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

FacetStatus first_plan_certify(FirstPlan *out, FacetCertifier *certifier,
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

// ---- Numbers ------------------------------------------------------------------------------------

const char *const first_plan_keys[FIRST_PLAN_NUMBERS] = {
    "c_ltv",         "eps_s",       "ltv_bound",    "r_ss_default", "path_bound",
    "linearised",    "actual",      "first_bound",  "distance_m",   "first_ltv_bound_m",
    "first_bound_m", "first_gap_m", "first_error_m"};

void first_plan_numbers(double out[FIRST_PLAN_NUMBERS], const FirstPlan *p)
{
    double command = command_of(&p->plan);
    const double numbers[FIRST_PLAN_NUMBERS] = {
        bound_value(p->plan.ltv),
        p->plan.eps_s,
        command,
        facet_tube_radius(facet_tube_paper_constants(), command),
        bound_value(p->plan.path),
        p->plan.linear,
        p->plan.actual,
        p->row_bound,
        p->distance,
        p->command_bound,
        p->bound,
        p->gap,
        p->error};
    for (int n = 0; n < FIRST_PLAN_NUMBERS; n++) out[n] = numbers[n];
}

Summary first_plans_summary(const FirstPlan *plans, int count, int number)
{
    double *values = calloc((size_t)count + 1, sizeof *values);
    for (int i = 0; values && i < count; i++) {
        double numbers[FIRST_PLAN_NUMBERS];
        first_plan_numbers(numbers, &plans[i]);
        values[i] = numbers[number];
    }
    Summary summary = summarise(values, values ? count : 0);
    free(values);
    return summary;
}
