// The race study: a course with its speed map, planners, flights and their totals.
#include "base/pool.h"
#include "base/progress.h"
#include "base/status.h"
#include "factor/factor.h"
#include "race/speed_cache.h"
#include "race/streams.h"

#include <stdlib.h>

static FacetStatus make_factors(FacetRace *race)
{
    const FacetCourse *course = race->course;
    TRY(facet_factor_space_create(&race->factors));
    TRY(factor_space_add_factor(race->factors, "track"));
    for (int i = 0; i < course->track_count; i++)
        TRY(factor_space_add_value(race->factors, 0, course->tracks[i].name));
    TRY(factor_space_add_factor(race->factors, "size"));
    for (int i = 0; i < course->opening_count; i++)
        TRY(factor_space_add_value(race->factors, 1, course->openings[i].name));
    return status_ok();
}

// From the cache, or by a search that it then keeps.
static FacetStatus find_speeds(FacetRace *race, const FacetRaceOptions *options,
                               const FacetProgress *progress)
{
    const FacetCourse *course = race->course;
    uint64_t key = options->cache ? speed_cache_key(course, &race->model, &race->preset) : 0;
    if (options->cache && !options->search &&
        speed_cache_read(&race->speeds, options->cache, key, course->track_count,
                         course->opening_count))
        return status_ok();
    FacetStatus status = facet_speed_map_create(&race->speeds, course, &race->model, &race->preset,
                                                race->pool, progress);
    if (status.ok && options->cache) speed_cache_write(&race->speeds, options->cache, key);
    return status;
}

static FacetStatus open_parts(FacetRace *race, const FacetRaceOptions *options,
                              const FacetProgress *progress)
{
    FacetQuadParams params = facet_quad_params_default();
    if (options->quad) TRY(facet_quad_params_load(&params, options->quad));
    race->model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    TRY(facet_control_preset(&race->preset, options->preset ? options->preset : "race"));
    TRY(facet_course_load(&race->course, options->courses));
    TRY(make_factors(race));
    return find_speeds(race, options, progress);
}

FacetStatus facet_race_open(FacetRace **out, const FacetRaceOptions *options, FacetPool *pool,
                            const FacetProgress *progress)
{
    *out = NULL;
    FacetRace *race = calloc(1, sizeof *race);
    if (!race) return status_fail(FACET_NO_MEMORY, "out of memory for a race study");
    race->pool = pool;
    FacetStatus status = open_parts(race, options, progress);
    if (!status.ok) {
        facet_race_close(race);
        return status;
    }
    *out = race;
    return status;
}

void facet_race_close(FacetRace *race)
{
    if (!race) return;
    facet_speed_map_destroy(&race->speeds);
    facet_factor_space_destroy(race->factors);
    facet_course_destroy(race->course);
    free(race);
}

int facet_race_task_max(const FacetRace *race)
{
    return race->course->track_count * race->course->opening_count;
}

int facet_race_feasible_tasks(FacetCourseTask *tasks, const FacetRace *race)
{
    int count = 0;
    for (int track = 0; track < race->course->track_count; track++)
        for (int opening = 0; opening < race->course->opening_count; opening++) {
            FacetCourseTask task = {track, opening};
            if (facet_speed_map_at(&race->speeds, task)->feasible) tasks[count++] = task;
        }
    return count;
}

int facet_race_feasible_count(const FacetRace *race)
{
    int count = 0;
    for (int i = 0; i < facet_race_task_max(race); i++) count += race->speeds.cells[i].feasible;
    return count;
}

double facet_race_reference_speed(const FacetRace *race, FacetCourseTask task)
{
    return facet_speed_map_at(&race->speeds, task)->speed;
}

FacetFlightSetup facet_race_setup(const FacetRace *race, FacetCourseTask task)
{
    return (FacetFlightSetup){
        .model = &race->model,
        .preset = &race->preset,
        .arena = &race->course->arena,
        .track = &race->course->tracks[task.track],
        .half_width = race->course->openings[task.opening].half_width,
    };
}

FacetFactorTask facet_race_factor_task(FacetCourseTask task)
{
    FacetFactorTask out = facet_factor_task_null();
    out.value[0] = task.track;
    out.value[1] = task.opening;
    return out;
}

// ---- Planners ---------------------------------------------------------------------------------

static FacetStatus plan_as_expert(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                                  FacetCourseTask task, uint64_t seed, void *context)
{
    (void)seed, (void)context;
    const FacetTrack *track = &race->course->tracks[task.track];
    return facet_expert_chunk(chunk, track, track->points[0],
                              facet_race_reference_speed(race, task));
}

FacetPlanner facet_race_expert(void)
{
    return (FacetPlanner){.name = "expert", .plan = plan_as_expert};
}

// ---- Flights ----------------------------------------------------------------------------------

