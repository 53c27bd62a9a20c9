// The gate-wise certificate: how far the point where a plan crosses a gate can move when the score
// that made the plan is off by a known amount.
//
// The paper's tube (Theorem 2) takes a norm at every link of the chain: score, plan, state. Here
// the chain is multiplied out before any norm is taken. S_g is the derivative of the crossing point
// at gate g (two coordinates in the gate's plane) by the plan's 128 normalised numbers, through
// interpolation, carrot, controller and quadrotor. Denoising step k moves the plan by
// a_{k+1} = c1 a_k + c2 eps(a_k), so an error d_k of its prediction moves the crossing by
//
//   sum_k c2(k) S_g Phi_{k+1,K} d_k,   Phi_{k+1,K} = M_{K-1} ... M_{k+1},   M_k = c1 I + c2 J_k
//   R_g = sum_k |c2(k)| ||S_g Phi_{k+1,K}||_2 eps_k,                        |d_k| <= eps_k
//
// A gate is certified when nominal miss + R_g + disturbance < half-width. What that assumes:
// - First order, along the nominal: of the denoising chain at its samples, and of the flight about
//   the nominal one. crossing_check measures how well the flight's part holds.
// - S_g comes from central differences over a finite step and half of it, extrapolated, since the
//   closed loop is only piecewise smooth (the nearest point on a polygon jumps at its corners,
//   motors saturate, steps are 1/600 s). How far the two differ is reported, and limited.
// - The disturbance is the largest shift seen in seeded gusts: a measurement, not a bound.
// The crossing point is compared in the gate's plane and not at equal times, so a plan that is only
// earlier or later moves nothing.
#ifndef FACET_CERTIFY_GATE_RADIUS_H
#define FACET_CERTIFY_GATE_RADIUS_H

#include "certify/task_flight.h"
#include "policy/normalizer.h"

// The step of the differences, in normalised units: about 0.1 m. Shorter steps see the jumps of the
// nearest point between the corners, longer ones the curvature.
#define CROSSING_STEP 0.01

// A slope whose two steps differ by more than this share is none to rest a certificate on.
#define CROSSING_GAP_MAX 0.25

// ---- Crossings ----------------------------------------------------------------------------------

// Where a flight crossed the gates of its track.
typedef struct Crossing {
    bool crossed; // as the referee sees it: in order, forwards, near the gate
    double at[2]; // m from the centre, in the gate's plane: to the left and up as one flies through
    double miss;  // m, the length of that: the opening is round
    double time;  // s
} Crossing;

typedef struct Crossings {
    int gates;
    Crossing gate[FACET_TRACK_GATES_MAX];
} Crossings;

// A plan and the pace that it is flown at: all its speeds, and that of the start, times the pace.
typedef struct PacedPlan {
    const FacetKeypoint *chunk; // [32]
    double pace;
} PacedPlan;

// Flies a plan as facet_race_fly does, from the track's start, and notes where it crosses. A plan
// that nothing can fly crosses nothing. Flights are eight at a time, in single precision.
FacetStatus crossings_fly(Crossings *out, const FacetRace *race, FacetCourseTask task,
                          PacedPlan plan);

// The same of the plan changed by each of changes [count][128], in the normalizer's units.
FacetStatus crossings_fly_changed(Crossings *out, const FacetRace *race, FacetCourseTask task,
                                  PacedPlan plan, const Normalizer *normalizer,
                                  const double *changes, int count);

// ---- Sensitivity --------------------------------------------------------------------------------

typedef struct CrossingSlope {
    Crossing nominal;
    int lost; // perturbed flights, out of 4 x 128, that did not cross: with any, there is no slope
    double slope[2][PLAN_SIZE]; // S_g, m a normalised unit of the plan at its own pace
    double norm;                // ||S_g||_2
    double gap;                 // ||S at the step - S at half the step||_2 / ||S_g||_2
} CrossingSlope;

