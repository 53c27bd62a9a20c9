// Small symmetric positive definite systems, by Cholesky's factors: a = l l^T.
#ifndef FACET_MATH_CHOLESKY_H
#define FACET_MATH_CHOLESKY_H

#include <stdbool.h>

// Puts l into the lower triangle of a [n][n], rows of `stride` numbers. False when a is not
// positive definite, and a is then spoilt.
bool cholesky_factor(double *a, int n, int stride);

// x [n] = a^-1 x, from the factor.
void cholesky_solve(double *x, const double *l, int n, int stride);

#endif
