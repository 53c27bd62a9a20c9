// The observer (see gate/observer.h).
#include "gate/observer.h"

Observer observer_make(const QuadModel *model, Quat attitude, double interval, double time)
{
    double z = exp(-interval / time);
    Observer observer = {.state = quad_hover(model, vec3(0.0, 0.0, 0.0), 0.0),
                         .position_gain = 1.0 - z * z,
                         .velocity_gain = (1.0 - z) * (1.0 - z) / interval};
    observer.state.attitude = attitude;
    return observer;
}

void observer_fix(Observer *observer, Vec3 pos_world)
{
    QuadState *state = &observer->state;
    if (!observer->started) {
        observer->started = true;
        state->pos_world = pos_world;
        return;
    }
    Vec3 error = vec3_sub(pos_world, state->pos_world);
    state->pos_world = vec3_axpy(state->pos_world, observer->position_gain, error);
    state->vel_world = vec3_axpy(state->vel_world, observer->velocity_gain, error);
}

void observer_step(Observer *observer, const QuadModel *model, const double command[QUAD_MOTORS],
                   Quat attitude, Vec3 omega_body)
{
    quad_step(&observer->state, model, command, vec3(0.0, 0.0, 0.0));
    observer->state.attitude = attitude;
    observer->state.omega_body = omega_body;
}
