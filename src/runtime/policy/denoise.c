// From noise to the plans of a batch (see policy/runner.h).
#include "factor/factor.h"
#include "policy/runner.h"

#include <string.h>

// ---- Before and after ---------------------------------------------------------------------------

// The number of the noise of plan `index`: one more than that of the last plan before it with the
// same task and seed. The batch is looked through backwards, which takes no longer than there are
// tasks.
static uint64_t noise_number(const RunnerCall *c, int index)
{
    const FacetPolicySampling *how = c->how;
    if (how->numbers) return how->numbers[index];
    for (int i = index - 1; i >= c->first; i--)
        if (factor_task_equal(c->tasks[i], c->tasks[index]) &&
            (!how->seeds || how->seeds[i] == how->seeds[index]))
            return c->runner->numbers[i - c->first] + 1;
    return policy_noise_number(c->runner->policy, c->tasks, how->seeds, index);
}

static void begin_plan(const RunnerCall *c, int index)
{
    FacetPolicyRunner *r = c->runner;
    int at = index - c->first, factors = r->policy->net->config.factors;
    FacetPolicySampling how = *c->how;
    if (how.seeds) how.seed = how.seeds[index];
    r->numbers[at] = noise_number(c, index);
    policy_noise(r->x + (size_t)at * r->size, r->policy, &how, r->numbers[at]);
    for (int f = 0; f < factors; f++) r->z[at * factors + f] = c->tasks[index].value[f];
}

// Where the context of a plan of the batch stands, for one of the networks.
static float *context_at(const FacetPolicyRunner *r, int network, int at)
{
    size_t row = (size_t)network * (size_t)r->room + (size_t)at;
    return r->context + row * (size_t)r->policy->net->config.context;
}

// Plans [first, first + count) of what is observed, which is the context of the batch's first ones.
typedef struct Observing {
    int first, count;
} Observing;

static void observe_numbers_of(const RunnerCall *c, Observing of, int network)
{
    const FacetPolicyRunner *r = c->runner;
    const Observe *observe = r->policy->observe;
    size_t step = (size_t)observe->dim, plan = (size_t)observe->steps * step;
    for (int at = 0; at < of.count && observe->dim; at++) {
        const double *numbers = c->observed->numbers + (size_t)(of.first + at) * plan;
        for (int s = 0; s < observe->steps; s++)
            observe_apply(context_at(r, network, at) + s * observe->shown, observe,
                          numbers + (size_t)s * step);
    }
}

static void observe_images_of(const RunnerCall *c, Observing of, int network)
{
    const FacetPolicyRunner *r = c->runner;
    int width, height, images = runner_images(r), room = runner_frames(r), all = of.count * images;
    size_t features = (size_t)encoder_config(r->policy->encoder)->features;
    int behind = observe_numbers(r->policy->observe);
    policy_frame_size(r->policy, &width, &height);
    size_t frame = (size_t)width * (size_t)height * 3;
    const uint8_t *frames = c->observed->frames + (size_t)of.first * (size_t)images * frame;
    for (int from = 0; from < all; from += room) {
        int count = all - from < room ? all - from : room;
        sight_features(r->features, r->sights[network], frames + (size_t)from * frame, count,
                       c->pool);
        for (int i = 0; i < count; i++)
            memcpy(context_at(r, network, (from + i) / images) + behind +
                       (size_t)((from + i) % images) * features,
                   r->features + (size_t)i * features, features * sizeof(float));
    }
}

// The contexts of the batch. What all plans share is observed for the first of them.
static void observe(const RunnerCall *c)
{
    const FacetPolicyRunner *r = c->runner;
    bool shared = c->observed->shared;
    const Observing of = {shared ? 0 : c->first, shared ? 1 : c->count};
    size_t bytes = (size_t)r->policy->net->config.context * sizeof *r->context;
    for (int n = 0; n < r->policy->networks; n++) {
        observe_numbers_of(c, of, n);
        if (r->sights) observe_images_of(c, of, n);
        for (int at = of.count; at < c->count; at++)
            memcpy(context_at(r, n, at), context_at(r, n, 0), bytes);
    }
}

// Takes x of plans [at, at + count) from the network's range to the data's units.
static void to_actions(double *actions, const FacetPolicyRunner *r, int at, int count)
{
    const float *x = r->x + (size_t)at * r->size;
    for (int i = 0; i < count * r->size; i++) actions[i] = (double)x[i];
    normalizer_invert(actions, r->policy->normalizer, actions,
                      (size_t)count * (size_t)policy_horizon(r->policy));
}

