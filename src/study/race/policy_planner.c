// A trained policy as a planner of the race study (see facet_study/race.h).
#include "base/progress.h"
#include "base/status.h"
#include "policy/parts.h"
#include "race/planner.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SIZE = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS,
    CALL = 1024, // plans sampled in one call, which bounds the memory
};

// What a plan was made for, and where it is.
typedef struct PlanKey {
    uint64_t seed;
    FacetCourseTask task;
    int plan;
} PlanKey;

struct FacetPolicyPlanner {
    const FacetPolicy *policy;
    FacetPolicySampling how;
    double weights[FACET_FACTOR_MAX]; // a copy of what `how` points to
    FacetKeypoint *chunks;            // [count][32]
    PlanKey *keys;                    // [count], in order
    int count;
};

// ---- The policy and the course ------------------------------------------------------------------

static FacetStatus check_policy(int *track, int *size, const FacetPolicy *policy)
{
    const FacetFactorSpace *space = facet_policy_space(policy);
    TRY(policy_check_blind(policy));
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

bool facet_policy_holds_out(const FacetPolicy *policy, const FacetRace *race, FacetCourseTask task)
{
    FacetFactorTask known;
    return !facet_race_policy_task(&known, policy, race, task).ok ||
           !facet_factor_split_contains(facet_policy_training(policy), known);
}

// ---- Sampling -----------------------------------------------------------------------------------

// Plans to be sampled together.
typedef struct Wanted {
    int count;
    FacetCourseTask *tasks; // [count]
    uint64_t *seeds;        // [count]

    // As the policy is asked for them.
    FacetFactorTask *factors; // [count]
    uint64_t *numbers;        // [count], of the noise
    double *actions;          // [at most CALL][SIZE], or of all plans when there is a path
} Wanted;

static FacetStatus wanted_create(Wanted *w, int count)
{
    size_t room = (size_t)count + 1;
    *w = (Wanted){.count = count,
                  .tasks = calloc(room, sizeof *w->tasks),
                  .seeds = calloc(room, sizeof *w->seeds),
                  .factors = calloc(room, sizeof *w->factors),
                  .numbers = calloc(room, sizeof *w->numbers)};
    return w->tasks && w->seeds && w->factors && w->numbers
               ? status_ok()
               : status_fail(FACET_NO_MEMORY, "out of memory for %d plans", count);
}

static void wanted_free(Wanted *w)
{
    free(w->tasks);
    free(w->seeds);
    free(w->factors);
    free(w->numbers);
    free(w->actions);
}

// Every plan starts from the noise that it would start from alone.
static FacetStatus translate(Wanted *w, const FacetPolicy *policy, const FacetRace *race)
{
    for (int i = 0; i < w->count; i++) {
        TRY(facet_race_policy_task(&w->factors[i], policy, race, w->tasks[i]));
        w->numbers[i] = policy_noise_number(policy, &w->factors[i], NULL, 0);
    }
    return status_ok();
}

static FacetStatus sample_calls(FacetKeypoint *chunks, double *path, FacetPolicyRunner *runner,
                                const FacetPolicySampling *how, const Wanted *w, int at_once,
                                FacetPool *pool, Progress *progress)
{
    for (int first = 0; first < w->count; first += at_once) {
        int count = w->count - first < at_once ? w->count - first : at_once;
        FacetPolicySampling call = *how;
        call.seeds = w->seeds + first;
        call.numbers = w->numbers + first;
        const FacetProgress part = progress_part(progress);
        call.progress = &part;
        TRY(policy_runner_sample_path(w->actions, path, runner, w->factors + first, NULL, count,
                                      &call, pool));
        for (int i = 0; i < count; i++)
            facet_chunk_from_actions(chunks + (size_t)(first + i) * FACET_CHUNK_KEYPOINTS,
                                     w->actions + (size_t)i * SIZE);
    }
    return status_ok();
}

// chunks [count][32]; the path is that of one call. The stage "plans".
static FacetStatus sample_wanted(FacetKeypoint *chunks, double *path, const FacetPolicyPlanner *p,
                                 const FacetRace *race, Wanted *w, const FacetProgress *progress)
{
    if (w->count == 0) return status_ok();
    TRY(translate(w, p->policy, race));
    int at_once = path || w->count < CALL ? w->count : CALL;
    w->actions = calloc((size_t)at_once * SIZE, sizeof *w->actions);
    if (!w->actions) return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", w->count);
    FacetPolicyRunner *runner;
    TRY(facet_policy_runner_create(&runner, p->policy, at_once, facet_pool_threads(race->pool),
                                   race->pool));
    Progress plans;
    progress_begin(&plans, progress, "plans", w->count);
    FacetStatus status =
        sample_calls(chunks, path, runner, &p->how, w, at_once, race->pool, &plans);
    progress_end(&plans);
    facet_policy_runner_destroy(runner);
    return status;
}

// ---- Prepared plans -----------------------------------------------------------------------------

static int compare_keys(const void *first, const void *second)
{
    const PlanKey *a = first, *b = second;
    if (a->seed != b->seed) return a->seed < b->seed ? -1 : 1;
    if (a->task.track != b->task.track) return a->task.track - b->task.track;
    return a->task.opening - b->task.opening;
}

// One plan of every task for every seed.
static FacetStatus prepare(FacetPolicyPlanner *p, double *path, const FacetRace *race,
                           const FacetCourseTask *tasks, int task_count, const uint64_t *seeds,
                           int seed_count, const FacetProgress *progress)
{
    int count = task_count * seed_count;
    p->chunks = calloc((size_t)count * FACET_CHUNK_KEYPOINTS + 1, sizeof *p->chunks);
    p->keys = calloc((size_t)count + 1, sizeof *p->keys);
    if (!p->chunks || !p->keys)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", count);
    Wanted wanted;
    FacetStatus status = wanted_create(&wanted, count);
    for (int i = 0; i < count && status.ok; i++) {
        wanted.tasks[i] = tasks[i % task_count];
        wanted.seeds[i] = seeds[i / task_count];
        p->keys[i] = (PlanKey){wanted.seeds[i], wanted.tasks[i], i};
    }
    if (status.ok) status = sample_wanted(p->chunks, path, p, race, &wanted, progress);
    wanted_free(&wanted);
    p->count = count;
    qsort(p->keys, (size_t)count, sizeof *p->keys, compare_keys);
    return status;
}

// The prepared plan of a task and seed, or NULL.
static const FacetKeypoint *find_plan(const FacetPolicyPlanner *p, FacetCourseTask task,
                                      uint64_t seed)
{
    const PlanKey wanted = {.seed = seed, .task = task};
    const PlanKey *found =
        bsearch(&wanted, p->keys, (size_t)p->count, sizeof *p->keys, compare_keys);
    return found ? p->chunks + (size_t)found->plan * FACET_CHUNK_KEYPOINTS : NULL;
}

// ---- The planner --------------------------------------------------------------------------------

static void copy_chunk(FacetKeypoint *to, const FacetKeypoint *from)
{
    memcpy(to, from, FACET_CHUNK_KEYPOINTS * sizeof *to);
}

static FacetStatus plan_alone(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS],
                              const FacetPolicyPlanner *p, const FacetRace *race,
                              FacetCourseTask task, uint64_t seed)
{
    double actions[SIZE];
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
    const FacetKeypoint *prepared = find_plan(p, task, seed);
    if (!prepared) return plan_alone(chunk, p, race, task, seed);
    copy_chunk(chunk, prepared);
    return status_ok();
}

