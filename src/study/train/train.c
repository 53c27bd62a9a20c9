// Training a policy from demonstrations (see facet/policy.h).
#include "base/progress.h"
#include "factor/factor.h"
#include "train/training.h"

#include <errno.h>
#include <facet_study/train.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHECKPOINT_EVERY = 500 }; // updates

static double now_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// ---- One network --------------------------------------------------------------------------------

// Begins with the encoder of another policy.
static FacetStatus take_encoder(Training *t)
{
    const char *path = t->options->encoder_from;
    FacetPolicy *other;
    if (!t->policy->encoder)
        return status_fail(FACET_BAD_ARGUMENT,
                           "%s: expected no encoder to begin with for a policy that does not see",
                           path);
    TRY(facet_policy_load(&other, path));
    FacetStatus status = status_ok();
    const EncoderConfig *wanted = encoder_config(t->policy->encoder);
    if (!other->encoder)
        status = status_fail(FACET_BAD_FILE,
                             "%s: expected a policy that sees, found one without an encoder", path);
    else if (!encoder_config_equal(encoder_config(other->encoder), wanted))
        status = status_fail(FACET_BAD_FILE, "%s: expected the encoder '%s', found another", path,
                             t->options->encoder ? t->options->encoder : "small");
    else
        learner_set_encoder(t->learner, other->encoder_params[0]);
    facet_policy_destroy(other);
    return status;
}

// Ranks that no shard of an update is left for.
static int idle_ranks(const Training *t)
{
    int shards = (t->trainer->rows.count + SCORE_SHARD - 1) / SCORE_SHARD;
    int idle = facet_ranks_count(t->options->ranks) - shards;
    return idle > 0 ? idle : 0;
}

static FacetStatus begin_network(Training *t, int threads)
{
    TrainConfig config = training_network(t);
    TRY(learner_create(&t->learner, learner_shape(t->policy), t->policy->net, &t->policy->schedule,
                       config, t->policy->record.jitter, t->options->encoder_from != NULL,
                       threads));
    t->trainer = t->learner->trainer;
    return t->options->encoder_from ? take_encoder(t) : status_ok();
}

// One update, with frames that are not in memory read from their files.
static FacetStatus take_step(TrainReport *report, Training *t)
{
    training_fill(t, t->trainer->config.seed, t->trainer->optimizer->updates);
    if (t->images)
        TRY(facet_image_set_read(t->batch_rgb, t->images, t->batch_frames, t->config.batch,
                                 t->pool));
    const LearnerBatch batch = training_batch(t);
    *report = learner_step(t->learner, &batch, t->pool);
    return status_ok();
}

static FacetStatus diverged(const Training *t, const TrainReport *report)
{
    bool kept = file_exists(t->checkpoint);
    return status_fail(FACET_BAD_ARGUMENT,
                       "training diverged at update %ld of %ld (loss %g, gradient %g): %s%s; a "
                       "lower rate may help",
                       report->update, t->total, report->loss, report->grad_norm,
                       kept ? "the last checkpoint is kept in " : "there was no checkpoint yet",
                       kept ? t->checkpoint : "");
}

static FacetStatus interrupted(Training *t)
{
    TRY(checkpoint_write(t));
    return status_fail(FACET_INTERRUPTED,
                       "interrupted at update %ld of %ld: --resume continues from %s",
                       t->trainer->optimizer->updates, t->total, t->checkpoint);
}

// A clock for the updates' rate and a smooth loss, both only shown.
typedef struct Display {
    Progress progress;
    double started, loss;
    long updates; // of this run
} Display;

// Shows an update. False when the host said stop.
static bool show(Display *display, const Training *t, double loss)
{
    char note[80], idle[32] = "";
    double rate = (double)++display->updates / (now_seconds() - display->started + 1e-9);
    display->loss +=
        (loss - display->loss) / (double)(display->updates < 50 ? display->updates : 50);
    if (t->idle) snprintf(idle, sizeof idle, " %d ranks idle", t->idle);
    if (t->policy->networks > 1)
        snprintf(note, sizeof note, "net %d/%d loss %.4f %.1f/s%s", t->network + 1,
                 t->policy->networks, display->loss, rate, idle);
    else
        snprintf(note, sizeof note, "loss %.4f %.1f/s%s", display->loss, rate, idle);
    return progress_add(&display->progress, 1, note).ok;
}

