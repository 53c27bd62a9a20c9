// The fused pass after a convolution (see nn/epilogue.h).
#include "nn/epilogue.h"

#include "nn/layers.h"
#include "nn/rows.h"

#include <assert.h>

void epilogue_forward(Real *h, Real *u, Real *rstd, EpilogueParams p, const Real *film,
                      int film_stride, const Real *residual, int first, int last, int time,
                      int channels)
{
    assert(!film || !residual);
    for (int row = first; row < last; row++) {
        size_t at = (size_t)row * channels;
        Real *restrict x = u + at, *restrict out = h + at;
        if (seq_is_gap(row, time)) {
            memset(x, 0, (size_t)channels * sizeof *x);
            memset(out, 0, (size_t)channels * sizeof *out);
            continue;
        }
        int b = seq_sample(row, time);
        if (p.bias) {
#pragma omp simd
            for (int c = 0; c < channels; c++) x[c] += p.bias[c];
        }
        rstd[row - 1 - b] = row_normalise(x, x, channels);
        if (film) {
            const Real *restrict scale = film + (size_t)b * film_stride;
            const Real *restrict shift = scale + channels;
#pragma omp simd
            for (int c = 0; c < channels; c++)
                out[c] = mish_value(p.gamma[c] * x[c] + p.beta[c]) * (R(1) + scale[c]) + shift[c];
        } else if (residual) {
            const Real *restrict skip = residual + at;
#pragma omp simd
            for (int c = 0; c < channels; c++)
                out[c] = mish_value(p.gamma[c] * x[c] + p.beta[c]) + skip[c];
        } else {
#pragma omp simd
            for (int c = 0; c < channels; c++) out[c] = mish_value(p.gamma[c] * x[c] + p.beta[c]);
        }
    }
}

void epilogue_backward(Real *xhat, Real *dvectors, Real *dfilm, const Real *dh, const Real *rstd,
                       EpilogueParams p, const Real *film, int film_stride, Real *scratch,
                       int batch, int time, int channels)
{
    Real *restrict dbias = dvectors, *restrict dgamma = dvectors + channels;
    Real *restrict dbeta = dvectors + 2 * channels, *restrict dn = scratch;
    for (int b = 0; b < batch; b++) {
        const Real *restrict scale = film ? film + (size_t)b * film_stride : NULL;
        Real *restrict dscale = film ? dfilm + (size_t)b * film_stride : NULL;
        Real *restrict dshift = film ? dscale + channels : NULL;
        if (film) memset(dscale, 0, 2 * (size_t)channels * sizeof *dscale);
        for (int t = 0; t < time; t++) {
            size_t at = (seq_start(b, time) + (size_t)t) * channels;
            Real *restrict x = xhat + at;
            const Real *restrict d = dh + at;
            if (film) {
#pragma omp simd
                for (int c = 0; c < channels; c++) {
                    Real value, slope;
                    mish_value_slope(&value, &slope, p.gamma[c] * x[c] + p.beta[c]);
                    dscale[c] += d[c] * value;
                    dshift[c] += d[c];
                    Real dg = d[c] * (R(1) + scale[c]) * slope;
                    dgamma[c] += dg * x[c];
                    dbeta[c] += dg;
                    dn[c] = dg * p.gamma[c];
                }
            } else {
#pragma omp simd
                for (int c = 0; c < channels; c++) {
                    Real value, slope;
                    mish_value_slope(&value, &slope, p.gamma[c] * x[c] + p.beta[c]);
                    Real dg = d[c] * slope;
                    dgamma[c] += dg * x[c];
                    dbeta[c] += dg;
                    dn[c] = dg * p.gamma[c];
                }
            }
            row_norm_derivative(x, dn, x, rstd[b * time + t], channels);
#pragma omp simd
            for (int c = 0; c < channels; c++) dbias[c] += x[c];
        }
    }
}

void epilogue_slope(Real *slope, const Real *xhat, EpilogueParams p, const Real *film, int time,
                    int channels)
{
    for (int t = 0; t < time; t++)
#pragma omp simd
        for (int c = 0; c < channels; c++) {
            size_t at = (size_t)t * channels + c;
            Real value, steep;
            mish_value_slope(&value, &steep, p.gamma[c] * xhat[at] + p.beta[c]);
            slope[at] = steep * p.gamma[c] * (film ? R(1) + film[c] : R(1));
        }
}

void epilogue_tangent(Real *th, Real *tu, const Real *slope, const Real *xhat, const Real *rstd,
                      const Real *residual, int time, int channels)
{
    for (int t = 0; t < time; t++) {
        size_t at = (size_t)t * channels;
        row_norm_derivative(tu + at, tu + at, xhat + at, rstd[t], channels);
        if (residual) {
#pragma omp simd
            for (int c = 0; c < channels; c++)
                th[at + c] = residual[at + c] + slope[at + c] * tu[at + c];
        } else {
#pragma omp simd
            for (int c = 0; c < channels; c++) th[at + c] = slope[at + c] * tu[at + c];
        }
    }
}
