// Frames of the single gate with the expert's labels (see facet_study/gate.h).
//
// Flights are flown in blocks, one a rank at a time. Those of a block run in parallel, each into
// frames of its own, and then go to the sink of rank 0 in order, so that threads and ranks change
// nothing.
#include "base/pool.h"
#include "base/progress.h"
#include "base/status.h"
#include "encoder/frame.h"
#include "gate/approach.h"
#include "gate/crew.h"
#include "gate/streams.h"
#include "math/geometry.h"
#include "ranks/watch.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, LABEL = FACET_GATE_HORIZON * FACET_GATE_DIM };

#define NEAR_MIN      1.0 // m from the gate, where flights start that start near it
#define NEAR          3.0
#define OBSERVER_TIME 0.5 // s

// The frames of one flight as they come.
typedef struct Recording {
    const FacetGateWorld *world;
    Progress *progress;
    FacetCourseGate gate;
    int width, height, shrink;
    int count, capacity;
    uint8_t *rgb;
    double *offsets, *sensed;
    FacetFactorTask task;
    bool expert;
    FacetGateFlight result;
} Recording;

typedef struct Collecting {
    const FacetGateWorld *world;
    const FacetGateCollection *options;
    const Pilots *pilots; // NULL: the expert flies all
    Recording *recordings;
    int first; // flight of recordings[0] of this rank
    Progress *progress;
} Collecting;

FacetGateCollection facet_gate_collection_defaults(void)
{
    return (FacetGateCollection){
        .flights = 1,
        .expert_share = 0.25,
        .disturbance = {.gust_speed = 1.0, .fix_error = 0.08, .time = 1.0},
        .start_speed = 1.5,
        .start_tilt = 0.25,
        .redrawn = 0.5,
        .shrink = 4,
    };
}

// ---- One flight ---------------------------------------------------------------------------------

static FacetStatus grow(Recording *r)
{
    int capacity = r->capacity ? 2 * r->capacity : 64;
    size_t pixels = (size_t)r->width * (size_t)r->height;
    uint8_t *rgb = pixels ? realloc(r->rgb, (size_t)capacity * pixels * 3) : NULL;
    if (rgb) r->rgb = rgb;
    double *offsets = realloc(r->offsets, (size_t)capacity * LABEL * sizeof *offsets);
    if (offsets) r->offsets = offsets;
    double *sensed = realloc(r->sensed, (size_t)capacity * FACET_GATE_SENSED * sizeof *sensed);
    if (sensed) r->sensed = sensed;
    if ((!rgb && pixels) || !offsets || !sensed)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d frames", capacity);
    r->capacity = capacity;
    return status_ok();
}

// Keeps the frame with what the expert would do. Where the expert flies, that is the plan already.
// A flight takes seconds, so every frame asks whether to go on.
static FacetStatus keep_frame(void *context, const FacetGateView *view, const double *offsets,
                              FacetVec3 estimate)
{
    (void)estimate;
    Recording *r = context;
    TRY(progress_add(r->progress, 0, NULL));
    if (approach_ahead(&r->gate, view->truth->pos_world) < 0.0) return status_ok();
    if (r->count == r->capacity) TRY(grow(r));
    size_t size = 3 * (size_t)r->width * (size_t)r->height;
    double *label = r->offsets + (size_t)r->count * LABEL;
    if (size)
        frame_shrink(r->rgb + (size_t)r->count * size, view->rgb, r->width * r->shrink,
                     r->height * r->shrink, r->shrink);
    memcpy(r->sensed + (size_t)r->count * FACET_GATE_SENSED, view->sensed,
           FACET_GATE_SENSED * sizeof *r->sensed);
    if (r->expert)
        memcpy(label, offsets, LABEL * sizeof *label);
    else
        facet_gate_expert_offsets(label, r->world, view->trial->task, view->truth);
    r->count++;
    return status_ok();
}

// A start that the expert has to recover from: moving, turning its nose, tilted.
static void upset(FacetQuadState *start, const FacetGateCollection *options, FacetRng *rng)
{
    double speed = options->start_speed * rng_uniform(rng);
    double azimuth = rng_range(rng, -FACET_PI, FACET_PI), climb = rng_range(rng, -0.3, 0.3);
    double tilt = options->start_tilt * rng_uniform(rng);
    double towards = rng_range(rng, -FACET_PI, FACET_PI);
    start->vel_world = vec3_scale(vec3(cos(azimuth), sin(azimuth), climb), speed);
    FacetQuat lean = quat_from_axis_angle(vec3(cos(towards), sin(towards), 0.0), tilt);
    start->attitude = quat_mul(start->attitude, lean);
}

