// The race study: a course with its speed map, planners, flights and their totals.
#include <facet/race.h>

#include <stdlib.h>

static Status make_factors(Race *race)
{
    const Course *course = race->course;
    TRY(factor_space_create(&race->factors));
    TRY(factor_space_add_factor(race->factors, "track"));
    for (int i = 0; i < course->track_count; i++)
        TRY(factor_space_add_value(race->factors, 0, course->tracks[i].name));
    TRY(factor_space_add_factor(race->factors, "size"));
    for (int i = 0; i < course->opening_count; i++)
        TRY(factor_space_add_value(race->factors, 1, course->openings[i].name));
    return status_ok();
}

static Status open_parts(Race *race, const RaceOptions *options)
{
    QuadParams params = quad_params_default();
    if (options->quad) TRY(quad_params_load(&params, options->quad));
    race->model = quad_model(&params, 1.0 / QUAD_RATE);
    TRY(control_preset(&race->preset, options->preset ? options->preset : "race"));
    TRY(course_load(&race->course, options->courses));
    TRY(make_factors(race));
    TRY(pool_create(&race->pool, options->threads));
    Progress *progress = progress_begin("speed map", race_task_max(race), options->quiet);
    Status status = speed_map_create(&race->speeds, race->course, &race->model, &race->preset,
                                     race->pool, progress);
    progress_end(progress);
    return status;
}

Status race_open(Race **out, const RaceOptions *options)
{
    *out = NULL;
    Race *race = calloc(1, sizeof *race);
    if (!race) return status_fail("out of memory for a race study");
    Status status = open_parts(race, options);
    if (!status.ok) {
        race_close(race);
        return status;
    }
    *out = race;
    return status;
}

void race_close(Race *race)
{
    if (!race) return;
    speed_map_destroy(&race->speeds);
    pool_destroy(race->pool);
    factor_space_destroy(race->factors);
    course_destroy(race->course);
    free(race);
}

int race_task_max(const Race *race)
{
    return race->course->track_count * race->course->opening_count;
}

int race_feasible_tasks(CourseTask *tasks, const Race *race)
{
    int count = 0;
    for (int track = 0; track < race->course->track_count; track++)
        for (int opening = 0; opening < race->course->opening_count; opening++) {
            CourseTask task = {track, opening};
            if (speed_map_at(&race->speeds, task)->feasible) tasks[count++] = task;
        }
    return count;
}

int race_feasible_count(const Race *race)
{
    int count = 0;
    for (int i = 0; i < race_task_max(race); i++) count += race->speeds.cells[i].feasible;
    return count;
}

double race_reference_speed(const Race *race, CourseTask task)
{
    return speed_map_at(&race->speeds, task)->speed;
}

FlightSetup race_setup(const Race *race, CourseTask task)
{
    return (FlightSetup){
        .model = &race->model,
        .preset = &race->preset,
        .arena = &race->course->arena,
        .track = &race->course->tracks[task.track],
        .half_width = race->course->openings[task.opening].half_width,
    };
}

FactorTask race_factor_task(CourseTask task)
{
    FactorTask out = factor_task_null();
    out.value[0] = task.track;
    out.value[1] = task.opening;
    return out;
}

// ---- Planners ---------------------------------------------------------------------------------

static Status plan_as_expert(Keypoint chunk[CHUNK_KEYPOINTS], const Race *race, CourseTask task,
                             uint64_t seed, void *context)
{
    (void)seed, (void)context;
    const Track *track = &race->course->tracks[task.track];
    return expert_chunk(chunk, track, track->points[0], race_reference_speed(race, task));
}

Planner race_expert(void) { return (Planner){.name = "expert", .plan = plan_as_expert}; }

// ---- Flights ----------------------------------------------------------------------------------

