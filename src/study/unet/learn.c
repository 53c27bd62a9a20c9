// Training a U-Net on demonstrations, and its files (see unet/policy.h).
#include "base/progress.h"
#include "unet/policy.h"
#include "unet/trainer.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHECKPOINT_EVERY = 500 }; // updates

#define UNET_FORMAT            "facet unet 1"
#define UNET_CHECKPOINT_FORMAT "facet unet checkpoint 1"

// ---- Files --------------------------------------------------------------------------------------

static void network_text(char *out, size_t size, const UnetConfig *c)
{
    int used = snprintf(out, size, "horizon %d, cond %d, embed %d, time %d, widths", c->horizon,
                        c->cond, c->embed, c->time_width);
    for (int l = 0; l < c->levels; l++)
        used += snprintf(out + used, size - (size_t)used, " %d", c->widths[l]);
}

// Those of a policy with the same training, but for its network.
static Json *settings_of(const UnetPolicy *p, const char *format)
{
    Json *policy = policy_metadata(p->training.policy, format), *settings = json_object();
    JsonRef root = json_root(policy, p->training.out), at;
    char network[200];
    int count = 0;
    FacetStatus status = json_length(&count, &root);
    for (int i = 0; status.ok && i < count; i++) {
        status = json_element(&at, &root, i);
        if (!status.ok || strcmp(json_key(&at), "network") == 0 ||
            strcmp(json_key(&at), "architecture") == 0)
            continue;
        json_set_string(settings, json_key(&at), json_chars(&at));
    }
    json_free(policy);
    network_text(network, sizeof network, &p->net->config);
    json_set_string(settings, "architecture", "unet");
    json_set_string(settings, "network", network);
    checkpoint_set_number(settings, "total_updates", (double)p->training.total);
    return settings;
}

static FacetStatus open_file(Safetensors **file, const UnetPolicy *p, const char *path,
                             const char *format)
{
    TRY(safetensors_read(file, path));
    Json *settings = settings_of(p, format);
    FacetStatus status = checkpoint_same(settings, *file, path);
    json_free(settings);
    if (!status.ok) {
        safetensors_free(*file);
        *file = NULL;
    }
    return status;
}

static FacetStatus read_weights(UnetPolicy *p)
{
    Safetensors *file;
    TRY(open_file(&file, p, p->training.out, UNET_FORMAT));
    FacetStatus status = policy_read_block(p->params, &p->net->table, file, "");
    safetensors_free(file);
    return status;
}

static FacetStatus write_weights(const UnetPolicy *p)
{
    const TensorTable *table = &p->net->table;
    TensorSource *sources = calloc((size_t)table->count, sizeof *sources);
    if (!sources) return status_fail(FACET_NO_MEMORY, "%s: out of memory", p->training.out);
    policy_sources(sources, table, p->params, TENSOR_F32, "");
    FacetStatus status =
        safetensors_write(p->training.out, settings_of(p, UNET_FORMAT), sources, table->count);
    free(sources);
    return status;
}

static FacetStatus write_checkpoint(const UnetPolicy *p, const UnetTrainer *trainer)
{
    const char *path = p->training.checkpoint;
    int count = CHECKPOINT_BLOCKS * p->net->table.count;
    TensorSource *sources = calloc((size_t)count, sizeof *sources);
    if (!sources) return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    checkpoint_sources(sources, trainer->params, trainer->optimizer, "");
    Json *metadata = settings_of(p, UNET_CHECKPOINT_FORMAT);
    checkpoint_set_number(metadata, "at_update", (double)trainer->optimizer->updates);
    checkpoint_set_number(metadata, "at_tail", p->training.tail);
    FacetStatus status = safetensors_write(path, metadata, sources, count);
    free(sources);
    return status;
}

static FacetStatus read_checkpoint(UnetPolicy *p, UnetTrainer *trainer)
{
    const char *path = p->training.checkpoint;
    Safetensors *file;
    double updates = 0.0;
    TRY(open_file(&file, p, path, UNET_CHECKPOINT_FORMAT));
    FacetStatus status =
        checkpoint_number(&updates, file, path, "at_update", (double)p->training.total);
    if (status.ok) status = checkpoint_number(&p->training.tail, file, path, "at_tail", 1e300);
    if (status.ok) status = checkpoint_read_state(trainer->params, trainer->optimizer, file, "");
    trainer->optimizer->updates = (long)updates;
    safetensors_free(file);
    return status;
}

// ---- Learning -----------------------------------------------------------------------------------

static FacetStatus stopped(const UnetPolicy *p, const UnetTrainer *trainer)
{
    TRY(write_checkpoint(p, trainer));
    return status_fail(FACET_INTERRUPTED,
                       "interrupted at update %ld of %ld: the same command goes on from %s",
                       trainer->optimizer->updates, p->training.total, p->training.checkpoint);
}

