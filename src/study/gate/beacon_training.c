// Training the policy that flies by the beacon (see facet_study/gate.h).
//
// The expert flies the training tasks of the policy that it shall stand beside, without frames.
// Each frame's place in time is one sample: what beacon and gyro tell there, and the expert's
// offsets. Ranges, noise and losses are those of that policy, so that one noisy plan means the same
// to both. There are no rounds of DAgger.
// Flights are short instead, and begin anywhere: whole ones look at the gate from their second
// second on, and a policy that learns from them learns that it is ahead.
#include "base/progress.h"
#include "base/status.h"
#include "factor/factor.h"
#include "policy/policy.h"
#include "train/whole.h"

#include <facet_study/gate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN = FACET_GATE_HORIZON * FACET_GATE_DIM, BLOCK = 4096, DROP_TEXT = 256 };

static const char *const observed_key = "beacon";

// ---- Flights ------------------------------------------------------------------------------------

// Frames as demonstrations of one plan each. What is observed stands at every row of its plan.
typedef struct Frames {
    FacetDataset dataset;
    FacetDatasetObservation observation;
    int capacity; // demos
} Frames;

static FacetStatus reserve(Frames *f, int demos)
{
    FacetDataset *d = &f->dataset;
    int capacity = (demos + BLOCK - 1) / BLOCK * BLOCK;
    size_t room = (size_t)capacity, sensed = room * FACET_GATE_HORIZON * FACET_GATE_SENSED;
    if (demos <= f->capacity) return status_ok();
    FacetFactorTask *tasks = realloc(d->tasks, room * sizeof *tasks);
    if (tasks) d->tasks = tasks;
    double *actions = realloc(d->actions, room * PLAN * sizeof *actions);
    if (actions) d->actions = actions;
    double *values = realloc(f->observation.values, sensed * sizeof *values);
    if (values) f->observation.values = values;
    if (!tasks || !actions || !values)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d frames", demos);
    f->capacity = capacity;
    return status_ok();
}

static FacetStatus keep(void *context, const FacetGateFrames *frames)
{
    Frames *f = context;
    FacetDataset *d = &f->dataset;
    TRY(reserve(f, d->demos + frames->count));
    memcpy(d->actions + (size_t)d->demos * PLAN, frames->offsets,
           (size_t)frames->count * PLAN * sizeof *d->actions);
    for (int i = 0; i < frames->count; i++, d->demos++) {
        const double *sensed = frames->sensed + (size_t)i * FACET_GATE_SENSED;
        size_t row = (size_t)d->demos * FACET_GATE_HORIZON;
        d->tasks[d->demos] = frames->task;
        for (int k = 0; k < FACET_GATE_HORIZON; k++)
            memcpy(f->observation.values + (row + (size_t)k) * FACET_GATE_SENSED, sensed,
                   FACET_GATE_SENSED * sizeof *sensed);
    }
    return status_ok();
}

static FacetStatus collect(Frames *f, const FacetGateWorld *flown, const FacetFactorSplit *tasks,
                           const FacetGateBeaconTraining *t, FacetPool *pool,
                           const FacetProgress *progress)
{
    int count = facet_factor_split_count(tasks);
    FacetFactorTask *list = calloc((size_t)count + 1, sizeof *list);
    if (!list) return status_fail(FACET_NO_MEMORY, "out of memory for %d tasks", count);
    for (int i = 0; i < count; i++) list[i] = facet_factor_split_task(tasks, i);
    FacetGateCollection collection = facet_gate_collection_defaults();
    collection.tasks = list;
    collection.task_count = count;
    collection.flights = t->flights;
    collection.seed = t->train.seed;
    collection.near = t->near;
    collection.blind = true;
    FacetGateWorld world = *flown; // but for how long flights take
    world.time_out = t->seconds;
    const FacetGateSink sink = {.add = keep, .context = f};
    FacetStatus status = facet_gate_collect(&sink, &world, &collection, NULL, pool, progress);
    free(list);
    return status;
}

// Joins what was collected into a dataset.
static FacetStatus join(Frames *f, const FacetGateWorld *world)
{
    FacetDataset *d = &f->dataset;
    d->steps = FACET_GATE_HORIZON;
    d->action_dim = FACET_GATE_DIM;
    d->rows = (int64_t)d->demos * FACET_GATE_HORIZON;
    d->observations = &f->observation;
    d->observation_count = 1;
    f->observation.dim = FACET_GATE_SENSED;
    snprintf(f->observation.name, sizeof f->observation.name, "%s", observed_key);
    d->starts = calloc((size_t)d->demos + 1, sizeof *d->starts);
    if (!d->starts) return status_fail(FACET_NO_MEMORY, "out of memory for %d frames", d->demos);
    for (int i = 1; i <= d->demos; i++) d->starts[i] = (int64_t)i * FACET_GATE_HORIZON;
    return factor_space_copy(&d->space, world->space);
}

