// What the tests of this room share: the shipped world, pilots that are wrong in known ways, and a
// venue of their own.
#ifndef FACET_TESTS_GATE_GATES_H
#define FACET_TESTS_GATE_GATES_H

#include "base/status.h"
#include "camera/scenes.h"
#include "flying.h"

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

// The axis across a gate's opening, horizontal, to the left of the flight.
static inline FacetVec3 across(const FacetCourseGate *gate)
{
    return vec3_cross(vec3(0.0, 0.0, 1.0), gate->normal);
}

#endif
