// What the tests of this room share: the shipped world, pilots that are wrong in known ways, and a
// venue of their own.
#ifndef FACET_TESTS_GATE_GATES_H
#define FACET_TESTS_GATE_GATES_H

#include "base/status.h"
#include "camera/scenes.h"
#include "flying.h"
#include "gate/beacon.h"

#include <facet_study/gate.h>

// The courses that ship, from where the tests run.
static inline FacetGateWorld *shipped_world(void)
{
    FacetGateWorld *world;
    assert_ok(facet_gate_world_create(&world, NULL));
    return world;
}

static inline FacetFactorTask task_of(const FacetGateWorld *world, const char *text)
{
    FacetFactorTask task;
    assert_ok(facet_factor_task_parse(&task, world->space, text, FACET_FACTOR_MISSING_REFUSED));
    return task;
}

// A pilot whose offsets are the expert's, all shifted: it takes itself to be `shift` (m, world)
// away from where it is.
typedef struct ShiftedPilot {
    const FacetGateWorld *world;
    FacetVec3 shift;
    bool sees;
} ShiftedPilot;

static inline FacetStatus plan_shifted(double *offsets, void *context, const FacetGateView *view)
{
    const ShiftedPilot *pilot = context;
    facet_gate_expert_offsets(offsets, pilot->world, view->trial->task, view->truth);
    FacetVec3 shift = mat3_tmul_vec3(quat_to_mat3(view->truth->attitude), pilot->shift);
    for (int k = 0; k < FACET_GATE_HORIZON; k++) {
        offsets[FACET_GATE_DIM * k + 0] -= shift.x;
        offsets[FACET_GATE_DIM * k + 1] -= shift.y;
        offsets[FACET_GATE_DIM * k + 2] -= shift.z;
    }
    return status_ok();
}

static inline FacetGatePilot shifted(ShiftedPilot *pilot)
{
    return (FacetGatePilot){.plan = plan_shifted, .context = pilot, .sees = pilot->sees};
}

// Where a place in the venue's axes is, seen from the vehicle, by what beacon and gyro tell: from
// three of the marks.
static inline FacetVec3 offset_by(const double sensed[FACET_GATE_SENSED], FacetVec3 place)
{
    const int marks[] = {0, BEACON_COLUMNS - 1, BEACON_MARKS - BEACON_COLUMNS};
    FacetVec3 seen[3];
    for (int i = 0; i < 3; i++) {
        const double *at = sensed + 3 * marks[i];
        seen[i] = vec3(sinh(at[0]), sinh(at[1]), sinh(at[2]));
    }
    FacetVec3 right = vec3_unit(vec3_sub(seen[1], seen[0]), vec3(1.0, 0.0, 0.0));
    FacetVec3 ahead = vec3_unit(vec3_sub(seen[2], seen[0]), vec3(0.0, 1.0, 0.0));
    FacetVec3 off = vec3_sub(place, beacon_mark(0));
    FacetVec3 level = vec3_axpy(vec3_axpy(seen[0], off.x, right), off.y, ahead);
    return vec3_axpy(level, off.z, vec3_cross(right, ahead));
}

// The axis across a gate's opening, horizontal, to the left of the flight.
static inline FacetVec3 across(const FacetCourseGate *gate)
{
    return vec3_cross(vec3(0.0, 0.0, 1.0), gate->normal);
}

#endif
