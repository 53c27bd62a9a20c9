// The observer: position and velocity from fixes a few times a second and the known dynamics.
//
// Between fixes the estimate moves as the model does under the commanded thrusts, with the gyro's
// attitude and rate. A fix that differs by e moves the position by a e and the velocity by
// (b/dt) e, with dt the time between fixes, z = exp(-dt/T) and
//
//   a = 1 - z^2,   b = (1 - z)^2,
//
// which puts both poles of the error at z. A wrong first position leaves after n fixes the share
// z^n (1 - (1 - z) n): it changes sign once, by about a ninth at most, and does not oscillate.
#ifndef FACET_GATE_OBSERVER_H
#define FACET_GATE_OBSERVER_H

#include "gate/gyro.h"
#include "quad/quad.h"

typedef struct Observer {
    FacetQuadState state;                // as estimated: what the controller gets
    double position_gain, velocity_gain; // a, and b/dt in 1/s
    bool started;
} Observer;

// At rest on a known attitude, at a place that the first fix will tell.
Observer observer_make(const FacetQuadModel *model, FacetQuat attitude, double interval,
                       double time);

// A position fix (m, world). The first one is taken as it is.
void observer_fix(Observer *observer, FacetVec3 pos_world);

// One step of the model, after which the gyro has this attitude and reads this rate.
void observer_step(Observer *observer, const FacetQuadModel *model,
                   const double command[FACET_QUAD_MOTORS], FacetQuat attitude,
                   FacetVec3 omega_body);

#endif
