// An agent: what it has observed, and the plan that it carries out (see facet/agent.h).
#include "base/status.h"
#include "policy/parts.h"

#include <facet/agent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PLAN_BITS = 28, EPISODE_BITS = 32 }; // of the number of a plan's noise

struct FacetAgent {
    const FacetPolicy *policy;
    const Observe *observe;
    FacetPolicyRunner *runner;
    FacetPool *pool;
    FacetFactorTask task;
    FacetPolicySampling how;
    double weights[FACET_FACTOR_MAX];
    int execute;
    uint64_t episode, planned; // plans of this episode

    // From the oldest step to the newest; the one being observed comes last.
    double *numbers; // [steps][dim]
    uint8_t *frames; // [steps][images][frame]
    size_t frame;    // bytes of an image
    bool begun;      // there are steps before the newest
    bool given[OBSERVE_KEYS_MAX];

    double *plan;  // [T][D]
    double *fresh; // [T][D], until it is known to be good
    bool has_plan; // there is one of this episode
    int next;      // row of the next action; `execute` when the plan is used up
    FacetAgentTimes times;
    double plan_seconds; // sum
};

// ---- Making -------------------------------------------------------------------------------------

static FacetStatus check_options(const FacetPolicy *policy, const FacetAgentOptions *o)
{
    int horizon = policy_horizon(policy);
    if (o->execute < 0 || o->execute > horizon)
        return status_fail(FACET_BAD_ARGUMENT, "expected 1 to %d actions to execute, found %d",
                           horizon, o->execute);
    if (o->sampling.seeds || o->sampling.numbers || o->sampling.progress)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected no seeds, numbers and progress of an agent's sampling");
    return policy_check_sampling(policy, &o->sampling);
}

static FacetStatus allocate(FacetAgent *a)
{
    const Observe *o = a->observe;
    size_t steps = (size_t)o->steps;
    size_t size = (size_t)policy_horizon(a->policy) * (size_t)policy_dim(a->policy);
    int width = 0, height = 0;
    if (o->images) policy_frame_size(a->policy, &width, &height);
    a->frame = 3 * (size_t)width * (size_t)height;
    a->numbers = calloc(steps * (size_t)o->dim + 1, sizeof *a->numbers);
    a->frames = calloc(steps * (size_t)o->images + 1, a->frame + 1);
    a->plan = calloc(2 * size, sizeof *a->plan);
    if (!a->numbers || !a->frames || !a->plan)
        return status_fail(FACET_NO_MEMORY, "out of memory for an agent");
    a->fresh = a->plan + size;
    return facet_policy_runner_create(&a->runner, a->policy, 1, facet_pool_threads(a->pool),
                                      a->pool);
}

static void set_options(FacetAgent *a, const FacetAgentOptions *o)
{
    a->how = o->sampling;
    if (a->how.weights) {
        memcpy(a->weights, a->how.weights,
               (size_t)facet_factor_count(a->policy->space) * sizeof *a->weights);
        a->how.weights = a->weights;
    }
    a->execute = o->execute ? o->execute : a->observe->execute;
}

FacetStatus facet_agent_create(FacetAgent **agent, const FacetPolicy *policy, FacetFactorTask task,
                               const FacetAgentOptions *options, FacetPool *pool)
{
    const FacetAgentOptions none = {0}, *o = options ? options : &none;
    *agent = NULL;
    if (!policy->observe)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy that takes observations, found one that acts blind: "
                           "sample its plans");
    TRY(check_options(policy, o));
    FacetAgent *a = calloc(1, sizeof *a);
    if (!a) return status_fail(FACET_NO_MEMORY, "out of memory for an agent");
    a->policy = policy;
    a->observe = policy->observe;
    a->pool = pool;
    set_options(a, o);
    FacetStatus status = allocate(a);
    if (status.ok) status = facet_agent_set_task(a, task);
    if (status.ok) status = facet_agent_reset(a, o->episode);
    if (!status.ok) {
        facet_agent_destroy(a);
        return status;
    }
    *agent = a;
    return status_ok();
}

void facet_agent_destroy(FacetAgent *agent)
{
    if (!agent) return;
    facet_policy_runner_destroy(agent->runner);
    free(agent->numbers);
    free(agent->frames);
    free(agent->plan);
    free(agent);
}

FacetStatus facet_agent_set_task(FacetAgent *agent, FacetFactorTask task)
{
    TRY(policy_check_task(agent->policy, task));
    agent->task = task;
    agent->next = agent->execute;
    return status_ok();
}

FacetStatus facet_agent_reset(FacetAgent *agent, uint64_t episode)
{
    if (episode >> EPISODE_BITS)
        return status_fail(FACET_BAD_ARGUMENT, "expected an episode below 2^%d, found %llu",
                           EPISODE_BITS, (unsigned long long)episode);
    agent->episode = episode;
    agent->planned = 0;
    agent->begun = agent->has_plan = false;
    agent->next = agent->execute;
    memset(agent->given, 0, sizeof agent->given);
    return status_ok();
}

// ---- Observing ----------------------------------------------------------------------------------