static void frames_free(Frames *f)
{
    facet_factor_space_destroy(f->dataset.space);
    free(f->dataset.tasks);
    free(f->dataset.actions);
    free(f->dataset.starts);
    free(f->observation.values);
}

// ---- Training -----------------------------------------------------------------------------------

// Texts that the options point at.
typedef struct Texts {
    char drop[DROP_TEXT];
    char name[128]; // of the flights, for the record
    int count;
    char (*held_out)[FACET_FACTOR_TASK_TEXT];
    const char **hold_out; // [count]
} Texts;

// "venue=0.5,color=0.5,...", as the other policy was trained.
static void describe_drop(char out[DROP_TEXT], const FacetPolicy *like)
{
    const FacetFactorSpace *space = facet_policy_space(like);
    out[0] = '\0';
    for (int f = 0; f < facet_factor_count(space); f++) {
        size_t used = strlen(out);
        snprintf(out + used, DROP_TEXT - used, "%s%s=%.9g", f ? "," : "",
                 facet_factor_name(space, f), policy_record(like)->drop[f]);
    }
}

static FacetStatus list_held_out(Texts *texts, const FacetPolicy *like)
{
    const FacetFactorSplit *split = facet_policy_held_out(like);
    texts->count = facet_factor_split_count(split);
    texts->held_out = calloc((size_t)texts->count + 1, sizeof *texts->held_out);
    texts->hold_out = calloc((size_t)texts->count + 1, sizeof *texts->hold_out);
    if (!texts->held_out || !texts->hold_out)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d tasks", texts->count);
    for (int i = 0; i < texts->count; i++) {
        facet_factor_task_format(texts->held_out[i], facet_policy_space(like),
                                 facet_factor_split_task(split, i), FACET_FACTOR_STYLE_VALUES);
        texts->hold_out[i] = texts->held_out[i];
    }
    return status_ok();
}

// What makes the policy like the other one.
static FacetStatus set_options(FacetTrainOptions *o, Texts *texts, const FacetPolicy *like,
                               const FacetGateWorld *world, const FacetGateBeaconTraining *t)
{
    const Normalizer *ranges = policy_normalizer(like);
    const FacetBeaconParams *beacon = &world->beacon;
    TRY(list_held_out(texts, like));
    *o = t->train;
    o->method = policy_method(like);
    o->recipe = "images";
    o->composed_weight = policy_record(like)->composed_weight;
    describe_drop(texts->drop, like);
    if (!o->drop) o->drop = texts->drop;
    if (o->method == FACET_POLICY_BASELINE) o->drop = NULL; // it is shown no factors
    o->knee = ranges->knee > 0.0 ? ranges->knee : -1.0;
    o->hold_out = texts->hold_out;
    o->hold_out_count = texts->count;
    o->observe = &observed_key;
    o->observe_count = 1;
    o->observe_steps = 1;
    o->horizon = FACET_GATE_HORIZON;
    o->execute = 1;
    snprintf(texts->name, sizeof texts->name,
             "flights=%d,seconds=%g,near=%g,bias=%g,noise=%g,survey=%g", t->flights, t->seconds,
             t->near, beacon->bias, beacon->noise, beacon->survey);
    return status_ok();
}

static FacetStatus train(FacetTrainSummary *summary, Frames *frames, const FacetGateWorld *world,
                         const FacetPolicy *like, const char *out, const FacetGateBeaconTraining *t,
                         FacetPool *pool, const FacetProgress *progress)
{
    FacetTrainOptions options;
    Texts texts = {.count = 0};
    FacetStatus status = set_options(&options, &texts, like, world, t);
    if (status.ok) status = collect(frames, world, facet_policy_training(like), t, pool, progress);
    if (status.ok) status = join(frames, world);
    if (status.ok)
        status = train_whole(summary, &frames->dataset, texts.name, policy_normalizer(like), out,
                             &options, pool, progress);
    free(texts.held_out);
    free(texts.hold_out);
    return status;
}

FacetStatus facet_gate_train_beacon(FacetTrainSummary *summary, const FacetGateWorld *world,
                                    const FacetPolicy *like, const char *out,
                                    const FacetGateBeaconTraining *training, FacetPool *pool,
                                    const FacetProgress *progress)
{
    TRY(facet_gate_check_policy(world, like));
    if (training->train.updates < 1)
        return status_fail(FACET_BAD_ARGUMENT, "expected 1 update or more, found %ld",
                           training->train.updates);
    Frames frames = {.capacity = 0};
    FacetStatus status = train(summary, &frames, world, like, out, training, pool, progress);
    frames_free(&frames);
    return status;
}
