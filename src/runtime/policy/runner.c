// The memory of a runner (see policy/runner.h).
#include "policy/runner.h"

#include <stdlib.h>

static FacetStatus no_memory(const FacetPolicyRunner *r)
{
    return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", r->room);
}

static int branch_count(const FacetPolicyRunner *r)
{
    return 1 + facet_factor_count(r->policy->space);
}

static FacetStatus create_jobs(FacetPolicyRunner *r)
{
    size_t size = (size_t)r->size, rows = (size_t)r->room * (size_t)branch_count(r);
    size_t lanes = (size_t)r->threads * RUNNER_ROWS;
    r->jobs = calloc((size_t)r->policy->networks + rows / RUNNER_ROWS, sizeof *r->jobs);
    r->rows = calloc(rows, sizeof *r->rows);
    r->branches = calloc(rows * size, sizeof *r->branches);
    r->inputs = calloc(lanes * size, sizeof *r->inputs);
    r->outputs = calloc(lanes * size, sizeof *r->outputs);
    r->contexts = calloc(lanes * (size_t)r->policy->net->config.context + 1, sizeof *r->contexts);
    bool complete = r->jobs && r->rows && r->branches && r->inputs && r->outputs && r->contexts;
    if (!complete) return no_memory(r);
    return r->policy->router ? router_work_create(&r->router, r->policy->router, 1) : status_ok();
}

static FacetStatus create_sights(FacetPolicyRunner *r, FacetPool *pool)
{
    const FacetPolicy *policy = r->policy;
    int features = encoder_config(policy->encoder)->features;
    r->features = calloc(RUNNER_FRAMES * (size_t)features, sizeof *r->features);
    r->sights = calloc((size_t)policy->networks, sizeof *r->sights);
    if (!r->features || !r->sights) return status_fail(FACET_NO_MEMORY, "out of memory for frames");
    int frames = runner_frames(r);
    for (int n = 0; n < policy->networks; n++)
        TRY(sight_create(&r->sights[n], policy->encoder, policy->encoder_params[n], frames,
                         r->threads, pool));
    return status_ok();
}

// What a policy observes, for each of its networks.
static FacetStatus create_context(FacetPolicyRunner *r, FacetPool *pool)
{
    size_t width = (size_t)r->policy->net->config.context;
    size_t rows = (size_t)r->policy->networks * (size_t)r->room;
    r->context = calloc(rows * width, sizeof *r->context);
    if (!r->context) return no_memory(r);
    return r->policy->encoder ? create_sights(r, pool) : status_ok();
}

// The samplers that hold the weights; the only one of a policy also samples what the threads share
// out, always fewer plans than threads.
static FacetStatus create_networks(FacetPolicyRunner *r, FacetPool *pool)
{
    const FacetPolicy *policy = r->policy;
    int shared = r->threads - 1 < r->room ? r->threads - 1 : r->room;
    if (shared < 1 || policy->networks > 1) shared = 1;
    r->networks = calloc((size_t)policy->networks, sizeof *r->networks);
    if (!r->networks) return no_memory(r);
    for (int n = 0; n < policy->networks; n++) {
        TRY(sampler_create(&r->networks[n], policy->net, shared, r->threads));
        sampler_load(r->networks[n], policy->params[n], pool);
    }
    return status_ok();
}

static FacetStatus create_lanes(FacetPolicyRunner *r)
{
    int plan = 1 + r->policy->net->config.factors, all = r->room * branch_count(r);
    int rows = all < RUNNER_ROWS ? all : RUNNER_ROWS;
    r->lanes = calloc((size_t)r->threads, sizeof *r->lanes);
    if (!r->lanes) return no_memory(r);
    for (int i = 0; i < r->threads; i++) {
        TRY(sampler_lane_create(&r->lanes[i], r->policy->net, rows < plan ? plan : rows));
        sampler_share(r->lanes[i], r->networks[0]);
    }
    return status_ok();
}

static FacetStatus allocate(FacetPolicyRunner *r, FacetPool *pool)
{
    size_t room = (size_t)r->room, size = (size_t)r->size;
    r->x = calloc(room * size, sizeof *r->x);
    r->p = calloc(room * size, sizeof *r->p);
    r->before = calloc(room * size, sizeof *r->before);
    r->z = calloc(room * (size_t)branch_count(r), sizeof *r->z);
    r->numbers = calloc(room, sizeof *r->numbers);
    if (!r->x || !r->p || !r->before || !r->z || !r->numbers) return no_memory(r);
    if (r->policy->observe) TRY(create_context(r, pool));
    if (r->policy->method == FACET_POLICY_KNET) TRY(create_jobs(r));
    TRY(create_networks(r, pool));
    return create_lanes(r);
}

FacetStatus facet_policy_runner_create(FacetPolicyRunner **runner, const FacetPolicy *policy,
                                       int plans, int threads, FacetPool *pool)
{
    *runner = NULL;
    if (plans < 1)
        return status_fail(FACET_BAD_ARGUMENT, "expected 1 plan at once or more, found %d", plans);
    if (threads < 1)
        return status_fail(FACET_BAD_ARGUMENT, "expected 1 thread or more, found %d", threads);
    FacetPolicyRunner *r = calloc(1, sizeof *r);
    if (!r) return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", plans);
    r->policy = policy;
    r->threads = threads;
    r->size = policy_horizon(policy) * policy_dim(policy);
    r->room = plans < RUNNER_ROOM ? plans : RUNNER_ROOM;
    FacetStatus status = allocate(r, pool);
    if (!status.ok) {
        facet_policy_runner_destroy(r);
        return status;
    }
    *runner = r;
    return status_ok();
}

void facet_policy_runner_destroy(FacetPolicyRunner *runner)
{
    if (!runner) return;
    for (int i = 0; runner->lanes && i < runner->threads; i++) sampler_free(runner->lanes[i]);
    for (int n = 0; runner->networks && n < runner->policy->networks; n++)
        sampler_free(runner->networks[n]);
    for (int n = 0; runner->sights && n < runner->policy->networks; n++)
        sight_free(runner->sights[n]);
    free(runner->sights);
    free(runner->features);
    free(runner->context);
    free(runner->contexts);
    free(runner->x);
    free(runner->p);
    free(runner->before);
    free(runner->z);
    free(runner->numbers);
    free(runner->networks);
    free(runner->lanes);
    free(runner->jobs);
    free(runner->rows);
    free(runner->branches);
    free(runner->inputs);
    free(runner->outputs);
    router_work_free(runner->router);
    free(runner);
}
