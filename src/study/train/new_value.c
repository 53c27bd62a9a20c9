// Learning the embedding of a new value (see train/new_value.h).
#include "train/new_value.h"

#include "base/file.h"
#include "base/progress.h"
#include "factor/factor.h"
#include "train/learner.h"
#include "train/samples.h"
#include "train/score_backward.h"

#include <facet_study/train.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Set by hand for a learning of seconds; nothing records a comparison.
enum { UPDATES = 100, BATCH = 16 };
static const double RATE = 0.01;

typedef struct NewValue {
    const FacetTrainOptions *options;
    FacetPool *pool;
    FacetPolicy *policy; // with the value
    int factor, value;
    Samples samples;
    int left_out; // demos of other values
    Learner *learner;
    float *row, *m, *v; // [embed], in the parameters, and its moments

    float *x, *numbers;
    int *z;
    uint8_t *rgb;
} NewValue;

static double now_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- Demonstrations -----------------------------------------------------------------------------

// Whether a demo is one to learn from: it has the new value, and is not left out by the options.
static FacetStatus choose(bool *chosen, FacetFactorTask *task, const NewValue *n,
                          const FacetDataset *dataset, int demo)
{
    const FacetPolicy *policy = n->policy;
    int factor;
    *chosen = false;
    TRY(facet_factor_find(&factor, dataset->space, facet_factor_name(policy->space, n->factor)));
    const char *name =
        facet_factor_value_name(dataset->space, factor, dataset->tasks[demo].value[factor]);
    if (strcmp(name, facet_factor_value_name(policy->space, n->factor, n->value)) != 0)
        return status_ok();
    TRY(new_value_task(task, policy->space, dataset, demo));
    if (facet_factor_split_contains(policy->held_out, *task)) return status_ok();
    for (int f = 0; f < facet_factor_count(policy->space); f++)
        if (f != n->factor && !facet_policy_knows(policy, f, task->value[f]))
            return status_fail(FACET_BAD_ARGUMENT, "demo %d: the policy never saw %s '%s'", demo,
                               facet_factor_name(policy->space, f),
                               facet_factor_value_name(policy->space, f, task->value[f]));
    *chosen = true;
    return status_ok();
}

static FacetStatus hold_out(NewValue *n)
{
    for (int i = 0; i < n->options->hold_out_count; i++) {
        FacetFactorTask task;
        FacetStatus status = facet_factor_task_parse(
            &task, n->policy->space, n->options->hold_out[i], FACET_FACTOR_MISSING_NULL);
        if (!status.ok) return status_fail(FACET_BAD_ARGUMENT, "hold-out %s", status.text);
        TRY(factor_split_add_matching(n->policy->held_out, task));
    }
    return status_ok();
}

// The tasks of the demos become those of the policy's own space.
static FacetStatus take_demos(NewValue *n, FacetDataset *dataset, bool *mask)
{
    const FacetPolicy *policy = n->policy;
    int chosen = 0;
    for (int i = 0; i < dataset->demos; i++) {
        FacetFactorTask task;
        TRY(choose(&mask[i], &task, n, dataset, i));
        if (!mask[i]) continue;
        dataset->tasks[i] = task;
        TRY(factor_split_add(policy->training, task));
        chosen++;
    }
    n->left_out = dataset->demos - chosen;
    if (!chosen)
        return status_fail(FACET_BAD_ARGUMENT, "expected demonstrations of %s '%s', found none",
                           facet_factor_name(policy->space, n->factor),
                           facet_factor_value_name(policy->space, n->factor, n->value));
    return samples_add(&n->samples, policy, policy_horizon(policy), dataset, mask,
                       !policy->observe);
}

static FacetStatus read_demos(NewValue *n, const char *data)
{
    const Observe *o = n->policy->observe;
    const char *keys[OBSERVE_KEYS_MAX];
    FacetDatasetRequest request = {keys, o ? o->count : 0, n->options->filter, NULL};
    FacetDataset *dataset;
    for (int i = 0; o && i < o->count; i++) keys[i] = o->keys[i].name;
    TRY(facet_dataset_read_some(&dataset, data, &request));
    bool *mask = calloc((size_t)dataset->demos, sizeof *mask);
    FacetStatus status = samples_fit(n->policy, dataset);
    if (status.ok)
        status = mask ? take_demos(n, dataset, mask)
                      : status_fail(FACET_NO_MEMORY, "out of memory for demonstrations");
    free(mask);
    facet_dataset_destroy(dataset);
    return status.ok ? status : status_fail(status.code, "%s: %s", data, status.text);
}

// ---- Learning -----------------------------------------------------------------------------------

