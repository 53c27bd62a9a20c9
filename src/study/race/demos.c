// Demonstrations: rollouts of every feasible task, labelled with the expert's command.
//
// A rollout starts off the track's start and slower than the reference, and flies in gusts. Where a
// pilot is given, it flies some stretches of half a second in the expert's stead (DAgger; Ross et
// al., 2011), so that the states are those a learned policy meets. The label never depends on who
// flew: it is the 32 keypoints that the expert commands from where the rollout began. Observations
// are the states at which the vehicle had covered k/31 of its plan.
#include "base/pool.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "math/geometry.h"
#include "quad/quad.h"
#include "race/streams.h"

#include <facet_study/dataset.h>
#include <facet_study/race.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

enum { STATE_DIM = 13, BLOCK = 256 }; // rollouts flown between two visits to the file

static const double STRETCH = 0.5; // s that one plan is flown before the next choice

typedef struct Demo {
    double actions[FACET_CHUNK_KEYPOINTS][FACET_CHUNK_CHANNELS];
    double states[FACET_CHUNK_KEYPOINTS][STATE_DIM];
} Demo;

typedef struct DemoWork {
    const FacetRace *race;
    const FacetDemoOptions *options;
    const FacetCourseTask *tasks;
    int first; // rollout number of demos[0]
    Demo *demos;
    Progress progress;
} DemoWork;

FacetDemoOptions facet_demo_defaults(void)
{
    return (FacetDemoOptions){.rollouts = 50,
                              .start_spread = 0.15,
                              .speed_least = 0.7,
                              .gust_speed = 0.5,
                              .pilot_share = 0.5};
}

static void put_state(double out[STATE_DIM], const FacetQuadState *s)
{
    const double values[STATE_DIM] = {
        s->pos_world.x,  s->pos_world.y,  s->pos_world.z, s->attitude.w,  s->attitude.x,
        s->attitude.y,   s->attitude.z,   s->vel_world.x, s->vel_world.y, s->vel_world.z,
        s->omega_body.x, s->omega_body.y, s->omega_body.z};
    for (int i = 0; i < STATE_DIM; i++) out[i] = values[i];
}

// Flies the rollout and fills in the states.
static void fly_rollout(Demo *demo, const FacetFlightSetup *setup, const FacetReference *expert,
                        const FacetReference *pilot, FacetQuadState start, double pilot_share,
                        FacetRng *rng)
{
    long stretch = (long)(STRETCH / setup->model->step);
    int sampled = 0;
    FacetFlightRun run;
    facet_flight_begin(&run, setup, expert, start);
    do {
        if (pilot && run.flight.steps % stretch == 0)
            facet_flight_replan(&run, rng_uniform(rng) < pilot_share ? pilot : expert);
        double covered =
            run.carrot.arc / facet_reference_length(run.plan) * (FACET_CHUNK_KEYPOINTS - 1);
        while (sampled < FACET_CHUNK_KEYPOINTS && covered >= sampled)
            put_state(demo->states[sampled++], &run.state);
    } while (facet_flight_step(&run));
    // The last sample, and any that the flight did not live to see, hold the final state.
    FacetQuadState final = quad_finite(&run.state) ? run.state : start;
    while (sampled < FACET_CHUNK_KEYPOINTS) put_state(demo->states[sampled++], &final);
}

static FacetStatus make_demo(Demo *demo, const FacetRace *race, const FacetDemoOptions *options,
                             FacetCourseTask task, int number)
{
    const FacetTrack *track = &race->course->tracks[task.track];
    double reference_speed = facet_race_reference_speed(race, task);
    uint64_t stream = race_demo_stream(number); // the next one is the gusts'
    FacetRng rng = rng_make(options->seed, stream);
    // One draw a statement: the order of arguments is the compiler's.
    double z = rng_normal(&rng), y = rng_normal(&rng), x = rng_normal(&rng);
    FacetVec3 offset = vec3(x, y, z);
    FacetVec3 origin = vec3_axpy(track->points[0], options->start_spread, offset);
    origin.z = fmax(origin.z, race->course->arena.min.z + 0.25);
    double speed = reference_speed * rng_range(&rng, options->speed_least, 1.0);

    FacetKeypoint label[FACET_CHUNK_KEYPOINTS], other[FACET_CHUNK_KEYPOINTS];
    FacetReference expert, pilot;
    bool piloted = false;
    TRY(facet_expert_chunk(label, track, origin, reference_speed));
    TRY(facet_reference_from_chunk(&expert, label));
    if (options->pilot) {
        uint64_t seed = options->seed + (uint64_t)number;
        TRY(options->pilot->plan(other, race, task, seed, options->pilot->context));
        piloted = facet_reference_from_chunk(&pilot, other).ok;
    }
    FacetFlightSetup setup = facet_race_setup(race, task);
    setup.gusts = (FacetGusts){options->gust_speed, 1.0, options->seed, stream + 1};
    fly_rollout(demo, &setup, &expert, piloted ? &pilot : NULL,
                facet_flight_start(&race->model, &expert, speed), options->pilot_share, &rng);
    for (int k = 0; k < FACET_CHUNK_KEYPOINTS; k++) {
        demo->actions[k][0] = label[k].pos.x;
        demo->actions[k][1] = label[k].pos.y;
        demo->actions[k][2] = label[k].pos.z;
        demo->actions[k][3] = label[k].speed;
    }
    return status_ok();
}

