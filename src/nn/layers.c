// The layers of a network (see nn/layers.h for shapes and equations).
#include "nn/layers.h"

#include "math/gemm_packed.h"
#include "nn/rows.h"

#include <assert.h>

// ---- Padded sequences -------------------------------------------------------------------------

void seq_clear_gaps(Real *x, int batch, int time, int channels)
{
    for (int b = 0; b <= batch; b++)
        memset(x + (size_t)b * (time + 1) * channels, 0, (size_t)channels * sizeof *x);
}

void seq_pack(Real *padded, const Real *dense, int batch, int time, int channels)
{
    size_t size = (size_t)time * channels;
    for (int b = 0; b < batch; b++)
        memcpy(padded + seq_start(b, time) * channels, dense + b * size, size * sizeof *dense);
    seq_clear_gaps(padded, batch, time, channels);
}

void seq_unpack(Real *dense, const Real *padded, int batch, int time, int channels)
{
    size_t size = (size_t)time * channels;
    for (int b = 0; b < batch; b++)
        memcpy(dense + b * size, padded + seq_start(b, time) * channels, size * sizeof *dense);
}

// ---- Convolution --------------------------------------------------------------------------------

// The products run over all rows but the first and the last, zero rows between samples included.
static int inner_rows(int batch, int time) { return batch * (time + 1) - 1; }

// Leaves the products in the zero rows between samples.
static void conv1d_product(Real *y, const Real *x, const Real *w, int batch, int time, int in,
                           int out)
{
    for (int k = 0; k < 3; k++)
        real_gemm(y + out, out, GEMM_PLAIN, x + (size_t)k * in, in, GEMM_PLAIN,
                  w + (size_t)k * in * out, out, inner_rows(batch, time), out, in, R(k > 0));
}

void conv1d_forward(Real *y, const Real *x, const Real *w, const Real *bias, int batch, int time,
                    int in, int out)
{
    conv1d_product(y, x, w, batch, time, in, out);
    for (int b = 0; b < batch; b++)
        for (int t = 0; t < time; t++) {
            Real *row = y + (seq_start(b, time) + (size_t)t) * out;
            for (int o = 0; o < out; o++) row[o] += bias[o];
        }
    seq_clear_gaps(y, batch, time, out);
}

void conv1d_backward_input(Real *dx, const Real *dy, const Real *w, int batch, int time, int in,
                           int out)
{
    for (int k = 0; k < 3; k++)
        real_gemm(dx + in, in, GEMM_PLAIN, dy + (size_t)(2 - k) * out, out, GEMM_TRANSPOSED,
                  w + (size_t)k * in * out, out, inner_rows(batch, time), in, out, R(k > 0));
}

void conv1d_pack(Real *packed, const Real *w, int in, int out)
{
    gemm_pack(packed, GEMM_PLAIN, w, out, 3 * in, 0, out, 3 * in);
}

void conv1d_pack_backward(Real *packed, const Real *w, int in, int out)
{
    for (int k = 0; k < 3; k++)
        gemm_pack(packed, GEMM_TRANSPOSED, w + (size_t)(2 - k) * in * out, out, out, k * out, in,
                  3 * out);
}

void conv1d_rows(Real *y, const Real *x, const Real *packed, int first, int last, int in, int out,
                 bool accumulate)
{
    assert(first >= 1);
    gemm_packed(y + (size_t)first * out, out, x + (size_t)(first - 1) * in, in, packed,
                last - first, out, 3 * in, accumulate);
}

// The transposed x has one column a row of the block, and a length that does not make all its rows
// fall into the same cache sets.
static size_t transposed_stride(int rows) { return ((size_t)rows + 31) / 32 * 32 + 16; }

size_t conv1d_scratch(int rows, int in, int out)
{
    return (size_t)in * transposed_stride(rows) + gemm_packed_size(out, rows - 2);
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
    size_t stride = transposed_stride(rows);
    Real *packed = scratch + (size_t)in * stride;
    transpose(scratch, stride, x, rows, in);
    gemm_pack(packed, GEMM_PLAIN, dy + out, out, rows - 2, 0, out, rows - 2);
    for (int k = 0; k < 3; k++)
        gemm_packed(dw + (size_t)k * in * out, out, scratch + k, (int)stride, packed, in, out,
                    rows - 2, false);
}

void conv1d_tangent(Real *ty, const Real *tx, const Real *w, int batch, int time, int in, int out)
{
    conv1d_product(ty, tx, w, batch, time, in, out);
    seq_clear_gaps(ty, batch, time, out);
}

// ---- Linear -------------------------------------------------------------------------------------

void linear_forward(Real *y, const Real *x, const Real *w, const Real *bias, int rows, int in,
                    int out)
{
    for (int r = 0; r < rows; r++) memcpy(y + (size_t)r * out, bias, (size_t)out * sizeof *y);
    real_gemm(y, out, GEMM_PLAIN, x, in, GEMM_PLAIN, w, out, rows, out, in, R(1));
}

