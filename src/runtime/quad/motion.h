// What the step and its derivative share: the integrated part of the state and the lagging wrench.
#ifndef FACET_QUAD_MOTION_H
#define FACET_QUAD_MOTION_H

#include "quad/quad.h"

// The part of the state that RK4 has to integrate, its rate of change, or a direction in it.
typedef struct Motion {
    FacetQuat q;
    FacetVec3 v, w;
} Motion;

static inline FacetQuat quat_axpy(FacetQuat a, double s, FacetQuat b)
{
    return (FacetQuat){a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline Motion motion_axpy(Motion a, double s, Motion b)
{
    return (Motion){quat_axpy(a.q, s, b.q), vec3_axpy(a.v, s, b.v), vec3_axpy(a.w, s, b.w)};
}

// The wrench after the motors' lag has decayed by the factor `decay`.
static inline FacetQuadWrench wrench_lagged(FacetQuadWrench commanded, FacetQuadWrench initial,
                                            double decay)
{
    return (FacetQuadWrench){commanded.force + decay * (initial.force - commanded.force),
                             vec3_lerp(commanded.torque, initial.torque, decay)};
}

// The decay at the start of a step: an ideal motor has already reached its command.
static inline double decay_at_start(const FacetQuadModel *model)
{
    return model->params.motor_lag > 0.0 ? 1.0 : 0.0;
}

#endif
