// Gates passed by the number of denoising steps (see race/few_steps.h).
#include "race/few_steps.h"

#include "base/progress.h"
#include "base/status.h"
#include "math/geometry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const int few_steps[FEW_STEPS_COUNT] = {1, 2, 3, 4, 6, 8, 10, 20, 30, 50};

long few_steps_items(int seeds)
{
    long steps = 0;
    for (int i = 0; i < FEW_STEPS_COUNT; i++) steps += few_steps[i];
    return steps * seeds;
}

// ---- Gates --------------------------------------------------------------------------------------

static void add_gates(FewStepsGates *gates, int count, bool held_out, bool left_out)
{
    gates->all += count;
    if (held_out) gates->held_out += count;
    if (left_out) gates->left_out += count;
}

static void count_gates(FewStepsCurve *curve, int cell, const EvalRun *run, const FacetRace *race)
{
    FewStepsCell *out = &curve->cells[cell];
    curve->gates = (FewStepsGates){0};
    for (int k = 0; k < run->seeds; k++)
        for (int t = 0; t < run->tasks; t++) {
            const FacetRaceResult *result = eval_result(run, k, t);
            bool listed = facet_course_is_held_out(race->course, result->task);
            bool held_out = result->held_out && listed, left_out = result->held_out && !listed;
            add_gates(&out->passed[k], result->flight.passed, held_out, left_out);
            if (k == 0) add_gates(&curve->gates, result->flight.gate_count, held_out, left_out);
            out->crashes += result->flight.end == FACET_FLIGHT_CRASHED;
        }
}

// ---- Distances ----------------------------------------------------------------------------------

// The standard deviation of one keypoint of a task over the seeds.
static double keypoint_spread(const EvalRun *run, int task, int keypoint)
{
    FacetVec3 mean = {0};
    double sum = 0.0;
    for (int k = 0; k < run->seeds; k++)
        mean = vec3_add(
            mean, vec3_scale(eval_result(run, k, task)->plan[keypoint].pos, 1.0 / run->seeds));
    for (int k = 0; k < run->seeds; k++) {
        FacetVec3 apart = vec3_sub(eval_result(run, k, task)->plan[keypoint].pos, mean);
        sum += vec3_dot(apart, apart);
    }
    return run->seeds > 1 ? sqrt(sum / (run->seeds - 1)) : 0.0;
}

static double mean_spread(const EvalRun *run)
{
    double sum = 0.0;
    for (int t = 0; t < run->tasks; t++)
        for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) sum += keypoint_spread(run, t, i);
    return sum / (run->tasks * FACET_CHUNK_KEYPOINTS);
}

static double mean_distance(const EvalRun *run, const EvalRun *other)
{
    double sum = 0.0;
    for (int k = 0; k < run->seeds; k++)
        for (int t = 0; t < run->tasks; t++)
            for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
                sum += vec3_norm(vec3_sub(eval_result(run, k, t)->plan[i].pos,
                                          eval_result(other, k, t)->plan[i].pos));
    return sum / (run->seeds * run->tasks * FACET_CHUNK_KEYPOINTS);
}

// ---- A curve ------------------------------------------------------------------------------------

FacetStatus few_steps_create(FewStepsCurve *curve, int seeds)
{
    curve->seeds = seeds;
    for (int i = 0; i < FEW_STEPS_COUNT; i++) {
        curve->cells[i].passed = calloc((size_t)seeds, sizeof *curve->cells[i].passed);
        if (!curve->cells[i].passed)
            return status_fail(FACET_NO_MEMORY, "out of memory for %d seeds", seeds);
    }
    return status_ok();
}

void few_steps_free(FewStepsCurve *curve)
{
    for (int i = 0; i < FEW_STEPS_COUNT; i++) free(curve->cells[i].passed);
    *curve = (FewStepsCurve){0};
}

// Flies with each number of steps, the most first: the others are measured from its plans.
static FacetStatus fly_cells(FewStepsCurve *curve, const FacetRace *race, const FacetPolicy *policy,
                             const FacetPolicySampling *how, Progress *progress)
{
    const FacetProgress aside = progress_aside(progress);
    EvalRun last = {0}, run;
    FacetStatus status = status_ok();
    for (int i = FEW_STEPS_COUNT - 1; i >= 0 && status.ok; i--) {
        FacetPolicySampling sampling = *how;
        sampling.steps = few_steps[i];
        status = eval_run(&run, race, policy, &sampling, curve->seeds, &aside);
        if (!status.ok) break;
        if (!last.results) last = run;
        count_gates(curve, i, &run, race);
        curve->cells[i].spread = mean_spread(&run);
        curve->cells[i].from_last = mean_distance(&run, &last);
        if (run.results != last.results) eval_run_free(&run);
        status = progress_add(progress, (long)few_steps[i] * curve->seeds, NULL);
    }
    eval_run_free(&last);
    return status;
}

FacetStatus few_steps_fly(FewStepsCurve *curve, const FacetRace *race, const FacetPolicy *policy,
                          const FacetPolicySampling *how, int seeds, const FacetProgress *progress)
{
    *curve = (FewStepsCurve){.sampler = how->sampler, .mode = how->mode};
    snprintf(curve->method, sizeof curve->method, "%s", eval_method(policy));
    Progress steps;
    progress_begin(&steps, progress, "steps", few_steps_items(seeds));
    FacetStatus status = few_steps_create(curve, seeds);
    if (status.ok) status = fly_cells(curve, race, policy, how, &steps);
    progress_end(&steps);
    if (!status.ok) few_steps_free(curve);
    return status;
}
