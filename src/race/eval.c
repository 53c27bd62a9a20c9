// Evaluation of policies on the race study (see facet/eval.h).
#include <facet/eval.h>

#include <math.h>
#include <stdlib.h>

Status eval_run(EvalRun *run, const Race *race, const Policy *policy,
                const PolicySampling *sampling, int seeds, Progress *progress)
{
    *run = (EvalRun){.seeds = seeds};
    size_t room = (size_t)race_task_max(race);
    CourseTask *tasks = calloc(room, sizeof *tasks);
    run->results = calloc(room * (size_t)seeds, sizeof *run->results);
    Status status = tasks && run->results ? status_ok() : status_fail("out of memory for flights");
    if (status.ok) run->tasks = race_feasible_tasks(tasks, race);
    for (int k = 0; k < seeds && status.ok; k++) {
        uint64_t seed = sampling->seed + (uint64_t)k;
        PolicyPlanner *planner;
        status =
            policy_planner_create(&planner, policy, race, sampling, tasks, run->tasks, &seed, 1);
        if (!status.ok) break;
        Planner fly = planner_from_policy(planner);
        status = race_fly_all(&run->results[k * run->tasks], race, &fly, tasks, run->tasks, seed,
                              0.0, NULL);
        policy_planner_destroy(planner);
        progress_add(progress, 1, NULL);
    }
    free(tasks);
    if (!status.ok) eval_run_free(run);
    return status;
}

void eval_run_free(EvalRun *run)
{
    free(run->results);
    *run = (EvalRun){0};
}

const RaceResult *eval_result(const EvalRun *run, int seed, int task)
{
    return &run->results[seed * run->tasks + task];
}

RaceTotals eval_totals(const EvalRun *run, int seed)
{
    return race_totals(eval_result(run, seed, 0), run->tasks);
}

RaceTotals eval_totals_all(const EvalRun *run)
{
    return race_totals(run->results, run->tasks * run->seeds);
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

RaceTally eval_task_tally(const EvalRun *run, int task)
{
    RaceTally tally = {0};
    for (int k = 0; k < run->seeds; k++) {
        const Flight *flight = &eval_result(run, k, task)->flight;
        tally.passed += flight->passed;
        tally.gates += flight->gate_count;
    }
    return tally;
}

double eval_task_spread(const EvalRun *run, int task)
{
    RaceTally all = eval_task_tally(run, task);
    double mean = (double)all.passed / all.gates, sum = 0.0;
    for (int k = 0; k < run->seeds; k++) {
        const Flight *flight = &eval_result(run, k, task)->flight;
        double apart = (double)flight->passed / flight->gate_count - mean;
        sum += apart * apart;
    }
    return run->seeds > 1 ? sqrt(sum / (run->seeds - 1)) : 0.0;
}

const char *eval_method(const Policy *policy)
{
    PolicyMethod method = policy_method(policy);
    if (method == POLICY_FACTORED && policy_record(policy)->composed_weight > 0.0) return "ours";
    return policy_method_name(method);
}
