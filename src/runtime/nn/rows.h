// What the norm does to one row: shared by the norm layer and by the fused epilogue.
#ifndef FACET_NN_ROWS_H
#define FACET_NN_ROWS_H

#include "nn/real.h"

#define NORM_EPSILON 1e-5

// xhat = (x - mean) rstd over n numbers; returns rstd. xhat may be x.
static inline Real row_normalise(Real *xhat, const Real *x, int n)
{
    Real sum = 0, square = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < n; i++) sum += x[i];
    Real mean = sum / (Real)n;
#pragma omp simd reduction(+ : square)
    for (int i = 0; i < n; i++) square += (x[i] - mean) * (x[i] - mean);
    Real rstd = R(1) / real_sqrt(square / (Real)n + R(NORM_EPSILON));
#pragma omp simd
    for (int i = 0; i < n; i++) xhat[i] = (x[i] - mean) * rstd;
    return rstd;
}

// out = rstd (v - mean(v) - xhat mean(v xhat)): the derivative of xhat applied to v. It is
// symmetric, so it serves the backward pass and the tangent. out may be v or xhat.
static inline void row_norm_derivative(Real *out, const Real *v, const Real *xhat, Real rstd, int n)
{
    Real sum = 0, along = 0;
#pragma omp simd reduction(+ : sum, along)
    for (int i = 0; i < n; i++) sum += v[i], along += v[i] * xhat[i];
    sum /= (Real)n, along /= (Real)n;
#pragma omp simd
    for (int i = 0; i < n; i++) out[i] = rstd * (v[i] - sum - xhat[i] * along);
}

#endif
