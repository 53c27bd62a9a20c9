// A trained policy as a planner of the race study (see facet/race.h).
#include <facet/race.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct Prepared {
    CourseTask task;
    uint64_t seed;
    Keypoint chunk[CHUNK_KEYPOINTS];
} Prepared;

struct PolicyPlanner {
    const Policy *policy;
    PolicySampling how;
    double weights[FACTOR_MAX]; // a copy of what `how` points to
    Prepared *prepared;
    int count;
};

// ---- The policy and the course ------------------------------------------------------------------

static Status check_policy(int *track, int *size, const Policy *policy)
{
    const FactorSpace *space = policy_space(policy);
    if (policy_sees(policy))
        return status_fail("expected a policy that does not see, found one that takes frames");
    if (policy_horizon(policy) != CHUNK_KEYPOINTS || policy_dim(policy) != CHUNK_CHANNELS)
        return status_fail("expected a policy with chunks of %d x %d, found %d x %d",
                           CHUNK_KEYPOINTS, CHUNK_CHANNELS, policy_horizon(policy),
                           policy_dim(policy));
    if (factor_count(space) != 2)
        return status_fail("expected a policy with the factors track and size, found %d factors",
                           factor_count(space));
    Status status = factor_find(track, space, "track");
    if (status.ok) status = factor_find(size, space, "size");
    return status.ok ? status : status_fail("policy: %s", status.text);
}

Status race_policy_task(FactorTask *out, const Policy *policy, const Race *race, CourseTask task)
{
    const FactorSpace *space = policy_space(policy);
    const char *track_name = race->course->tracks[task.track].name;
    const char *size_name = race->course->openings[task.opening].name;
    int track, size;
    *out = factor_task_null();
    TRY(check_policy(&track, &size, policy));
    Status status = factor_find_value(&out->value[track], space, track, track_name);
    if (status.ok) status = factor_find_value(&out->value[size], space, size, size_name);
    return status.ok ? status : status_fail("policy: %s", status.text);
}

void chunk_from_actions(Keypoint chunk[CHUNK_KEYPOINTS], const double *actions)
{
    for (int i = 0; i < CHUNK_KEYPOINTS; i++, actions += CHUNK_CHANNELS)
        chunk[i] = (Keypoint){vec3(actions[0], actions[1], actions[2]), actions[3]};
}

void chunk_to_actions(double *actions, const Keypoint chunk[CHUNK_KEYPOINTS])
{
    for (int i = 0; i < CHUNK_KEYPOINTS; i++, actions += CHUNK_CHANNELS) {
        actions[0] = chunk[i].pos.x;
        actions[1] = chunk[i].pos.y;
        actions[2] = chunk[i].pos.z;
        actions[3] = chunk[i].speed;
    }
}

bool policy_knows_task(const Policy *policy, const Race *race, CourseTask task)
{
    FactorTask known;
    if (!race_policy_task(&known, policy, race, task).ok) return false;
    return policy_knows(policy, 0, known.value[0]) && policy_knows(policy, 1, known.value[1]);
}

// ---- Plans --------------------------------------------------------------------------------------

// Samples one plan of every task for every seed. Noise is keyed by seed and task, so each seed is a
// call of its own; all tasks and branches of a seed are one batch.
static Status prepare(PolicyPlanner *p, const Race *race, const CourseTask *tasks, int task_count,
                      const uint64_t *seeds, int seed_count)
{
    enum { SIZE = CHUNK_KEYPOINTS * CHUNK_CHANNELS };
    FactorTask *wanted = calloc((size_t)task_count + 1, sizeof *wanted);
    double *actions = calloc((size_t)task_count * SIZE + 1, sizeof *actions);
    p->prepared = calloc((size_t)task_count * (size_t)seed_count + 1, sizeof *p->prepared);
    Status status = wanted && actions && p->prepared
                        ? status_ok()
                        : status_fail("out of memory for %d plans", task_count * seed_count);
    for (int i = 0; i < task_count && status.ok; i++)
        status = race_policy_task(&wanted[i], p->policy, race, tasks[i]);
    for (int s = 0; s < seed_count && status.ok; s++) {
        p->how.seed = seeds[s];
        status = policy_sample(actions, p->policy, wanted, task_count, &p->how, race->pool);
        for (int i = 0; i < task_count && status.ok; i++) {
            Prepared *plan = &p->prepared[p->count++];
            plan->task = tasks[i];
            plan->seed = seeds[s];
            chunk_from_actions(plan->chunk, actions + (size_t)i * SIZE);
        }
    }
    free(wanted);
    free(actions);
    return status;
}

static Status plan_alone(Keypoint chunk[CHUNK_KEYPOINTS], const PolicyPlanner *p, const Race *race,
                         CourseTask task, uint64_t seed)
{
    double actions[CHUNK_KEYPOINTS * CHUNK_CHANNELS];
    FactorTask wanted;
    ThreadPool *pool;
    PolicySampling how = p->how;
    how.seed = seed;
    how.path = NULL; // has room for the prepared plans alone
    TRY(race_policy_task(&wanted, p->policy, race, task));
    TRY(pool_create(&pool, 1));
    Status status = policy_sample(actions, p->policy, &wanted, 1, &how, pool);
    pool_destroy(pool);
    if (status.ok) chunk_from_actions(chunk, actions);
    return status;
}

static Status plan_by_policy(Keypoint chunk[CHUNK_KEYPOINTS], const Race *race, CourseTask task,
                             uint64_t seed, void *context)
{
    const PolicyPlanner *p = context;
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

Status policy_planner_create(PolicyPlanner **planner, const Policy *policy, const Race *race,
                             const PolicySampling *how, const CourseTask *tasks, int task_count,
                             const uint64_t *seeds, int seed_count)
{
    assert(!how->numbers && "the seeds choose the noise");
    assert((!how->path || seed_count == 1) && "a path is that of one seed");
    *planner = NULL;
    PolicyPlanner *p = calloc(1, sizeof *p);
    if (!p) return status_fail("out of memory for a planner");
    p->policy = policy;
    p->how = *how;
    int track, size;
    Status status = check_policy(&track, &size, policy);
    if (status.ok && how->weights) {
        memcpy(p->weights, how->weights, 2 * sizeof *p->weights);
        p->how.weights = p->weights;
    }
    if (status.ok) status = prepare(p, race, tasks, task_count, seeds, seed_count);
    if (!status.ok) {
        policy_planner_destroy(p);
        return status;
    }
    *planner = p;
    return status_ok();
}

void policy_planner_destroy(PolicyPlanner *planner)
{
    if (!planner) return;
    free(planner->prepared);
    free(planner);
}

Planner planner_from_policy(const PolicyPlanner *planner)
{
    // Planning only reads; the context of a planner is not const because others may write.
    return (Planner){.name = policy_method_name(policy_method(planner->policy)),
                     .plan = plan_by_policy,
                     .context = (void *)(uintptr_t)planner};
}
