// The expert: its command on a track, and the highest speed at which that command is flyable.
//
// The search flies candidates closed loop and works upwards as a pilot does: from the slowest speed
// in steps of 0.25 m/s to the first that clears every gate with its reserve, on to the first that
// no longer does, and then by bisection to 0.01 m/s between the two. Speeds above that first
// failure do not count, even where the drift outwards happens to cancel the cut corner again.
#include "base/pool.h"
#include "base/progress.h"
#include "base/status.h"
#include "control/control.h"
#include "flight/flight.h"

#include <math.h>
#include <stdlib.h>

static const double LADDER_STEP = 0.25, SPEED_TOLERANCE = 0.01; // m/s

FacetStatus facet_expert_chunk(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetTrack *track,
                               FacetVec3 start, double speed)
{
    FacetVec3 points[FACET_TRACK_POINTS_MAX];
    points[0] = start;
    for (int i = 1; i < track->point_count; i++) points[i] = track->points[i];
    Spline *spline;
    FacetStatus status = spline_create(&spline, points, track->point_count);
    if (!status.ok) return status_fail(status.code, "track %s: %s", track->name, status.text);
    chunk_from_spline(chunk, spline, speed);
    spline_destroy(spline);
    return status;
}

// The worst miss of a flight over the half-width; infinite when the flight did not finish.
static double worst_ratio(const FacetFlight *flight, double half_width)
{
    double worst = flight->end == FACET_FLIGHT_FINISHED ? 0.0 : HUGE_VAL;
    for (int i = 0; i < flight->gate_count; i++) {
        const FacetPassage *gate = &flight->gates[i];
        worst = fmax(worst, gate->crossed ? gate->miss / half_width : HUGE_VAL);
    }
    return worst;
}

// Flies one candidate. The plan's shape does not depend on the speed. A miss that neither clears
// nor betters the best candidate so far ends the flight.
static bool clears(FacetSpeedCell *cell, const FacetFlightSetup *task,
                   FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], double speed)
{
    const double enough = 1.0 - EXPERT_RESERVE;
    FacetFlightSetup setup = *task;
    setup.give_up = fmax(cell->best_ratio, enough) * task->half_width;
    FacetReference plan;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i].speed = speed;
    if (!facet_reference_from_chunk(&plan, chunk).ok) return false;
    FacetFlight flight =
        facet_flight_fly(&setup, &plan, facet_flight_start(setup.model, &plan, speed), NULL);
    double ratio = worst_ratio(&flight, setup.half_width);
    cell->best_ratio = fmin(cell->best_ratio, ratio);
    return ratio <= enough;
}

// The highest speed at which the command clears, or 0 when none does.
static double highest_speed(FacetSpeedCell *cell, const FacetFlightSetup *setup,
                            FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], double speed_min,
                            double speed_max)
{
    double speed = speed_min;
    while (!clears(cell, setup, chunk, speed)) {
        speed += LADDER_STEP;
        if (speed > speed_max) return 0.0;
    }
    double failed = speed;
    do {
        speed = failed;
        failed = fmin(speed + LADDER_STEP, speed_max);
    } while (speed < speed_max && clears(cell, setup, chunk, failed));
    while (failed - speed > SPEED_TOLERANCE) {
        double middle = 0.5 * (speed + failed);
        if (clears(cell, setup, chunk, middle))
            speed = middle;
        else
            failed = middle;
    }
    return speed;
}

FacetStatus expert_search(FacetSpeedCell *cell, const FacetFlightSetup *setup, double speed_min,
                          double speed_max)
{
    *cell = (FacetSpeedCell){.best_ratio = INFINITY};
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetStatus status =
        facet_expert_chunk(chunk, setup->track, setup->track->points[0], speed_max);
    // A track that no curve goes through is a task that nobody can fly.
    if (status.code == FACET_BAD_ARGUMENT || status.code == FACET_NOT_FINITE) return status_ok();
    if (!status.ok) return status;
    cell->speed = highest_speed(cell, setup, chunk, speed_min, speed_max);
    cell->feasible = cell->speed > 0.0;
    return status_ok();
}

typedef struct MapWork {
    FacetSpeedMap *map;
    const FacetCourse *course;
    const FacetQuadModel *model;
    const FacetControlPreset *preset;
    Progress *progress;
} MapWork;

static FacetStatus search_cell(void *context, int index, int worker)
{
    (void)worker;
    const MapWork *work = context;
    const FacetCourse *course = work->course;
    TRY(progress_add(work->progress, 0, NULL));
    FacetFlightSetup setup = {
        .model = work->model,
        .preset = work->preset,
        .arena = &course->arena,
        .track = &course->tracks[index / course->opening_count],
        .half_width = course->openings[index % course->opening_count].half_width,
    };
    TRY(expert_search(&work->map->cells[index], &setup, course->speed_min, course->speed_max));
    return progress_add(work->progress, 1, NULL);
}

FacetStatus facet_speed_map_create(FacetSpeedMap *map, const FacetCourse *course,
                                   const FacetQuadModel *model, const FacetControlPreset *preset,
                                   FacetPool *pool, const FacetProgress *progress)
{
    int count = course->track_count * course->opening_count;
    *map = (FacetSpeedMap){course->track_count, course->opening_count,
                           calloc((size_t)count, sizeof *map->cells)};
    if (!map->cells)
        return status_fail(FACET_NO_MEMORY, "out of memory for a speed map of %d cells", count);
    Progress cells;
    progress_begin(&cells, progress, "speed map", count);
    MapWork work = {map, course, model, preset, &cells};
    FacetStatus status = pool_try(pool, count, search_cell, &work);
    progress_end(&cells);
    if (!status.ok) facet_speed_map_destroy(map);
    return status;
}

void facet_speed_map_destroy(FacetSpeedMap *map)
{
    free(map->cells);
    map->cells = NULL;
}

const FacetSpeedCell *facet_speed_map_at(const FacetSpeedMap *map, FacetCourseTask task)
{
    return &map->cells[task.track * map->openings + task.opening];
}