// Flies a plan and measures how far the flown path lies from another one, step by step.
static FacetFlight fly_beside(double *mean_distance, FacetFlightTrace *trace,
                              const FacetFlightSetup *setup, const FacetReference *plan,
                              const FacetReference *beside, FacetQuadState start)
{
    FacetFlightRun run;
    FacetCarrot follower = {0};
    double sum = 0.0;
    facet_flight_begin(&run, setup, plan, start);
    facet_flight_record(trace, &run);
    while (facet_flight_step(&run)) {
        facet_flight_record(trace, &run);
        double reach = follower.arc + setup->preset->carrot.window;
        follower = facet_carrot_locate(beside, run.state.pos_world, follower.arc, reach);
        sum += follower.distance;
    }
    *mean_distance = run.flight.steps > 0 ? sum / (double)run.flight.steps : 0.0;
    return facet_flight_result(&run);
}

FacetStatus facet_race_fly_traced(FacetRaceResult *result, FacetFlightTrace *trace,
                                  const FacetRace *race, const FacetPlanner *planner,
                                  FacetCourseTask task, uint64_t seed, double gusts)
{
    FacetKeypoint expert[FACET_CHUNK_KEYPOINTS];
    FacetReference plan, truth;
    FacetFlightSetup setup = facet_race_setup(race, task);
    *result = (FacetRaceResult){.task = task,
                                .held_out = planner->held_out &&
                                            planner->held_out(race, task, planner->context),
                                .seed = seed,
                                .speed_reference = facet_race_reference_speed(race, task)};
    TRY(plan_as_expert(expert, race, task, seed, NULL));
    TRY(facet_reference_from_chunk(&truth, expert));
    TRY(planner->plan(result->plan, race, task, seed, planner->context));
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        result->speed_generated += result->plan[i].speed / FACET_CHUNK_KEYPOINTS;
    FacetStatus planned = facet_reference_from_chunk(&plan, result->plan);
    if (!planned.ok) { // a plan that nothing can fly is a flight that crashed at once
        result->flight = (FacetFlight){.end = FACET_FLIGHT_CRASHED,
                                       .crash = FACET_CRASH_NONFINITE,
                                       .gate_count = setup.track->gate_count};
        return status_ok();
    }
    setup.gusts = (FacetGusts){
        .speed = gusts, .time = 1.0, .seed = seed, .stream = race_gust_stream(race, task)};
    result->flight = fly_beside(&result->error, trace, &setup, &plan, &truth,
                                facet_flight_start(&race->model, &truth, result->speed_reference));
    return status_ok();
}

FacetStatus facet_race_fly(FacetRaceResult *result, const FacetRace *race,
                           const FacetPlanner *planner, FacetCourseTask task, uint64_t seed,
                           double gusts)
{
    return facet_race_fly_traced(result, NULL, race, planner, task, seed, gusts);
}

typedef struct FlyWork {
    FacetRaceResult *results;
    FacetFlightTrace *traces; // or NULL
    const FacetRace *race;
    const FacetPlanner *planner;
    const FacetCourseTask *tasks;
    uint64_t seed;
    double gusts;
    Progress *progress;
} FlyWork;

static FacetStatus fly_one(void *context, int index, int worker)
{
    (void)worker;
    const FlyWork *work = context;
    FacetFlightTrace *trace = work->traces ? &work->traces[index] : NULL;
    TRY(progress_add(work->progress, 0, NULL));
    TRY(facet_race_fly_traced(&work->results[index], trace, work->race, work->planner,
                              work->tasks[index], work->seed, work->gusts));
    return progress_add(work->progress, 1, NULL);
}

FacetStatus facet_race_fly_all_traced(FacetRaceResult *results, FacetFlightTrace *traces,
                                      const FacetRace *race, const FacetPlanner *planner,
                                      const FacetCourseTask *tasks, int count, uint64_t seed,
                                      double gusts, const FacetProgress *progress)
{
    Progress flights;
    progress_begin(&flights, progress, "flights", count);
    FlyWork work = {results, traces, race, planner, tasks, seed, gusts, &flights};
    FacetStatus status = pool_try(race->pool, count, fly_one, &work);
    progress_end(&flights);
    return status;
}

FacetStatus facet_race_fly_all(FacetRaceResult *results, const FacetRace *race,
                               const FacetPlanner *planner, const FacetCourseTask *tasks, int count,
                               uint64_t seed, double gusts, const FacetProgress *progress)
{
    return facet_race_fly_all_traced(results, NULL, race, planner, tasks, count, seed, gusts,
                                     progress);
}

static void tally_add(FacetRaceTally *tally, const FacetFlight *flight)
{
    tally->passed += flight->passed;
    tally->gates += flight->gate_count;
}

FacetRaceTotals facet_race_totals(const FacetRaceResult *results, int count)
{
    FacetRaceTotals totals = {0};
    for (int i = 0; i < count; i++) {
        const FacetFlight *flight = &results[i].flight;
        tally_add(&totals.all, flight);
        tally_add(results[i].held_out ? &totals.held_out : &totals.training, flight);
        totals.crashes += flight->end == FACET_FLIGHT_CRASHED;
    }
    return totals;
}
