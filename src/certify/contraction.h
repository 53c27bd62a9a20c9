// Contraction of a linear system that varies along its path: the constants of the paper's
// assumption (Appendix A.1) and the metric in which they hold.
//
//   e_{k+1} = A_k e_k + B_k da + w_k,   y_k = C_k e_k
//
// For a rate lambda the metric is the discounted sum of squares of the outputs that an error will
// cause,
//
//   P_k = C_k^T C_k + r I + lambda^-2 A_k^T P_{k+1} A_k,
//
// begun far enough beyond the end with the last step repeated. Then A_k^T P_{k+1} A_k <=
// lambda^2 P_k at every step, whatever lambda is; a lambda below what the system can do shows in a
// metric that grows without bound. P is scaled so that |y_k| <= |e_k|_P, and in it
//
//   |e_{k+1}| <= lambda |e_k| + b_kappa |da| + w,   so   |y| <= lambda^k |e_0| + (b |da| + w)/(1 -
//   lambda)
//
// with b_kappa = max_k ||P_{k+1}^(1/2) B_k||_2 and w the largest disturbance given. Of all lambda
// the one with the least tube b_kappa/(1 - lambda) is taken (w/(1 - lambda) without inputs).
#ifndef FACET_CERTIFY_CONTRACTION_H
#define FACET_CERTIFY_CONTRACTION_H

#include <facet/status.h>

enum { LOOP_STATES_MAX = 16, LOOP_OUTPUTS_MAX = 16 };

typedef struct LinearLoop {
    int steps, states, outputs, inputs, draws;
    const double *a; // [steps][states][states]
    const double *b; // [steps][states][inputs]
    const double *c; // [steps + 1][outputs][states]
    const double *w; // [steps][draws][states], disturbances
} LinearLoop;

// The constants of one closed loop. Lengths are in metres for a plan's change in normalised units.
typedef struct LoopConstants {
    double lambda;  // a step
    double b_kappa; // m a unit of |da|, a step
    double w;       // m, a step
} LoopConstants;

typedef struct Contraction {
    LoopConstants constants;
    double ratio; // the largest |A_k e| / |e| in the metric, by its eigenvalues: at most lambda
    double entry; // the largest |e|_P over |y| of an error with no more than its output, C^T y
    double gain;  // max_k ||C_k sum_j Phi B_j||_2: what the tube's b_kappa / (1 - lambda) bounds
    int steps, states;
    double *metric; // P [steps + 1][states][states]
} Contraction;

// Finds rate, metric and constants. Freed with contraction_free.
Status contraction_find(Contraction *out, const LinearLoop *loop);
void contraction_free(Contraction *contraction);

// |e| in the metric at step k.
double contraction_length(const Contraction *contraction, const double *e, int k);

// The paper's defaults: 0.9, 0.05, 0.01.
LoopConstants paper_loop_constants(void);

// R_ss = (b_kappa |da| + w)/(1 - lambda), m (Corollary 1); |da| is at most C_ode eps_s. Infinite
// when lambda is not below 1.
double tube_radius(LoopConstants constants, double change);

#endif
