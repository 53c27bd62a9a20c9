// Layers of images in plain form (see nn/reference_image_layers.h).
#include "nn/reference_image_layers.h"

#include <assert.h>
#include <string.h>

void conv2d_forward(Real *y, ImageShape ys, const Real *x, ImageShape xs, const Real *packed,
                    const Real *bias, Conv2d c)
{
    conv2d_rows(y, ys, x, xs, packed, c, 0, ys.height);
    for (int v = 0; bias && v < ys.height; v++)
        for (int u = 0; u < ys.width; u++) {
            Real *pixel = y + image_at(ys, v, u);
            for (int o = 0; o < c.out; o++) pixel[o] += bias[o];
        }
}

void conv2d_tangent(Real *ty, ImageShape ys, const Real *tx, ImageShape xs, const Real *packed,
                    Conv2d c, int directions)
{
    for (int d = 0; d < directions; d++)
        conv2d_rows(ty + (size_t)d * image_size(ys), ys, tx + (size_t)d * image_size(xs), xs,
                    packed, c, 0, ys.height);
}

void max_pool_tangent(Real *ty, ImageShape ys, const Real *tx, ImageShape xs, const uint8_t *chosen,
                      int directions)
{
    for (int d = 0; d < directions; d++) {
        const uint8_t *which = chosen;
        for (int v = 0; v < ys.height; v++)
            for (int u = 0; u < ys.width; u++)
                for (int c = 0; c < ys.channels; c++)
                    ty[image_at(ys, v, u) + c] = tx[max_pool_chosen(xs, v, u, c, *which++)];
        ty += image_size(ys);
        tx += image_size(xs);
    }
}

void mean_pool_tangent(Real *ty, const Real *tx, ImageShape s, int directions)
{
    for (int d = 0; d < directions; d++)
        mean_pool_forward(ty + (size_t)d * s.channels, tx + (size_t)d * image_size(s), s);
}

void keypoints_tangent(Real *ty, const Real *tx, ImageShape s, const Real *p, const Real *y,
                       int directions)
{
    size_t channels = (size_t)s.channels;
    for (int d = 0; d < directions; d++) {
        const Real *in = tx + (size_t)d * image_size(s);
        Real *out_u = ty + (size_t)d * 2 * channels, *out_v = out_u + channels;
        memset(out_u, 0, 2 * channels * sizeof *out_u);
        for (int v = 0; v < s.height; v++)
            for (int u = 0; u < s.width; u++) {
                const Real *pixel = in + image_at(s, v, u);
                const Real *weight = p + ((size_t)v * s.width + (size_t)u) * channels;
                Real at_u = keypoints_place(u, s.width), at_v = keypoints_place(v, s.height);
                for (int c = 0; c < s.channels; c++) {
                    out_u[c] += weight[c] * pixel[c] * (at_u - y[c]);
                    out_v[c] += weight[c] * pixel[c] * (at_v - y[channels + (size_t)c]);
                }
            }
    }
}

void relu_forward(Real *y, const Real *x, size_t size)
{
#pragma omp simd
    for (size_t i = 0; i < size; i++) y[i] = x[i] > R(0) ? x[i] : R(0);
}

void relu_backward(Real *dx, const Real *dy, const Real *x, size_t size)
{
#pragma omp simd
    for (size_t i = 0; i < size; i++) dx[i] = x[i] > R(0) ? dy[i] : R(0);
}

void relu_tangent(Real *ty, const Real *tx, const Real *x, int directions, size_t size)
{
    for (int d = 0; d < directions; d++)
        relu_backward(ty + (size_t)d * size, tx + (size_t)d * size, x, size);
}