// The updates at the end whose mean loss is the training's: the last epoch, or a tenth where frames
// join on the way and an epoch grows.
static long updates_at_end(const Training *t)
{
    long updates = t->images ? t->total / 10 : t->member_count / t->config.batch;
    if (updates > t->total) updates = t->total;
    return updates < 1 ? 1 : updates;
}

// The losses of what is not learned are looked at ten times.
static bool looks_now(const Training *t, long update)
{
    enum { LOOKS = 10 };
    return update == t->total || update * LOOKS / t->total != (update - 1) * LOOKS / t->total;
}

// Logs and shows an update. What one rank has to say stops them all.
static FacetStatus record(Training *t, Display *display, const TrainReport *report)
{
    long epoch = (report->update - 1) * t->config.batch / t->member_count;
    TrainLoss losses[CHECK_SETS];
    bool looks = looks_now(t, report->update);
    if (looks) {
        TRY(training_check(losses, t));
        if (t->policy->networks == 1) memcpy(t->looked, losses, sizeof losses);
    }
    FacetStatus status = log_row(t, report, epoch, looks ? losses : NULL);
    if (status.ok && !show(display, t, report->loss))
        status = status_fail(FACET_INTERRUPTED, "interrupted");
    status = ranks_agree(t->options->ranks, status);
    return status.code == FACET_INTERRUPTED ? interrupted(t) : status;
}

static FacetStatus train_network(Training *t, Display *display)
{
    long every = t->options->checkpoint_every ? t->options->checkpoint_every : CHECKPOINT_EVERY;
    long until = t->options->until ? t->options->until : t->total;
    long at_end = updates_at_end(t);
    while (t->trainer->optimizer->updates < until) {
        TrainReport report;
        TRY(take_step(&report, t));
        if (!report.finite) return diverged(t, &report);
        if (report.update > t->total - at_end) t->tail += report.loss;
        TRY(record(t, display, &report));
        if (report.update % every == 0) TRY(checkpoint_write(t));
    }
    trainer_collect(t->trainer);
    learner_store(t->policy, t->network, t->learner);
    if (until < t->total) return checkpoint_write(t);
    t->losses += t->tail / (double)at_end;
    t->tail = 0.0;
    return status_ok();
}

static void end_network(Training *t)
{
    learner_free(t->learner);
    t->learner = NULL;
    t->trainer = NULL;
}

// ---- All networks -------------------------------------------------------------------------------

// `file` is the checkpoint to go on from, or NULL; it is freed as soon as it is read.
static FacetStatus train_networks(Training *t, Display *display, Safetensors **file, long update)
{
    for (; t->network < t->policy->networks; t->network++) {
        FacetStatus status = begin_network(t, facet_pool_threads(t->pool));
        if (status.ok) t->idle = idle_ranks(t);
        if (status.ok && *file) status = checkpoint_read_trainer(t, *file, update);
        safetensors_free(*file);
        *file = NULL;
        TRY(ranks_agree(t->options->ranks, status));
        trainer_spread(t->trainer);
        TRY(train_network(t, display));
        end_network(t);
    }
    return status_ok();
}

// Updates before a place of the training, or of all of it.
static long updates_before(const Training *t, int network, long update)
{
    for (int i = 0; i < network; i++)
        update += training_updates(t, training_members(t->order, t, &t->samples, i));
    return update;
}

static FacetStatus finish(Training *t)
{
    PolicyRecord *record = &t->policy->record;
    bool whole = !t->options->until || t->options->until >= t->total;
    record->updates = whole ? updates_before(t, t->policy->networks, 0) : t->options->until;
    record->loss = t->losses / t->policy->networks;
    if (!ranks_lead(t->options->ranks)) return status_ok();
    TRY(log_close(t));
    TRY(policy_save(t->policy, t->out,
                    t->options->precision == FACET_TRAIN_FP16 ? TENSOR_F16 : TENSOR_F32));
    if (!whole) return status_ok();
    if (file_exists(t->checkpoint) && unlink(t->checkpoint) != 0)
        return status_fail(status_errno(errno), "%s: cannot remove: %s", t->checkpoint,
                           strerror(errno));
    return status_ok();
}

