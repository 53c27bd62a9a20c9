// The layers of an image network (see nn/image_layers.h for shapes and equations).
#include "nn/image_layers.h"

#include "math/gemm_windows.h"

#include <assert.h>

// ---- Images -------------------------------------------------------------------------------------

void image_clear_border(Real *x, ImageShape s)
{
    size_t stride = (size_t)image_stride(s), side = (size_t)s.border * s.channels;
    size_t lines = (size_t)s.border * stride;
    memset(x, 0, lines * sizeof *x);
    memset(x + image_size(s) - lines, 0, lines * sizeof *x);
    for (int y = 0; y < s.height; y++) {
        Real *row = x + (size_t)(y + s.border) * stride;
        memset(row, 0, side * sizeof *x);
        memset(row + stride - side, 0, side * sizeof *x);
    }
}

void image_put(Real *x, ImageShape s, const Real *dense)
{
    size_t run = (size_t)s.width * s.channels;
    for (int y = 0; y < s.height; y++)
        memcpy(x + image_at(s, y, 0), dense + (size_t)y * run, run * sizeof *x);
}

void image_take(Real *dense, const Real *x, ImageShape s)
{
    size_t run = (size_t)s.width * s.channels;
    for (int y = 0; y < s.height; y++)
        memcpy(dense + (size_t)y * run, x + image_at(s, y, 0), run * sizeof *x);
}

// ---- Convolution --------------------------------------------------------------------------------

size_t conv2d_packed_size(Conv2d c, bool backward)
{
    int taps = c.kernel * c.kernel;
    return backward ? gemm_packed_size(c.in, taps * c.out) : gemm_packed_size(c.out, taps * c.in);
}

void conv2d_pack(Real *packed, const Real *w, Conv2d c)
{
    int depth = c.kernel * c.kernel * c.in;
    gemm_pack(packed, GEMM_PLAIN, w, c.out, depth, 0, c.out, depth);
}

void conv2d_pack_backward(Real *packed, const Real *w, Conv2d c)
{
    for (int ry = 0; ry < c.stride; ry++)
        for (int rx = 0; rx < c.stride; rx++) {
            Conv2dReach ty = conv2d_reach(ry, c), tx = conv2d_reach(rx, c);
            int depth = ty.count * tx.count * c.out;
            for (int j = 0; j < ty.count; j++)
                for (int i = 0; i < tx.count; i++) {
                    int tap = (ty.last - j * c.stride) * c.kernel + tx.last - i * c.stride;
                    gemm_pack(packed, GEMM_TRANSPOSED, w + (size_t)tap * c.in * c.out, c.out, c.out,
                              (j * tx.count + i) * c.out, c.in, depth);
                }
            packed += gemm_packed_size(c.in, depth);
        }
}

void conv2d_rows(Real *y, ImageShape ys, const Real *x, ImageShape xs, const Real *packed, Conv2d c,
                 int first, int last)
{
    int padding = c.kernel / 2, from[CONV2D_CHUNK], to[CONV2D_CHUNK];
    assert(xs.border >= padding && xs.channels == c.in && ys.channels == c.out);
    int end = last * ys.width, v = first, u = 0;
    for (int start = first * ys.width; start < end; start += CONV2D_CHUNK) {
        int m = end - start < CONV2D_CHUNK ? end - start : CONV2D_CHUNK;
        for (int i = 0; i < m; i++, u++) {
            if (u == ys.width) u = 0, v++;
            from[i] = image_at(xs, v * c.stride - padding, u * c.stride - padding);
            to[i] = image_at(ys, v, u);
        }
        gemm_windows(y, to, x, from, image_stride(xs), packed, m, c.out, c.kernel, c.kernel * c.in,
                     false);
    }
}

// ---- Max pool -----------------------------------------------------------------------------------

