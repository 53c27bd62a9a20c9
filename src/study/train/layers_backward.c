// The backward passes of a network's layers (see train/layers_backward.h).
#include "train/layers_backward.h"

#include "linalg/gemm.h"
#include "math/gemm_packed.h"
#include "nn/rows.h"

#include <assert.h>

// The products run over all rows but the first and the last, zero rows between samples included.
static int inner_rows(int batch, int time) { return batch * (time + 1) - 1; }

void conv1d_backward_input(Real *dx, const Real *dy, const Real *w, int batch, int time, int in,
                           int out)
{
    for (int k = 0; k < 3; k++)
        real_gemm(dx + in, in, GEMM_PLAIN, dy + (size_t)(2 - k) * out, out, GEMM_TRANSPOSED,
                  w + (size_t)k * in * out, out, inner_rows(batch, time), in, out, R(k > 0));
}

static void transpose(Real *out, size_t stride, const Real *x, int rows, int columns)
{
    enum { SIDE = 16 };
    for (int r0 = 0; r0 < rows; r0 += SIDE)
        for (int c0 = 0; c0 < columns; c0 += SIDE) {
            int r1 = r0 + SIDE < rows ? r0 + SIDE : rows;
            int c1 = c0 + SIDE < columns ? c0 + SIDE : columns;
            for (int c = c0; c < c1; c++)
                for (int r = r0; r < r1; r++) out[c * stride + r] = x[(size_t)r * columns + c];
        }
}

// dw[k] = sum over rows of x[row + k - 1]^T dy[row]: dy is packed and x transposed once for all
// three, which differ by a shift of the transposed x.
void conv1d_backward_weight(Real *dw, Real *scratch, const Real *x, const Real *dy, int rows,
                            int in, int out)
{
    size_t stride = conv1d_transposed_stride(rows);
    Real *packed = scratch + (size_t)in * stride;
    transpose(scratch, stride, x, rows, in);
    gemm_pack(packed, GEMM_PLAIN, dy + out, out, rows - 2, 0, out, rows - 2);
    for (int k = 0; k < 3; k++)
        gemm_packed(dw + (size_t)k * in * out, out, scratch + k, (int)stride, packed, in, out,
                    rows - 2, false);
}

void linear_backward_input(Real *dx, const Real *dy, const Real *w, int rows, int in, int out)
{
    real_gemm(dx, in, GEMM_PLAIN, dy, out, GEMM_TRANSPOSED, w, out, rows, in, out, R(0));
}

void linear_backward_weight(Real *dw, const Real *x, const Real *dy, int rows, int in, int out)
{
    real_gemm(dw, out, GEMM_TRANSPOSED, x, in, GEMM_PLAIN, dy, out, in, out, rows, R(0));
}

void column_sums(Real *sums, const Real *dy, int rows, int columns)
{
    for (int r = 0; r < rows; r++) {
        const Real *row = dy + (size_t)r * columns;
        for (int c = 0; c < columns; c++) sums[c] += row[c];
    }
}

void norm_backward(Real *dx, Real *dgamma, Real *dbeta, const Real *dy, const Real *xhat,
                   const Real *rstd, const Real *gamma, int rows, int channels)
{
    for (int r = 0; r < rows; r++) {
        const Real *hat = xhat + (size_t)r * channels, *d = dy + (size_t)r * channels;
        Real *out = dx + (size_t)r * channels;
#pragma omp simd
        for (int c = 0; c < channels; c++) {
            dgamma[c] += d[c] * hat[c];
            dbeta[c] += d[c];
            out[c] = d[c] * gamma[c];
        }
        row_norm_derivative(out, out, hat, rstd[r], channels);
    }
}

void mish_backward(Real *dx, const Real *dy, const Real *x, size_t size)
{
#pragma omp simd
    for (size_t i = 0; i < size; i++) {
        Real value, slope;
        mish_value_slope(&value, &slope, x[i]);
        dx[i] = dy[i] * slope;
    }
}

void embedding_backward(Real *dtable, const Real *dy, int stride, const int *index,
                        int index_stride, int rows, int values, int width)
{
    for (int r = 0; r < rows; r++) {
        Real *row = dtable + embedding_row(index[(size_t)r * index_stride], values) * width;
        for (int i = 0; i < width; i++) row[i] += dy[(size_t)r * stride + i];
    }
}
