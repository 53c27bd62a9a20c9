// A policy that sees as a pilot, alone or beside one that is told what the beacon senses (see
// facet_study/gate.h).
#include "base/status.h"
#include "factor/factor.h"
#include "gate/blend.h"
#include "gate/streams.h"
#include "policy/policy.h"

#include <assert.h>
#include <facet_study/gate.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN = FACET_GATE_HORIZON * FACET_GATE_DIM, FRAME_BITS = 12 };

// The noise of a frame's further samples has numbers above those of all trials.
enum { SAMPLE_SHIFT = 55 };
static_assert(FACET_GATE_PURPOSES <= 1 << (SAMPLE_SHIFT - GATE_INDEX_BITS - FRAME_BITS),
              "no plan has the number of another's sample");

// One thread's pilot.
typedef struct PolicyPilot {
    const FacetGateFlyer *flyer;
    const FacetPolicy *alone; // that the runner is of
    FacetPolicyRunner *runner;
    Blend *blend;                // of two policies, in the runner's stead; or NULL
    bool open[FACET_FACTOR_MAX]; // factors that are never shown
    int samples;                 // of a frame
    double temperature;          // of their noise
    double variance;             // m^2, of the last plan's first offset
    FacetFactorTask tasks[FACET_GATE_SAMPLES_MAX];
    uint64_t numbers[FACET_GATE_SAMPLES_MAX];
    double plans[FACET_GATE_SAMPLES_MAX * PLAN];
} PolicyPilot;

FacetStatus facet_gate_check_policy(const FacetGateWorld *world, const FacetPolicy *policy)
{
    int width, height;
    FacetPolicyInfo info = facet_policy_info(policy);
    if (!policy_sees(policy))
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy that sees, found one without an encoder");
    if (info.observe_keys != 1 || info.observe_steps != 1)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy that takes one frame, found one that takes %d "
                           "observations of %d steps",
                           info.observe_keys, info.observe_steps);
    if (!factor_space_equal(facet_policy_space(policy), world->space)) {
        char *expected = factor_space_to_json(world->space);
        char *found = factor_space_to_json(facet_policy_space(policy));
        FacetStatus status =
            status_fail(FACET_BAD_ARGUMENT, "expected the factors %s, found %s",
                        expected ? expected : "of the world", found ? found : "others");
        free(expected);
        free(found);
        return status;
    }
    if (policy_horizon(policy) != FACET_GATE_HORIZON || policy_dim(policy) != FACET_GATE_DIM)
        return status_fail(FACET_BAD_ARGUMENT, "expected chunks of %d x %d offsets, found %d x %d",
                           FACET_GATE_HORIZON, FACET_GATE_DIM, policy_horizon(policy),
                           policy_dim(policy));
    policy_frame_size(policy, &width, &height);
    if (width != world->camera.width || height != world->camera.height)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy for frames of %d x %d, found %d x %d",
                           world->camera.width, world->camera.height, width, height);
    return status_ok();
}

// Whether both were trained on the same tasks.
static FacetStatus check_training(const FacetPolicy *policy, const FacetPolicy *beside)
{
    const FacetFactorSplit *a = facet_policy_training(policy), *b = facet_policy_training(beside);
    int count = facet_factor_split_count(a), other = facet_factor_split_count(b);
    bool same = count == other;
    for (int i = 0; same && i < count; i++)
        same = facet_factor_split_contains(b, facet_factor_split_task(a, i));
    if (same) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT,
                       "expected a policy trained on the %d tasks of the other, found one of %d%s",
                       count, other, count == other ? " others" : "");
}

FacetStatus facet_gate_check_beside(const FacetPolicy *policy, const FacetPolicy *beside,
                                    const FacetPolicySampling *how)
{
    FacetPolicyInfo info = facet_policy_info(beside);
    if (info.sees || info.observe_steps != 1 || info.observe_dim != FACET_GATE_SENSED)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy of facet gate beacon, which takes %d numbers of 1 "
                           "step, found one that %s and takes %d of %d",
                           FACET_GATE_SENSED, info.sees ? "sees" : "does not see", info.observe_dim,
                           info.observe_steps);
    TRY(blend_check(policy, beside, how));
    return check_training(policy, beside);
}

// What a policy was never shown in training it is not shown here.
static FacetFactorTask shown_task(const PolicyPilot *pilot, const FacetPolicy *policy,
                                  FacetFactorTask task)
{
    for (int f = 0; f < facet_factor_count(pilot->flyer->world->space); f++)
        if (pilot->open[f] || !policy_was_shown(policy, f, task.value[f]))
            task.value[f] = FACET_FACTOR_NULL;
    return task;
}

uint64_t facet_gate_plan_number(const FacetGateTrial *trial, int frame)
{
    return (trial->number << FRAME_BITS) + (uint64_t)frame;
}

static void take_mean(double *offsets, const PolicyPilot *pilot)
{
    for (int i = 0; i < PLAN; i++) {
        double sum = pilot->plans[i];
        for (int s = 1; s < pilot->samples; s++) sum += pilot->plans[s * PLAN + i];
        offsets[i] = sum / pilot->samples;
    }
}

