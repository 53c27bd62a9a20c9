// Evaluation of policies on the race study (see race/eval.h).
#include "race/eval.h"

#include "base/progress.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

// The seeds that one rank plans and flies.
typedef struct Share {
    int *seeds;        // which of the run's
    uint64_t *numbers; // their numbers
    int count;
} Share;

// Flies the prepared plans of a share.
static FacetStatus fly_share(EvalRun *run, const FacetRace *race, const FacetPlanner *planner,
                             const FacetCourseTask *tasks, const Share *share, Progress *all)
{
    const FacetProgress aside = progress_aside(all);
    for (int i = 0; i < share->count; i++) {
        TRY(facet_race_fly_all(&run->results[share->seeds[i] * run->tasks], race, planner, tasks,
                               run->tasks, share->numbers[i], 0.0, &aside));
        TRY(progress_add(all, 1, NULL));
    }
    return status_ok();
}

// All plans of all seeds of a share are sampled together.
static FacetStatus plan_and_fly(EvalRun *run, const FacetRace *race, const FacetPolicy *policy,
                                const FacetPolicySampling *sampling, const FacetCourseTask *tasks,
                                const Share *share, Progress *all)
{
    const FacetProgress aside = progress_aside(all);
    FacetPolicyPlanner *plans;
    if (!share->count) return status_ok();
    TRY(facet_policy_planner_create(&plans, policy, race, sampling, tasks, run->tasks,
                                    share->numbers, share->count, &aside));
    FacetPlanner planner = facet_planner_from_policy(plans);
    FacetStatus status = fly_share(run, race, &planner, tasks, share, all);
    facet_policy_planner_destroy(plans);
    return status;
}

FacetStatus eval_run_share(EvalRun *run, const FacetRace *race, const FacetPolicy *policy,
                           const FacetPolicySampling *sampling, int seeds, FacetRanks *ranks,
                           int first, const FacetProgress *progress)
{
    Progress all;
    progress_begin(&all, progress, "seeds", seeds);
    *run = (EvalRun){.seeds = seeds};
    size_t room = (size_t)facet_race_task_max(race), most = (size_t)seeds;
    FacetCourseTask *tasks = calloc(room, sizeof *tasks);
    Share share = {calloc(most, sizeof *share.seeds), calloc(most, sizeof *share.numbers), 0};
    run->results = calloc(room * most, sizeof *run->results);
    FacetStatus status = tasks && share.seeds && share.numbers && run->results
                             ? status_ok()
                             : status_fail(FACET_NO_MEMORY, "out of memory for flights");
    if (status.ok) {
        run->tasks = facet_race_feasible_tasks(tasks, race);
        for (int k = 0; k < seeds; k++)
            if (ranks_mine(ranks, first + k)) {
                share.seeds[share.count] = k;
                share.numbers[share.count++] = sampling->seed + (uint64_t)k;
            }
        status = plan_and_fly(run, race, policy, sampling, tasks, &share, &all);
    }
    progress_end(&all);
    free(tasks);
    free(share.seeds);
    free(share.numbers);
    if (!status.ok) eval_run_free(run);
    return status;
}

FacetStatus eval_run(EvalRun *run, const FacetRace *race, const FacetPolicy *policy,
                     const FacetPolicySampling *sampling, int seeds, const FacetProgress *progress)
{
    return eval_run_share(run, race, policy, sampling, seeds, NULL, 0, progress);
}

void eval_run_collect(EvalRun *run, FacetRanks *ranks, int first)
{
    size_t size = (size_t)run->tasks * sizeof *run->results;
    for (int k = 0; ranks && k < run->seeds; k++)
        ranks_broadcast(ranks, (first + k) % ranks->count, run->results + k * run->tasks, size);
}

void eval_run_free(EvalRun *run)
{
    free(run->results);
    *run = (EvalRun){0};
}

const FacetRaceResult *eval_result(const EvalRun *run, int seed, int task)
{
    return &run->results[seed * run->tasks + task];
}

FacetRaceTotals eval_totals(const EvalRun *run, int seed)
{
    return facet_race_totals(eval_result(run, seed, 0), run->tasks);
}

FacetRaceTotals eval_totals_all(const EvalRun *run)
{
    return facet_race_totals(run->results, run->tasks * run->seeds);
}

double eval_error(const EvalRun *run, int seed)
{
    double sum = 0.0;
    for (int t = 0; t < run->tasks; t++) sum += eval_result(run, seed, t)->error;
    return run->tasks > 0 ? sum / run->tasks : 0.0;
}

