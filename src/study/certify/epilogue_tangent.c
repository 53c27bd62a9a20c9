// Tangents of what follows a convolution (see certify/epilogue_tangent.h).
#include "certify/epilogue_tangent.h"

#include "nn/rows.h"

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
