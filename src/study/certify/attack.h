// An attack on a gate's certificate: admissible errors of the score that move the crossing as far
// as can be found, through the real denoising chain and the real flight.
//
// The certificate says that errors d_k with |d_k| <= eps_k at the denoising steps move the crossing
// by at most R_g, to first order, and states the bound 1.25 R_g (certify/gates.h). The attack
// begins with the errors that the first order itself calls the worst in eight directions of the
// gate's plane,
//
//   d_k = eps_k sign(c2) B_k^T u / |B_k^T u|,   B_k = S_g Phi_{k+1,K},
//
// and goes on by projected ascent on the shift: along the slope of the flight at the plan that was
// hit hardest so far, and along random directions, each time back onto |d_k| = eps_k. To denoise is
// dear and to fly is cheap, so a round flies many candidates where the first order of the chain
// alone takes that plan, and denoises the eight that shift most with their errors added at every
// step, and flies what comes out. Only those count. One that shifts by more than the bound, or does
// not cross at all, breaks the claim. What it does not find is no proof.
#ifndef FACET_CERTIFY_ATTACK_H
#define FACET_CERTIFY_ATTACK_H

#include "base/progress.h"
#include "certify/crossing.h"
#include "certify/path.h"

enum {
    ATTACK_PLANS = 8,   // chains denoised at once
    ATTACK_ROUNDS = 5,  // of the ascent
    ATTACK_DRAWN = 256, // candidates of a round that are flown before eight are denoised
};

// out [steps][count][128] = rows Phi_{k+1,K}, for rows [count][128] and m [steps][128][128].
void attack_rows(double *out, const double *rows, const double *m, int count, int steps);

// What is attacked: a plan of a task and a seed, flown at a pace. The plan that is flown may differ
// from the chain's end by a repair, which stays as it is when the end moves.
typedef struct AttackTarget {
    const FacetRace *race;
    FacetCourseTask task;
    PacedPlan plan;
    const FacetPolicy *policy;
    FacetFactorTask factors;
    uint64_t seed;
    const DenoisingPath *path;
    const CrossingSensitivity *sensitivity;
    Progress *progress; // asked at every step of a chain whether to stop; NULL for nobody
} AttackTarget;

// How far the flight's first order is off in the bound's own directions: the plan moved as the
// worst errors move it to first order, flown; |flown - predicted| / |predicted|, the largest of
// eight directions. Infinite when one of them does not cross. rows [steps][2][128] are B_k.
FacetStatus attack_probe(double *gap, const AttackTarget *target, int gate, const double *rows);

// How much the allowed errors can change each segment of the plan along itself, over its length:
// the largest of all, to first order. At 1 the path folds.
FacetStatus attack_fold(double *fold, const AttackTarget *target);

typedef struct AttackRunner AttackRunner; // denoises with errors

FacetStatus attack_runner_create(AttackRunner **runner, const FacetPolicy *policy, int steps,
                                 FacetPool *pool);
void attack_runner_destroy(AttackRunner *runner); // accepts NULL

// ends [ATTACK_PLANS][128], normalised: of the composed chains whose eps at step k is off by
// errors [ATTACK_PLANS][steps][128]. Fails when one stops being finite.
FacetStatus attack_chains(double *ends, AttackRunner *runner, const AttackTarget *target,
                          const double *errors);

// Those that shift most, each once and the largest first: places in shifts [count], of which there
// are at least so many, 0 or more. Those taken are overwritten.
void attack_choose(int chosen[ATTACK_PLANS], double *shifts, int count);

// The largest shift found, m; infinite when a flight does not cross. Stops early above `enough`.
FacetStatus attack_gate(double *shift, AttackRunner *runner, const AttackTarget *target, int gate,
                        const double *rows, double enough);

#endif