// Flies a plan and measures how far the flown path lies from another one, step by step.
static Flight fly_beside(double *mean_distance, FlightTrace *trace, const FlightSetup *setup,
                         const Reference *plan, const Reference *beside, QuadState start)
{
    FlightRun run;
    Carrot follower = {0};
    double sum = 0.0;
    flight_begin(&run, setup, plan, start);
    flight_record(trace, &run);
    while (flight_step(&run)) {
        flight_record(trace, &run);
        double reach = follower.arc + setup->preset->carrot.window;
        follower = carrot_locate(beside, run.state.pos_world, follower.arc, reach);
        sum += follower.distance;
    }
    *mean_distance = run.flight.steps > 0 ? sum / (double)run.flight.steps : 0.0;
    return flight_result(&run);
}

Status race_fly_traced(RaceResult *result, FlightTrace *trace, const Race *race,
                       const Planner *planner, CourseTask task, uint64_t seed, double gusts)
{
    Keypoint expert[CHUNK_KEYPOINTS];
    Reference plan, truth;
    FlightSetup setup = race_setup(race, task);
    *result = (RaceResult){.task = task,
                           .held_out = course_is_held_out(race->course, task),
                           .seed = seed,
                           .speed_reference = race_reference_speed(race, task)};
    TRY(plan_as_expert(expert, race, task, seed, NULL));
    TRY(reference_from_chunk(&truth, expert));
    TRY(planner->plan(result->plan, race, task, seed, planner->context));
    for (int i = 0; i < CHUNK_KEYPOINTS; i++)
        result->speed_generated += result->plan[i].speed / CHUNK_KEYPOINTS;
    Status planned = reference_from_chunk(&plan, result->plan);
    if (!planned.ok) { // a plan that nothing can fly is a flight that crashed at once
        result->flight = (Flight){
            .end = FLIGHT_CRASHED, .crash = CRASH_NONFINITE, .gate_count = setup.track->gate_count};
        return status_ok();
    }
    setup.gusts = (Gusts){.speed = gusts,
                          .time = 1.0,
                          .seed = seed,
                          .stream = (uint64_t)(task.track * race->speeds.openings + task.opening)};
    result->flight = fly_beside(&result->error, trace, &setup, &plan, &truth,
                                flight_start(&race->model, &truth, result->speed_reference));
    return status_ok();
}

Status race_fly(RaceResult *result, const Race *race, const Planner *planner, CourseTask task,
                uint64_t seed, double gusts)
{
    return race_fly_traced(result, NULL, race, planner, task, seed, gusts);
}

typedef struct FlyWork {
    RaceResult *results;
    Status *statuses;
    const Race *race;
    const Planner *planner;
    const CourseTask *tasks;
    uint64_t seed;
    double gusts;
    Progress *progress;
} FlyWork;

static void fly_one(void *context, int index, int worker)
{
    (void)worker;
    const FlyWork *work = context;
    work->statuses[index] = race_fly(&work->results[index], work->race, work->planner,
                                     work->tasks[index], work->seed, work->gusts);
    progress_add(work->progress, 1, NULL);
}

Status race_fly_all(RaceResult *results, const Race *race, const Planner *planner,
                    const CourseTask *tasks, int count, uint64_t seed, double gusts,
                    Progress *progress)
{
    Status *statuses = calloc((size_t)count + 1, sizeof *statuses);
    if (!statuses) return status_fail("out of memory for %d flights", count);
    FlyWork work = {results, statuses, race, planner, tasks, seed, gusts, progress};
    pool_for(race->pool, count, fly_one, &work);
    Status status = status_ok();
    for (int i = count - 1; i >= 0; i--)
        if (!statuses[i].ok) status = statuses[i];
    free(statuses);
    return status;
}

static void tally_add(RaceTally *tally, const Flight *flight)
{
    tally->passed += flight->passed;
    tally->gates += flight->gate_count;
}

RaceTotals race_totals(const RaceResult *results, int count)
{
    RaceTotals totals = {0};
    for (int i = 0; i < count; i++) {
        const Flight *flight = &results[i].flight;
        tally_add(&totals.all, flight);
        tally_add(results[i].held_out ? &totals.held_out : &totals.training, flight);
        totals.crashes += flight->end == FLIGHT_CRASHED;
    }
    return totals;
}
