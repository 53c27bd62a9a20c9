// Training a router over the networks of a knet (see facet_study/train.h).
//
// The networks stay as they are, bit for bit. An update draws demonstrations of training tasks, one
// time for all of them and noise for each, has the networks predict every branch, and takes a step
// of the router on the error of the routed prediction (train/router_backward.h). Every draw is
// keyed by (seed, update, row). What is held out is what the policy's file says, and the
// demonstrations are those that its networks were trained on: nothing else can be taken.
#include "base/file.h"
#include "base/progress.h"
#include "base/rng.h"
#include "diffusion/streams.h"
#include "policy/runner.h"
#include "train/optim.h"
#include "train/router_backward.h"
#include "train/samples.h"
#include "train/training.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Set by hand; nothing records a comparison.
enum { UPDATES = 1000, BATCH = 32, HIDDEN = 64 };
static const double RATE = 3e-3;

typedef struct RouterTraining {
    const FacetTrainOptions *options;
    FacetPool *pool;
    FacetPolicy *policy;
    Samples samples;
    int left_out; // demos of held-out tasks
    FacetPolicyRunner *runner;
    RouterWork *work;
    Optimizer *optimizer;
    float *grads;
    float *target; // [batch][T][D]; the noisy x and the branches are the runner's
    float *t;      // [batch]
    int *z;        // [batch][K]
    FacetFactorTask *tasks;
} RouterTraining;

static double now_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- Demonstrations -----------------------------------------------------------------------------

static FacetStatus take_demos(RouterTraining *r, const FacetDataset *dataset, bool *mask)
{
    const FacetPolicy *policy = r->policy;
    char hash[sizeof policy->record.data_hash];
    TRY(samples_fit_space(policy->space, dataset));
    TRY(samples_fit(policy, dataset));
    TRY(training_data_hash(hash, sizeof hash, dataset));
    if (strcmp(hash, policy->record.data_hash) != 0)
        return status_fail(FACET_BAD_FILE,
                           "expected the demonstrations that the networks were trained on "
                           "(%s, %s), found others (%s)",
                           policy->record.data, policy->record.data_hash, hash);
    int chosen = facet_dataset_select(mask, dataset, policy->training, true);
    r->left_out = dataset->demos - chosen;
    return samples_add(&r->samples, policy, policy_horizon(policy), dataset, mask, true);
}

static FacetStatus read_demos(RouterTraining *r, const char *data)
{
    const FacetDatasetRequest request = {NULL, 0, r->options->filter, NULL};
    FacetDataset *dataset;
    TRY(facet_dataset_read_some(&dataset, data, &request));
    bool *mask = calloc((size_t)dataset->demos, sizeof *mask);
    FacetStatus status = mask ? take_demos(r, dataset, mask)
                              : status_fail(FACET_NO_MEMORY, "out of memory for demonstrations");
    free(mask);
    facet_dataset_destroy(dataset);
    return status.ok ? status : status_fail(status.code, "%s: %s", data, status.text);
}

// ---- Learning -----------------------------------------------------------------------------------

static void set_record(FacetPolicy *policy, const FacetTrainOptions *o)
{
    PolicyRouterRecord *record = &policy->router_record;
    *record = (PolicyRouterRecord){.seed = o->seed,
                                   .batch = o->batch ? o->batch : BATCH,
                                   .updates = o->updates ? o->updates : UPDATES,
                                   .rate = o->rate > 0.0 ? o->rate : RATE};
    snprintf(record->command, sizeof record->command, "%s", o->command ? o->command : "");
    snprintf(record->version, sizeof record->version, "%s", o->version ? o->version : "");
}

// The initial weights draw from another seed than those of the networks.
static uint64_t initial_seed(uint64_t seed)
{
    uint32_t words[4];
    rng_block(words, seed, STREAM_ROUTER, 0);
    return (uint64_t)words[0] << 32 | words[1];
}