FacetStatus facet_agent_observe(FacetAgent *agent, const char *name, const double *numbers,
                                int count)
{
    const Observe *o = agent->observe;
    int index;
    TRY(observe_find(&index, o, name));
    const FacetPolicyKey *key = &o->keys[index];
    if (!key->dim)
        return status_fail(FACET_BAD_ARGUMENT,
                           "observation '%s': expected an image of %d x %d pixels, found numbers",
                           name, key->width, key->height);
    if (count != key->dim)
        return status_fail(FACET_BAD_ARGUMENT, "observation '%s': expected %d numbers, found %d",
                           name, key->dim, count);
    for (int i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            return status_fail(FACET_NOT_FINITE,
                               "observation '%s': expected finite numbers, found %g at %d", name,
                               numbers[i], i);
    double *now = agent->numbers + (size_t)(o->steps - 1) * (size_t)o->dim;
    memcpy(now + key->at, numbers, (size_t)count * sizeof *numbers);
    agent->given[index] = true;
    return status_ok();
}

FacetStatus facet_agent_observe_image(FacetAgent *agent, const char *name, const uint8_t *rgb,
                                      int width, int height)
{
    const Observe *o = agent->observe;
    int index;
    TRY(observe_find(&index, o, name));
    const FacetPolicyKey *key = &o->keys[index];
    if (key->dim)
        return status_fail(FACET_BAD_ARGUMENT,
                           "observation '%s': expected %d numbers, found an image", name, key->dim);
    if (width != key->width || height != key->height)
        return status_fail(FACET_BAD_ARGUMENT,
                           "observation '%s': expected an image of %d x %d pixels, found %d x %d",
                           name, key->width, key->height, width, height);
    size_t at = (size_t)(o->steps - 1) * (size_t)o->images + (size_t)key->at;
    memcpy(agent->frames + at * agent->frame, rgb, agent->frame);
    agent->given[index] = true;
    return status_ok();
}

static FacetStatus check_given(const FacetAgent *a)
{
    for (int i = 0; i < a->observe->count; i++)
        if (!a->given[i])
            return status_fail(FACET_BAD_ARGUMENT,
                               "expected the observation '%s' before the act, found none",
                               a->observe->keys[i].name);
    return status_ok();
}

// The first step of an episode stands for those before it.
static void repeat_first(FacetAgent *a)
{
    const Observe *o = a->observe;
    size_t last = (size_t)o->steps - 1, dim = (size_t)o->dim, images = (size_t)o->images * a->frame;
    for (size_t s = 0; s < last; s++) {
        memcpy(a->numbers + s * dim, a->numbers + last * dim, dim * sizeof *a->numbers);
        memcpy(a->frames + s * images, a->frames + last * images, images);
    }
}

// Makes room for the step that comes next.
static void age(FacetAgent *a)
{
    const Observe *o = a->observe;
    size_t last = (size_t)o->steps - 1, dim = (size_t)o->dim, images = (size_t)o->images * a->frame;
    memmove(a->numbers, a->numbers + dim, last * dim * sizeof *a->numbers);
    memmove(a->frames, a->frames + images, last * images);
    memset(a->given, 0, sizeof a->given);
}

// ---- Acting -------------------------------------------------------------------------------------

static FacetStatus plan(FacetAgent *a)
{
    uint64_t number = (a->episode << PLAN_BITS) + (a->planned & ((UINT64_C(1) << PLAN_BITS) - 1));
    FacetPolicySampling how = a->how;
    how.numbers = &number;
    const FacetPolicyObserved observed = {
        .numbers = a->observe->dim ? a->numbers : NULL,
        .frames = a->observe->images ? a->frames : NULL,
    };
    TRY(facet_policy_runner_sample(a->fresh, a->runner, &a->task, &observed, 1, &how, a->pool));
    size_t size = (size_t)policy_horizon(a->policy) * (size_t)policy_dim(a->policy);
    memcpy(a->plan, a->fresh, size * sizeof *a->plan);
    a->planned++;
    a->has_plan = true;
    a->next = 0;
    return status_ok();
}

static double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void count_time(FacetAgent *a, double took, bool planned)
{
    FacetAgentTimes *times = &a->times;
    times->acts++;
    times->last = took;
    if (!planned) {
        times->other_max = fmax(times->other_max, took);
        return;
    }
    times->plans++;
    a->plan_seconds += took;
    times->plan_mean = a->plan_seconds / (double)times->plans;
    times->plan_max = fmax(times->plan_max, took);
}

FacetStatus facet_agent_act(double *action, FacetAgent *agent)
{
    double started = seconds();
    TRY(check_given(agent));
    if (!agent->begun) repeat_first(agent);
    bool plans = agent->next >= agent->execute;
    if (plans) TRY(plan(agent));
    int dim = policy_dim(agent->policy);
    memcpy(action, agent->plan + (size_t)agent->next * (size_t)dim, (size_t)dim * sizeof *action);
    agent->next++;
    agent->begun = true;
    age(agent);
    count_time(agent, seconds() - started, plans);
    return status_ok();
}

const double *facet_agent_plan(const FacetAgent *agent, int *next)
{
    *next = agent->next;
    return agent->has_plan ? agent->plan : NULL;
}

FacetAgentTimes facet_agent_times(const FacetAgent *agent) { return agent->times; }
