// The expert: the shared approach flown on the true state.
//
// Its labels are a simulation of what it would do next: offset_k = R^T (gate - p_k), where R is the
// attitude now and p_k the place k steps of 0.1 s from now. The path is rebuilt at each of them.
#include "gate/approach.h"

// Flies on from a state for one step of the labels.
static void fly_step(QuadState *state, const GateWorld *world, const Gate *gate)
{
    const QuadModel *model = &world->model;
    Approach approach;
    approach_build(&approach, gate, state->pos_world, state->vel_world, world->speed);
    int steps = (int)lround(GATE_CHUNK_STEP / model->step);
    for (int i = 0; i < steps; i++) {
        Setpoint to = approach_setpoint(&approach, &world->preset.carrot, state->pos_world);
        Se3Output output;
        double command[QUAD_MOTORS];
        se3_control(&output, &world->preset.gains, &model->params, state, &to);
        quad_mix(command, model, output.wrench);
        quad_step(state, model, command, vec3(0.0, 0.0, 0.0));
    }
}

void gate_expert_offsets(double *offsets, const GateWorld *world, FactorTask task,
                         const QuadState *state)
{
    Gate gate = gate_target(world, task);
    Mat3 axes = quat_to_mat3(state->attitude);
    QuadState ahead = *state;
    for (int k = 0; k < GATE_HORIZON; k++) {
        if (k > 0) fly_step(&ahead, world, &gate);
        Vec3 offset = mat3_tmul_vec3(axes, vec3_sub(gate.center, ahead.pos_world));
        offsets[GATE_DIM * k + 0] = offset.x;
        offsets[GATE_DIM * k + 1] = offset.y;
        offsets[GATE_DIM * k + 2] = offset.z;
    }
}

// A pilot's context is not constant, but the expert only reads its world.
typedef union WorldContext {
    const GateWorld *world;
    void *context;
} WorldContext;

static Status plan_as_expert(double *offsets, void *context, const GateView *view)
{
    gate_expert_offsets(offsets, context, view->trial->task, view->truth);
    return status_ok();
}

GatePilot gate_expert(const GateWorld *world)
{
    return (GatePilot){.plan = plan_as_expert, .context = (WorldContext){world}.context};
}

static Status make_expert(GatePilot *pilot, void *context, int worker)
{
    (void)worker;
    *pilot = gate_expert(context);
    return status_ok();
}

GateCrew gate_expert_crew(const GateWorld *world)
{
    return (GateCrew){.make = make_expert, .context = (WorldContext){world}.context};
}
