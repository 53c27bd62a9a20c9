// Certificates of a policy's plans: how far an error of the score can move a plan.
//
// Paper, Section 3.3 and Appendices A.4, B.5, B.8 to B.12 and D. Everything is in the normalised
// units of the policy (each channel in [-1, 1]) and in terms of the noise eps, as the paper
// measures it; norms are over all T x D numbers. A bound is of first order, along the nominal path
// that one task and one seed give.
#ifndef FACET_CERTIFY_H
#define FACET_CERTIFY_H

#include <facet/policy.h>
#include <facet/progress.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- The bound of one plan ----------------------------------------------------------------------

// A bound, or the denoising step at which it stopped being a finite number.
typedef struct CertifyBound {
    double value;
    int step; // -1 when the value holds
} CertifyBound;

// With the sampler's step a' = c1 a + c2 eps(a), its Jacobian M_k, Phi_{k,K} = M_{K-1} ... M_k, and
// d eps_k the difference of the composed and the joint eps at the nominal a_k:
typedef struct PlanCertificate {
    int steps;            // K
    CertifyBound ltv;     // C_LTV = sum_k |c2(k)| ||Phi_{k+1,K}||_2 (Lemma "Path-dependent LTV")
    CertifyBound ode;     // C_ode of Lemma "ODE sensitivity", with the measured L_a(sigma)
    CertifyBound product; // sum_k |c2(k)| prod_{j>k} (|c1(j)| + |c2(j)| L_a(j)), its discrete form
    CertifyBound path;    // sum_k |c2(k)| ||Phi_{k+1,K}||_2 ||d eps_k||: the LTV bound of the plan
    double eps_s;         // max_k ||d eps_k||
    double actual;        // ||a_K - a_K'||, composed and joint from the same noise
    double linear;        // ||sum_k c2(k) Phi_{k+1,K} d eps_k||
    double amplification; // actual / eps_s, the paper's C_emp
} PlanCertificate;

typedef struct Certifier Certifier;

// Certifies DDIM plans of this many steps, composed with unit weights. Refuses a policy that has no
// factors shown to one network (baseline, knet), and more steps than the policy has noise levels.
// The policy and the pool must outlive the certifier. Destroy accepts NULL.
Status certifier_create(Certifier **certifier, const Policy *policy, int steps, ThreadPool *pool);
void certifier_destroy(Certifier *certifier);

// What a policy that sees has before it in the plans to come: a frame [height][width][3] of its
// camera (policy_frame_size), which is not kept. It is fixed along a plan's path. Refused by a
// policy that does not see.
Status certifier_look(Certifier *certifier, const uint8_t *frame);

// The plan that policy_sample gives for this task and seed when it is the only one. `progress`
// advances by one a step, and may be NULL. Fails when the task is not one of the policy's, a policy
// that sees was shown no frame, or sampling leaves the finite numbers.
Status certifier_plan(PlanCertificate *certificate, Certifier *certifier, FactorTask task,
                      uint64_t seed, Progress *progress);

// The same from noise `number` of the seed (PolicySampling.numbers).
Status certifier_plan_from(PlanCertificate *certificate, Certifier *certifier, FactorTask task,
                           uint64_t seed, uint64_t number, Progress *progress);

// The plan last certified, [T][D] in the data's units, and the joint one from the same noise.
void certifier_actions(double *actions, const Certifier *certifier);
void certifier_joint_actions(double *actions, const Certifier *certifier);

// A bound on row t of that plan alone, D numbers in normalised units:
//   sum_k |c2(k)| ||E Phi_{k+1,K}||_2 ||d eps_k||,  E picking the row; never above `path`.
CertifyBound certifier_row_bound(Certifier *certifier, int row);

// How far row t can be off in the data's units when it is off by no more than `radius` in
// normalised ones, both as Euclidean norms over its D channels: radius times the largest slope of
// the map between the units within the radius. Infinite where that passes the sampler's clip.
double certifier_row_reach(const Certifier *certifier, int row, double radius);

