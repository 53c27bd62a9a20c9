// The fused norm, skip and ReLU of an image network (see nn/image_epilogue.h).
#include "nn/image_epilogue.h"

#include "math/vector.h"
#include "nn/rows.h"

#include <assert.h>

// Sums over the pixels of one vector of channels, in registers: of u, and of (u - mean)^2.
static Vector vector_sum(const Real *u, int pixels, int channels)
{
    Vector sum = {0};
    for (int i = 0; i < pixels; i++) sum += vector_load(u + (size_t)i * channels);
    return sum;
}

static Vector vector_squares(const Real *u, Vector mean, int pixels, int channels)
{
    Vector sum = {0};
    for (int i = 0; i < pixels; i++) {
        Vector d = vector_load(u + (size_t)i * channels) - mean;
        sum += d * d;
    }
    return sum;
}

static void channel_sums(Real *sum, const Real *u, int pixels, int channels)
{
    int whole = channels / LANES * LANES;
    for (int c = 0; c < whole; c += LANES)
        vector_store(sum + c, vector_sum(u + c, pixels, channels));
    for (int c = whole; c < channels; c++) {
        sum[c] = 0;
        for (int i = 0; i < pixels; i++) sum[c] += u[(size_t)i * channels + c];
    }
}

static void channel_squares(Real *square, const Real *u, const Real *mean, int pixels, int channels)
{
    int whole = channels / LANES * LANES;
    for (int c = 0; c < whole; c += LANES)
        vector_store(square + c, vector_squares(u + c, vector_load(mean + c), pixels, channels));
    for (int c = whole; c < channels; c++) {
        square[c] = 0;
        for (int i = 0; i < pixels; i++) {
            Real d = u[(size_t)i * channels + c] - mean[c];
            square[c] += d * d;
        }
    }
}

void moments_strip(Real *moments, const Real *u, int pixels, int channels, int groups)
{
    assert(channels <= IMAGE_CHANNELS_MAX && channels % groups == 0);
    Real sum[IMAGE_CHANNELS_MAX], square[IMAGE_CHANNELS_MAX];
    int width = channels / groups;
    channel_sums(sum, u, pixels, channels);
    for (int g = 0; g < groups; g++) {
        Real total = 0;
        for (int c = g * width; c < (g + 1) * width; c++) total += sum[c];
        total /= (Real)(pixels * width);
        for (int c = g * width; c < (g + 1) * width; c++) sum[c] = total;
        moments[2 * g] = total;
    }
    channel_squares(square, u, sum, pixels, channels);
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
