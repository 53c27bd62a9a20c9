// The backward passes of the layers of nn/image_layers.h, for training.
#ifndef FACET_TRAIN_IMAGE_LAYERS_BACKWARD_H
#define FACET_TRAIN_IMAGE_LAYERS_BACKWARD_H

#include "nn/image_layers.h"

#define conv2d_backward_input  REAL_NAME(conv2d_backward_input)
#define conv2d_backward_weight REAL_NAME(conv2d_backward_weight)
#define max_pool_backward      REAL_NAME(max_pool_backward)
#define mean_pool_backward     REAL_NAME(mean_pool_backward)
#define keypoints_backward     REAL_NAME(keypoints_backward)

// dx is overwritten, or added to with accumulate; dy needs a border of at least p, of zeros. For
// stride s the pixels of dx fall into s x s classes, each a convolution of dy with the taps that
// reach it, so nothing is multiplied by zero. packed is that of conv2d_pack_backward.
void conv2d_backward_input(Real *dx, ImageShape xs, const Real *dy, ImageShape ys,
                           const Real *packed, Conv2d c, bool accumulate);

// dw is overwritten, or added to with accumulate. The gradient of the bias is the sum over the
// pixels of dy.
void conv2d_backward_weight(Real *dw, const Real *x, ImageShape xs, const Real *dy, ImageShape ys,
                            Conv2d c, bool accumulate);

// Overwrites dx (border excepted).
void max_pool_backward(Real *dx, ImageShape xs, const Real *dy, ImageShape ys,
                       const uint8_t *chosen);

// Adds to dx.
void mean_pool_backward(Real *dx, ImageShape s, const Real *dy);

// Overwrites dx: p (dy_U (U - y_U) + dy_V (V - y_V)).
void keypoints_backward(Real *dx, ImageShape s, const Real *dy, const Real *p, const Real *y);

#endif
