// Training a pilot with DAgger (Ross, Gordon and Bagnell 2011; paper, Section 4.2).
//
// Training begins on the expert's flights. After half of the updates, and again after equal parts
// of the rest, the policy of that moment flies the training tasks, the expert says at every frame
// what it would do, and the frames join the set. One optimiser and one schedule run through all of
// it. The frames of round r are OUT.roundR.h5 until training is complete: a run that was cut short
// goes on from them and OUT.ckpt.
#include "base/lock.h"
#include "base/progress.h"
#include "gate/streams.h"
#include "policy/policy.h"

#include <facet_study/gate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES_TEXT = 128 };

typedef struct Dagger {
    const FacetGateWorld *world;
    const FacetGateTraining *options;
    FacetPool *pool;
    const FacetProgress *progress;
    const char *demos, *out;
    char files[1 + FACET_GATE_ROUNDS_MAX][FILE_PATH_MAX]; // [r], the frames of round r
    char checkpoint[FILE_PATH_MAX];
} Dagger;

// The update after which round r = 1, 2, ... flies.
static long updates_before(const FacetGateTraining *options, int round)
{
    return options->train.updates * (options->rounds + round - 1) / (2 * options->rounds);
}

// Trains up to round `next`, or to the end, on the frames of the rounds before it.
static FacetStatus train(FacetTrainSummary *summary, const Dagger *d, int next)
{
    const char *files[1 + FACET_GATE_ROUNDS_MAX];
    FacetTrainOptions train = d->options->train;
    bool last = next > d->options->rounds;
    files[0] = d->demos;
    for (int r = 1; r < next; r++) files[r] = d->files[r];
    train.until = last ? 0 : updates_before(d->options, next);
    train.resume = train.resume || next > 1;
    return facet_policy_train_images(summary, files, next, d->out, &train, d->pool, d->progress);
}

// The policy of this moment flies the tasks that it is trained on, composed if it learned to.
static FacetStatus fly_with(const Dagger *d, int round, const FacetPolicy *policy)
{
    const FacetFactorSplit *training = facet_policy_training(policy);
    int count = facet_factor_split_count(training);
    FacetFactorTask *tasks = calloc((size_t)count + 1, sizeof *tasks);
    if (!tasks) return status_fail(FACET_NO_MEMORY, "out of memory for %d tasks", count);
    for (int i = 0; i < count; i++) tasks[i] = facet_factor_split_task(training, i);
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = tasks;
    collection.task_count = count;
    collection.flights = d->options->flights;
    collection.seed = gate_round_seed(d->options->train.seed, round);
    collection.expert_share = d->options->expert_share;
    collection.redrawn = d->options->redrawn;
    collection.near = d->options->near;
    collection.shrink = policy_frame_shrink(policy);
    FacetGateFlyer flyer = {.world = d->world, .policy = policy};
    if (!policy_learned_to_compose(policy)) flyer.how.mode = FACET_POLICY_JOINT;
    FacetGateCrew crew = facet_gate_flyer_crew(&flyer);
    Progress flights;
    progress_begin(&flights, d->progress, "dagger", collection.flights);
    const FacetProgress part = progress_part(&flights);
    FacetStatus status =
        facet_gate_collect_file(d->files[round], d->world, &collection, &crew, d->pool, &part);
    progress_end(&flights);
    free(tasks);
    return status;
}

static FacetStatus fly(const Dagger *d, int round)
{
    FacetPolicy *policy;
    TRY(facet_policy_load(&policy, d->out));
    FacetStatus status = fly_with(d, round, policy);
    facet_policy_destroy(policy);
    if (status.code == FACET_INTERRUPTED)
        return status_fail(FACET_INTERRUPTED,
                           "interrupted in round %d of %d: --resume continues from %s", round,
                           d->options->rounds, d->checkpoint);
    return status;
}

