// The observer (see gate/observer.h).
#include "gate/observer.h"

Observer observer_make(const FacetQuadModel *model, FacetQuat attitude, double interval,
                       double time, double velocity_time)
{
    double z = exp(-interval / time);
    Observer observer = {.state = facet_quad_hover(model, vec3(0.0, 0.0, 0.0), 0.0),
                         .position_gain = 1.0 - z * z,
                         .velocity_gain = (1.0 - z) * (1.0 - z) / interval,
                         .interval = interval,
                         .keep = z,
                         .keep_velocity = exp(-interval / velocity_time)};
    observer.state.attitude = attitude;
    return observer;
}

// P over the time between two fixes.
static void forget(Observer *o)
{
    double z = o->keep, y = o->keep_velocity, dt = o->interval;
    o->pos_pos = (o->pos_pos + dt * (2.0 * o->pos_vel + dt * o->vel_vel)) / z;
    o->pos_vel = (o->pos_vel + dt * o->vel_vel) / sqrt(z * y);
    o->vel_vel = o->vel_vel / y;
}

static bool refuses(Observer *o, double distance, double expected)
{
    bool jump = o->refuse_sigma > 0.0 && distance > o->refuse_sigma * sqrt(expected);
    o->refused = jump && o->refused < o->refuse_most ? o->refused + 1 : 0;
    return o->refused > 0;
}

bool observer_fix(Observer *observer, FacetVec3 pos_world, double variance)
{
    FacetQuadState *state = &observer->state;
    if (!observer->started) {
        observer->started = true;
        state->pos_world = pos_world;
        observer->pos_pos = variance;
        observer->vel_vel = OBSERVER_START_SPEED * OBSERVER_START_SPEED;
        return true;
    }
    FacetVec3 error = vec3_sub(pos_world, state->pos_world);
    double position_gain = observer->position_gain, velocity_gain = observer->velocity_gain;
    if (variance > 0.0) {
        forget(observer);
        double expected = observer->pos_pos + variance;
        if (refuses(observer, vec3_norm(error), expected)) return false;
        position_gain = observer->pos_pos / expected;
        velocity_gain = observer->pos_vel / expected;
        observer->pos_pos -= position_gain * observer->pos_pos;
        observer->vel_vel -= velocity_gain * observer->pos_vel;
        observer->pos_vel -= position_gain * observer->pos_vel;
    }
    state->pos_world = vec3_axpy(state->pos_world, position_gain, error);
    state->vel_world = vec3_axpy(state->vel_world, velocity_gain, error);
    return true;
}

void observer_step(Observer *observer, const FacetQuadModel *model,
                   const double command[FACET_QUAD_MOTORS], FacetQuat attitude,
                   FacetVec3 omega_body)
{
    facet_quad_step(&observer->state, model, command, vec3(0.0, 0.0, 0.0));
    observer->state.attitude = attitude;
    observer->state.omega_body = omega_body;
}
