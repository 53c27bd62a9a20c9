// The fused norm, skip and ReLU of an image network (see nn/image_epilogue.h).
#include "nn/image_epilogue.h"

#include "nn/rows.h"

#include <assert.h>

void moments_strip(Real *moments, const Real *u, int pixels, int channels, int groups)
{
    assert(channels <= IMAGE_CHANNELS_MAX && channels % groups == 0);
    Real sum[IMAGE_CHANNELS_MAX], square[IMAGE_CHANNELS_MAX];
    int width = channels / groups;
    for (int c = 0; c < channels; c++) sum[c] = square[c] = 0;
    for (int i = 0; i < pixels; i++) {
        const Real *pixel = u + (size_t)i * channels;
#pragma omp simd
        for (int c = 0; c < channels; c++) sum[c] += pixel[c];
    }
    for (int g = 0; g < groups; g++) {
        Real total = 0;
        for (int c = g * width; c < (g + 1) * width; c++) total += sum[c];
        total /= (Real)(pixels * width);
        for (int c = g * width; c < (g + 1) * width; c++) sum[c] = total;
        moments[2 * g] = total;
    }
    for (int i = 0; i < pixels; i++) {
        const Real *pixel = u + (size_t)i * channels;
#pragma omp simd
        for (int c = 0; c < channels; c++) {
            Real d = pixel[c] - sum[c];
            square[c] += d * d;
        }
    }
    for (int g = 0; g < groups; g++) {
        Real total = 0;
        for (int c = g * width; c < (g + 1) * width; c++) total += square[c];
        moments[2 * g + 1] = total;
    }
}

void moments_merge(Real *a, const Real *b, Real count_a, Real count_b, int groups)
{
    Real share = count_b / (count_a + count_b);
    for (int g = 0; g < groups; g++) {
        Real gap = b[2 * g] - a[2 * g];
        a[2 * g] += gap * share;
        a[2 * g + 1] += b[2 * g + 1] + gap * gap * count_a * share;
    }
}

void norm_affine(Real *scale, Real *shift, Real *mean, Real *rstd, const Real *moments, Real count,
                 const Real *gamma, const Real *beta, int channels, int groups)
{
    int width = channels / groups;
    for (int c = 0; c < channels; c++) {
        const Real *m = moments + 2 * (c / width);
        mean[c] = m[0];
        rstd[c] = R(1) / real_sqrt(m[1] / count + R(NORM_EPSILON));
        scale[c] = gamma[c] * rstd[c];
        shift[c] = beta[c] - mean[c] * scale[c];
    }
}

static inline Real positive(Real x) { return x > R(0) ? x : R(0); }

void affine_relu_rows(Real *h, ImageShape hs, const Real *u, const Real *scale, const Real *shift,
                      AffineSkip skip, int first, int last)
{
    int channels = hs.channels;
    for (int v = first; v < last; v++)
        for (int p = 0; p < hs.width; p++) {
            Real *out = h + image_at(hs, v, p);
            const Real *in = u + ((size_t)v * hs.width + (size_t)p) * (size_t)channels;
            const Real *add = skip.x ? skip.x + image_at(skip.shape, v, p) : NULL;
            if (!add) {
#pragma omp simd
                for (int c = 0; c < channels; c++) out[c] = positive(scale[c] * in[c] + shift[c]);
            } else if (!skip.scale) {
#pragma omp simd
                for (int c = 0; c < channels; c++)
                    out[c] = positive(scale[c] * in[c] + shift[c] + add[c]);
            } else {
#pragma omp simd
                for (int c = 0; c < channels; c++)
                    out[c] = positive(scale[c] * in[c] + shift[c] +
                                      (skip.scale[c] * add[c] + skip.shift[c]));
            }
        }
}
