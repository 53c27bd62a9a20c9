// The expert: the shared approach flown on the true state.
//
// Its labels are a simulation of what it would do next: offset_k = R^T (gate - p_k), where R is the
// attitude now and p_k the place k steps of 0.1 s from now. The path is rebuilt at each of them.
#include "base/status.h"
#include "gate/approach.h"
#include "math/geometry.h"

// Flies on from a state for one step of the labels.
static void fly_step(FacetQuadState *state, const FacetGateWorld *world,
                     const FacetCourseGate *gate)
{
    const FacetQuadModel *model = &world->model;
    Approach approach;
    approach_build(&approach, gate, state->pos_world, state->vel_world, world->speed);
    int steps = (int)lround(FACET_GATE_CHUNK_STEP / model->step);
    for (int i = 0; i < steps; i++) {
        FacetSetpoint to = approach_setpoint(&approach, &world->preset.carrot, state->pos_world);
        FacetSe3Output output;
        double command[FACET_QUAD_MOTORS];
        facet_se3_control(&output, &world->preset.gains, &model->params, state, &to);
        facet_quad_mix(command, model, output.wrench);
        facet_quad_step(state, model, command, vec3(0.0, 0.0, 0.0));
    }
}

void facet_gate_expert_offsets(double *offsets, const FacetGateWorld *world, FacetFactorTask task,
                               const FacetQuadState *state)
{
    FacetCourseGate gate = facet_gate_target(world, task);
    Mat3 axes = quat_to_mat3(state->attitude);
    FacetQuadState ahead = *state;
    for (int k = 0; k < FACET_GATE_HORIZON; k++) {
        if (k > 0) fly_step(&ahead, world, &gate);
        FacetVec3 offset = mat3_tmul_vec3(axes, vec3_sub(gate.center, ahead.pos_world));
        offsets[FACET_GATE_DIM * k + 0] = offset.x;
        offsets[FACET_GATE_DIM * k + 1] = offset.y;
        offsets[FACET_GATE_DIM * k + 2] = offset.z;
    }
}

// A pilot's context is not constant, but the expert only reads its world.
typedef union WorldContext {
    const FacetGateWorld *world;
    void *context;
} WorldContext;

static FacetStatus plan_as_expert(double *offsets, void *context, const FacetGateView *view)
{
    facet_gate_expert_offsets(offsets, context, view->trial->task, view->truth);
    return status_ok();
}

FacetGatePilot facet_gate_expert(const FacetGateWorld *world)
{
    return (FacetGatePilot){.plan = plan_as_expert, .context = (WorldContext){world}.context};
}

static FacetStatus make_expert(FacetGatePilot *pilot, void *context, int worker)
{
    (void)worker;
    *pilot = facet_gate_expert(context);
    return status_ok();
}

FacetGateCrew facet_gate_expert_crew(const FacetGateWorld *world)
{
    return (FacetGateCrew){.make = make_expert, .context = (WorldContext){world}.context};
}