// Where the checkpoint stands, which rank 0 has, or the beginning.
static FacetStatus find_place(Training *t, Safetensors **file, long *update)
{
    FacetRanks *ranks = t->options->ranks;
    bool resumes = ranks_lead(ranks) && file_exists(t->checkpoint);
    TRY(ranks_agree(ranks, resumes ? checkpoint_read(t, file, update) : status_ok()));
    ranks_broadcast(ranks, 0, &t->network, sizeof t->network);
    ranks_broadcast(ranks, 0, update, sizeof *update);
    ranks_broadcast(ranks, 0, &t->tail, sizeof t->tail);
    ranks_broadcast(ranks, 0, &t->losses, sizeof t->losses);
    return status_ok();
}

static FacetStatus run(FacetTrainSummary *summary, Training *t)
{
    Safetensors *file = NULL;
    long update = 0;
    TRY(find_place(t, &file, &update));
    summary->resumed = updates_before(t, t->network, update);
    FacetStatus status =
        ranks_agree(t->options->ranks, log_open(t, t->network, update, summary->resumed));
    long all = t->options->until ? t->options->until : updates_before(t, t->policy->networks, 0);
    Display display = {.started = now_seconds()};
    progress_begin(&display.progress, t->progress, "train", all - summary->resumed);
    if (status.ok) status = train_networks(t, &display, &file, update);
    progress_end(&display.progress);
    safetensors_free(file);
    return status.ok ? ranks_agree(t->options->ranks, finish(t)) : status;
}

// A resumed training that is complete already is left as it is.
static FacetStatus finished_before(bool *finished, Training *t)
{
    *finished = t->options->resume && !file_exists(t->checkpoint) && file_exists(t->out);
    ranks_broadcast(t->options->ranks, 0, finished, sizeof *finished);
    if (!*finished || !ranks_lead(t->options->ranks)) return status_ok();
    Safetensors *file;
    FacetPolicy *policy;
    TRY(safetensors_read(&file, t->out));
    FacetStatus status = checkpoint_matches(t->policy, file, t->out, POLICY_FORMAT);
    safetensors_free(file);
    if (!status.ok) return status;
    TRY(facet_policy_load(&policy, t->out));
    t->policy->record = policy->record;
    facet_policy_destroy(policy);
    long done = t->policy->record.updates, all = t->options->updates;
    if (all && done != all)
        return status_fail(FACET_BAD_FILE,
                           "%s: expected a training of %ld updates or its checkpoint, found the "
                           "policy after %ld and no checkpoint",
                           t->out, all, done);
    return status_ok();
}

static FacetStatus check_files(Training *t)
{
    if (!ranks_lead(t->options->ranks)) return status_ok();
    TRY(lock_take(&t->lock, t->out));
    if (file_exists(t->checkpoint) && !t->options->resume)
        return status_fail(FACET_BAD_FILE,
                           "%s: there is an unfinished training: --resume continues it, and "
                           "removing the file gives it up",
                           t->checkpoint);
    atomic_sweep(t->out);
    atomic_sweep(t->checkpoint);
    AtomicFile file;
    TRY(atomic_begin(&file, t->out)); // refuses a place that cannot be written before the work
    atomic_abort(&file);
    return status_ok();
}

