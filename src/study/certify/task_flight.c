// Starts and changed plans of the certificates' flights (see certify/task_flight.h).
#include "certify/task_flight.h"

#include "base/status.h"
#include "math/geometry.h"
#include "policy/normalizer.h"

FacetStatus task_start(FacetQuadState *start, const FacetRace *race, FacetCourseTask task)
{
    FacetKeypoint expert[FACET_CHUNK_KEYPOINTS];
    FacetReference plan;
    FacetPlanner planner = facet_race_expert();
    TRY(planner.plan(expert, race, task, 0, planner.context));
    TRY(facet_reference_from_chunk(&plan, expert));
    *start = facet_flight_start(&race->model, &plan, facet_race_reference_speed(race, task));
    return status_ok();
}

uint64_t task_stream(const FacetRace *race, FacetCourseTask task)
{
    return (uint64_t)(task.track * race->speeds.openings + task.opening) << 32;
}

// Plan units a normalised unit: half the range of a channel.
static double unit_of(const Normalizer *normalizer, int channel)
{
    return normalizer ? 0.5 * (normalizer->max[channel] - normalizer->min[channel]) : 1.0;
}

void plan_change(FacetKeypoint out[FACET_CHUNK_KEYPOINTS],
                 const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const Normalizer *normalizer,
                 const double *change)
{
    FacetVec3 unit = vec3(unit_of(normalizer, 0), unit_of(normalizer, 1), unit_of(normalizer, 2));
    double speed_unit = unit_of(normalizer, 3);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++, change += FACET_CHUNK_CHANNELS) {
        FacetVec3 move = vec3_mul(unit, vec3(change[0], change[1], change[2]));
        out[i] =
            (FacetKeypoint){vec3_add(chunk[i].pos, move), chunk[i].speed + speed_unit * change[3]};
    }
}
