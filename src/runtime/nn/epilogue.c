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
