// A trained policy as a planner of the race study (see facet_study/race.h).
#include "base/progress.h"
#include "base/status.h"
#include "policy/policy.h"
#include "race/planner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Prepared {
    FacetCourseTask task;
    uint64_t seed;
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
} Prepared;

struct FacetPolicyPlanner {
    const FacetPolicy *policy;
    FacetPolicySampling how;
    double weights[FACET_FACTOR_MAX]; // a copy of what `how` points to
    Prepared *prepared;
    int count;
};

// ---- The policy and the course ------------------------------------------------------------------

static FacetStatus check_policy(int *track, int *size, const FacetPolicy *policy)
{
    const FacetFactorSpace *space = facet_policy_space(policy);
    if (policy_sees(policy))
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy that does not see, found one that takes frames");
    if (policy_horizon(policy) != FACET_CHUNK_KEYPOINTS ||
        policy_dim(policy) != FACET_CHUNK_CHANNELS)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy with chunks of %d x %d, found %d x %d",
                           FACET_CHUNK_KEYPOINTS, FACET_CHUNK_CHANNELS, policy_horizon(policy),
                           policy_dim(policy));
    if (facet_factor_count(space) != 2)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy with the factors track and size, found %d factors",
                           facet_factor_count(space));
    FacetStatus status = facet_factor_find(track, space, "track");
    if (status.ok) status = facet_factor_find(size, space, "size");
    return status.ok ? status : status_fail(FACET_BAD_ARGUMENT, "policy: %s", status.text);
}

FacetStatus facet_race_policy_task(FacetFactorTask *out, const FacetPolicy *policy,
                                   const FacetRace *race, FacetCourseTask task)
{
    const FacetFactorSpace *space = facet_policy_space(policy);
    const char *track_name = race->course->tracks[task.track].name;
    const char *size_name = race->course->openings[task.opening].name;
    int track, size;
    *out = facet_factor_task_null();
    TRY(check_policy(&track, &size, policy));
    FacetStatus status = facet_factor_find_value(&out->value[track], space, track, track_name);
    if (status.ok) status = facet_factor_find_value(&out->value[size], space, size, size_name);
    return status.ok ? status : status_fail(FACET_BAD_ARGUMENT, "policy: %s", status.text);
}

bool facet_policy_knows_task(const FacetPolicy *policy, const FacetRace *race, FacetCourseTask task)
{
    FacetFactorTask known;
    if (!facet_race_policy_task(&known, policy, race, task).ok) return false;
    return facet_policy_knows(policy, 0, known.value[0]) &&
           facet_policy_knows(policy, 1, known.value[1]);
}

// ---- Plans --------------------------------------------------------------------------------------

// Samples one plan of every task for every seed. Noise is keyed by seed and task, so each seed is a
// call of its own; all tasks and branches of a seed are one batch.
static FacetStatus prepare(FacetPolicyPlanner *p, double *path, const FacetRace *race,
                           const FacetCourseTask *tasks, int task_count, const uint64_t *seeds,
                           int seed_count, Progress *progress)
{
    enum { SIZE = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS };
    FacetFactorTask *wanted = calloc((size_t)task_count + 1, sizeof *wanted);
    double *actions = calloc((size_t)task_count * SIZE + 1, sizeof *actions);
    p->prepared = calloc((size_t)task_count * (size_t)seed_count + 1, sizeof *p->prepared);
    FacetStatus status =
        wanted && actions && p->prepared
            ? status_ok()
            : status_fail(FACET_NO_MEMORY, "out of memory for %d plans", task_count * seed_count);
    for (int i = 0; i < task_count && status.ok; i++)
        status = facet_race_policy_task(&wanted[i], p->policy, race, tasks[i]);
    for (int s = 0; s < seed_count && status.ok; s++) {
        p->how.seed = seeds[s];
        status = policy_sample_path(actions, path, p->policy, wanted, task_count, &p->how,
                                    race->pool, NULL);
        for (int i = 0; i < task_count && status.ok; i++) {
            Prepared *plan = &p->prepared[p->count++];
            plan->task = tasks[i];
            plan->seed = seeds[s];
            facet_chunk_from_actions(plan->chunk, actions + (size_t)i * SIZE);
        }
        if (status.ok) status = progress_add(progress, 1, NULL);
    }
    free(wanted);
    free(actions);
    return status;
}

