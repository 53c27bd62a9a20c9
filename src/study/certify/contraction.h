// Contraction of a linear system that varies along its path: the constants of the paper's
// assumption (Appendix A.1) and the metric in which they hold.
//
//   e_{k+1} = A_k e_k + B_k da + w_k,   y_k = C_k e_k,   e_0 = 0
//
// A step of the assumption may be several steps of this system: with stride m it goes from any k to
// k + m, by A = A_{k+m-1} ... A_k and what B and w add up to on the way. A longer stride takes
// fewer norms and loses less to them. For a rate lambda a stride the metric is the discounted sum
// of squares of the outputs that an error will cause,
//
//   P_k = C_k^T C_k + r I + lambda^-2 A^T P_{k+m} A,
//
// begun far enough beyond the end with the last stride repeated, or at the end when that grows.
// Then A^T P_{k+m} A <= lambda^2 P_k at every k, whatever lambda is; a lambda below what the system
// can do shows in a metric that grows without bound. P is scaled so that |y_k| <= |e_k|_P, and in
// it
//
//   |e_{k+m}| <= lambda |e_k| + b_kappa |da| + w,   so   |y_k| <= (b_kappa |da| + w)/(1 - lambda)
//
// at every k, with b_kappa = max_k ||P_{k+m}^(1/2) B||_2 and w the largest disturbance given, both
// also over the first strides' parts. Of all lambda the one with the least tube
// b_kappa/(1 - lambda) is taken (w/(1 - lambda) without inputs).
#ifndef FACET_CERTIFY_CONTRACTION_H
#define FACET_CERTIFY_CONTRACTION_H

#include <facet_study/certify.h>

enum { LOOP_STATES_MAX = 16, LOOP_OUTPUTS_MAX = 16 };

typedef struct LinearLoop {
    int steps, states, outputs, inputs, draws;
    int stride;      // from 1 to steps
    const double *a; // [steps][states][states]
    const double *b; // [steps][states][inputs]
    const double *c; // [steps + 1][outputs][states]
    const double *w; // [steps][draws][states], disturbances
} LinearLoop;

typedef struct Contraction {
    bool contracts;               // false: no rate below 1 has a metric of use
    FacetTubeConstants constants; // a stride; b_kappa in units of y a unit of da
    double ratio; // the largest |A e| / |e| of a stride, by eigenvalues: at most lambda
    double entry; // the largest |e|_P over |y| of an error with no more than its output, C^T y
    double gain;  // max_k ||C_k sum_j Phi B_j||_2: what the tube's b_kappa / (1 - lambda) bounds
    int steps, states;
    double *metric; // P [steps + 1][states][states]
} Contraction;

// Finds rate, metric and constants. A system that does not contract is data: its constants are 1,
// infinite and infinite, and it has no metric. Freed with contraction_free.
FacetStatus contraction_find(Contraction *out, const LinearLoop *loop);
void contraction_free(Contraction *contraction);

// |e|_P at step k.
double contraction_length(const Contraction *contraction, const double *e, int k);

#endif
