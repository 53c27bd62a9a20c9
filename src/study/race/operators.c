// Weights of composition operators (see race/operators.h).
#include "race/operators.h"

#include "base/progress.h"
#include "base/status.h"
#include "policy/policy.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

int operator_candidates(double (*weights)[2], FacetPolicyMode mode)
{
    const ComposeOperator *operator= policy_mode_operator(mode);
    assert(operator&& "joint sampling has no weights");
    if (operator->tried) return operator->tried(weights);
    weights[0][0] = weights[0][1] = NAN;
    return 1;
}

const double *operator_weights(const OperatorChoice *choice)
{
    return isnan(choice->weights[0]) ? NULL : choice->weights;
}

int operator_passes(const OperatorChoice *choice)
{
    const double *w = choice->weights;
    if (!operator_weights(choice)) return 3;
    return (w[0] != 0.0) + (w[1] != 0.0) + (fabs(w[0] + w[1] - 1.0) > 1e-9);
}

typedef struct Search {
    const FacetRace *race;
    const FacetPolicy *policy;
    const FacetCourseTask *tasks; // training tasks
    int task_count, plans;
    uint64_t *seeds;          // [plans]
    FacetRaceResult *results; // [tasks]
} Search;

// What one choice of weights comes to.
static FacetStatus try_weights(OperatorChoice *out, const Search *s, const FacetPolicySampling *how)
{
    FacetPolicyPlanner *plans;
    out->training = (FacetRaceTally){0};
    out->error = 0.0;
    TRY(facet_policy_planner_create(&plans, s->policy, s->race, how, s->tasks, s->task_count,
                                    s->seeds, s->plans, NULL));
    const FacetPlanner planner = facet_planner_from_policy(plans);
    FacetStatus status = status_ok();
    for (int k = 0; status.ok && k < s->plans; k++) {
        status = facet_race_fly_all(s->results, s->race, &planner, s->tasks, s->task_count,
                                    s->seeds[k], 0.0, NULL);
        for (int t = 0; status.ok && t < s->task_count; t++) {
            out->training.passed += s->results[t].flight.passed;
            out->training.gates += s->results[t].flight.gate_count;
            out->error += s->results[t].error / (s->task_count * s->plans);
        }
    }
    facet_policy_planner_destroy(plans);
    return status;
}

static bool is_better(const OperatorChoice *one, const OperatorChoice *other)
{
    if (one->training.passed != other->training.passed)
        return one->training.passed > other->training.passed;
    return one->error < other->error;
}

static FacetStatus search(OperatorChoice *best, const Search *s, FacetPolicySampling how,
                          const FacetProgress *progress)
{
    double weights[COMPOSE_TRIED_MAX][2];
    int count = operator_candidates(weights, how.mode);
    Progress done;
    FacetStatus status = status_ok();
    progress_begin(&done, progress, "weights", count);
    for (int i = 0; i < count && status.ok; i++) {
        OperatorChoice choice = {.weights = {weights[i][0], weights[i][1]}, .tried = count};
        how.weights = operator_weights(&choice);
        status = try_weights(&choice, s, &how);
        if (status.ok && (i == 0 || is_better(&choice, best))) *best = choice;
        if (status.ok) status = progress_add(&done, 1, NULL);
    }
    progress_end(&done);
    return status;
}

FacetStatus operator_choose(OperatorChoice *choice, const FacetRace *race,
                            const FacetPolicy *policy, const FacetPolicySampling *how, int plans,
                            const FacetProgress *progress)
{
    size_t room = (size_t)facet_race_task_max(race);
    FacetCourseTask *tasks = calloc(room, sizeof *tasks);
    Search s = {.race = race,
                .policy = policy,
                .tasks = tasks,
                .plans = plans,
                .seeds = calloc((size_t)plans, sizeof *s.seeds),
                .results = calloc(room, sizeof *s.results)};
    FacetStatus status = tasks && s.seeds && s.results
                             ? status_ok()
                             : status_fail(FACET_NO_MEMORY, "out of memory for flights");
    int all = status.ok ? facet_race_feasible_tasks(tasks, race) : 0;
    for (int i = 0; i < all; i++)
        if (!facet_policy_holds_out(policy, race, tasks[i])) tasks[s.task_count++] = tasks[i];
    for (int k = 0; status.ok && k < plans; k++)
        s.seeds[k] = how->seed + (UINT64_C(1) << 32) + (uint64_t)k;
    if (status.ok) status = search(choice, &s, *how, progress);
    free(tasks);
    free(s.seeds);
    free(s.results);
    return status;
}