static FacetStatus plan_alone(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS],
                              const FacetPolicyPlanner *p, const FacetRace *race,
                              FacetCourseTask task, uint64_t seed)
{
    double actions[FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS];
    FacetFactorTask wanted;
    FacetPolicySampling how = p->how;
    how.seed = seed;
    TRY(facet_race_policy_task(&wanted, p->policy, race, task));
    TRY(facet_policy_sample(actions, p->policy, &wanted, 1, &how, NULL));
    facet_chunk_from_actions(chunk, actions);
    return status_ok();
}

static FacetStatus plan_by_policy(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                                  FacetCourseTask task, uint64_t seed, void *context)
{
    const FacetPolicyPlanner *p = context;
    for (int i = 0; i < p->count; i++) {
        const Prepared *plan = &p->prepared[i];
        if (plan->task.track == task.track && plan->task.opening == task.opening &&
            plan->seed == seed) {
            memcpy(chunk, plan->chunk, sizeof plan->chunk);
            return status_ok();
        }
    }
    return plan_alone(chunk, p, race, task, seed);
}

// A path is that of one seed.
static FacetStatus create(FacetPolicyPlanner **planner, double *path, const FacetPolicy *policy,
                          const FacetRace *race, const FacetPolicySampling *how,
                          const FacetCourseTask *tasks, int task_count, const uint64_t *seeds,
                          int seed_count, const FacetProgress *progress)
{
    assert(!how->numbers && "the seeds choose the noise");
    *planner = NULL;
    FacetPolicyPlanner *p = calloc(1, sizeof *p);
    if (!p) return status_fail(FACET_NO_MEMORY, "out of memory for a planner");
    p->policy = policy;
    p->how = *how;
    int track, size;
    FacetStatus status = check_policy(&track, &size, policy);
    if (status.ok && how->weights) {
        memcpy(p->weights, how->weights, 2 * sizeof *p->weights);
        p->how.weights = p->weights;
    }
    if (status.ok) {
        Progress plans;
        progress_begin(&plans, progress, "plans", seed_count);
        status = prepare(p, path, race, tasks, task_count, seeds, seed_count, &plans);
        progress_end(&plans);
    }
    if (!status.ok) {
        facet_policy_planner_destroy(p);
        return status;
    }
    *planner = p;
    return status_ok();
}

FacetStatus facet_policy_planner_create(FacetPolicyPlanner **planner, const FacetPolicy *policy,
                                        const FacetRace *race, const FacetPolicySampling *how,
                                        const FacetCourseTask *tasks, int task_count,
                                        const uint64_t *seeds, int seed_count,
                                        const FacetProgress *progress)
{
    return create(planner, NULL, policy, race, how, tasks, task_count, seeds, seed_count, progress);
}

FacetStatus planner_create_path(FacetPolicyPlanner **planner, double *path,
                                const FacetPolicy *policy, const FacetRace *race,
                                const FacetPolicySampling *how, const FacetCourseTask *tasks,
                                int task_count, const FacetProgress *progress)
{
    return create(planner, path, policy, race, how, tasks, task_count, &how->seed, 1, progress);
}

void facet_policy_planner_destroy(FacetPolicyPlanner *planner)
{
    if (!planner) return;
    free(planner->prepared);
    free(planner);
}

FacetPlanner facet_planner_from_policy(const FacetPolicyPlanner *planner)
{
    // Planning only reads; the context of a planner is not const because others may write.
    return (FacetPlanner){.name = facet_policy_method_name(policy_method(planner->policy)),
                          .plan = plan_by_policy,
                          .context = (void *)(uintptr_t)planner};
}
