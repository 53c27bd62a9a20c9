// The gradient of the weights of a convolution by Winograd's products (nn/winograd_image.h).
#ifndef FACET_TRAIN_WINOGRAD_IMAGE_BACKWARD_H
#define FACET_TRAIN_WINOGRAD_IMAGE_BACKWARD_H

#include "nn/winograd_image.h"

#define winograd_image_backward_weight REAL_NAME(winograd_image_backward_weight)

// dw [9][in][out] is overwritten, or added to with accumulate. The transpose of y = A4^T [(G4 w
// G2^T) * (B4^T x B2)] A2 is
//   dw = G4^T [sum over tiles of (B4^T x B2) (A4 dy A2^T)^T] G2,
// 24 products over the tiles instead of 72 over their pixels. scratch has
// winograd_image_gradient_scratch(in, out) numbers.
void winograd_image_backward_weight(Real *dw, Real *scratch, const Real *x, WinogradImages xs,
                                    const Real *dy, WinogradImages ys, bool accumulate);

#endif