static FacetStatus make_learner(NewValue *n)
{
    const FacetPolicy *policy = n->policy;
    const FacetTrainOptions *o = n->options;
    TrainConfig config = trainer_default();
    config.batch = o->batch ? o->batch : BATCH;
    config.prediction = policy->prediction;
    config.composed_weight = policy->record.composed_weight;
    config.agreement_weight = policy->record.agreement_weight;
    config.rate = o->rate > 0.0 ? o->rate : RATE;
    config.total = o->updates ? o->updates : UPDATES;
    config.warmup = config.total / 20;
    config.seed = o->seed;
    // A row that does not show the value teaches nothing of it.
    for (int f = 0; f < policy->net->config.factors; f++)
        config.drop[f] = f == n->factor ? 0.0 : policy->record.drop[f];
    TRY(learner_create(&n->learner, learner_shape(policy), policy->net, &policy->schedule, config,
                       0.0, true, facet_pool_threads(n->pool)));
    Trainer *trainer = n->learner->trainer;
    trainer->last_part = SCORE_PART_CONDITION + 1; // the embeddings are in it
    memcpy(trainer->params, policy->params[0], policy->net->table.size * sizeof(float));
    if (policy->encoder) learner_set_encoder(n->learner, policy->encoder_params[0]);
    return status_ok();
}

static FacetStatus allocate(NewValue *n)
{
    const ScoreNetConfig *net = &n->policy->net->config;
    LearnerShape shape = learner_shape(n->policy);
    size_t batch = (size_t)n->learner->trainer->config.batch, width = (size_t)net->embed;
    size_t image = shape.encoder
                       ? (size_t)shape.images * 3 * (size_t)encoder_config(shape.encoder)->width *
                             (size_t)encoder_config(shape.encoder)->height
                       : 0;
    n->m = calloc(2 * width, sizeof *n->m);
    n->x = calloc(batch * (size_t)(net->horizon * net->dim), sizeof *n->x);
    n->z = calloc(batch * (size_t)net->factors, sizeof *n->z);
    n->numbers = calloc(batch * (size_t)shape.numbers + 1, sizeof *n->numbers);
    n->rgb = calloc(batch * image + 1, 1);
    if (!n->m || !n->x || !n->z || !n->numbers || !n->rgb)
        return status_fail(FACET_NO_MEMORY, "out of memory for training");
    n->v = n->m + width;
    n->row =
        n->learner->trainer->params + n->policy->net->embed[n->factor] + (size_t)n->value * width;
    return status_ok();
}

// Sample k of all updates is sample k of an endless walk through the samples.
static void fill(NewValue *n, long update)
{
    const ScoreNetConfig *net = &n->policy->net->config;
    LearnerShape shape = learner_shape(n->policy);
    int batch = n->learner->trainer->config.batch;
    size_t image = 0;
    if (shape.encoder)
        image = (size_t)shape.images * 3 * (size_t)encoder_config(shape.encoder)->width *
                (size_t)encoder_config(shape.encoder)->height;
    for (int r = 0; r < batch; r++) {
        // A step that shares no divisor with most counts spreads a batch over the samples.
        int64_t place = ((int64_t)update * batch + r) * 7919 % n->samples.count;
        size_t at = (size_t)r;
        samples_get(n->x + at * (size_t)(net->horizon * net->dim), n->z + r * net->factors,
                    n->numbers + at * (size_t)shape.numbers, n->rgb + at * image, &n->samples,
                    (int)place, net->factors);
    }
}

// AdamW without decay on the row alone, clipped by its own norm.
static void step_row(NewValue *n, double rate, long update)
{
    const Trainer *trainer = n->learner->trainer;
    const OptimizerConfig *c = &trainer->config.optimizer;
    int width = n->policy->net->config.embed;
    const float *grads = trainer->grads + (n->row - trainer->params);
    double norm = 0.0;
    for (int i = 0; i < width; i++) norm += (double)grads[i] * (double)grads[i];
    norm = sqrt(norm);
    double scale = norm > c->clip_norm ? c->clip_norm / norm : 1.0;
    for (int i = 0; i < width; i++) {
        double g = scale * (double)grads[i];
        double m = c->beta1 * (double)n->m[i] + (1.0 - c->beta1) * g;
        double v = c->beta2 * (double)n->v[i] + (1.0 - c->beta2) * g * g;
        double up = m / (1.0 - pow(c->beta1, (double)update));
        double down = sqrt(v / (1.0 - pow(c->beta2, (double)update))) + c->epsilon;
        n->m[i] = (float)m;
        n->v[i] = (float)v;
        n->row[i] = (float)((double)n->row[i] - rate * up / down);
    }
}

