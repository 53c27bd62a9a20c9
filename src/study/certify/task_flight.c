// Starts and changed plans of the certificates' flights (see certify/task_flight.h).
#include "certify/task_flight.h"

#include "base/status.h"
#include "policy/normalizer.h"

FacetStatus task_start(FacetQuadState *start, const FacetRace *race, FacetCourseTask task,
                       double pace)
{
    FacetKeypoint expert[FACET_CHUNK_KEYPOINTS];
    FacetReference plan;
    FacetPlanner planner = facet_race_expert();
    TRY(planner.plan(expert, race, task, 0, planner.context));
    TRY(facet_reference_from_chunk(&plan, expert));
    *start = facet_flight_start(&race->model, &plan, pace * facet_race_reference_speed(race, task));
    return status_ok();
}

// Moves a row of a plan by a normalised change. Without a knee the units are the same everywhere;
// with one they depend on where the row is. A change of 0 leaves the row's bits as they are.
static void move_row(double x[FACET_CHUNK_CHANNELS], const Normalizer *normalizer,
                     const double *change)
{
    if (!normalizer || normalizer->knee == 0.0) {
        for (int i = 0; i < FACET_CHUNK_CHANNELS; i++)
            x[i] += (normalizer ? normalizer_slope(normalizer, i, 0.0) : 1.0) * change[i];
        return;
    }
    double y[FACET_CHUNK_CHANNELS], before[FACET_CHUNK_CHANNELS], after[FACET_CHUNK_CHANNELS];
    normalizer_apply(y, normalizer, x, 1);
    normalizer_invert(before, normalizer, y, 1);
    for (int i = 0; i < FACET_CHUNK_CHANNELS; i++) y[i] += change[i];
    normalizer_invert(after, normalizer, y, 1);
    for (int i = 0; i < FACET_CHUNK_CHANNELS; i++) x[i] += after[i] - before[i];
}

void plan_change(FacetKeypoint out[FACET_CHUNK_KEYPOINTS],
                 const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const Normalizer *normalizer,
                 const double *change)
{
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++, change += FACET_CHUNK_CHANNELS) {
        FacetVec3 pos = chunk[i].pos;
        double row[FACET_CHUNK_CHANNELS] = {pos.x, pos.y, pos.z, chunk[i].speed};
        move_row(row, normalizer, change);
        out[i] = (FacetKeypoint){{row[0], row[1], row[2]}, row[3]};
    }
}
