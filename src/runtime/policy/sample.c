// Sampling from a policy: what is asked for, the noise and steps that it means, and batches.
#include "factor/factor.h"
#include "policy/runner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- What is asked for --------------------------------------------------------------------------

FacetStatus policy_check_task(const FacetPolicy *policy, FacetFactorTask task)
{
    const FacetFactorSpace *space = policy->space;
    for (int f = 0; f < FACET_FACTOR_MAX; f++) {
        int value = task.value[f], values = 0;
        if (value == FACET_FACTOR_NULL) continue;
        if (f < facet_factor_count(space)) values = facet_factor_value_count(space, f);
        if (value < 0 || value >= values)
            return status_fail(FACET_BAD_ARGUMENT,
                               "expected a value of factor %d from 0 to %d, found %d", f,
                               values - 1, value);
        if (facet_policy_knows(policy, f, value)) continue;
        char known[300] = "";
        for (int v = 0; v < values; v++) {
            size_t used = strlen(known);
            if (facet_policy_knows(policy, f, v) &&
                used + FACET_FACTOR_NAME_SIZE + 3 < sizeof known) {
                strcat(known, used ? ", " : "");
                strcat(known, facet_factor_value_name(space, f, v));
            }
        }
        return status_fail(FACET_BAD_ARGUMENT, "the policy never saw %s '%s': it knows %s",
                           facet_factor_name(space, f), facet_factor_value_name(space, f, value),
                           known);
    }
    return status_ok();
}

// Whether there is what the policy takes, and nothing else. What it is told is finite.
static FacetStatus check_observed(const FacetPolicy *policy, const FacetPolicyObserved *observed,
                                  int plans)
{
    const Observe *o = policy->observe;
    const double *numbers = observed ? observed->numbers : NULL;
    const uint8_t *frames = observed ? observed->frames : NULL;
    if (frames && !policy->encoder)
        return status_fail(FACET_BAD_ARGUMENT, "the policy does not see and takes no frames");
    if (numbers && (!o || !o->dim))
        return status_fail(FACET_BAD_ARGUMENT, "the policy takes no observed numbers");
    if (policy->encoder && !frames)
        return status_fail(FACET_BAD_ARGUMENT,
                           "the policy sees: expected the frames of every plan");
    if (!o || !o->dim) return status_ok();
    if (!numbers)
        return status_fail(FACET_BAD_ARGUMENT,
                           "the policy takes observations: expected %d numbers of %d steps for "
                           "every plan",
                           o->dim, o->steps);
    size_t rows = observed->shared ? 1 : (size_t)plans;
    for (size_t i = 0, all = rows * (size_t)(o->steps * o->dim); i < all; i++)
        if (!isfinite(numbers[i]))
            return status_fail(FACET_NOT_FINITE, "observations: expected finite numbers, found %g",
                               numbers[i]);
    return status_ok();
}

static FacetStatus check_how(const FacetPolicy *policy, const FacetPolicySampling *how)
{
    if (policy->method == FACET_POLICY_KNET && how->mode == FACET_POLICY_JOINT)
        return status_fail(FACET_BAD_ARGUMENT,
                           "no joint mode: a knet policy has one network a value and none for "
                           "several at once");
    if (!(how->temperature >= 0.0 && isfinite(how->temperature)))
        return status_fail(FACET_BAD_ARGUMENT, "expected a temperature of 0 or more, found %g",
                           how->temperature);
    if ((int)how->mode < 0 || how->mode >= FACET_POLICY_MODES)
        return status_fail(FACET_BAD_ARGUMENT, "expected a mode from 0 to %d, found %d",
                           FACET_POLICY_MODES - 1, (int)how->mode);
    if (how->mode == FACET_POLICY_ROUTER && !policy->router)
        return status_fail(FACET_BAD_ARGUMENT,
                           "no router mode: the policy has no router; facet train --router-from "
                           "trains one over the networks of a knet");
    double weights[FACET_FACTOR_MAX];
    TRY(policy_mode_weights(weights, policy, how->mode, how->weights));
    if (how->sampler != FACET_POLICY_DDIM && how->sampler != FACET_POLICY_DPMPP)
        return status_fail(FACET_BAD_ARGUMENT, "expected the sampler DDIM or DPM++, found %d",
                           (int)how->sampler);
    return status_ok();
}

static FacetStatus check(const FacetPolicy *policy, const FacetFactorTask *tasks,
                         const FacetPolicyObserved *observed, int plans,
                         const FacetPolicySampling *how)
{
    TRY(check_observed(policy, observed, plans));
    if (plans < 0)
        return status_fail(FACET_BAD_ARGUMENT, "expected 0 plans or more, found %d", plans);
    TRY(check_how(policy, how));
    for (int i = 0; i < plans; i++) TRY(policy_check_task(policy, tasks[i]));
    return status_ok();
}

uint64_t policy_noise_number(const FacetPolicy *policy, const FacetFactorTask *tasks,
                             const uint64_t *seeds, int plan)
{
    uint64_t task = 0, turn = 0;
    for (int f = 0; f < facet_factor_count(policy->space); f++)
        task = task * (uint64_t)(facet_factor_value_count(policy->space, f) + 1) +
               (uint64_t)(tasks[plan].value[f] + 1);
    for (int i = 0; i < plan; i++)
        turn += factor_task_equal(tasks[i], tasks[plan]) && (!seeds || seeds[i] == seeds[plan]);
    return ((task << 20) + turn) & (UINT64_MAX >> 4);
}