// ---- The tube -----------------------------------------------------------------------------------

// Closed-loop constants: contraction of a step, gain of an error of the command, disturbance.
typedef struct TubeConstants {
    double lambda, b_kappa, w;
} TubeConstants;

TubeConstants tube_paper_constants(void); // 0.9, 0.05, 0.01, "defaulted, pending measurement"

// R_ss = (B C eps + w) / (1 - lambda) of Corollary "ss", where `command` is C eps. Infinite when
// lambda is not below 1.
double tube_radius(TubeConstants constants, double command);

// ---- Diagnostics over noised demonstrations -----------------------------------------------------

typedef struct CertifySpread {
    double mean, p95, max;
} CertifySpread;

enum { CERTIFY_LEVELS = 20, CERTIFY_CHANNELS_MAX = 16 };

// The decomposition error in one band of noise levels.
typedef struct CertifyLevel {
    int t_first, t_last; // of the noise schedule
    int count;           // samples
    double mean, p95;
    double channel[CERTIFY_CHANNELS_MAX]; // root mean square over samples of each channel's norm
} CertifyLevel;

// At random (action, time) pairs of the training tasks, a_t = sqrt(abar) a_0 + sqrt(1 - abar) n:
typedef struct CertifyDiagnostics {
    int samples, factors, channels;
    CertifySpread eps_d;                 // ||eps_joint - eps_comp||
    CertifySpread lipschitz[FACTOR_MAX]; // L_i = ||eps(z_i) - eps(z_i')||, the rest null
    CertifySpread joint;                 // L_joint = ||eps(z) - eps(z')|| / sqrt(factors changed)
    CertifyLevel levels[CERTIFY_LEVELS]; // of eps_d
} CertifyDiagnostics;

// actions [tasks][T][D] are the experts' chunks of `tasks` in the data's units. Values of a factor
// are one apart (discrete metric). `progress` advances by one a sample.
Status certify_diagnostics(CertifyDiagnostics *diagnostics, const Policy *policy,
                           const FactorTask *tasks, const double *actions, int task_count,
                           int samples, uint64_t seed, ThreadPool *pool, Progress *progress);

// ---- The paper's figures ------------------------------------------------------------------------

// Tables "Path-dependent LTV bound" and "DDIM step sweep", and Appendix "Continuous-time limit";
// NaN where the paper gives no number. C_emp is of the sweep's table, the ratio of the other one.
typedef struct PaperLtv {
    int steps;
    double mean, median, max;     // C_LTV over tasks
    double ratio;                 // C_LTV / C_emp
    double c_emp, r_ss, tube_max; // m the last two
} PaperLtv;

enum { PAPER_LTV_ROWS = 6 };
extern const PaperLtv paper_ltv[PAPER_LTV_ROWS];

// Table "Per-combo C_LTV across 10 canonical seeds". False when it has no such task.
bool paper_ltv_seeds(double *mean, double *deviation, const char *track, const char *size);

// Table "Empirical decomposition error": "eps_d", "track" and "size".
CertifySpread paper_spread(const char *name);

// Table "Source-of-looseness decomposition": means over the training tasks.
typedef struct PaperResidual {
    double actual, linear, bound;
} PaperResidual;
extern const PaperResidual paper_residual;

// Appendix "Per-combo eps_s tightening" and Section "Path-dependent LTV bound".
typedef struct PaperTube {
    double eps_s_least, eps_s_most; // over tasks
    double r_ss_least, r_ss_most;   // m, over tasks
    double gronwall;                // race3/standard
    double c_emp_least, c_emp_most; // over tasks
    int certified, tasks;
} PaperTube;
extern const PaperTube paper_tube;

// Section "Vision-based single gate": over tasks that were trained on, the tube with the default
// constants.
typedef struct PaperGateLtv {
    int steps, tasks;
    double mean, least, most; // C_LTV
    double eps_s, r_ss;       // the second in m
} PaperGateLtv;
extern const PaperGateLtv paper_gate_ltv;

#ifdef __cplusplus
}
#endif

#endif
