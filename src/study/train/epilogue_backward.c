// The backward pass of what follows a convolution (see train/epilogue_backward.h).
#include "train/epilogue_backward.h"

#include "nn/layers.h"
#include "nn/rows.h"

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