static void record_path(const RunnerCall *c, int step, int at, int count)
{
    size_t row = (size_t)step * (size_t)c->plans + (size_t)(c->first + at);
    if (c->path) to_actions(c->path + row * (size_t)c->runner->size, c->runner, at, count);
}

static void finish_plans(const RunnerCall *c, int at, int count)
{
    record_path(c, c->runner->plan.config.steps, at, count);
    to_actions(c->actions + (size_t)(c->first + at) * (size_t)c->runner->size, c->runner, at,
               count);
}

// Takes plans [at, at + count) over a step. Returns how many of them, from the first on, are still
// finite: those behind one that fails are given up, so that the failure is that of the first such
// plan whoever is sampled with it.
static int advance(FacetStatus *status, FacetPolicyRunner *r, int step, int at, int count)
{
    size_t size = (size_t)r->size;
    for (int i = 0; i < count; i++) {
        size_t from = (size_t)(at + i) * size;
        FacetStatus now =
            sampler_advance(r->x + from, r->before + from, r->p + from, &r->plan, step, size);
        if (now.ok) continue;
        *status = now;
        return i;
    }
    return count;
}

// ---- One network --------------------------------------------------------------------------------

// Plans [at, at + count) through all steps.
static FacetStatus denoise(const RunnerCall *c, Sampler *sampler, int at, int count,
                           FacetPool *pool)
{
    FacetPolicyRunner *r = c->runner;
    const ScoreNetConfig *net = &r->policy->net->config;
    Composition way = c->how->mode == FACET_POLICY_JOINT ? COMPOSE_JOINT : COMPOSE_FACTORS;
    size_t from = (size_t)at * (size_t)r->size;
    const float *context = r->context ? context_at(r, 0, at) : NULL;
    FacetStatus status = status_ok();
    int finite = count;
    sampler_begin(sampler, &r->plan, way, r->z + at * net->factors, context, count);
    for (int i = 0; i < r->plan.config.steps && finite > 0; i++) {
        TRY(progress_add(c->progress, 0, NULL));
        record_path(c, i, at, finite);
        sampler_step(r->p + from, sampler, r->x + from, i, c->weights, finite, pool);
        finite = advance(&status, r, i, at, finite);
    }
    TRY(status);
    finish_plans(c, at, count);
    return progress_add(c->progress, count, NULL);
}

// Equally many plans for every thread, in groups of at most a lane's.
typedef struct Lanes {
    const RunnerCall *call;
    int plans, groups;
} Lanes;

static FacetStatus lane_task(void *context, int group, int worker)
{
    const Lanes *lanes = context;
    const RunnerCall *c = lanes->call;
    int at = (int)((int64_t)lanes->plans * group / lanes->groups);
    int end = (int)((int64_t)lanes->plans * (group + 1) / lanes->groups);
    return denoise(c, c->runner->lanes[worker], at, end - at, NULL);
}

static FacetStatus sample_network(const RunnerCall *c)
{
    const ScoreNetConfig *net = &c->runner->policy->net->config;
    int threads = facet_pool_threads(c->pool), each = c->count / threads;
    int branches = c->how->mode == FACET_POLICY_JOINT ? 1 : 1 + net->factors;
    int group = branches < RUNNER_ROWS ? RUNNER_ROWS / branches : 1;
    Lanes lanes = {c, each * threads, (each + group - 1) / group * threads};
    TRY(pool_try(c->pool, lanes.groups, lane_task, &lanes));
    int left = c->count - lanes.plans;
    return left ? denoise(c, c->runner->networks[0], lanes.plans, left, c->pool) : status_ok();
}

// ---- Several networks ---------------------------------------------------------------------------

// The network of a branch [plans][1 + K] of the batch.
static int network_of(const RunnerCall *c, int row)
{
    const FacetPolicy *policy = c->runner->policy;
    int branches = 1 + facet_factor_count(policy->space), factor = row % branches - 1;
    const FacetFactorTask *task = &c->tasks[c->first + row / branches];
    return policy_network_of(policy, factor, factor < 0 ? FACET_FACTOR_NULL : task->value[factor]);
}