static FacetStatus check(const Dagger *d)
{
    const FacetGateTraining *o = d->options;
    if (o->rounds < 0 || o->rounds > FACET_GATE_ROUNDS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "expected 0 to %d rounds of DAgger, found %d",
                           FACET_GATE_ROUNDS_MAX, o->rounds);
    for (int r = 1; r <= o->rounds && !o->train.resume; r++)
        if (file_exists(d->files[r]))
            return status_fail(FACET_BAD_FILE,
                               "%s: there is an unfinished training: --resume continues it, and "
                               "removing the file gives it up",
                               d->files[r]);
    return status_ok();
}

// A training that is complete is left as it is, once it is known to be this one.
static FacetStatus keep(FacetTrainSummary *summary, const Dagger *d)
{
    return facet_policy_train_images(summary, &d->demos, 1, d->out, &d->options->train, d->pool,
                                     d->progress);
}

// OUT.roundR.h5.
static void round_file(char file[FILE_PATH_MAX], const char *out, int round)
{
    snprintf(file, FILE_PATH_MAX, "%.980s.round%d.h5", out, round);
}

bool facet_gate_train_is_complete(const char *out)
{
    char file[FILE_PATH_MAX];
    snprintf(file, sizeof file, "%.980s.ckpt", out);
    if (!file_exists(out) || file_exists(file)) return false;
    for (int r = 1; r <= FACET_GATE_ROUNDS_MAX; r++) {
        round_file(file, out, r);
        if (file_exists(file)) return false;
    }
    return true;
}

// All stages of training, with flights between them.
static FacetStatus run(FacetTrainSummary *summary, const Dagger *d)
{
    const FacetGateTraining *o = d->options;
    long resumed = -1;
    double seconds = 0.0;
    for (int next = 1; next <= o->rounds + 1; next++) {
        if (next <= o->rounds && file_exists(d->files[next])) continue; // flown already
        TRY(train(summary, d, next));
        if (resumed < 0) resumed = summary->resumed;
        seconds += summary->seconds;
        if (next <= o->rounds) TRY(fly(d, next));
    }
    summary->resumed = resumed;
    summary->seconds = seconds;
    return status_ok();
}

// From the first update to the last, whatever of it is done.
static FacetStatus train_all(FacetTrainSummary *summary, const Dagger *d)
{
    const FacetGateTraining *o = d->options;
    TRY(check(d));
    bool complete = o->train.resume && file_exists(d->out) && !file_exists(d->checkpoint);
    TRY(complete ? keep(summary, d) : run(summary, d));
    for (int r = 1; r <= o->rounds; r++) remove(d->files[r]);
    return status_ok();
}

// For the record. A share of flights that start near is told where there is one.
static void describe(char out[FRAMES_TEXT], const FacetGateTraining *t)
{
    char near[32] = "";
    if (t->near > 0.0) snprintf(near, sizeof near, ",near=%g", t->near);
    snprintf(out, FRAMES_TEXT, "rounds=%d,flights=%d,expert-share=%g,redrawn=%g%s", t->rounds,
             t->flights, t->expert_share, t->redrawn, near);
}

FacetStatus facet_gate_train(FacetTrainSummary *summary, const FacetGateWorld *world,
                             const char *demos, const char *out, const FacetGateTraining *training,
                             FacetPool *pool, const FacetProgress *progress)
{
    char frames[FRAMES_TEXT];
    FacetGateTraining options = *training;
    options.train.frames = frames;
    describe(frames, training);
    Dagger d = {.world = world,
                .options = &options,
                .pool = pool,
                .progress = progress,
                .demos = demos,
                .out = out};
    if (strlen(out) > FILE_PATH_MAX - 40)
        return status_fail(FACET_BAD_FILE, "%.200s…: name too long", out);
    snprintf(d.checkpoint, sizeof d.checkpoint, "%s.ckpt", out);
    for (int r = 1; r <= FACET_GATE_ROUNDS_MAX; r++) round_file(d.files[r], out, r);
    FileLock lock; // of the rounds: each training between them has its own
    char rounds[FILE_PATH_MAX];
    snprintf(rounds, sizeof rounds, "%.980s.rounds", out);
    TRY(lock_take(&lock, rounds));
    FacetStatus status = train_all(summary, &d);
    lock_drop(&lock);
    return status;
}
