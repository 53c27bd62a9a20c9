// The backward pass of what follows a convolution over an image (see
// train/image_epilogue_backward.h).
#include "train/image_epilogue_backward.h"

#include "nn/layers.h"

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
