// The largest eigenvalue of a symmetric matrix and the largest singular value of any matrix.
//
// A Householder reduction to tridiagonal form and bisection on Sturm's count of eigenvalues: the
// answer does not depend on a starting vector or on how well the eigenvalues are separated, as a
// power iteration's does. A matrix that is not finite gives NaN.
#ifndef FACET_MATH_SPECTRUM_H
#define FACET_MATH_SPECTRUM_H

#include <stddef.h>

// Numbers of scratch that the functions below need for n (columns).
size_t spectrum_scratch(int n);

// Of a symmetric a [n][n], whose lower triangle is read.
double symmetric_largest(const double *a, double *scratch, int n);

// ||a||_2 of a [rows][columns]: the root of the largest eigenvalue of a^T a, and NaN where that
// overflows.
double spectral_norm(const double *a, double *scratch, int rows, int columns);

#endif