// A network's branches are shared out among jobs.
void runner_share_out(const RunnerCall *c)
{
    FacetPolicyRunner *r = c->runner;
    int rows = c->count * (1 + facet_factor_count(r->policy->space)), used = 0;
    r->job_count = 0;
    for (int n = 0; n < r->policy->networks; n++) {
        int first = used;
        for (int row = 0; row < rows; row++)
            if (network_of(c, row) == n) r->rows[used++] = row;
        for (; first < used; first += RUNNER_ROWS)
            r->jobs[r->job_count++] =
                (RunnerJob){n, first, used - first < RUNNER_ROWS ? used - first : RUNNER_ROWS};
    }
}

typedef struct NetworkStep {
    const RunnerCall *call;
    int t;
} NetworkStep;

static void job_task(void *context, int index, int worker)
{
    const NetworkStep *step = context;
    FacetPolicyRunner *r = step->call->runner;
    const RunnerJob *job = &r->jobs[index];
    const int *rows = r->rows + job->first;
    int branches = 1 + facet_factor_count(r->policy->space);
    size_t size = (size_t)r->size, bytes = size * sizeof *r->x;
    float *inputs = r->inputs + (size_t)worker * RUNNER_ROWS * size;
    float *outputs = r->outputs + (size_t)worker * RUNNER_ROWS * size;
    size_t width = (size_t)r->policy->net->config.context;
    float *contexts = r->contexts + (size_t)worker * RUNNER_ROWS * width;
    for (int i = 0; i < job->count; i++) {
        int plan = rows[i] / branches;
        memcpy(inputs + (size_t)i * size, r->x + (size_t)plan * size, bytes);
        if (r->context)
            memcpy(contexts + (size_t)i * width, context_at(r, job->network, plan),
                   width * sizeof *contexts);
    }
    sampler_share(r->lanes[worker], r->networks[job->network]);
    sampler_predict(outputs, r->lanes[worker], inputs, step->t, COMPOSE_JOINT, NULL, NULL,
                    r->context ? contexts : NULL, job->count, NULL);
    for (int i = 0; i < job->count; i++)
        memcpy(r->branches + (size_t)rows[i] * size, outputs + (size_t)i * size, bytes);
}

void runner_predict(const RunnerCall *c, int t)
{
    NetworkStep step = {c, t};
    pool_for(c->pool, c->runner->job_count, job_task, &step);
}

// Every plan with the weights that the router has for it.
static void compose_routed(const RunnerCall *c, int t, int plans)
{
    FacetPolicyRunner *r = c->runner;
    const Router *router = r->policy->router;
    int factors = router->config.factors;
    size_t size = (size_t)r->size, branches = 1 + (size_t)factors;
    const float time = (float)t;
    for (int i = 0; i < plans; i++) {
        double weights[FACET_FACTOR_MAX];
        size_t at = (size_t)i * size;
        router_forward(r->router, r->policy->router_params, r->x + at, &time,
                       c->tasks[c->first + i].value, 1);
        for (int f = 0; f < factors; f++) weights[f] = (double)r->router->weights[1 + f];
        compose_scores(r->p + at, r->branches + at * branches, weights, factors, 1, r->size);
    }
}

static void compose(const RunnerCall *c, int t, int plans)
{
    const FacetPolicyRunner *r = c->runner;
    if (c->how->mode == FACET_POLICY_ROUTER)
        compose_routed(c, t, plans);
    else
        compose_scores(r->p, r->branches, c->weights, facet_factor_count(r->policy->space), plans,
                       r->size);
}

static FacetStatus sample_networks(const RunnerCall *c)
{
    FacetPolicyRunner *r = c->runner;
    int finite = c->count;
    FacetStatus status = status_ok();
    runner_share_out(c);
    for (int i = 0; i < r->plan.config.steps && finite > 0; i++) {
        int t = r->plan.step[i].t;
        TRY(progress_add(c->progress, 0, NULL));
        record_path(c, i, 0, c->count);
        runner_predict(c, t);
        compose(c, t, finite);
        finite = advance(&status, r, i, 0, finite);
    }
    TRY(status);
    finish_plans(c, 0, c->count);
    return progress_add(c->progress, c->count, NULL);
}

// ---- The batch ----------------------------------------------------------------------------------

FacetStatus runner_sample_batch(RunnerCall *call, int first, int count)
{
    call->first = first;
    call->count = count;
    for (int i = 0; i < count; i++) begin_plan(call, first + i);
    if (call->runner->context) observe(call);
    return call->runner->policy->method == FACET_POLICY_KNET ? sample_networks(call)
                                                             : sample_network(call);
}