// The updates at the end whose mean loss is the training's: the last epoch.
static long updates_at_end(const Training *t)
{
    long updates = t->member_count / t->config.batch;
    if (updates > t->total) updates = t->total;
    return updates < 1 ? 1 : updates;
}

static FacetStatus update(UnetPolicy *p, UnetTrainer *trainer, Progress *progress)
{
    Training *t = &p->training;
    char note[40];
    training_fill(t, trainer->config.seed, trainer->optimizer->updates);
    TrainReport report = unet_trainer_step(trainer, t->batch_x, t->batch_z, t->pool);
    if (!report.finite)
        return status_fail(FACET_NOT_FINITE,
                           "training diverged at update %ld of %ld (loss %g, gradient %g)",
                           report.update, t->total, report.loss, report.grad_norm);
    if (report.update > t->total - updates_at_end(t)) t->tail += report.loss;
    snprintf(note, sizeof note, "loss %.4f", report.loss);
    FacetStatus status = progress_add(progress, 1, note);
    if (status.code == FACET_INTERRUPTED) return stopped(p, trainer);
    if (status.ok && report.update % CHECKPOINT_EVERY == 0) status = write_checkpoint(p, trainer);
    return status;
}

static FacetStatus learn(UnetPolicy *p, UnetTrainer *trainer)
{
    Training *t = &p->training;
    if (file_exists(t->checkpoint)) TRY(read_checkpoint(p, trainer));
    Progress progress;
    FacetStatus status = status_ok();
    progress_begin(&progress, t->progress, "train", t->total - trainer->optimizer->updates);
    while (status.ok && trainer->optimizer->updates < t->total)
        status = update(p, trainer, &progress);
    progress_end(&progress);
    if (!status.ok) return status;
    memcpy(p->params, trainer->optimizer->ema, p->net->table.size * sizeof *p->params);
    p->loss = t->policy->record.loss = t->tail / (double)updates_at_end(t);
    t->policy->record.updates = t->total;
    TRY(write_weights(p));
    if (file_exists(t->checkpoint) && unlink(t->checkpoint) != 0)
        return status_fail(status_errno(errno), "%s: cannot remove: %s", t->checkpoint,
                           strerror(errno));
    return status_ok();
}

// ---- All of it ----------------------------------------------------------------------------------

// The demonstrations and settings, as a training of the score network has them, and the network.
static FacetStatus set_up(UnetPolicy *p, const char *data)
{
    Training *t = &p->training;
    FacetDataset *dataset;
    const FacetDatasetRequest request = {NULL, 0, t->options->filter, NULL};
    TRY(facet_dataset_read_some(&dataset, data, &request));
    FacetStatus status = training_set_up(t, dataset, data, true);
    facet_dataset_destroy(dataset);
    if (status.ok) status = training_allocate(t);
    if (!status.ok) return status;
    TRY(unet_create(&p->net, unet_like(&t->policy->net->config)));
    p->params = policy_block(&p->net->table);
    return p->params ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for the weights");
}

static FacetStatus train(UnetPolicy *p, const char *data)
{
    Training *t = &p->training;
    TRY(set_up(p, data));
    TrainConfig config = training_network(t);
    TRY(lock_take(&t->lock, t->out));
    if (file_exists(t->out)) return read_weights(p);
    atomic_sweep(t->checkpoint);
    TRY(atomic_check(t->out)); // refuses a place that cannot be written before the work
    UnetTrainer *trainer;
    TRY(unet_trainer_create(&trainer, p->net, &t->policy->schedule, &config));
    FacetStatus status = learn(p, trainer);
    unet_trainer_free(trainer);
    return status;
}

FacetStatus unet_policy_train(UnetPolicy **out, const char *data, const char *path,
                              const FacetTrainOptions *options, FacetPool *pool,
                              const FacetProgress *progress)
{
    *out = NULL;
    assert(options->method == FACET_POLICY_FACTORED && options->updates > 0 &&
           options->observe_count == 0 && facet_ranks_count(options->ranks) == 1);
    UnetPolicy *p = calloc(1, sizeof *p);
    if (!p) return status_fail(FACET_NO_MEMORY, "out of memory for a U-Net");
    p->loss = NAN;
    FacetStatus status = training_begin(&p->training, path, options, pool, progress);
    if (status.ok) status = train(p, data);
    lock_drop(&p->training.lock);
    if (!status.ok) {
        unet_policy_free(p);
        return status;
    }
    *out = p;
    return status_ok();
}

void unet_policy_free(UnetPolicy *p)
{
    if (!p) return;
    training_end(&p->training);
    unet_free(p->net);
    free(p->params);
    free(p);
}
