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
//
// These are the gains of least squares that forget: of the straight motion for which the sum of
// z^k |e_k|^2 over the fixes is least, k fixes ago having the error e_k. (Brookner, Tracking and
// Kalman Filtering Made Easy, 1998, calls it the fading-memory filter.) When fixes come with a
// variance r_k, the same sum weighs each by 1 / r_k:
//
//   P <- D F P F' D,   F = [1 dt; 0 1]           what was known counts z of what it did
//   K = P [1; 0] / (P_11 + r),   P <- P - K [1 0] P,   state <- state + K e.
//
// P begins with the variance of the first fix, and with the vehicle at rest to
// OBSERVER_START_SPEED. There is no noise of the motion to choose, but how fast to forget:
// D = diag(1/sqrt(z), 1/sqrt(y)),  y = exp(-dt/T_v).  With T_v = T that is P <- F P F' / z, the sum
// above, and with one variance for all the gains become a and b/dt. But the thrusts say how the
// velocity changes, where the position's first fix may be of another gate: what is known of the
// velocity is kept for longer, and a place that fixes insist on does not stop the estimate.
//
// P_11 + r is then the |e|^2 to expect, over all three axes. A fix beyond `refuse_sigma` times its
// root is refused, but no more than `refuse_most` in a row; P grows meanwhile.
#ifndef FACET_GATE_OBSERVER_H
#define FACET_GATE_OBSERVER_H

#include "gate/gyro.h"
#include "quad/quad.h"

#define OBSERVER_START_SPEED 0.1 // m/s, standard deviation on all axes together

typedef struct Observer {
    FacetQuadState state;                // as estimated: what the controller gets
    double position_gain, velocity_gain; // a, and b/dt in 1/s
    bool started;
    double interval, keep;            // dt in s, and z
    double keep_velocity;             // y
    double pos_pos, pos_vel, vel_vel; // P, in m^2, m^2/s and m^2/s^2
    double refuse_sigma;              // 0 refuses nothing
    int refuse_most, refused;         // in a row: the limit, and how many there are
} Observer;

// At rest on a known attitude, at a place that the first fix will tell. T and T_v in s; T_v may be
// HUGE_VAL.
Observer observer_make(const FacetQuadModel *model, FacetQuat attitude, double interval,
                       double time, double velocity_time);

// A position fix (m, world) with its variance (m^2, of all axes together), or 0 where nobody knows:
// then the gains are a and b/dt. The first one is taken as it is. False when it was refused.
bool observer_fix(Observer *observer, FacetVec3 pos_world, double variance);

// One step of the model, after which the gyro has this attitude and reads this rate.
void observer_step(Observer *observer, const FacetQuadModel *model,
                   const double command[FACET_QUAD_MOTORS], FacetQuat attitude,
                   FacetVec3 omega_body);

#endif
