// The backward passes of a network's layers (see train/layers_backward.h).
#include "train/layers_backward.h"

#include "linalg/gemm.h"
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
        real_gemm(dx + in, in, GEMM_PLAIN, dy + (size_t)(2 - k) * out, out, GEMM_TRANSPOSED,
                  w + (size_t)k * in * out, out, inner_rows(batch, time), in, out, R(k > 0));
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

// A dy at the six points, for one tile of the sequence whose first row is dy.
static void spread_result(Real *v, size_t stride, const Real *dy, int tile, int time, int channels)
{
    int steps = winograd_steps(tile, time);
    size_t row = (size_t)channels;
    const Real *restrict d = dy + (size_t)tile * WINOGRAD_STEPS * row;
    Real *restrict out = v;
#pragma omp simd
    for (int c = 0; c < channels; c++) {
        Real d0 = d[c], d1 = steps > 1 ? d[row + c] : R(0), d2 = steps > 2 ? d[2 * row + c] : R(0);
        Real d3 = steps > 3 ? d[3 * row + c] : R(0);
        Real even = d0 + d2, odd = d1 + d3, even2 = d0 + R(4) * d2, odd2 = R(2) * d1 + R(8) * d3;
        out[c] = d0;
        out[stride + c] = even + odd;
        out[2 * stride + c] = even - odd;
        out[3 * stride + c] = even2 + odd2;
        out[4 * stride + c] = even2 - odd2;
        out[5 * stride + c] = d3;
    }
}

// G^T of the six products [in][out] at m.
static void gather_weights(Real *dw, const Real *m, size_t size)
{
    Real *restrict w0 = dw, *restrict w1 = dw + size, *restrict w2 = dw + 2 * size;
#pragma omp simd
    for (size_t i = 0; i < size; i++) {
        Real m0 = m[i], m1 = m[size + i], m2 = m[2 * size + i], m3 = m[3 * size + i];
        Real m4 = m[4 * size + i], m5 = m[5 * size + i];
        Real sum1 = (m1 + m2) / R(6), sum2 = (m3 + m4) / R(6);
        w0[i] = m0 / R(4) - sum1 + sum2 / R(4);
        w1[i] = (m2 - m1) / R(6) + (m3 - m4) / R(12);
        w2[i] = sum2 - sum1 + m5;
    }
}

void winograd_backward_weight(Real *dw, Real *scratch, const Real *x, const Real *dy,
                              SeqLayout layout, int in, int out)
{
    int time = layout.time, tiles = winograd_tiles(time), all = layout.samples * tiles;
    size_t size = (size_t)in * out;
    Real *m = scratch, *v = m + WINOGRAD_POINTS * size;
    memset(m, 0, WINOGRAD_POINTS * size * sizeof *m);
    for (int first = 0; first < all; first += WINOGRAD_GROUP) {
        int count = all - first < WINOGRAD_GROUP ? all - first : WINOGRAD_GROUP;
        size_t v_stride = (size_t)count * in, u_stride = (size_t)count * out;
        Real *u = v + WINOGRAD_POINTS * v_stride;
        for (int i = 0; i < count; i++) {
            int sample = (first + i) / tiles, tile = (first + i) % tiles;
            size_t row = (size_t)(sample / layout.shard) * layout.block +
                         seq_start(sample % layout.shard, time);
            winograd_input(v + (size_t)i * in, v_stride, x + row * in, tile, tile + 1, time, in);
            spread_result(u + (size_t)i * out, u_stride, dy + row * out, tile, time, out);
        }
        for (int point = 0; point < WINOGRAD_POINTS; point++)
            gemm_windows_gradient(m + point * size, out, v + point * v_stride, (WindowGrid){0, in},
                                  u + point * u_stride, (WindowGrid){0, out}, 1, count, in, out,
                                  true);
    }
    gather_weights(dw, m, size);
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
