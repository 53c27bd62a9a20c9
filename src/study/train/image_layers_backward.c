// The backward passes of an image network's layers (see train/image_layers_backward.h).
#include "train/image_layers_backward.h"

#include "math/gemm_windows.h"

#include <assert.h>
#include <string.h>

static void clear_pixel(Real *x, int channels) { memset(x, 0, (size_t)channels * sizeof *x); }

void conv2d_backward_input(Real *dx, ImageShape xs, const Real *dy, ImageShape ys,
                           const Real *packed, Conv2d c, bool accumulate)
{
    assert(ys.border >= c.kernel / 2 && xs.channels == c.in && ys.channels == c.out);
    int from[CONV2D_CHUNK], to[CONV2D_CHUNK];
    for (int ry = 0; ry < c.stride; ry++)
        for (int rx = 0; rx < c.stride; rx++) {
            Conv2dReach ty = conv2d_reach(ry, c), tx = conv2d_reach(rx, c);
            int height = (xs.height - ry + c.stride - 1) / c.stride;
            int width = (xs.width - rx + c.stride - 1) / c.stride;
            int depth = ty.count * tx.count * c.out, v = 0, u = 0;
            for (int start = 0; start < height * width; start += CONV2D_CHUNK) {
                int m =
                    height * width - start < CONV2D_CHUNK ? height * width - start : CONV2D_CHUNK;
                for (int i = 0; i < m; i++, u++) {
                    if (u == width) u = 0, v++;
                    from[i] = image_at(ys, v + ty.start, u + tx.start);
                    to[i] = image_at(xs, v * c.stride + ry, u * c.stride + rx);
                }
                if (depth > 0)
                    gemm_windows(dx, to, dy, from, image_stride(ys), packed, m, c.in, ty.count,
                                 tx.count * c.out, accumulate);
                else if (!accumulate)
                    for (int i = 0; i < m; i++) clear_pixel(dx + to[i], c.in);
            }
            packed += gemm_packed_size(c.in, depth);
        }
}

void conv2d_backward_weight(Real *dw, const Real *x, ImageShape xs, const Real *dy, ImageShape ys,
                            Conv2d c, bool accumulate)
{
    int padding = c.kernel / 2, run = c.kernel * c.in;
    assert(xs.border >= padding && xs.channels == c.in && ys.channels == c.out);
    WindowGrid windows = {c.stride * image_stride(xs), c.stride * c.in};
    WindowGrid results = {image_stride(ys), c.out};
    for (int k = 0; k < c.kernel; k++)
        gemm_windows_gradient(
            dw + (size_t)k * run * c.out, c.out, x + image_at(xs, k - padding, -padding), windows,
            dy + image_at(ys, 0, 0), results, ys.height, ys.width, run, c.out, accumulate);
}

void max_pool_backward(Real *dx, ImageShape xs, const Real *dy, ImageShape ys,
                       const uint8_t *chosen)
{
    for (int v = 0; v < xs.height; v++)
        memset(dx + image_at(xs, v, 0), 0, (size_t)xs.width * (size_t)xs.channels * sizeof *dx);
    for (int v = 0; v < ys.height; v++)
        for (int u = 0; u < ys.width; u++)
            for (int c = 0; c < ys.channels; c++)
                dx[max_pool_chosen(xs, v, u, c, *chosen++)] += dy[image_at(ys, v, u) + c];
}

void mean_pool_backward(Real *dx, ImageShape s, const Real *dy)
{
    Real share = R(1) / (Real)(s.height * s.width);
    for (int v = 0; v < s.height; v++)
        for (int u = 0; u < s.width; u++) {
            Real *pixel = dx + image_at(s, v, u);
#pragma omp simd
            for (int c = 0; c < s.channels; c++) pixel[c] += share * dy[c];
        }
}

void keypoints_backward(Real *dx, ImageShape s, const Real *dy, const Real *p, const Real *y)
{
    size_t channels = (size_t)s.channels;
    const Real *mean_u = y, *mean_v = y + channels, *du = dy, *dv = dy + channels;
    for (int v = 0; v < s.height; v++)
        for (int u = 0; u < s.width; u++) {
            Real *pixel = dx + image_at(s, v, u);
            const Real *weight = p + ((size_t)v * s.width + (size_t)u) * channels;
            Real at_u = keypoints_place(u, s.width), at_v = keypoints_place(v, s.height);
#pragma omp simd
            for (int c = 0; c < s.channels; c++)
                pixel[c] = weight[c] * (du[c] * (at_u - mean_u[c]) + dv[c] * (at_v - mean_v[c]));
        }
}