void linear_backward_input(Real *dx, const Real *dy, const Real *w, int rows, int in, int out)
{
    real_gemm(dx, in, GEMM_PLAIN, dy, out, GEMM_TRANSPOSED, w, out, rows, in, out, R(0));
}

void linear_backward_weight(Real *dw, const Real *x, const Real *dy, int rows, int in, int out)
{
    real_gemm(dw, out, GEMM_TRANSPOSED, x, in, GEMM_PLAIN, dy, out, in, out, rows, R(0));
}

void linear_tangent(Real *ty, const Real *tx, const Real *w, int rows, int in, int out)
{
    real_gemm(ty, out, GEMM_PLAIN, tx, in, GEMM_PLAIN, w, out, rows, out, in, R(0));
}

void column_sums(Real *sums, const Real *dy, int rows, int columns)
{
    for (int r = 0; r < rows; r++) {
        const Real *row = dy + (size_t)r * columns;
        for (int c = 0; c < columns; c++) sums[c] += row[c];
    }
}

// ---- Norm ---------------------------------------------------------------------------------------

void norm_forward(Real *y, Real *xhat, Real *rstd, const Real *x, const Real *gamma,
                  const Real *beta, int rows, int channels)
{
    for (int r = 0; r < rows; r++) {
        Real *hat = xhat + (size_t)r * channels, *out = y + (size_t)r * channels;
        rstd[r] = row_normalise(hat, x + (size_t)r * channels, channels);
        for (int c = 0; c < channels; c++) out[c] = gamma[c] * hat[c] + beta[c];
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

void norm_tangent(Real *ty, const Real *tx, const Real *xhat, const Real *rstd, const Real *gamma,
                  int directions, int rows, int channels)
{
    for (int d = 0; d < directions; d++)
        for (int r = 0; r < rows; r++) {
            size_t at = ((size_t)d * rows + r) * channels;
            row_norm_derivative(ty + at, tx + at, xhat + (size_t)r * channels, rstd[r], channels);
            for (int c = 0; c < channels; c++) ty[at + c] *= gamma[c];
        }
}

// ---- GroupNorm ----------------------------------------------------------------------------------

void group_norm_forward(Real *y, Real *xhat, Real *rstd, const Real *x, const Real *gamma,
                        const Real *beta, int batch, int time, int channels, int groups)
{
    assert(channels % groups == 0);
    int width = channels / groups;
    for (int b = 0; b < batch; b++)
        for (int g = 0; g < groups; g++) {
            size_t start = (size_t)b * time * channels + (size_t)g * width;
            Real sum = 0, square = 0, count = (Real)(time * width);
            for (int t = 0; t < time; t++)
                for (int c = 0; c < width; c++) sum += x[start + (size_t)t * channels + c];
            Real mean = sum / count;
            for (int t = 0; t < time; t++)
                for (int c = 0; c < width; c++) {
                    Real d = x[start + (size_t)t * channels + c] - mean;
                    square += d * d;
                }
            Real r = R(1) / real_sqrt(square / count + R(NORM_EPSILON));
            rstd[b * groups + g] = r;
            for (int t = 0; t < time; t++)
                for (int c = 0; c < width; c++) {
                    size_t at = start + (size_t)t * channels + c;
                    xhat[at] = (x[at] - mean) * r;
                    y[at] = gamma[g * width + c] * xhat[at] + beta[g * width + c];
                }
        }
}

// out = rstd (v - mean(v) - xhat mean(v xhat)) over each group of one sample. out may be v.
static void group_derivative(Real *out, const Real *v, const Real *xhat, const Real *rstd, int time,
                             int channels, int groups)
{
    int width = channels / groups;
    for (int g = 0; g < groups; g++) {
        Real sum = 0, along = 0, count = (Real)(time * width);
        for (int t = 0; t < time; t++)
            for (int c = g * width; c < (g + 1) * width; c++) {
                size_t at = (size_t)t * channels + c;
                sum += v[at], along += v[at] * xhat[at];
            }
        sum /= count, along /= count;
        for (int t = 0; t < time; t++)
            for (int c = g * width; c < (g + 1) * width; c++) {
                size_t at = (size_t)t * channels + c;
                out[at] = rstd[g] * (v[at] - sum - xhat[at] * along);
            }
    }
}

void group_norm_backward(Real *dx, Real *dgamma, Real *dbeta, const Real *dy, const Real *xhat,
                         const Real *rstd, const Real *gamma, int batch, int time, int channels,
                         int groups)
{
    size_t size = (size_t)time * channels;
    for (int b = 0; b < batch; b++) {
        const Real *hat = xhat + b * size, *d = dy + b * size;
        Real *out = dx + b * size;
        for (int t = 0; t < time; t++)
            for (int c = 0; c < channels; c++) {
                size_t at = (size_t)t * channels + c;
                dgamma[c] += d[at] * hat[at];
                dbeta[c] += d[at];
                out[at] = d[at] * gamma[c];
            }
        group_derivative(out, out, hat, rstd + (size_t)b * groups, time, channels, groups);
    }
}

void group_norm_tangent(Real *ty, const Real *tx, const Real *xhat, const Real *rstd,
                        const Real *gamma, int directions, int batch, int time, int channels,
                        int groups)
{
    size_t size = (size_t)time * channels;
    for (int d = 0; d < directions; d++)
        for (int b = 0; b < batch; b++) {
            size_t at = ((size_t)d * batch + b) * size;
            group_derivative(ty + at, tx + at, xhat + b * size, rstd + (size_t)b * groups, time,
                             channels, groups);
            for (size_t i = 0; i < size; i++) ty[at + i] *= gamma[i % (size_t)channels];
        }
}

// ---- Mish ---------------------------------------------------------------------------------------

void mish_forward(Real *y, const Real *x, size_t size)
{
#pragma omp simd
    for (size_t i = 0; i < size; i++) y[i] = mish_value(x[i]);
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

void mish_tangent(Real *ty, const Real *tx, const Real *x, int directions, size_t size)
{
    for (int d = 0; d < directions; d++) mish_backward(ty + d * size, tx + d * size, x, size);
}

// ---- FiLM ---------------------------------------------------------------------------------------

void film_forward(Real *y, const Real *x, const Real *film, int batch, int time, int channels)
{
    for (int b = 0; b < batch; b++) {
        const Real *scale = film + (size_t)b * 2 * channels, *shift = scale + channels;
        for (int t = 0; t < time; t++) {
            size_t at = ((size_t)b * time + t) * channels;
            for (int c = 0; c < channels; c++) y[at + c] = x[at + c] * (R(1) + scale[c]) + shift[c];
        }
    }
}

void film_backward(Real *dx, Real *dfilm, const Real *dy, const Real *x, const Real *film,
                   int batch, int time, int channels)
{
    memset(dfilm, 0, (size_t)batch * 2 * channels * sizeof *dfilm);
    for (int b = 0; b < batch; b++) {
        const Real *scale = film + (size_t)b * 2 * channels;
        Real *dscale = dfilm + (size_t)b * 2 * channels, *dshift = dscale + channels;
        for (int t = 0; t < time; t++) {
            size_t at = ((size_t)b * time + t) * channels;
            for (int c = 0; c < channels; c++) {
                dscale[c] += dy[at + c] * x[at + c];
                dshift[c] += dy[at + c];
                dx[at + c] = dy[at + c] * (R(1) + scale[c]);
            }
        }
    }
}

void film_tangent(Real *ty, const Real *tx, const Real *tfilm, const Real *x, const Real *film,
                  int directions, int batch, int time, int channels)
{
    for (int d = 0; d < directions; d++)
        for (int b = 0; b < batch; b++) {
            const Real *scale = film + (size_t)b * 2 * channels;
            const Real *move = tfilm ? tfilm + ((size_t)d * batch + b) * 2 * channels : NULL;
            for (int t = 0; t < time; t++) {
                size_t row = ((size_t)b * time + t) * channels;
                size_t at = (size_t)d * batch * time * channels + row;
                for (int c = 0; c < channels; c++) {
                    ty[at + c] = tx[at + c] * (R(1) + scale[c]);
                    if (move) ty[at + c] += x[row + c] * move[c] + move[channels + c];
                }
            }
        }
}

void residual_forward(Real *y, const Real *x, const Real *f, size_t size)
{
    for (size_t i = 0; i < size; i++) y[i] = x[i] + f[i];
}

// ---- Embeddings ---------------------------------------------------------------------------------

static size_t embedding_row(int index, int values)
{
    assert(index >= EMBEDDING_NULL && index < values && "a factor value outside the table");
    return (size_t)(index == EMBEDDING_NULL ? values : index);
}

void embedding_forward(Real *y, int stride, const Real *table, const int *index, int index_stride,
                       int rows, int values, int width)
{
    for (int r = 0; r < rows; r++)
        memcpy(y + (size_t)r * stride,
               table + embedding_row(index[(size_t)r * index_stride], values) * width,
               (size_t)width * sizeof *y);
}

void embedding_backward(Real *dtable, const Real *dy, int stride, const int *index,
                        int index_stride, int rows, int values, int width)
{
    for (int r = 0; r < rows; r++) {
        Real *row = dtable + embedding_row(index[(size_t)r * index_stride], values) * width;
        for (int i = 0; i < width; i++) row[i] += dy[(size_t)r * stride + i];
    }
}

void time_embedding(Real *y, int stride, const Real *t, int rows, int width, bool tangent)
{
    assert(width >= 4 && width % 2 == 0);
    int half = width / 2;
    for (int i = 0; i < half; i++) {
        double frequency = exp(-log(10000.0) * i / (half - 1));
        for (int r = 0; r < rows; r++) {
            double s = sin((double)t[r] * frequency), c = cos((double)t[r] * frequency);
            y[(size_t)r * stride + i] = (Real)(tangent ? c * frequency : s);
            y[(size_t)r * stride + half + i] = (Real)(tangent ? -s * frequency : c);
        }
    }
}
