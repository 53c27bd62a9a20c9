// The backward passes of a network's layers (see train/layers_backward.h).
#include "train/layers_backward.h"

#include "math/gemm_packed.h"
#include "math/gemm_windows.h"
#include "math/transpose.h"
#include "nn/rows.h"

#include <assert.h>

// The products run over all rows but the first and the last, zero rows between samples included.
static int inner_rows(int batch, int time) { return batch * (time + 1) - 1; }

void conv1d_backward_input(Real *dx, const Real *dy, const Real *w, int batch, int time, int in,
                           int out)
{
    for (int k = 0; k < 3; k++)
        gemm_by_transposed(dx + in, in, dy + (size_t)(2 - k) * out, out, w + (size_t)k * in * out,
                           out, inner_rows(batch, time), in, out, k > 0);
}

// dw[k] = sum over rows of x[row + k - 1]^T dy[row]: dy is packed and x transposed once for all
// three, which differ by a shift of the transposed x.
void conv1d_backward_weight(Real *dw, Real *scratch, const Real *x, const Real *dy, int rows,
                            int in, int out)
{
    size_t stride = conv1d_transposed_stride(rows);
    Real *packed = scratch + (size_t)in * stride;
    transpose(scratch, stride, x, (size_t)in, rows, in);
    gemm_pack(packed, GEMM_PLAIN, dy + out, out, rows - 2, 0, out, rows - 2);
    for (int k = 0; k < 3; k++)
        gemm_packed(dw + (size_t)k * in * out, out, scratch + k, (int)stride, packed, in, out,
                    rows - 2, false);
}

// G^T of the six products [in][out] at m.
static void gather_weights(Real *dw, const Real *m, size_t size)
{
    const Real sixth = R(1) / R(6);
    Real *restrict w0 = dw, *restrict w1 = dw + size, *restrict w2 = dw + 2 * size;
#pragma omp simd
    for (size_t i = 0; i < size; i++) {
        Real m0 = m[i], m1 = m[size + i], m2 = m[2 * size + i], m3 = m[3 * size + i];
        Real m4 = m[4 * size + i], m5 = m[5 * size + i];
        Real sum1 = sixth * (m1 + m2), sum2 = sixth * (m3 + m4);
        w0[i] = R(0.25) * (m0 + sum2) - sum1;
        w1[i] = sixth * (m2 - m1 + R(0.5) * (m3 - m4));
        w2[i] = sum2 - sum1 + m5;
    }
}

void winograd_backward_weight(Real *dw, Real *scratch, const Real *x, const Real *dy,
                              SeqLayout layout, int in, int out)
{
    int time = layout.time, dilation = layout.dilation;
    int tiles = winograd_tiles(time, dilation), all = layout.samples * tiles;
    size_t size = (size_t)in * out;
    Real *m = scratch, *v = m + WINOGRAD_POINTS * size;
    WindowGrid v_rows = {0, winograd_row(in)}, u_rows = {0, winograd_row(out)};
    for (int first = 0; first < all; first += WINOGRAD_GROUP) {
        int count = all - first < WINOGRAD_GROUP ? all - first : WINOGRAD_GROUP;
        size_t v_matrix = winograd_matrix(count, in), u_matrix = winograd_matrix(count, out);
        Real *u = v + WINOGRAD_POINTS * v_matrix;
        for (int i = 0; i < count; i++) {
            int sample = (first + i) / tiles, tile = (first + i) % tiles;
            size_t row = (size_t)(sample / layout.shard) * layout.block +
                         seq_start(sample % layout.shard, time);
            winograd_input(v + (size_t)i * winograd_row(in), v_matrix, x + row * in, tile, time,
                           dilation, in);
            winograd_result(u + (size_t)i * winograd_row(out), u_matrix, dy + row * out, tile, time,
                            dilation, out);
        }
        for (int point = 0; point < WINOGRAD_POINTS; point++)
            gemm_windows_gradient(m + point * size, out, v + point * v_matrix, v_rows,
                                  u + point * u_matrix, u_rows, 1, count, in, out, first > 0);
    }
    gather_weights(dw, m, size);
}

void linear_backward_input(Real *dx, const Real *dy, const Real *w, int rows, int in, int out)
{
    gemm_by_transposed(dx, in, dy, out, w, out, rows, in, out, false);
}

void linear_backward_weight(Real *dw, int dw_stride, const Real *x, int x_stride, const Real *dy,
                            int dy_stride, int rows, int in, int out)
{
    gemm_windows_gradient(dw, dw_stride, x, (WindowGrid){0, x_stride}, dy,
                          (WindowGrid){0, dy_stride}, 1, rows, in, out, false);
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
