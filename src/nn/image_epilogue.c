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

void norm_sums(Real *sums, Real *g, const Real *h, ImageShape hs, const Real *u, const Real *mean)
{
    int channels = hs.channels;
    Real *plain = sums, *along = sums + channels;
    memset(sums, 0, 2 * (size_t)channels * sizeof *sums);
    for (int v = 0; v < hs.height; v++)
        for (int p = 0; p < hs.width; p++) {
            size_t at = ((size_t)v * hs.width + (size_t)p) * (size_t)channels;
            Real *d = g + at;
            const Real *in = u + at;
            if (h) {
                const Real *out = h + image_at(hs, v, p);
#pragma omp simd
                for (int c = 0; c < channels; c++) d[c] = out[c] > R(0) ? d[c] : R(0);
            }
#pragma omp simd
            for (int c = 0; c < channels; c++) {
                plain[c] += d[c];
                along[c] += d[c] * (in[c] - mean[c]);
            }
        }
}

void norm_input(Real *du, ImageShape us, Real *dgamma, Real *dbeta, const Real *g, const Real *u,
                const Real *sums, const Real *mean, const Real *rstd, const Real *gamma, int groups)
{
    int channels = us.channels, width = channels / groups;
    assert(channels <= IMAGE_CHANNELS_MAX);
    const Real *plain = sums, *along = sums + channels;
    Real of_g[IMAGE_CHANNELS_MAX], of_u[IMAGE_CHANNELS_MAX], constant[IMAGE_CHANNELS_MAX];
    Real count = (Real)(us.height * us.width * width);
    for (int first = 0; first < channels; first += width) {
        Real sum = 0, slope = 0, r = rstd[first];
        for (int c = first; c < first + width; c++) {
            dbeta[c] += plain[c];
            dgamma[c] += along[c] * r;
            sum += gamma[c] * plain[c];
            slope += gamma[c] * along[c] * r;
        }
        for (int c = first; c < first + width; c++) {
            of_g[c] = gamma[c] * r;
            of_u[c] = -r * r * slope / count;
            constant[c] = -r * sum / count;
        }
    }
    image_clear_border(du, us);
    for (int v = 0; v < us.height; v++)
        for (int p = 0; p < us.width; p++) {
            size_t at = ((size_t)v * us.width + (size_t)p) * (size_t)channels;
            const Real *d = g + at, *in = u + at;
            Real *out = du + image_at(us, v, p);
#pragma omp simd
            for (int c = 0; c < channels; c++)
                out[c] = of_g[c] * d[c] + of_u[c] * (in[c] - mean[c]) + constant[c];
        }
}
