// The closed-loop constants of carrot, controller and quadrotor, measured along a plan.
//
// The paper assumes |x1' - x1| <= lambda |x0' - x0| + B |a' - a| + w from one step to the next
// (Appendix A.1) and leaves the constants "defaulted, pending measurement". What is measured here:
//
// - The state is the vehicle's, in the 16 tangent coordinates of quad_local. The carrot adds none:
//   its progress is the nearest point, a function of the position.
// - The loop has no clock. A displacement along the path only makes the flight earlier or later and
//   never decays, so at equal times nothing contracts. Errors are therefore compared where a flight
//   crosses the plane through the nominal's position across its velocity: between two marks 1/20 s
//   apart the linearised loop is A = Pi_{k+1} (dF/dx) Pi_k, Pi = I - f n^T/(n.f), with f the
//   nominal's rate of change and n its direction of flight. What contracts is the error across the
//   path, which is what gates see.
// - F is differentiated by central differences of the flight itself (centimetres and hundredths of
//   a radian), since the nearest point on the plan's polygon jumps at corners.
// - A step of the assumption is 2 s of the nominal flight (or a third of a shorter one), from any
//   mark. Its length is free. Over 1/20 s errors shrink by 0.9, the paper's default, but a plan's
//   change pushes the state there and back as the flight passes its keypoints, and a norm taken 20
//   times a second adds all of that up: the tube comes out about fifty times too wide. Over 2 s it
//   is within a fifth of what the linearised loop does.
// - The command is the plan's 128 normalised numbers, constant during a flight, so |a' - a| is the
//   plan's error C_ode eps_s, and B is in metres a normalised unit (half the range of a channel).
// - w is the largest push of one step in seeded gusts, seen and not bounded; in still air it is 0.
// - The metric follows from the linearised loop (certify/contraction.h) and changes along the path.
//   Its length bounds the displacement across the path in metres.
// - At a gate whose plane stands oblique to the flight, the crossing point moves by up to `oblique`
//   times the displacement across the path.
// All of it is first order about one flight. Paired rollouts of the full simulation stand beside.
#ifndef FACET_CERTIFY_CLOSED_LOOP_H
#define FACET_CERTIFY_CLOSED_LOOP_H

#include "base/progress.h"
#include "certify/contraction.h"
#include "certify/task_flight.h"
#include "policy/normalizer.h"

#define CLOSED_LOOP_MARK 0.05 // s between two marks

typedef struct ClosedLoopOptions {
    double step;   // s, at least a mark
    double gusts;  // m/s, standard deviation on each axis
    int draws;     // flights in gusts
    int pairs;     // rollouts from displaced states, and of changed plans
    double change; // normalised length of the plans' changes
    uint64_t seed;
    Progress *progress; // asked often whether to stop; NULL for nobody
} ClosedLoopOptions;

// Steps of 2 s, 20 draws of gusts of 0.5 m/s, 40 pairs, changes of 0.05, seed 0.
ClosedLoopOptions closed_loop_defaults(void);

typedef struct ClosedLoop {
    bool contracts; // false: no metric was found, and the constants are 1, infinite and infinite
    double step;    // s, of lambda, b_kappa and w
    int marks;      // 1/20 s each, linearised
    FacetTubeConstants constants;
    double ratio;      // the metric's own check: at most lambda
    double entry;      // length in the metric of 1 m across the path, at most
    double gain;       // m a normalised unit: largest displacement of the linearised loop …
    double gain_bound; // … and b_kappa / (1 - lambda), the tube's
    double oblique;    // 1 / cos of the most oblique crossing of a gate; 1 without gates
    // Rollouts of the full simulation. Infinite where one did not get as far as the nominal.
    double lambda_fit;   // mean factor a step (geometric) of displaced starts, in the metric
    double lambda_worst; // the largest factor of one step among them
    double lambda_mark;  // the mean factor over 1/20 s: lambda_fit^(mark / step)
    double gain_seen;    // m a normalised unit: largest displacement of changed plans over |da|
    double gust_seen;    // m: largest displacement in gusts …
    double gust_bound;   // … and w / (1 - lambda)
} ClosedLoop;

// Measures along the flight of a plan. A flight that ends early is measured as far as it goes;
// fails when that is less than 12 marks, when memory ends and after a stop.
FacetStatus closed_loop_measure(ClosedLoop *out, const FacetRace *race, FacetCourseTask task,
                                const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS],
                                const Normalizer *normalizer, const ClosedLoopOptions *options);

// Constants that hold for all of several loops: the largest of each, of those that contract. The
// tube does not depend on the length of a step.
FacetTubeConstants closed_loop_worst(const ClosedLoop *loops, int count);

#endif