// y = max(y, x) over the channels of one pixel, noting where x won.
static void take_larger(Real *y, uint8_t *chosen, const Real *x, uint8_t place, int channels)
{
    for (int c = 0; c < channels; c++) {
        bool larger = x[c] > y[c];
        y[c] = larger ? x[c] : y[c];
        chosen[c] = larger ? place : chosen[c];
    }
}

void max_pool_rows(Real *y, ImageShape ys, uint8_t *chosen, const Real *x, ImageShape xs, int first,
                   int last)
{
    for (int v = first; v < last; v++)
        for (int u = 0; u < ys.width; u++) {
            Real *out = y + image_at(ys, v, u);
            uint8_t *which = chosen + ((size_t)v * ys.width + (size_t)u) * (size_t)ys.channels;
            bool any = false;
            for (int k = 0; k < 9; k++) {
                int row = 2 * v + k / 3 - 1, column = 2 * u + k % 3 - 1;
                if (row < 0 || row >= xs.height || column < 0 || column >= xs.width) continue;
                const Real *in = x + image_at(xs, row, column);
                if (any) {
                    take_larger(out, which, in, (uint8_t)k, ys.channels);
                } else {
                    memcpy(out, in, (size_t)ys.channels * sizeof *out);
                    memset(which, k, (size_t)ys.channels);
                }
                any = true;
            }
        }
}

// ---- Mean pool ----------------------------------------------------------------------------------

void mean_pool_forward(Real *y, const Real *x, ImageShape s)
{
    memset(y, 0, (size_t)s.channels * sizeof *y);
    for (int v = 0; v < s.height; v++)
        for (int u = 0; u < s.width; u++) {
            const Real *pixel = x + image_at(s, v, u);
#pragma omp simd
            for (int c = 0; c < s.channels; c++) y[c] += pixel[c];
        }
    for (int c = 0; c < s.channels; c++) y[c] /= (Real)(s.height * s.width);
}

// ---- Keypoints ----------------------------------------------------------------------------------

// top [channels]: the largest of each channel.
static void channel_maxima(Real *top, const Real *x, ImageShape s)
{
    memcpy(top, x + image_at(s, 0, 0), (size_t)s.channels * sizeof *top);
    for (int v = 0; v < s.height; v++)
        for (int u = 0; u < s.width; u++) {
            const Real *pixel = x + image_at(s, v, u);
#pragma omp simd
            for (int c = 0; c < s.channels; c++) top[c] = pixel[c] > top[c] ? pixel[c] : top[c];
        }
}

void keypoints_forward(Real *y, Real *p, const Real *x, ImageShape s)
{
    assert(s.channels <= IMAGE_CHANNELS_MAX);
    Real top[IMAGE_CHANNELS_MAX], sum[IMAGE_CHANNELS_MAX];
    size_t channels = (size_t)s.channels;
    Real *along_u = y, *along_v = y + channels;
    channel_maxima(top, x, s);
    memset(sum, 0, channels * sizeof *sum);
    memset(y, 0, 2 * channels * sizeof *y);
    for (int v = 0; v < s.height; v++)
        for (int u = 0; u < s.width; u++) {
            const Real *pixel = x + image_at(s, v, u);
            Real *e = p + ((size_t)v * s.width + (size_t)u) * channels;
            Real at_u = keypoints_place(u, s.width), at_v = keypoints_place(v, s.height);
#pragma omp simd
            for (int c = 0; c < s.channels; c++) {
                e[c] = real_exp(pixel[c] - top[c]);
                sum[c] += e[c];
                along_u[c] += e[c] * at_u;
                along_v[c] += e[c] * at_v;
            }
        }
    for (int c = 0; c < s.channels; c++) {
        sum[c] = R(1) / sum[c];
        along_u[c] *= sum[c];
        along_v[c] *= sum[c];
    }
    for (int i = 0; i < s.height * s.width; i++)
#pragma omp simd
        for (int c = 0; c < s.channels; c++) p[(size_t)i * channels + (size_t)c] *= sum[c];
}
