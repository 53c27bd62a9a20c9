// Certificates of a policy's plans: how far an error of the score can move a plan.
//
// Paper, Section 3.3 and Appendices A.4, B.5, B.8 to B.12 and D. Everything is in the normalised
// units of the policy (each channel in [-1, 1]) and in terms of the noise eps, as the paper
// measures it; norms are over all T x D numbers. A bound is of first order, along the nominal path
// that one task and one seed give.
#ifndef FACET_CERTIFY_H
#define FACET_CERTIFY_H

#include <facet/api.h>
#include <facet/policy.h>
#include <facet/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- The bound of one plan ----------------------------------------------------------------------

// A bound, or the denoising step at which it stopped being a finite number.
typedef struct FacetCertifyBound {
    double value;
    int step; // -1 when the value holds
} FacetCertifyBound;

// With the sampler's step a' = c1 a + c2 eps(a), its Jacobian M_k, Phi_{k,K} = M_{K-1} ... M_k, and
// d eps_k the difference of the composed and the joint eps at the nominal a_k:
typedef struct FacetPlanCertificate {
    int steps;             // K
    FacetCertifyBound ltv; // C_LTV = sum_k |c2(k)| ||Phi_{k+1,K}||_2 (Lemma "Path-dependent LTV")
    FacetCertifyBound ode; // C_ode of Lemma "ODE sensitivity", with the measured L_a(sigma)
    FacetCertifyBound
        product; // sum_k |c2(k)| prod_{j>k} (|c1(j)| + |c2(j)| L_a(j)), its discrete form
    FacetCertifyBound
        path;             // sum_k |c2(k)| ||Phi_{k+1,K}||_2 ||d eps_k||: the LTV bound of the plan
    double eps_s;         // max_k ||d eps_k||
    double actual;        // ||a_K - a_K'||, composed and joint from the same noise
    double linear;        // ||sum_k c2(k) Phi_{k+1,K} d eps_k||
    double amplification; // actual / eps_s, the paper's C_emp
} FacetPlanCertificate;

typedef struct FacetCertifier FacetCertifier;

// Certifies DDIM plans of this many steps, composed with unit weights. Refuses a policy that has no
// factors shown to one network (baseline, knet), and more steps than the policy has noise levels.
// The policy and the pool, which may be NULL, must outlive the certifier. Destroy accepts NULL.
FACET_API FacetStatus facet_certifier_create(FacetCertifier **certifier, const FacetPolicy *policy,
                                             int steps, FacetPool *pool);
FACET_API void facet_certifier_destroy(FacetCertifier *certifier);

// What a policy that sees has before it in the plans to come: a frame [height][width][3] of its
// camera (policy_frame_size), which is not kept. It is fixed along a plan's path. Refused by a
// policy that does not see.
FACET_API FacetStatus facet_certifier_look(FacetCertifier *certifier, const uint8_t *frame);

// The plan that facet_policy_sample gives for this task and seed when it is the only one.
// The stage is "denoising steps"; progress may be NULL. Fails when the task is not one of the
// policy's, a policy that sees was shown no frame, or sampling leaves the finite numbers.
FACET_API FacetStatus facet_certifier_plan(FacetPlanCertificate *certificate,
                                           FacetCertifier *certifier, FacetFactorTask task,
                                           uint64_t seed, const FacetProgress *progress);

// The same from noise `number` of the seed (FacetPolicySampling.numbers).
FACET_API FacetStatus facet_certifier_plan_from(FacetPlanCertificate *certificate,
                                                FacetCertifier *certifier, FacetFactorTask task,
                                                uint64_t seed, uint64_t number,
                                                const FacetProgress *progress);

// The plan last certified, [T][D] in the data's units, and the joint one from the same noise.
FACET_API void facet_certifier_actions(double *actions, const FacetCertifier *certifier);
FACET_API void facet_certifier_joint_actions(double *actions, const FacetCertifier *certifier);

// A bound on row t of that plan alone, D numbers in normalised units:
//   sum_k |c2(k)| ||E Phi_{k+1,K}||_2 ||d eps_k||,  E picking the row; never above `path`.
FACET_API FacetCertifyBound facet_certifier_row_bound(FacetCertifier *certifier, int row);

// How far row t can be off in the data's units when it is off by no more than `radius` in
// normalised ones, both as Euclidean norms over its D channels: radius times the largest slope of
// the map between the units within the radius. Infinite where that passes the sampler's clip.
FACET_API double facet_certifier_row_reach(const FacetCertifier *certifier, int row, double radius);

// ---- The tube -----------------------------------------------------------------------------------

// Closed-loop constants: contraction of a step, gain of an error of the command, disturbance.
typedef struct FacetTubeConstants {
    double lambda, b_kappa, w;
} FacetTubeConstants;

// The paper's, which are "defaulted, pending measurement".
FACET_API FacetTubeConstants facet_tube_paper_constants(void);

// R_ss = (B C eps + w) / (1 - lambda) of Corollary "ss", where `command` is C eps. Infinite when
// lambda is not below 1.
FACET_API double facet_tube_radius(FacetTubeConstants constants, double command);

// ---- Diagnostics over noised demonstrations -----------------------------------------------------

typedef struct FacetCertifySpread {
    double mean, p95, max;
} FacetCertifySpread;

enum { FACET_CERTIFY_LEVELS = 20, FACET_CERTIFY_CHANNELS_MAX = 16 };

// The decomposition error in one band of noise levels.
typedef struct FacetCertifyLevel {
    int t_first, t_last; // of the noise schedule
    int count;           // samples
    double mean, p95;
    double joint_error, composed_error; // root mean square over samples and numbers, of the noise
                                        // that the predictions say beside the noise that was added
    double
        channel[FACET_CERTIFY_CHANNELS_MAX]; // root mean square over samples of each channel's norm
} FacetCertifyLevel;

// At random (action, time) pairs of the training tasks, a_t = sqrt(abar) a_0 + sqrt(1 - abar) n:
typedef struct FacetCertifyDiagnostics {
    int samples, factors, channels;
    FacetCertifySpread eps_d;                       // ||eps_joint - eps_comp||
    FacetCertifySpread lipschitz[FACET_FACTOR_MAX]; // L_i = ||eps(z_i) - eps(z_i')||, the rest null
    FacetCertifySpread joint; // L_joint = ||eps(z) - eps(z')|| / sqrt(factors changed)
    FacetCertifyLevel levels[FACET_CERTIFY_LEVELS]; // of eps_d
} FacetCertifyDiagnostics;

// actions [tasks][T][D] are the experts' chunks of `tasks` in the data's units. Values of a factor
// are one apart (discrete metric). The stage is "diagnostics", an item a sample; pool and progress
// may be NULL.
FACET_API FacetStatus facet_certify_diagnostics(FacetCertifyDiagnostics *diagnostics,
                                                const FacetPolicy *policy,
                                                const FacetFactorTask *tasks, const double *actions,
                                                int task_count, int samples, uint64_t seed,
                                                FacetPool *pool, const FacetProgress *progress);

#ifdef __cplusplus
}
#endif

#endif
