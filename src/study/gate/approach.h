// The approach to a gate that the expert and every pilot share: from a place to a path, from the
// path to a setpoint.
//
// With d the distance before a point A on the axis, 0.5 m behind the gate, and l the distance from
// the axis, the path is the quadratic Bezier curve from the vehicle over a point on the axis, d/2
// before A, to A. It is the parabola l = l0 (d/d0)^2: rebuilt from any point of itself it is the
// same curve, so rebuilding at every frame changes nothing, and it meets the gate along its axis.
// Beside the opening the middle point stays farther back, so that the way goes round the frame.
// Behind A the path goes straight on, and ends in a hover.
#ifndef FACET_GATE_APPROACH_H
#define FACET_GATE_APPROACH_H

#include "math/geometry.h"

#include <facet_study/gate.h>

typedef struct Approach {
    FacetCourseGate gate; // its normal along the flight
    FacetReference reference;
    FacetCarrot carrot;
    bool done; // at the end behind the gate: hovers there
} Approach;

// Builds the path from a position; the speed (m/s) is reached gently from the present velocity.
void approach_build(Approach *approach, const FacetCourseGate *gate, FacetVec3 pos, FacetVec3 vel,
                    double speed);

// What the controller chases at a position, looking at a point behind the gate.
FacetSetpoint approach_setpoint(Approach *approach, const FacetCarrotParams *params, FacetVec3 pos);

// Points along the way from a position to `beyond` m behind the gate, at equal steps of the curve.
void approach_way(FacetVec3 *points, int count, const FacetCourseGate *gate, FacetVec3 pos,
                  double beyond);

// How far before the gate's plane a point lies, m; less than 0 behind it.
static inline double approach_ahead(const FacetCourseGate *gate, FacetVec3 pos)
{
    return vec3_dot(gate->normal, vec3_sub(gate->center, pos));
}

#endif