static FacetStatus allocate(RouterTraining *r)
{
    FacetPolicy *policy = r->policy;
    int batch = policy->router_record.batch, threads = facet_pool_threads(r->pool);
    size_t rows = (size_t)batch, size = (size_t)policy_horizon(policy) * (size_t)policy_dim(policy);
    const TensorTable *table = &policy->router->table;
    r->grads = policy_block(table);
    r->target = calloc(rows * size, sizeof *r->target);
    r->t = calloc(rows, sizeof *r->t);
    r->z = calloc(rows * (size_t)policy->router->config.factors, sizeof *r->z);
    r->tasks = calloc(rows, sizeof *r->tasks);
    if (!r->grads || !r->target || !r->t || !r->z || !r->tasks)
        return status_fail(FACET_NO_MEMORY, "out of memory for training");
    tensor_init(policy->router_params, table, initial_seed(policy->router_record.seed));
    TRY(router_work_create(&r->work, policy->router, batch));
    TRY(optimizer_create(&r->optimizer, table, optimizer_default(), policy->router_params));
    return facet_policy_runner_create(&r->runner, policy, batch, threads, r->pool);
}

// A demonstration and its noise at time t as row `row` of the batch.
static void draw_row(RouterTraining *r, uint64_t stream, int row, int t)
{
    const FacetPolicy *policy = r->policy;
    FacetRng rng = rng_make(policy->router_record.seed, stream + 1 + (uint64_t)row);
    int factors = policy->router->config.factors, size = r->runner->size;
    float *x = r->runner->x + (size_t)row * (size_t)size;
    float *target = r->target + (size_t)row * (size_t)size;
    int *z = r->z + row * factors;
    double alpha_bar = policy->schedule.alpha_bar[t];
    Mix mix = prediction_target(policy->prediction, alpha_bar);
    samples_get(x, z, NULL, NULL, &r->samples, (int)(rng_uniform(&rng) * r->samples.count),
                factors);
    for (int i = 0; i < size; i++) {
        double clean = (double)x[i], epsilon = rng_normal(&rng);
        x[i] = (float)(sqrt(alpha_bar) * clean + sqrt(1.0 - alpha_bar) * epsilon);
        target[i] = (float)(mix.first * clean + mix.second * epsilon);
    }
    r->t[row] = (float)t;
    r->tasks[row] = facet_factor_task_null();
    for (int f = 0; f < factors; f++) r->tasks[row].value[f] = z[f];
}

// The loss of update number `update`, from 0, and the gradients.
static double pass(RouterTraining *r, long update)
{
    const PolicyRouterRecord *record = &r->policy->router_record;
    uint64_t stream = STREAM_ROUTER + ((uint64_t)(update + 1) << 20);
    FacetRng rng = rng_make(record->seed, stream);
    int t = (int)(rng_uniform(&rng) * r->policy->schedule.steps);
    for (int row = 0; row < record->batch; row++) draw_row(r, stream, row, t);
    const RunnerCall call = {
        .runner = r->runner, .tasks = r->tasks, .count = record->batch, .pool = r->pool};
    runner_share_out(&call);
    runner_predict(&call, t);
    const RouterBatch batch = {r->runner->x, r->t, r->z, r->runner->branches, r->target};
    return router_gradients(r->grads, r->work, r->policy->router_params, &batch, record->batch);
}

static FacetStatus learn(RouterTraining *r, const FacetProgress *watch)
{
    PolicyRouterRecord *record = &r->policy->router_record;
    long total = record->updates, tail = total / 10 + 1;
    FacetStatus status = status_ok();
    Progress progress;
    progress_begin(&progress, watch, "train", total);
    for (long u = 0; u < total && status.ok; u++) {
        double loss = pass(r, u), norm = optimizer_norm(r->optimizer, r->grads, r->pool);
        if (!isfinite(loss) || !isfinite(norm)) {
            status = status_fail(FACET_NOT_FINITE, "training diverged at update %ld", u + 1);
            break;
        }
        optimizer_step(r->optimizer, r->policy->router_params, r->grads, norm,
                       optimizer_rate(record->rate, 0.0, total / 20, total, u + 1), r->pool);
        if (u >= total - tail) record->loss += loss / (double)tail;
        status = progress_add(&progress, 1, NULL);
    }
    progress_end(&progress);
    if (status.code == FACET_INTERRUPTED)
        return status_fail(FACET_INTERRUPTED, "interrupted: nothing was written");
    return status;
}

