// What the tests of this room share: the shipped world, pilots that are wrong in known ways, and a
// venue of their own.
#ifndef FACET_TESTS_GATE_GATES_H
#define FACET_TESTS_GATE_GATES_H

#include "camera/scenes.h"
#include "flying.h"

#include <facet/gate.h>

// The courses that ship, from where the tests run.
static inline GateWorld *shipped_world(void)
{
    GateWorld *world;
    assert_ok(gate_world_create(&world, NULL));
    return world;
}

static inline FactorTask task_of(const GateWorld *world, const char *text)
{
    FactorTask task;
    assert_ok(factor_task_parse(&task, world->space, text, FACTOR_MISSING_REFUSED));
    return task;
}

// A pilot whose offsets are the expert's, all shifted: it takes itself to be `shift` (m, world)
// away from where it is.
typedef struct ShiftedPilot {
    const GateWorld *world;
    Vec3 shift;
    bool sees;
} ShiftedPilot;

static inline Status plan_shifted(double *offsets, void *context, const GateView *view)
{
    const ShiftedPilot *pilot = context;
    gate_expert_offsets(offsets, pilot->world, view->trial->task, view->truth);
    Vec3 shift = mat3_tmul_vec3(quat_to_mat3(view->truth->attitude), pilot->shift);
    for (int k = 0; k < GATE_HORIZON; k++) {
        offsets[GATE_DIM * k + 0] -= shift.x;
        offsets[GATE_DIM * k + 1] -= shift.y;
        offsets[GATE_DIM * k + 2] -= shift.z;
    }
    return status_ok();
}

static inline GatePilot shifted(ShiftedPilot *pilot)
{
    return (GatePilot){.plan = plan_shifted, .context = pilot, .sees = pilot->sees};
}

// The axis across a gate's opening, horizontal, to the left of the flight.
static inline Vec3 across(const Gate *gate)
{
    return vec3_cross(vec3(0.0, 0.0, 1.0), gate->normal);
}

#endif