// Where a flight starts: as all trials do, or near the gate, where a fix matters most.
static FacetStatus draw_start(FacetGateTrial *trial, const Collecting *work, FacetFactorTask task,
                              int flight)
{
    const FacetGateCollection *options = work->options;
    FacetGateWorld world = *work->world; // but for its distances
    FacetRng rng = rng_make(options->seed, gate_stream((uint64_t)flight, GATE_STREAM_NEAR));
    if (rng_uniform(&rng) < options->near) world.distance_min = NEAR_MIN, world.distance_max = NEAR;
    return facet_gate_trial(trial, &world, task, options->seed,
                            facet_gate_number(FACET_GATE_FOR_TRAINING, (uint64_t)flight));
}

static FacetStatus fly(Recording *r, const Collecting *work, int flight,
                       const FacetGatePilot *pilot)
{
    const FacetGateCollection *options = work->options;
    const FacetGateWorld *world = work->world;
    const FacetGatePilot expert = facet_gate_expert(world);
    FacetGateTrial trial;
    r->task = options->tasks[flight % options->task_count];
    TRY(draw_start(&trial, work, r->task, flight));
    FacetRng rng = rng_make(options->seed, gate_stream((uint64_t)flight, GATE_STREAM_COLLECT));
    r->expert = rng_uniform(&rng) < options->expert_share || !pilot;
    r->gate = facet_gate_target(world, r->task);
    r->count = 0;
    uint64_t look = 1 + (uint64_t)rng_u32(&rng);
    trial.look = rng_uniform(&rng) < options->redrawn ? look : 0;
    if (r->expert) {
        upset(&trial.start, options, &rng);
        trial.disturbance = options->disturbance;
    }
    const FacetGateWatch watch = {.frame = keep_frame, .context = r, .sees = !options->blind};
    FacetGateWorld alike =
        *world; // but for the observer, so that what is learned has one of its own
    alike.fix_share = 0.0;
    alike.observer_time = OBSERVER_TIME;
    return facet_gate_fly(&r->result, &alike, &trial, r->expert ? &expert : pilot, &watch);
}

static FacetStatus fly_one(void *context, int index, int worker)
{
    const Collecting *work = context;
    Recording *r = &work->recordings[index];
    const FacetGatePilot *pilot = work->pilots ? &work->pilots->pilots[worker] : NULL;
    TRY(fly(r, work, work->first + index, pilot));
    return progress_add(work->progress, 1, NULL);
}

// ---- All flights --------------------------------------------------------------------------------

static FacetStatus hand_over(const FacetGateSink *sink, const Recording *r, int flight)
{
    const FacetGateFrames frames = {.task = r->task,
                                    .flight = flight,
                                    .count = r->count,
                                    .width = r->width,
                                    .height = r->height,
                                    .rgb = r->rgb,
                                    .offsets = r->offsets,
                                    .sensed = r->sensed,
                                    .expert = r->expert,
                                    .result = r->result};
    return r->count ? sink->add(sink->context, &frames) : status_ok();
}

// What a recording is, beside its frames.
typedef struct Label {
    int count;
    bool expert;
    FacetFactorTask task;
    FacetGateFlight result;
} Label;

static size_t frame_bytes(const Recording *r) { return 3 * (size_t)r->width * (size_t)r->height; }

// Rank 0 takes a recording of another rank in the place of its own, or that rank sends it.
static FacetStatus pass_on(Recording *r, FacetRanks *ranks, int from)
{
    Label label = {r->count, r->expert, r->task, r->result};
    bool takes = ranks_lead(ranks);
    FacetStatus status = status_ok();
    if (takes)
        ranks_receive(ranks, from, &label, sizeof label);
    else
        ranks_send(ranks, 0, &label, sizeof label);
    ranks_wait(ranks);
    while (takes && r->capacity < label.count && status.ok) status = grow(r);
    if (!status.ok) return status;
    size_t frames = (size_t)label.count, offsets = frames * LABEL * sizeof *r->offsets;
    size_t sensed = frames * FACET_GATE_SENSED * sizeof *r->sensed;
    if (takes) {
        r->count = label.count, r->expert = label.expert;
        r->task = label.task, r->result = label.result;
        ranks_receive(ranks, from, r->rgb, frames * frame_bytes(r));
        ranks_receive(ranks, from, r->offsets, offsets);
        ranks_receive(ranks, from, r->sensed, sensed);
    } else {
        ranks_send(ranks, 0, r->rgb, frames * frame_bytes(r));
        ranks_send(ranks, 0, r->offsets, offsets);
        ranks_send(ranks, 0, r->sensed, sensed);
    }
    ranks_wait(ranks);
    return status;
}

