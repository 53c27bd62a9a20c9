// Bounds on what errors of eps do to a plan, from the linear maps along a path (certify/path.h).
//
// Norms of products of many matrices overflow or vanish; they are kept as logarithms.
#ifndef FACET_CERTIFY_LTV_H
#define FACET_CERTIFY_LTV_H

#include "certify/path.h"

#include <facet_study/certify.h>

// Numbers of scratch for matrices of `size`.
size_t ltv_scratch(int size);

// log_norm[k] = log ||Phi_{k,K}||_2 for k = 0, ..., K, from transition [steps][size][size], by the
// backward recursion P_K = I, P_k = M_k^T P_{k+1} M_k, ||Phi_{k,K}||^2 = ||P_k|| (Appendix B.8).
// A product of zero has the logarithm -INFINITY. From a step on that is not finite, all are NaN.
void ltv_log_norms(double *log_norm, const double *transition, double *scratch, int steps,
                   int size);

// sum_k |c2(k)| ||Phi_{k+1,K}|| e_k with e_k = 1, or e_k = ||d eps_k|| of the path's steps.
FacetCertifyBound ltv_bound(const PathStep *step, const double *log_norm, int steps);
FacetCertifyBound ltv_path_bound(const PathStep *step, const double *log_norm, int steps);

// The second for numbers [first, first + rows) of the plan alone: sum_k |c2(k)| ||E Phi_{k+1,K}||
// ||d eps_k||, where E picks them, by the backward recursion S <- S M_k from S = E.
FacetCertifyBound ltv_rows_bound(const DenoisingPath *path, double *scratch, int first, int rows);

// ||sum_k c2(k) Phi_{k+1,K} d eps_k||, by e_{k+1} = M_k e_k + c2(k) d eps_k from e_0 = 0.
double ltv_linear(const DenoisingPath *path, double *scratch);

// Remark "Groenwall as a further relaxation": sum_k |c2(k)| prod_{j>k} (|c1(j)| + |c2(j)| L_a(j)).
FacetCertifyBound gronwall_product(const PathStep *step, int steps);

// Lemma "ODE sensitivity" in terms of eps. With alpha^2 + sigma^2 = 1 the reverse ODE is
//   d a/d sigma = -sigma/alpha^2 a + 1/alpha^2 eps,
// so with u = artanh(sigma), for which d u = d sigma/alpha^2 and cosh u = 1/alpha,
//   C_ode = integral_0^{u_max} cosh(u) exp(integral_0^u L_a du') du,
// where L_a is the one measured at the step's sigma, from there down to the next step's.
FacetCertifyBound gronwall_integral(const PathStep *step, int steps);

#endif