typedef struct CrossingSensitivity {
    int gates;
    double half_width; // m
    double step;       // normalised units
    CrossingSlope gate[FACET_TRACK_GATES_MAX];
} CrossingSensitivity;

// S_g of every gate for a plan, by 512 flights shared out over the race's pool. `normalizer` is the
// policy's, of four channels; `step` as CROSSING_STEP. A gate that the nominal flight does not
// cross is data: it has crossed = false and no slope.
FacetStatus crossing_sensitivity(CrossingSensitivity *out, const FacetRace *race,
                                 FacetCourseTask task, PacedPlan plan, const Normalizer *normalizer,
                                 double step);

// Whether a gate has a slope, and one that a certificate can rest on: its gap is at most
// CROSSING_GAP_MAX.
bool crossing_has_slope(const CrossingSlope *gate);
bool crossing_is_smooth(const CrossingSlope *gate);

// ---- Radius -------------------------------------------------------------------------------------

typedef struct CrossingRadius {
    double amplification; // sum_k |c2| ||S_g Phi||_2, m a unit of eps
    double radius;        // R_g, m
    // The largest distance from the centre of any crossing within the errors, m. The shifts fill a
    // sum of ellipses, whose reach differs with direction; this takes it along the nominal miss
    // too, so reach <= miss + radius up to the 0.1 % that its 64 directions add. First order as
    // radius is.
    double reach;
} CrossingRadius;

// R_g of every gate, by the backward recursion S <- S M_k. `c2` [steps], `m` [steps][128][128] and
// `eps` [steps] are in the sampler's order, from noise to plan. A gate without a slope, and a chain
// that is not finite, gives infinity.
void crossing_radius(CrossingRadius *out, const CrossingSensitivity *sensitivity, const double *c2,
                     const double *m, const double *eps, int steps);

// The directional figure: where the crossings move when step k's prediction changes by exactly
// d_eps [steps][128]. shift [gates][2], m; NaN for a gate without a slope.
void crossing_shift(double (*shift)[2], const CrossingSensitivity *sensitivity, const double *c2,
                    const double *m, const double *d_eps, int steps);

// Where they move when the plan changes by `change` [128], normalised: S_g change.
void crossing_predict(double (*shift)[2], const CrossingSensitivity *sensitivity,
                      const double *change);

// Whether nominal miss + radius + disturbance < half-width, with a slope that is smooth.
bool crossing_certified(const CrossingSensitivity *sensitivity, int gate, double radius,
                        double disturbance);

// ---- Disturbance and checks ---------------------------------------------------------------------

// The largest shift (m) of each gate's crossing over flights in gusts of this strength (m/s), an
// empirical maximum over `rollouts`; infinite when one of them does not cross, 0 in still air.
FacetStatus crossing_disturbance(double *shift, const FacetRace *race, FacetCourseTask task,
                                 PacedPlan plan, double gusts, int rollouts, uint64_t seed);

// How the linear prediction compares with flights of changed plans, over all changes and all gates
// that have a slope.
typedef struct CrossingCheck {
    int compared, lost;   // crossings compared, and those that a changed plan did not make
    double shift_mean;    // m, flown
    double shift_max;     // m, flown
    double gap_mean;      // m, |flown - predicted|
    double gap_max;       // m
    double relative;      // sqrt(sum gap^2 / sum shift^2)
    double ratio_largest; // |flown| / |predicted| of the crossing where it is largest, among shifts
                          // above 1 cm: above 1 the prediction was too small
} CrossingCheck;

// `changes` [count][128], normalised: for instance the joint plan less the composed one.
FacetStatus crossing_check(CrossingCheck *out, const CrossingSensitivity *sensitivity,
                           const FacetRace *race, FacetCourseTask task, PacedPlan plan,
                           const Normalizer *normalizer, const double *changes, int count);

// Random changes of a given length (normalised), in directions uniform over the sphere.
void crossing_random_changes(double *changes, double length, int count, uint64_t seed);

#endif
