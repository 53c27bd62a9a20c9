// The nominal denoising path of one task and seed, with the Jacobian of every step.
//
// Paper, Appendix A.5: the sampler's step is a_{k+1} = c1 a_k + c2 eps(a_k) with
//   c1 = sqrt(abar'/abar),  c2 = sqrt(1 - abar') - sqrt(abar' (1 - abar)/abar),
// and M_k = c1 I + c2 J_k, J_k = d eps/d a at the nominal. Here eps is what the sampler uses: where
// it clips the clean sample x0, eps follows from the clipped one and x0 has no derivative. So
//   M_k = keep I + now D_k (first I + second d p/d a),  D_k = diag(1 where x0 is not clipped),
// in the sampler's own coefficients (diffusion/sampler.h), which do not cancel where abar is small.
// The network's Jacobian is computed in float; everything after it is in double.
//
// What a policy sees is fixed along a path: the features of one frame condition every prediction of
// both chains, and no derivative is taken by them.
#ifndef FACET_CERTIFY_PATH_H
#define FACET_CERTIFY_PATH_H

#include "policy/policy.h"

#include <facet/progress.h>

// Refuses a policy without one network that is shown factors: what composing, and measuring the
// error of it, needs.
FacetStatus certify_check_policy(const FacetPolicy *policy);

// The same, and a policy that sees, for what has no frame to show it.
FacetStatus certify_check_blind(const FacetPolicy *policy);

typedef struct PathStep {
    int t;            // of the noise schedule
    double sigma;     // sqrt(1 - abar)
    double c1, c2;    // a' = c1 a + c2 eps
    double lipschitz; // L_a = ||J_k||_2
    double mismatch;  // ||d eps_k||
} PathStep;

typedef struct DenoisingPath {
    int steps, size;    // K, T D
    PathStep *step;     // [steps]
    double *nominal;    // [steps + 1][size], a_k in normalised units
    double *transition; // [steps][size][size], M_k
    double *mismatch;   // [steps][size], d eps_k = eps_composed(a_k) - eps_joint(a_k)
    double *joint_end;  // [size], the end of the joint chain from the same noise
} DenoisingPath;

typedef struct PathTracer PathTracer;

// Traces DDIM paths of this many steps. The policy shows factors to one network; it and the pool
// must outlive the tracer.
FacetStatus path_tracer_create(PathTracer **tracer, const FacetPolicy *policy, int steps,
                               FacetPool *pool);
void path_tracer_destroy(PathTracer *tracer);

// What the policy sees on the paths to come (see facet_certifier_look).
FacetStatus path_look(PathTracer *tracer, const uint8_t *frame);

// The path belongs to the tracer and holds until the next call. The stage is "denoising steps";
// `progress` may be NULL.
FacetStatus path_trace(const DenoisingPath **path, PathTracer *tracer, FacetFactorTask task,
                       uint64_t seed, const FacetProgress *progress);

// The same from noise `number` of the seed.
FacetStatus path_trace_from(const DenoisingPath **path, PathTracer *tracer, FacetFactorTask task,
                            uint64_t seed, uint64_t number, const FacetProgress *progress);

// The path of the plan that a certifier last certified (facet_study/certify.h).
struct FacetCertifier;
const DenoisingPath *certifier_path(const struct FacetCertifier *certifier);

#endif