// ---- All of it ----------------------------------------------------------------------------------

static FacetStatus run(FacetTrainSummary *summary, RouterTraining *r, const char *data,
                       const char *out, const FacetProgress *progress)
{
    FacetPolicy *policy = r->policy;
    const FacetTrainOptions *o = r->options;
    FacetStatus status = policy_check_blind(policy);
    if (status.ok) status = policy_router_create(policy, HIDDEN);
    if (!status.ok) return status_fail(FACET_BAD_FILE, "%s: %s", o->router_from, status.text);
    set_record(policy, o);
    TRY(read_demos(r, data));
    TRY(atomic_check(out));
    TRY(allocate(r));
    TRY(learn(r, progress));
    const PolicyRouterRecord *record = &policy->router_record;
    memcpy(policy->router_params, r->optimizer->ema, policy->router->table.size * sizeof(float));
    summary->demos = r->samples.demos;
    summary->samples = r->samples.count;
    summary->tasks = facet_factor_split_count(policy->training);
    summary->networks = 1;
    summary->parameters = policy_router_parameters(policy);
    summary->updates = record->updates;
    summary->loss = record->loss;
    if (r->left_out)
        snprintf(summary->remarks, sizeof summary->remarks,
                 "%d demonstrations of tasks held out were not used\n", r->left_out);
    return policy_save(policy, out, o->precision == FACET_TRAIN_FP16 ? TENSOR_F16 : TENSOR_F32);
}

static FacetStatus check(const FacetTrainOptions *o)
{
    bool changes = o->recipe || o->blocks || o->channels || o->embed || o->observe_count ||
                   o->observe_steps || o->horizon || o->execute || o->encoder || o->drop ||
                   o->composed_weight > 0.0 || o->predict || o->epochs || o->resume ||
                   o->validate || o->from || o->new_value || o->hold_out_count ||
                   o->method != FACET_POLICY_FACTORED;
    if (changes)
        return status_fail(FACET_BAD_ARGUMENT,
                           "a router is learned over the networks as they are: expected none of "
                           "the options that make another network or training");
    if (facet_ranks_count(o->ranks) > 1)
        return status_fail(FACET_BAD_ARGUMENT, "expected one rank for a router, found %d",
                           facet_ranks_count(o->ranks));
    if (o->batch < 0 || o->batch > RUNNER_ROOM || o->updates < 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a batch of at most %d and updates of 0 or more, found %d and "
                           "%ld",
                           RUNNER_ROOM, o->batch, o->updates);
    return status_ok();
}

FacetStatus facet_policy_train_router(FacetTrainSummary *summary, const char *data, const char *out,
                                      const FacetTrainOptions *options, FacetPool *pool,
                                      const FacetProgress *progress)
{
    RouterTraining r = {.options = options, .pool = pool};
    double started = now_seconds();
    *summary = (FacetTrainSummary){
        .valid = NAN, .valid_composed = NAN, .held_out = NAN, .held_out_composed = NAN};
    TRY(check(options));
    TRY(facet_policy_load(&r.policy, options->router_from));
    FacetStatus status = run(summary, &r, data, out, progress);
    summary->seconds = now_seconds() - started;
    facet_policy_runner_destroy(r.runner);
    optimizer_free(r.optimizer);
    router_work_free(r.work);
    samples_free(&r.samples);
    facet_policy_destroy(r.policy);
    free(r.grads);
    free(r.target);
    free(r.t);
    free(r.z);
    free(r.tasks);
    return status;
}