static FacetStatus make_one(void *context, int index, int worker)
{
    (void)worker;
    DemoWork *work = context;
    int number = work->first + index;
    Demo *demo = &work->demos[index];
    TRY(progress_add(&work->progress, 0, NULL));
    TRY(make_demo(demo, work->race, work->options, work->tasks[number / work->options->rollouts],
                  number));
    return progress_add(&work->progress, 1, NULL);
}

static FacetStatus write_blocks(FacetDatasetWriter *writer, DemoWork *work, int total)
{
    for (work->first = 0; work->first < total; work->first += BLOCK) {
        int count = total - work->first < BLOCK ? total - work->first : BLOCK;
        TRY(pool_try(work->race->pool, count, make_one, work));
        for (int i = 0; i < count; i++) {
            Demo *demo = &work->demos[i];
            FacetCourseTask task = work->tasks[(work->first + i) / work->options->rollouts];
            const double *observed[] = {demo->states[0]};
            TRY(facet_dataset_writer_append(writer, facet_race_factor_task(task), demo->actions[0],
                                            observed));
        }
    }
    return status_ok();
}

static FacetStatus write_file(const char *path, DemoWork *work, int total)
{
    char kwargs[256];
    const FacetDemoOptions *options = work->options;
    snprintf(kwargs, sizeof kwargs,
             "{\"seed\": %llu, \"rollouts\": %d, \"start_spread\": %.17g, \"speed_least\": %.17g, "
             "\"gust_speed\": %.17g, \"preset\": \"%s\"}",
             (unsigned long long)options->seed, options->rollouts, options->start_spread,
             options->speed_least, options->gust_speed, work->race->preset.name);
    const FacetDatasetField state = {"state", STATE_DIM};
    const FacetDatasetLayout layout = {
        .space = work->race->factors,
        .steps = FACET_CHUNK_KEYPOINTS,
        .action_dim = FACET_CHUNK_CHANNELS,
        .observations = &state,
        .observation_count = 1,
        .env_name = "facet-race",
        .env_type = 2, // robomimic's "gym"
        .env_kwargs = kwargs,
    };
    FacetDatasetWriter *writer;
    TRY(facet_dataset_writer_open(&writer, path, &layout));
    FacetStatus status = write_blocks(writer, work, total);
    if (status.ok && progress_stopped(&work->progress))
        status = status_fail(FACET_INTERRUPTED, "interrupted");
    if (status.ok) return facet_dataset_writer_close(writer);
    facet_dataset_writer_abort(writer);
    if (status.code == FACET_INTERRUPTED)
        return status_fail(FACET_INTERRUPTED, "%s: interrupted, not written", path);
    return status;
}

FacetStatus facet_race_write_demos(const char *path, const FacetRace *race,
                                   const FacetDemoOptions *options, const FacetProgress *progress)
{
    FacetCourseTask *tasks = calloc((size_t)facet_race_task_max(race), sizeof *tasks);
    Demo *demos = calloc(BLOCK, sizeof *demos);
    FacetStatus status =
        tasks && demos ? status_ok() : status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    int count = facet_race_feasible_count(race);
    if (status.ok && count > 0 && options->rollouts > INT_MAX / count)
        status = status_fail(
            FACET_BAD_FILE, "%s: expected at most %d demonstrations, found %d rollouts of %d tasks",
            path, INT_MAX, options->rollouts, count);
    if (status.ok) {
        int total = facet_race_feasible_tasks(tasks, race) * options->rollouts;
        DemoWork work = {.race = race, .options = options, .tasks = tasks, .demos = demos};
        progress_begin(&work.progress, progress, "demos", total);
        status = write_file(path, &work, total);
        progress_end(&work.progress);
    }
    free(tasks);
    free(demos);
    return status;
}
