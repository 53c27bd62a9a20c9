// Layers of images one by one, in plain form: what the fused passes are compared with.
#ifndef FACET_TESTS_NN_REFERENCE_IMAGE_LAYERS_H
#define FACET_TESTS_NN_REFERENCE_IMAGE_LAYERS_H

#include "train/image_layers_backward.h"

#define conv2d_forward    REAL_NAME(conv2d_forward)
#define conv2d_tangent    REAL_NAME(conv2d_tangent)
#define max_pool_tangent  REAL_NAME(max_pool_tangent)
#define mean_pool_tangent REAL_NAME(mean_pool_tangent)
#define keypoints_tangent REAL_NAME(keypoints_tangent)
#define relu_forward      REAL_NAME(relu_forward)
#define relu_backward     REAL_NAME(relu_backward)
#define relu_tangent      REAL_NAME(relu_tangent)

// All rows; bias may be NULL.
void conv2d_forward(Real *y, ImageShape ys, const Real *x, ImageShape xs, const Real *packed,
                    const Real *bias, Conv2d c);

// tx and ty are [directions][image].
void conv2d_tangent(Real *ty, ImageShape ys, const Real *tx, ImageShape xs, const Real *packed,
                    Conv2d c, int directions);

// tx is [directions][image].
void max_pool_tangent(Real *ty, ImageShape ys, const Real *tx, ImageShape xs, const uint8_t *chosen,
                      int directions);
void mean_pool_tangent(Real *ty, const Real *tx, ImageShape s, int directions);

// ty is [directions][2][channels].
void keypoints_tangent(Real *ty, const Real *tx, ImageShape s, const Real *p, const Real *y,
                       int directions);

// ReLU, elementwise; its slope at zero is zero.
void relu_forward(Real *y, const Real *x, size_t size);
void relu_backward(Real *dx, const Real *dy, const Real *x, size_t size);
void relu_tangent(Real *ty, const Real *tx, const Real *x, int directions, size_t size);

#endif