void policy_noise(float *x, const FacetPolicy *policy, const FacetPolicySampling *how,
                  uint64_t number)
{
    int size = policy_horizon(policy) * policy_dim(policy);
    double temperature = how->temperature > 0.0 ? how->temperature : policy->temperature;
    sampler_noise(x, how->seed, number, size);
    for (int i = 0; i < size; i++) x[i] = (float)temperature * x[i];
}

// ---- Steps --------------------------------------------------------------------------------------

int policy_sampling_steps(const FacetPolicy *policy, const FacetPolicySampling *sampling)
{
    return sampling->steps ? sampling->steps : policy->default_steps;
}

static FacetStatus plan_steps(SamplerPlan *plan, const FacetPolicy *policy,
                              const FacetPolicySampling *how)
{
    const SamplerConfig config = {
        .kind = how->sampler == FACET_POLICY_DPMPP ? SAMPLER_DPMPP : SAMPLER_DDIM,
        .steps = policy_sampling_steps(policy, how),
        .spacing = policy->spacing,
        .prediction = policy->prediction,
        .clip = policy->clip,
    };
    return sampler_plan(plan, &policy->schedule, config);
}

FacetStatus policy_check_sampling(const FacetPolicy *policy, const FacetPolicySampling *how)
{
    TRY(check_how(policy, how));
    SamplerPlan *plan = malloc(sizeof *plan);
    if (!plan) return status_fail(FACET_NO_MEMORY, "out of memory for the steps of sampling");
    FacetStatus status = plan_steps(plan, policy, how);
    free(plan);
    return status;
}

FacetStatus policy_noise_levels(double *levels, const FacetPolicy *policy,
                                const FacetPolicySampling *sampling)
{
    SamplerPlan *plan = malloc(sizeof *plan);
    if (!plan) return status_fail(FACET_NO_MEMORY, "out of memory for the steps of sampling");
    FacetStatus status = plan_steps(plan, policy, sampling);
    for (int i = 0; status.ok && i < plan->config.steps; i++) {
        levels[i] = sqrt(1.0 - plan->step[i].alpha_bar);
        levels[i + 1] = sqrt(1.0 - plan->step[i].alpha_bar_next);
    }
    free(plan);
    return status;
}

// ---- Plans --------------------------------------------------------------------------------------

FacetStatus policy_runner_sample_path(double *actions, double *path, FacetPolicyRunner *runner,
                                      const FacetFactorTask *tasks,
                                      const FacetPolicyObserved *observed, int plans,
                                      const FacetPolicySampling *how, FacetPool *pool)
{
    const FacetPolicy *policy = runner->policy;
    TRY(check(policy, tasks, observed, plans, how));
    if (facet_pool_threads(pool) > runner->threads)
        return status_fail(FACET_BAD_ARGUMENT, "expected a pool of at most %d threads, found %d",
                           runner->threads, facet_pool_threads(pool));
    TRY(plan_steps(&runner->plan, policy, how));
    Progress done;
    progress_begin(&done, how->progress, "plans", plans);
    RunnerCall call = {.runner = runner,
                       .how = how,
                       .tasks = tasks,
                       .observed = observed,
                       .plans = plans,
                       .actions = actions,
                       .path = path,
                       .pool = pool,
                       .progress = &done};
    FacetStatus status = policy_mode_weights(call.weights, policy, how->mode, how->weights);
    for (int first = 0; first < plans && status.ok; first += runner->room) {
        int left = plans - first;
        status = runner_sample_batch(&call, first, left < runner->room ? left : runner->room);
    }
    progress_end(&done);
    return status;
}

FacetStatus facet_policy_runner_sample(double *actions, FacetPolicyRunner *runner,
                                       const FacetFactorTask *tasks,
                                       const FacetPolicyObserved *observed, int plans,
                                       const FacetPolicySampling *how, FacetPool *pool)
{
    return policy_runner_sample_path(actions, NULL, runner, tasks, observed, plans, how, pool);
}

FacetStatus policy_sample_path(double *actions, double *path, const FacetPolicy *policy,
                               const FacetFactorTask *tasks, int plans,
                               const FacetPolicySampling *sampling, FacetPool *pool)
{
    if (plans < 1) return status_ok();
    TRY(policy_check_blind(policy));
    TRY(check(policy, tasks, NULL, plans, sampling));
    FacetPolicyRunner *runner;
    TRY(facet_policy_runner_create(&runner, policy, plans, facet_pool_threads(pool), pool));
    FacetStatus status =
        policy_runner_sample_path(actions, path, runner, tasks, NULL, plans, sampling, pool);
    facet_policy_runner_destroy(runner);
    return status;
}

FacetStatus facet_policy_sample(double *actions, const FacetPolicy *policy,
                                const FacetFactorTask *tasks, int plans,
                                const FacetPolicySampling *sampling, FacetPool *pool)
{
    return policy_sample_path(actions, NULL, policy, tasks, plans, sampling, pool);
}
