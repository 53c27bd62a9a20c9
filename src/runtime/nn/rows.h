// What the norm does to one row: shared by the norm layer and by the fused epilogue.
#ifndef FACET_NN_ROWS_H
#define FACET_NN_ROWS_H

#include "math/vector.h"
#include "nn/real.h"

#define NORM_EPSILON 1e-5

// A sum over a row in eight lanes, which are added up in a tree: the same order, and so the same
// bits, whatever the width of the processor's registers.
enum {
    ROW_LANES = 8,
    ROW_BYTES = ROW_LANES * (int)sizeof(Real),
    ROW_PART_BYTES = VECTOR_BYTES < ROW_BYTES ? VECTOR_BYTES : ROW_BYTES,
    ROW_PART = ROW_PART_BYTES / (int)sizeof(Real), // lanes in a register
    ROW_PARTS = ROW_LANES / ROW_PART,
};

typedef Real RowPart __attribute__((vector_size(ROW_PART_BYTES)));
typedef Real RowLoose
    __attribute__((vector_size(ROW_PART_BYTES), aligned(sizeof(Real)), may_alias));

static inline RowPart row_part(const Real *x, int part)
{
    return *(const RowLoose *)(x + part * ROW_PART);
}

// The lanes' sum, with what is left of a row of n numbers: tail(i) is added to lane i % ROW_LANES.
#define ROW_TOTAL(total, parts, n, tail)                                                           \
    do {                                                                                           \
        Real lane_[ROW_LANES];                                                                     \
        memcpy(lane_, parts, sizeof lane_);                                                        \
        for (int i = (n) / ROW_LANES * ROW_LANES; i < (n); i++) lane_[i % ROW_LANES] += tail;      \
        for (int half_ = ROW_LANES / 2; half_ > 0; half_ /= 2)                                     \
            for (int i = 0; i < half_; i++) lane_[i] += lane_[i + half_];                          \
        total = lane_[0];                                                                          \
    } while (0)

static inline Real row_sum(const Real *x, int n)
{
    RowPart sum[ROW_PARTS] = {0};
    for (int i = 0; i + ROW_LANES <= n; i += ROW_LANES)
        for (int p = 0; p < ROW_PARTS; p++) sum[p] += row_part(x + i, p);
    Real total;
    ROW_TOTAL(total, sum, n, x[i]);
    return total;
}

// The sum of (x - mean)^2.
static inline Real row_squares(const Real *x, Real mean, int n)
{
    RowPart sum[ROW_PARTS] = {0};
    for (int i = 0; i + ROW_LANES <= n; i += ROW_LANES)
        for (int p = 0; p < ROW_PARTS; p++) {
            RowPart d = row_part(x + i, p) - mean;
            sum[p] += d * d;
        }
    Real total;
    ROW_TOTAL(total, sum, n, (x[i] - mean) * (x[i] - mean));
    return total;
}

// The sum of x y.
static inline Real row_dot(const Real *x, const Real *y, int n)
{
    RowPart sum[ROW_PARTS] = {0};
    for (int i = 0; i + ROW_LANES <= n; i += ROW_LANES)
        for (int p = 0; p < ROW_PARTS; p++) sum[p] += row_part(x + i, p) * row_part(y + i, p);
    Real total;
    ROW_TOTAL(total, sum, n, x[i] * y[i]);
    return total;
}

// xhat = (x - mean) rstd over n numbers; returns rstd. xhat may be x.
static inline Real row_normalise(Real *xhat, const Real *x, int n)
{
    Real mean = row_sum(x, n) / (Real)n;
    Real rstd = R(1) / real_sqrt(row_squares(x, mean, n) / (Real)n + R(NORM_EPSILON));
#pragma omp simd
    for (int i = 0; i < n; i++) xhat[i] = (x[i] - mean) * rstd;
    return rstd;
}

// out = rstd (v - mean(v) - xhat mean(v xhat)): the derivative of xhat applied to v. It is
// symmetric, so it serves the backward pass and the tangent. out may be v or xhat.
static inline void row_norm_derivative(Real *out, const Real *v, const Real *xhat, Real rstd, int n)
{
    Real sum = row_sum(v, n) / (Real)n, along = row_dot(v, xhat, n) / (Real)n;
#pragma omp simd
    for (int i = 0; i < n; i++) out[i] = rstd * (v[i] - sum - xhat[i] * along);
}

#endif