FacetStatus training_run(FacetTrainSummary *summary, Training *t)
{
    bool finished;
    double started = now_seconds();
    TRY(ranks_agree(t->options->ranks, training_allocate(t)));
    TRY(ranks_agree(t->options->ranks,
                    training_remarks(summary->remarks, sizeof summary->remarks, t)));
    TRY(checkpoint_compare(t));
    TRY(ranks_agree(t->options->ranks, check_files(t)));
    TRY(ranks_agree(t->options->ranks, finished_before(&finished, t)));
    if (!finished) {
        TRY(run(summary, t));
    } else {
        summary->resumed = t->policy->record.updates;
    }
    const PolicyRecord *record = &t->policy->record;
    summary->demos = t->samples.demos;
    summary->samples = t->samples.count;
    summary->valid = t->looked[CHECK_VALID].joint;
    summary->valid_composed = t->looked[CHECK_VALID].composed;
    summary->held_out = t->looked[CHECK_HELD_OUT].joint;
    summary->held_out_composed = t->looked[CHECK_HELD_OUT].composed;
    summary->tasks = facet_factor_split_count(t->policy->training);
    summary->networks = t->policy->networks;
    summary->parameters = policy_parameters(t->policy);
    summary->epochs = record->epochs;
    summary->updates = record->updates;
    summary->loss = record->loss;
    summary->idle_ranks = t->idle;
    summary->log_missing = t->log_missing;
    summary->seconds = now_seconds() - started;
    return status_ok();
}

FacetStatus training_begin(Training *t, const char *out, const FacetTrainOptions *options,
                           FacetPool *pool, const FacetProgress *progress)
{
    *t = (Training){.options = options, .pool = pool, .progress = progress, .out = out};
    for (int i = 0; i < CHECK_SETS; i++) t->looked[i] = (TrainLoss){NAN, NAN};
    if (strlen(out) > FILE_PATH_MAX - 40)
        return status_fail(FACET_BAD_FILE, "%.200s…: name too long", out);
    snprintf(t->checkpoint, sizeof t->checkpoint, "%s.ckpt", out);
    snprintf(t->csv, sizeof t->csv, "%s.csv", out);
    return status_ok();
}

void training_end(Training *t)
{
    log_close(t);
    lock_drop(&t->lock);
    end_network(t);
    facet_policy_destroy(t->policy);
    facet_image_set_close(t->images);
    samples_free(&t->samples);
    for (int i = 0; i < CHECK_SETS; i++) samples_free(&t->checked[i]);
    free(t->members);
    free(t->order);
    free(t->batch_x);
    free(t->batch_z);
    free(t->batch_numbers);
    free(t->batch_frames);
    free(t->batch_rgb);
}

// Whether the options for observations make sense.
static FacetStatus check_observing(const FacetTrainOptions *o)
{
    bool observes = o->observe_count > 0;
    if (!observes && (o->observe_steps || o->horizon || o->execute || o->encoder))
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected %s beside observations only, found no observation to take",
                           o->encoder         ? "an encoder"
                           : o->horizon       ? "a horizon"
                           : o->observe_steps ? "observed steps"
                                              : "a number of actions to execute");
    if (observes && facet_ranks_count(o->ranks) > 1)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected one rank for a policy that takes observations, found %d",
                           facet_ranks_count(o->ranks));
    return status_ok();
}

// Reads what is asked for of a file and sets the training up with it.
static FacetStatus read_data(Training *t, const char *data)
{
    const FacetTrainOptions *o = t->options;
    FacetDataset *dataset, *valid;
    FacetDatasetRequest request = {o->observe, o->observe_count, o->filter, o->validate};
    FacetStatus status = ranks_agree(o->ranks, facet_dataset_read_some(&dataset, data, &request));
    bool whole = o->observe_count == 0;
    if (status.ok) status = ranks_agree(o->ranks, training_set_up(t, dataset, data, whole));
    facet_dataset_destroy(dataset);
    if (!status.ok || !o->validate) return status;
    request.filter = o->validate;
    request.without = NULL;
    status = ranks_agree(o->ranks, facet_dataset_read_some(&valid, data, &request));
    if (status.ok) status = ranks_agree(o->ranks, training_add_valid(t, valid, data));
    facet_dataset_destroy(valid);
    return status;
}

FacetStatus facet_policy_train(FacetTrainSummary *summary, const char *data, const char *out,
                               const FacetTrainOptions *options, FacetPool *pool,
                               const FacetProgress *progress)
{
    Training t;
    TRY(check_observing(options));
    *summary = (FacetTrainSummary){0};
    TRY(training_begin(&t, out, options, pool, progress));
    FacetStatus status = read_data(&t, data);
    if (status.ok) status = training_run(summary, &t);
    training_end(&t);
    return status;
}