static FacetStatus plan_all_by_policy(FacetKeypoint *chunks, const FacetRace *race,
                                      const FacetCourseTask *tasks, const uint64_t *seeds,
                                      int count, void *context, const FacetProgress *progress)
{
    const FacetPolicyPlanner *p = context;
    FacetKeypoint *sampled = calloc((size_t)count * FACET_CHUNK_KEYPOINTS + 1, sizeof *sampled);
    if (!sampled) return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", count);
    Wanted missing;
    FacetStatus status = wanted_create(&missing, count);
    missing.count = 0;
    for (int i = 0; i < count && status.ok; i++) {
        if (find_plan(p, tasks[i], seeds[i])) continue;
        missing.tasks[missing.count] = tasks[i];
        missing.seeds[missing.count++] = seeds[i];
    }
    if (status.ok) status = sample_wanted(sampled, NULL, p, race, &missing, progress);
    for (int i = 0, next = 0; i < count && status.ok; i++) {
        const FacetKeypoint *prepared = find_plan(p, tasks[i], seeds[i]);
        copy_chunk(chunks + (size_t)i * FACET_CHUNK_KEYPOINTS,
                   prepared ? prepared : sampled + (size_t)next++ * FACET_CHUNK_KEYPOINTS);
    }
    wanted_free(&missing);
    free(sampled);
    return status;
}

// A path is that of one seed.
static FacetStatus create(FacetPolicyPlanner **planner, double *path, const FacetPolicy *policy,
                          const FacetRace *race, const FacetPolicySampling *how,
                          const FacetCourseTask *tasks, int task_count, const uint64_t *seeds,
                          int seed_count, const FacetProgress *progress)
{
    assert(!how->numbers && !how->seeds && "the seeds choose the noise");
    *planner = NULL;
    FacetPolicyPlanner *p = calloc(1, sizeof *p);
    if (!p) return status_fail(FACET_NO_MEMORY, "out of memory for a planner");
    p->policy = policy;
    p->how = *how;
    p->how.progress = NULL; // it ends with this call
    int track, size;
    FacetStatus status = check_policy(&track, &size, policy);
    if (status.ok && how->weights) {
        memcpy(p->weights, how->weights, 2 * sizeof *p->weights);
        p->how.weights = p->weights;
    }
    if (status.ok) status = prepare(p, path, race, tasks, task_count, seeds, seed_count, progress);
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
    free(planner->chunks);
    free(planner->keys);
    free(planner);
}

static bool holds_out(const FacetRace *race, FacetCourseTask task, void *context)
{
    return facet_policy_holds_out(((const FacetPolicyPlanner *)context)->policy, race, task);
}

FacetPlanner facet_planner_from_policy(const FacetPolicyPlanner *planner)
{
    // Planning only reads; the context of a planner is not const because others may write.
    return (FacetPlanner){.name = facet_policy_method_name(policy_method(planner->policy)),
                          .plan = plan_by_policy,
                          .context = (void *)(uintptr_t)planner,
                          .plan_all = plan_all_by_policy,
                          .held_out = holds_out};
}
