// The layers of an image network, each with its forward pass, its backward pass and its tangent.
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

#define conv2d_packed_size     REAL_NAME(conv2d_packed_size)
#define conv2d_pack            REAL_NAME(conv2d_pack)
#define conv2d_pack_backward   REAL_NAME(conv2d_pack_backward)
#define conv2d_rows            REAL_NAME(conv2d_rows)
#define conv2d_forward         REAL_NAME(conv2d_forward)
#define conv2d_backward_input  REAL_NAME(conv2d_backward_input)
#define conv2d_backward_weight REAL_NAME(conv2d_backward_weight)
#define conv2d_tangent         REAL_NAME(conv2d_tangent)
#define image_clear_border     REAL_NAME(image_clear_border)
#define image_put              REAL_NAME(image_put)
#define image_take             REAL_NAME(image_take)
#define max_pool_rows          REAL_NAME(max_pool_rows)
#define max_pool_backward      REAL_NAME(max_pool_backward)
#define max_pool_tangent       REAL_NAME(max_pool_tangent)
#define mean_pool_forward      REAL_NAME(mean_pool_forward)
#define mean_pool_backward     REAL_NAME(mean_pool_backward)
#define mean_pool_tangent      REAL_NAME(mean_pool_tangent)
#define keypoints_forward      REAL_NAME(keypoints_forward)
#define keypoints_backward     REAL_NAME(keypoints_backward)
#define keypoints_tangent      REAL_NAME(keypoints_tangent)
#define relu_forward           REAL_NAME(relu_forward)
#define relu_backward          REAL_NAME(relu_backward)
#define relu_tangent           REAL_NAME(relu_tangent)

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

// Numbers of the packed weights; `backward` for those of the gradient of the input.
size_t conv2d_packed_size(Conv2d c, bool backward);
void conv2d_pack(Real *packed, const Real *w, Conv2d c);
void conv2d_pack_backward(Real *packed, const Real *w, Conv2d c);

// Rows [first, last) of y, without bias.
void conv2d_rows(Real *y, ImageShape ys, const Real *x, ImageShape xs, const Real *packed, Conv2d c,
                 int first, int last);

// All rows; bias may be NULL.
void conv2d_forward(Real *y, ImageShape ys, const Real *x, ImageShape xs, const Real *packed,
                    const Real *bias, Conv2d c);

// dx is overwritten, or added to with accumulate; dy needs a border of at least p, of zeros. For
// stride s the pixels of dx fall into s x s classes, each a convolution of dy with the taps that
// reach it, so nothing is multiplied by zero. packed is that of conv2d_pack_backward.
void conv2d_backward_input(Real *dx, ImageShape xs, const Real *dy, ImageShape ys,
                           const Real *packed, Conv2d c, bool accumulate);

// Adds to dw. The gradient of the bias is the sum over the pixels of dy.
void conv2d_backward_weight(Real *dw, const Real *x, ImageShape xs, const Real *dy, ImageShape ys,
                            Conv2d c);

// tx and ty are [directions][image].
void conv2d_tangent(Real *ty, ImageShape ys, const Real *tx, ImageShape xs, const Real *packed,
                    Conv2d c, int directions);

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
// Overwrites dx (border excepted).
void max_pool_backward(Real *dx, ImageShape xs, const Real *dy, ImageShape ys,
                       const uint8_t *chosen);
void max_pool_tangent(Real *ty, ImageShape ys, const Real *tx, ImageShape xs, const uint8_t *chosen,
                      int directions);

// ---- Mean over the pixels: y [channels] ---------------------------------------------------------

void mean_pool_forward(Real *y, const Real *x, ImageShape s);
// Adds to dx.
void mean_pool_backward(Real *dx, ImageShape s, const Real *dy);
void mean_pool_tangent(Real *ty, const Real *tx, ImageShape s, int directions);

// ---- Keypoints: the mean place under a spatial softmax ------------------------------------------
//
// p[v][u] = softmax over the pixels of one channel, y = (sum p U, sum p V) with U, V the pixel's
// place in [-1, 1], from the first column or row to the last (0 where there is only one). y is
// [2][channels]; p is kept, dense.

void keypoints_forward(Real *y, Real *p, const Real *x, ImageShape s);
// Overwrites dx: p (dy_U (U - y_U) + dy_V (V - y_V)).
void keypoints_backward(Real *dx, ImageShape s, const Real *dy, const Real *p, const Real *y);
// tx is [directions][image], ty [directions][2][channels].
void keypoints_tangent(Real *ty, const Real *tx, ImageShape s, const Real *p, const Real *y,
                       int directions);

// ---- ReLU, elementwise; its slope at zero is zero -----------------------------------------------

void relu_forward(Real *y, const Real *x, size_t size);
void relu_backward(Real *dx, const Real *dy, const Real *x, size_t size);
void relu_tangent(Real *ty, const Real *tx, const Real *x, int directions, size_t size);

#endif
