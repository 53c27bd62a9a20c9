// The layers of an image network, forward. Their backward passes are in
// train/image_layers_backward.h.
//
// An image is [height][width][channels] with a border of zeros around it, wide enough for the
// windows of the layer that reads it: ImageShape says how wide, and 0 is a dense image. Layers
// write inside the border and leave it alone, so it is cleared once. Arguments are as in
// nn/layers.h; a layer works on one image, and a network shares the images out.
#ifndef FACET_NN_IMAGE_LAYERS_H
#define FACET_NN_IMAGE_LAYERS_H

#include "nn/real.h"

#include <stdbool.h>
#include <stddef.h>

#define conv2d_packed_size   REAL_NAME(conv2d_packed_size)
#define conv2d_pack          REAL_NAME(conv2d_pack)
#define conv2d_pack_backward REAL_NAME(conv2d_pack_backward)
#define conv2d_rows          REAL_NAME(conv2d_rows)
#define image_clear_border   REAL_NAME(image_clear_border)
#define image_put            REAL_NAME(image_put)
#define image_take           REAL_NAME(image_take)
#define max_pool_rows        REAL_NAME(max_pool_rows)
#define mean_pool_forward    REAL_NAME(mean_pool_forward)
#define keypoints_forward    REAL_NAME(keypoints_forward)

enum { IMAGE_CHANNELS_MAX = 2048 };

// ---- Images -------------------------------------------------------------------------------------

typedef struct ImageShape {
    int height, width, channels, border;
} ImageShape;

static inline size_t image_size(ImageShape s)
{
    return (size_t)(s.height + 2 * s.border) * (size_t)(s.width + 2 * s.border) *
           (size_t)s.channels;
}

// Numbers from one row of pixels to the next.
static inline int image_stride(ImageShape s) { return (s.width + 2 * s.border) * s.channels; }

// Where pixel (y, x) starts; the border has coordinates below zero and past the size.
static inline int image_at(ImageShape s, int y, int x)
{
    return (y + s.border) * image_stride(s) + (x + s.border) * s.channels;
}

static inline ImageShape image_bordered(ImageShape s, int border)
{
    return (ImageShape){s.height, s.width, s.channels, border};
}

void image_clear_border(Real *x, ImageShape s);

// Between a dense image and one with a border.
void image_put(Real *x, ImageShape s, const Real *dense);
void image_take(Real *dense, const Real *x, ImageShape s);

// ---- Convolution, same padding ------------------------------------------------------------------
//
// y[v][u][o] = bias[o] + sum_{ky, kx, i} x[v s + ky - p][u s + kx - p][i] w[ky k + kx][i][o] with
// kernel k, stride s and padding p = k / 2, as PyTorch's padding=k//2: a side of n pixels becomes
// (n + 2 p - k) / s + 1. Weights are [k k][in][out]. A window's rows are runs of memory, so the
// product reads the image where it lies (math/gemm_windows.h). x needs a border of at least p.

typedef struct Conv2d {
    int kernel, stride, in, out;
} Conv2d;

static inline int conv2d_side(int n, int kernel, int stride)
{
    return (n + 2 * (kernel / 2) - kernel) / stride + 1;
}

// The shape of the result, dense.
static inline ImageShape conv2d_shape(ImageShape x, Conv2d c)
{
    return (ImageShape){conv2d_side(x.height, c.kernel, c.stride),
                        conv2d_side(x.width, c.kernel, c.stride), c.out, 0};
}

// The pixels of one product.
enum { CONV2D_CHUNK = 96 };

// Along one axis, the pixels v of dx with v = residue (mod stride) are reached by `count` taps: the
// window over dy starts at v / stride + start, and its taps are last, last - stride, ...
typedef struct Conv2dReach {
    int count, start, last;
} Conv2dReach;

static inline Conv2dReach conv2d_reach(int residue, Conv2d c)
{
    int padding = c.kernel / 2, first = (residue + padding) % c.stride;
    if (first >= c.kernel) return (Conv2dReach){0, 0, 0};
    int count = (c.kernel - 1 - first) / c.stride + 1;
    return (Conv2dReach){.count = count,
                         .start = (residue + padding - first) / c.stride - (count - 1),
                         .last = first + (count - 1) * c.stride};
}

// Numbers of the packed weights; `backward` for those of the gradient of the input.
size_t conv2d_packed_size(Conv2d c, bool backward);
void conv2d_pack(Real *packed, const Real *w, Conv2d c);
void conv2d_pack_backward(Real *packed, const Real *w, Conv2d c);

// Rows [first, last) of y, without bias.
void conv2d_rows(Real *y, ImageShape ys, const Real *x, ImageShape xs, const Real *packed, Conv2d c,
                 int first, int last);

// ---- Max pool, 3x3, stride 2, padding 1 ---------------------------------------------------------
//
// Pixels outside do not count. `chosen` [height][width][channels] of y keeps which of the nine
// pixels was taken (the first of equals, as PyTorch).

static inline ImageShape max_pool_shape(ImageShape x)
{
    return (ImageShape){conv2d_side(x.height, 3, 2), conv2d_side(x.width, 3, 2), x.channels, 0};
}

void max_pool_rows(Real *y, ImageShape ys, uint8_t *chosen, const Real *x, ImageShape xs, int first,
                   int last);

// Where channel c of the pixel of x that (v, u) has chosen lies.
static inline int max_pool_chosen(ImageShape xs, int v, int u, int c, uint8_t which)
{
    return image_at(xs, 2 * v + which / 3 - 1, 2 * u + which % 3 - 1) + c;
}

// ---- Mean over the pixels: y [channels] ---------------------------------------------------------

void mean_pool_forward(Real *y, const Real *x, ImageShape s);

// ---- Keypoints: the mean place under a spatial softmax ------------------------------------------
//
// p[v][u] = softmax over the pixels of one channel, y = (sum p U, sum p V) with U, V the pixel's
// place in [-1, 1], from the first column or row to the last (0 where there is only one). y is
// [2][channels]; p is kept, dense.

static inline Real keypoints_place(int i, int n)
{
    return n > 1 ? (Real)(2 * i) / (Real)(n - 1) - R(1) : R(0);
}

void keypoints_forward(Real *y, Real *p, const Real *x, ImageShape s);

#endif