static FacetStatus learn(FacetTrainSummary *summary, NewValue *n, const FacetProgress *watch)
{
    Trainer *trainer = n->learner->trainer;
    long total = trainer->config.total, tail = total / 10 + 1;
    FacetStatus status = status_ok();
    Progress progress;
    progress_begin(&progress, watch, "train", total);
    for (long u = 0; u < total && status.ok; u++) {
        fill(n, u);
        const LearnerBatch batch = {n->x, n->z, n->numbers, n->rgb};
        trainer->optimizer->updates = u; // whose draws are taken
        TrainReport report = learner_gradients(n->learner, &batch, n->pool);
        if (!report.finite) {
            status = status_fail(FACET_NOT_FINITE, "training diverged at update %ld", u + 1);
            break;
        }
        step_row(n, report.rate, u + 1);
        if (u >= total - tail) summary->loss += report.loss / (double)tail;
        status = progress_add(&progress, 1, NULL);
    }
    progress_end(&progress);
    if (status.code == FACET_INTERRUPTED)
        return status_fail(FACET_INTERRUPTED, "interrupted: nothing was written");
    return status;
}

// ---- All of it ----------------------------------------------------------------------------------

// The record stays that of the policy, but for how it grew.
static void set_record(NewValue *n, const char *data)
{
    PolicyRecord *record = &n->policy->record;
    const FacetTrainOptions *o = n->options;
    const char *file = strrchr(data, '/'), *from = strrchr(o->from, '/');
    snprintf(record->grown, sizeof record->grown, "%.80s of %.80s to %.80s", o->new_value,
             file ? file + 1 : data, from ? from + 1 : o->from);
    snprintf(record->command, sizeof record->command, "%s", o->command ? o->command : "");
    snprintf(record->version, sizeof record->version, "%s", o->version ? o->version : "");
    memcpy(n->policy->params[0], n->learner->trainer->params,
           n->policy->net->table.size * sizeof(float));
}

static FacetStatus run(FacetTrainSummary *summary, NewValue *n, const FacetPolicy *base,
                       const char *data, const char *out, const FacetProgress *progress)
{
    const FacetTrainOptions *o = n->options;
    TRY(new_value_policy(&n->policy, &n->factor, base, o->new_value, o->from));
    n->value = facet_factor_value_count(n->policy->space, n->factor) - 1;
    TRY(hold_out(n));
    TRY(read_demos(n, data));
    TRY(atomic_check(out));
    TRY(make_learner(n));
    TRY(allocate(n));
    TRY(learn(summary, n, progress));
    set_record(n, data);
    summary->demos = n->samples.demos;
    summary->samples = n->samples.count;
    summary->tasks =
        facet_factor_split_count(n->policy->training) - facet_factor_split_count(base->training);
    summary->networks = 1;
    summary->parameters = (size_t)n->policy->net->config.embed;
    summary->updates = n->learner->trainer->config.total;
    if (n->left_out)
        snprintf(summary->remarks, sizeof summary->remarks,
                 "%d demonstrations of other values or of tasks held out were not used\n",
                 n->left_out);
    return policy_save(n->policy, out, o->precision == FACET_TRAIN_FP16 ? TENSOR_F16 : TENSOR_F32);
}

static FacetStatus check(const FacetTrainOptions *o)
{
    if (!o->from || !o->new_value)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a policy (--from) and a new value (--new-value), found %s",
                           o->from ? "no new value" : "no policy");
    bool changes = o->recipe || o->blocks || o->channels || o->embed || o->dilation ||
                   o->no_position || o->observe_count || o->observe_steps || o->horizon ||
                   o->execute || o->encoder || o->drop || o->composed_weight > 0.0 ||
                   o->agreement_weight > 0.0 || o->predict || o->epochs || o->resume ||
                   o->validate || o->method != FACET_POLICY_FACTORED;
    if (changes)
        return status_fail(FACET_BAD_ARGUMENT,
                           "a new value is learned by the policy as it is: expected none of the "
                           "options that make another network or training");
    if (facet_ranks_count(o->ranks) > 1)
        return status_fail(FACET_BAD_ARGUMENT, "expected one rank for a new value, found %d",
                           facet_ranks_count(o->ranks));
    return status_ok();
}

FacetStatus facet_policy_train_value(FacetTrainSummary *summary, const char *data, const char *out,
                                     const FacetTrainOptions *options, FacetPool *pool,
                                     const FacetProgress *progress)
{
    NewValue n = {.options = options, .pool = pool};
    FacetPolicy *base;
    double started = now_seconds();
    *summary = (FacetTrainSummary){
        .valid = NAN, .valid_composed = NAN, .held_out = NAN, .held_out_composed = NAN};
    TRY(check(options));
    TRY(facet_policy_load(&base, options->from));
    FacetStatus status = run(summary, &n, base, data, out, progress);
    summary->seconds = now_seconds() - started;
    learner_free(n.learner);
    samples_free(&n.samples);
    facet_policy_destroy(n.policy);
    facet_policy_destroy(base);
    free(n.m);
    free(n.x);
    free(n.z);
    free(n.numbers);
    free(n.rgb);
    return status;
}
