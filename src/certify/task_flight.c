// Starts and changed plans of the certificates' flights (see certify/task_flight.h).
#include "certify/task_flight.h"

Status task_start(QuadState *start, const Race *race, CourseTask task)
{
    Keypoint expert[CHUNK_KEYPOINTS];
    Reference plan;
    Planner planner = race_expert();
    TRY(planner.plan(expert, race, task, 0, planner.context));
    TRY(reference_from_chunk(&plan, expert));
    *start = flight_start(&race->model, &plan, race_reference_speed(race, task));
    return status_ok();
}

uint64_t task_stream(const Race *race, CourseTask task)
{
    return (uint64_t)(task.track * race->speeds.openings + task.opening) << 32;
}

// Plan units a normalised unit: half the range of a channel.
static double unit_of(const Normalizer *normalizer, int channel)
{
    return normalizer ? 0.5 * (normalizer->max[channel] - normalizer->min[channel]) : 1.0;
}

void plan_change(Keypoint out[CHUNK_KEYPOINTS], const Keypoint chunk[CHUNK_KEYPOINTS],
                 const Normalizer *normalizer, const double *change)
{
    Vec3 unit = vec3(unit_of(normalizer, 0), unit_of(normalizer, 1), unit_of(normalizer, 2));
    double speed_unit = unit_of(normalizer, 3);
    for (int i = 0; i < CHUNK_KEYPOINTS; i++, change += CHUNK_CHANNELS) {
        Vec3 move = vec3_mul(unit, vec3(change[0], change[1], change[2]));
        out[i] = (Keypoint){vec3_add(chunk[i].pos, move), chunk[i].speed + speed_unit * change[3]};
    }
}