// How far the first offset may be off: the truth is one more draw from what the samples are drawn
// from. A temperature t scales the noise that they start from, and so, as far as the way from noise
// to plans is linear, their distances from each other.
static double first_variance(const double *mean, const PolicyPilot *pilot)
{
    double sum = 0.0, t = pilot->temperature;
    for (int s = 0; s < pilot->samples; s++)
        for (int d = 0; d < FACET_GATE_DIM; d++) {
            double off = pilot->plans[s * PLAN + d] - mean[d];
            sum += off * off;
        }
    return sum / ((pilot->samples - 1) * t * t);
}

static FacetStatus sample_alone(PolicyPilot *pilot, const FacetGateView *view,
                                const FacetPolicySampling *how)
{
    bool sees = policy_sees(pilot->alone);
    const FacetPolicyObserved observed = {
        .frames = sees ? view->rgb : NULL, .numbers = sees ? NULL : view->sensed, .shared = true};
    for (int s = 0; s < pilot->samples; s++)
        pilot->tasks[s] = shown_task(pilot, pilot->alone, view->trial->task);
    // No pool: flights are what runs side by side.
    return facet_policy_runner_sample(pilot->plans, pilot->runner, pilot->tasks, &observed,
                                      pilot->samples, how, NULL);
}

static FacetStatus sample_both(PolicyPilot *pilot, const FacetGateView *view,
                               const FacetPolicySampling *how)
{
    const FacetGateFlyer *flyer = pilot->flyer;
    const FacetFactorTask tasks[] = {shown_task(pilot, flyer->policy, view->trial->task),
                                     shown_task(pilot, flyer->beside, view->trial->task)};
    return blend_sample(pilot->plans, pilot->blend, flyer->weight, tasks, view->rgb, view->sensed,
                        pilot->samples, how);
}

static FacetStatus plan(double *offsets, void *context, const FacetGateView *view)
{
    PolicyPilot *pilot = context;
    uint64_t number = facet_gate_plan_number(view->trial, view->frame);
    for (int s = 0; s < pilot->samples; s++)
        pilot->numbers[s] = number + ((uint64_t)s << SAMPLE_SHIFT);
    FacetPolicySampling how = pilot->flyer->how;
    how.seed = view->trial->seed;
    how.numbers = pilot->numbers;
    TRY(pilot->blend ? sample_both(pilot, view, &how) : sample_alone(pilot, view, &how));
    take_mean(offsets, pilot);
    if (pilot->samples > 1) pilot->variance = first_variance(offsets, pilot);
    return status_ok();
}

static void destroy(PolicyPilot *pilot)
{
    facet_policy_runner_destroy(pilot->runner);
    blend_destroy(pilot->blend);
    free(pilot);
}

// Who plans: one policy, or two where both have a weight.
static FacetStatus make_planner(PolicyPilot *pilot)
{
    const FacetGateFlyer *flyer = pilot->flyer;
    pilot->alone = flyer->policy;
    if (flyer->beside) {
        if (!(flyer->weight >= 0.0 && flyer->weight <= 1.0))
            return status_fail(FACET_BAD_ARGUMENT, "expected a weight from 0 to 1, found %g",
                               flyer->weight);
        TRY(facet_gate_check_beside(flyer->policy, flyer->beside, &flyer->how));
        if (flyer->weight > 0.0 && flyer->weight < 1.0)
            return blend_create(&pilot->blend, flyer->policy, flyer->beside, pilot->samples);
        if (!(flyer->weight > 0.0)) pilot->alone = flyer->beside;
    }
    return facet_policy_runner_create(&pilot->runner, pilot->alone, pilot->samples, 1, NULL);
}

static FacetStatus prepare(PolicyPilot *pilot)
{
    const FacetGateFlyer *flyer = pilot->flyer;
    double asked = flyer->how.temperature;
    pilot->samples = flyer->samples ? flyer->samples : 1;
    pilot->temperature = asked > 0.0 ? asked : policy_default_temperature(flyer->policy);
    if (pilot->samples < 1 || pilot->samples > FACET_GATE_SAMPLES_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "expected 1 to %d samples of a frame, found %d",
                           FACET_GATE_SAMPLES_MAX, pilot->samples);
    if (flyer->open) {
        int factor;
        TRY(facet_factor_find(&factor, flyer->world->space, flyer->open));
        pilot->open[factor] = true;
    }
    return make_planner(pilot);
}

static FacetStatus make(FacetGatePilot *out, void *context, int worker)
{
    (void)worker;
    const FacetGateFlyer *flyer = context;
    TRY(facet_gate_check_policy(flyer->world, flyer->policy));
    PolicyPilot *pilot = calloc(1, sizeof *pilot);
    if (!pilot) return status_fail(FACET_NO_MEMORY, "out of memory for a pilot");
    pilot->flyer = flyer;
    FacetStatus status = prepare(pilot);
    if (status.ok)
        *out = (FacetGatePilot){.plan = plan,
                                .context = pilot,
                                .sees = policy_sees(pilot->alone),
                                .variance = pilot->samples > 1 ? &pilot->variance : NULL};
    else
        destroy(pilot);
    return status;
}

static void release(FacetGatePilot *pilot, void *context)
{
    (void)context;
    destroy(pilot->context);
}

FacetGateCrew facet_gate_flyer_crew(FacetGateFlyer *flyer)
{
    if (!flyer->policy) return facet_gate_expert_crew(flyer->world);
    return (FacetGateCrew){.make = make, .release = release, .context = flyer};
}
