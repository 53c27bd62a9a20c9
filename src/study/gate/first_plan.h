// The certificate of the first plan of a flight through a single gate.
//
// Paper, Section "Vision-based single gate", paragraph "Certificates". Trials of tasks that the
// policy was trained on; each one's first frame fixes what the policy sees, and the bounds are
// those of the very plan that its pilot would fly by. They are in normalised units, as the paper's
// are. The first offset, which tells the vehicle where it is, is also given in metres: how far the
// joint plan has it from the composed one, and the bound on that, through the largest slope of the
// map from normalised units to metres within the bound.
#ifndef FACET_GATE_FIRST_PLAN_H
#define FACET_GATE_FIRST_PLAN_H

#include "base/rng.h"
#include "math/statistics.h"

#include <facet_study/certify.h>
#include <facet_study/gate.h>

// What was found for one trial.
typedef struct FirstPlan {
    FacetFactorTask task;
    FacetPlanCertificate plan;
    double distance;      // m, of the spawn from the gate
    double row_bound;     // of the first offset by steps, normalised; NaN when it is not finite
    double bound, gap;    // m: of the first offset by steps, composed and joint
    double command_bound; // m: of the first offset from C_LTV eps_s
    double error;         // m, of the first offset from the truth
} FirstPlan;

// A trained task out of each of `count` equal parts of their list, so that all factors vary. None
// comes twice unless there are fewer of them.
FacetFactorTask first_plan_task(const FacetPolicy *policy, int index, int count, FacetRng *rng);

// Certifies the first plan of a trial; `frame` holds one of the world's.
FacetStatus first_plan_certify(FirstPlan *out, FacetCertifier *certifier,
                               const FacetGateWorld *world, const FacetGateTrial *trial,
                               uint8_t *frame, const FacetProgress *progress);

// The numbers of a plan, by name: of the whole plan, normalised, then of its first offset.
enum { FIRST_PLAN_NUMBERS = 13 };
extern const char *const first_plan_keys[FIRST_PLAN_NUMBERS];
void first_plan_numbers(double out[FIRST_PLAN_NUMBERS], const FirstPlan *plan);

// One of the numbers over several plans.
Summary first_plans_summary(const FirstPlan *plans, int count, int number);

#endif
