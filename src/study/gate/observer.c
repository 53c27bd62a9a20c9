// The observer (see gate/observer.h).
#include "gate/observer.h"

Observer observer_make(const FacetQuadModel *model, FacetQuat attitude, double interval,
                       double time)
{
    double z = exp(-interval / time);
    Observer observer = {.state = facet_quad_hover(model, vec3(0.0, 0.0, 0.0), 0.0),
                         .position_gain = 1.0 - z * z,
                         .velocity_gain = (1.0 - z) * (1.0 - z) / interval};
    observer.state.attitude = attitude;
    return observer;
}

void observer_fix(Observer *observer, FacetVec3 pos_world)
{
    FacetQuadState *state = &observer->state;
    if (!observer->started) {
        observer->started = true;
        state->pos_world = pos_world;
        return;
    }
    FacetVec3 error = vec3_sub(pos_world, state->pos_world);
    state->pos_world = vec3_axpy(state->pos_world, observer->position_gain, error);
    state->vel_world = vec3_axpy(state->vel_world, observer->velocity_gain, error);
}

void observer_step(Observer *observer, const FacetQuadModel *model,
                   const double command[FACET_QUAD_MOTORS], FacetQuat attitude,
                   FacetVec3 omega_body)
{
    facet_quad_step(&observer->state, model, command, vec3(0.0, 0.0, 0.0));
    observer->state.attitude = attitude;
    observer->state.omega_body = omega_body;
}
