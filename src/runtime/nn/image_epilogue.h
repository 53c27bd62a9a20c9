// What follows a convolution in an image network, in few passes over memory:
//
//   h = ReLU(gamma xhat + beta [+ skip]),  xhat = (u - mean) rstd over each group of channels.
//
// Per channel that is h = ReLU(scale u + shift + skip) with scale = gamma rstd and
// shift = beta - mean scale; without a norm scale is 1 and shift the bias. u is dense. The layers
// group_norm and relu compute the same one by one, and tests compare.
//
// The moments are taken in strips of rows, each while it is in cache, and merged in their order
// (Chan et al. 1983), so that strips may be shared out.
#ifndef FACET_NN_IMAGE_EPILOGUE_H
#define FACET_NN_IMAGE_EPILOGUE_H

#include "nn/image_layers.h"

#define moments_strip    REAL_NAME(moments_strip)
#define moments_merge    REAL_NAME(moments_merge)
#define norm_affine      REAL_NAME(norm_affine)
#define affine_relu_rows REAL_NAME(affine_relu_rows)
#define AffineSkip       REAL_NAME(AffineSkip)

// moments [groups][2]: the mean of u over a strip's pixels and a group's channels, and the sum of
// the squared distances from it.
void moments_strip(Real *moments, const Real *u, int pixels, int channels, int groups);

// Adds strip b to what a holds: `count_a` and `count_b` numbers a group.
void moments_merge(Real *a, const Real *b, Real count_a, Real count_b, int groups);

// scale and shift [channels], and mean and rstd [channels] (the same within a group), from the
// moments of `count` numbers a group.
void norm_affine(Real *scale, Real *shift, Real *mean, Real *rstd, const Real *moments, Real count,
                 const Real *gamma, const Real *beta, int channels, int groups);

// What is added before the ReLU: scale x + shift, or x itself where scale is NULL; x NULL is none.
typedef struct AffineSkip {
    const Real *x;
    ImageShape shape;
    const Real *scale, *shift;
} AffineSkip;

// Rows [first, last) of h.
void affine_relu_rows(Real *h, ImageShape hs, const Real *u, const Real *scale, const Real *shift,
                      AffineSkip skip, int first, int last);

#endif