double eval_speed(const EvalRun *run, int task)
{
    double sum = 0.0;
    for (int k = 0; k < run->seeds; k++) sum += eval_result(run, k, task)->speed_generated;
    return sum / run->seeds;
}

FacetRaceTally eval_task_tally(const EvalRun *run, int task)
{
    FacetRaceTally tally = {0};
    for (int k = 0; k < run->seeds; k++) {
        const FacetFlight *flight = &eval_result(run, k, task)->flight;
        tally.passed += flight->passed;
        tally.gates += flight->gate_count;
    }
    return tally;
}

double eval_task_spread(const EvalRun *run, int task)
{
    FacetRaceTally all = eval_task_tally(run, task);
    double mean = (double)all.passed / all.gates, sum = 0.0;
    for (int k = 0; k < run->seeds; k++) {
        const FacetFlight *flight = &eval_result(run, k, task)->flight;
        double apart = (double)flight->passed / flight->gate_count - mean;
        sum += apart * apart;
    }
    return run->seeds > 1 ? sqrt(sum / (run->seeds - 1)) : 0.0;
}

int eval_vehicle_passed(const FacetRace *race, const FacetRaceResult *result, double radius)
{
    double room = race->course->openings[result->task.opening].half_width - radius;
    int passed = 0;
    for (int i = 0; i < result->flight.gate_count; i++) {
        const FacetPassage *gate = &result->flight.gates[i];
        passed += gate->passed && gate->miss <= room;
    }
    return passed;
}

FacetRaceTotals eval_vehicle_totals(const EvalRun *run, const FacetRace *race, double radius,
                                    int seed)
{
    int first = seed < 0 ? 0 : seed * run->tasks, count = run->tasks * (seed < 0 ? run->seeds : 1);
    FacetRaceTotals totals = facet_race_totals(&run->results[first], count);
    totals.all.passed = totals.training.passed = totals.held_out.passed = 0;
    for (int i = first; i < first + count; i++) {
        const FacetRaceResult *result = &run->results[i];
        int passed = eval_vehicle_passed(race, result, radius);
        totals.all.passed += passed;
        (result->held_out ? &totals.held_out : &totals.training)->passed += passed;
    }
    return totals;
}

EvalOrder eval_speed_order(const EvalRun *run)
{
    EvalOrder order = {0};
    for (int a = 0; a < run->tasks; a++)
        for (int b = a + 1; b < run->tasks; b++) {
            const FacetRaceResult *one = eval_result(run, 0, a), *other = eval_result(run, 0, b);
            double apart = other->speed_reference - one->speed_reference;
            if (one->task.track != other->task.track || apart == 0.0) continue;
            order.pairs++;
            order.right += (eval_speed(run, b) - eval_speed(run, a)) * apart > 0.0;
        }
    return order;
}

int eval_same_task(const EvalRun *run, int task)
{
    const FacetRaceResult *held_out = eval_result(run, 0, task);
    for (int t = 0; held_out->held_out && t < run->tasks; t++) {
        const FacetRaceResult *other = eval_result(run, 0, t);
        if (!other->held_out && other->task.track == held_out->task.track &&
            other->speed_reference == held_out->speed_reference)
            return t;
    }
    return -1;
}

double eval_update_rows(const FacetPolicy *policy)
{
    const PolicyRecord *record = policy_record(policy);
    int noisy = record->batch * record->draws, composed = noisy / 2, branches = 0;
    if (record->composed_weight > 0.0)
        branches = 1 + facet_factor_count(facet_policy_space(policy));
    if (record->agreement_weight > 0.0) branches += 2;
    return noisy + composed * branches;
}

double eval_training_rows(const FacetPolicy *policy)
{
    return (double)policy_record(policy)->updates * eval_update_rows(policy);
}

double eval_router_rows(const FacetPolicy *policy)
{
    const PolicyRouterRecord *record = policy_router_record(policy);
    int branches = 1 + facet_factor_count(facet_policy_space(policy));
    return record ? (double)record->updates * record->batch * branches : 0.0;
}

const char *eval_method(const FacetPolicy *policy)
{
    FacetPolicyMethod method = policy_method(policy);
    if (method == FACET_POLICY_FACTORED && policy_record(policy)->composed_weight > 0.0)
        return "ours";
    return facet_policy_method_name(method);
}
