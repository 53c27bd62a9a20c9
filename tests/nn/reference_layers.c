// Layers one by one, in plain form (see nn/reference_layers.h).
#include "nn/reference_layers.h"
#include "linalg/gemm.h"
#include "nn/rows.h"

#include <assert.h>

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

void conv1d_tangent(Real *ty, const Real *tx, const Real *w, int batch, int time, int in, int out)
{
    conv1d_product(ty, tx, w, batch, time, in, out);
    seq_clear_gaps(ty, batch, time, out);
}

void conv1d_dilated(Real *y, const Real *x, const Real *w, int batch, int time, int dilation,
                    int in, int out)
{
    memset(y, 0, seq_rows(batch, time) * (size_t)out * sizeof *y);
    for (int b = 0; b < batch; b++)
        for (int t = 0; t < time; t++)
            for (int k = 0; k < 3; k++) {
                int from = t + (k - 1) * dilation;
                if (from < 0 || from >= time) continue;
                const Real *row = x + (seq_start(b, time) + (size_t)from) * in;
                Real *sums = y + (seq_start(b, time) + (size_t)t) * out;
                for (int i = 0; i < in; i++)
                    for (int o = 0; o < out; o++)
                        sums[o] += row[i] * w[((size_t)k * in + i) * out + o];
            }
}

void linear_forward(Real *y, const Real *x, const Real *w, const Real *bias, int rows, int in,
                    int out)
{
    for (int r = 0; r < rows; r++) memcpy(y + (size_t)r * out, bias, (size_t)out * sizeof *y);
    real_gemm(y, out, GEMM_PLAIN, x, in, GEMM_PLAIN, w, out, rows, out, in, R(1));
}

void linear_tangent(Real *ty, const Real *tx, const Real *w, int rows, int in, int out)
{
    real_gemm(ty, out, GEMM_PLAIN, tx, in, GEMM_PLAIN, w, out, rows, out, in, R(0));
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

void mish_tangent(Real *ty, const Real *tx, const Real *x, int directions, size_t size)
{
    for (int d = 0; d < directions; d++) mish_backward(ty + d * size, tx + d * size, x, size);
}

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