// Flights of a block that begins at this one; each rank's has at most `each`.
static int block_size(const Collecting *work, int first, int each)
{
    int left = work->options->flights - first;
    return left < 0 ? 0 : left < each ? left : each;
}

// The blocks of all ranks, which begin at flight `first`, in their order.
static FacetStatus hand_over_all(const FacetGateSink *sink, const Collecting *work, int first,
                                 int each)
{
    FacetRanks *ranks = work->options->ranks;
    bool leads = ranks_lead(ranks);
    for (int rank = 0; rank < facet_ranks_count(ranks); rank++, first += each)
        for (int i = 0; i < block_size(work, first, each); i++) {
            Recording *r = &work->recordings[i];
            bool mine = facet_ranks_rank(ranks) == rank;
            if (mine != leads) TRY(pass_on(r, ranks, rank));
            if (leads) TRY(hand_over(sink, r, first + i));
        }
    return status_ok();
}

static FacetStatus fly_blocks(const FacetGateSink *sink, Collecting *work, FacetPool *pool)
{
    FacetRanks *ranks = work->options->ranks;
    int count = facet_ranks_count(ranks), share = (work->options->flights + count - 1) / count;
    int each = share < BLOCK ? share : BLOCK;
    for (int first = 0; first < work->options->flights; first += each * count) {
        work->first = first + each * facet_ranks_rank(ranks);
        int flights = block_size(work, work->first, each);
        TRY(ranks_agree(ranks, pool_try(pool, flights, fly_one, work)));
        TRY(hand_over_all(sink, work, first, each));
    }
    return status_ok();
}

static FacetStatus check(const FacetGateWorld *world, const FacetGateCollection *options)
{
    const FacetCamera *camera = &world->camera;
    if (options->task_count < 1)
        return status_fail(FACET_BAD_ARGUMENT, "flights: expected a task, found none");
    if (!(options->redrawn >= 0.0 && options->redrawn <= 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "redrawn flights: expected a share from 0 to 1, found %g",
                           options->redrawn);
    if (!(options->near >= 0.0 && options->near <= 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "flights that start near: expected a share from 0 to 1, found %g",
                           options->near);
    if (options->shrink < 1 || camera->width % options->shrink || camera->height % options->shrink)
        return status_fail(FACET_BAD_ARGUMENT, "shrink: expected a divisor of %d and %d, found %d",
                           camera->width, camera->height, options->shrink);
    return status_ok();
}

FacetStatus facet_gate_collect(const FacetGateSink *sink, const FacetGateWorld *world,
                               const FacetGateCollection *options, const FacetGateCrew *crew,
                               FacetPool *pool, const FacetProgress *progress)
{
    TRY(check(world, options));
    RanksWatch watch;
    Progress flights;
    ranks_watch_begin(&watch, options->ranks, progress);
    progress_begin(&flights, &watch.progress, "flights", options->flights);
    int width = options->blind ? 0 : world->camera.width / options->shrink;
    int height = options->blind ? 0 : world->camera.height / options->shrink;
    Recording recordings[BLOCK];
    for (int i = 0; i < BLOCK; i++)
        recordings[i] = (Recording){.world = world,
                                    .progress = &flights,
                                    .width = width,
                                    .height = height,
                                    .shrink = options->shrink};
    Pilots pilots = {0};
    FacetStatus status = crew ? pilots_make(&pilots, crew, facet_pool_threads(pool)) : status_ok();
    if (status.ok) {
        Collecting work = {.world = world,
                           .options = options,
                           .pilots = crew ? &pilots : NULL,
                           .recordings = recordings,
                           .progress = &flights};
        status = fly_blocks(sink, &work, pool);
        if (crew) pilots_release(&pilots);
    }
    for (int i = 0; i < BLOCK; i++) {
        free(recordings[i].rgb);
        free(recordings[i].offsets);
        free(recordings[i].sensed);
    }
    progress_end(&flights);
    if (status.ok) ranks_watch_end(&watch);
    return status;
}
