// The backward pass of nn/image_epilogue.h.
#ifndef FACET_TRAIN_IMAGE_EPILOGUE_BACKWARD_H
#define FACET_TRAIN_IMAGE_EPILOGUE_BACKWARD_H

#include "nn/image_epilogue.h"

#define norm_sums  REAL_NAME(norm_sums)
#define norm_input REAL_NAME(norm_input)

// The gradient g (dense) of what the ReLU takes. With h, g is that of h and is masked in place
// first. sums [2][channels] becomes sum g and sum g (u - mean).
void norm_sums(Real *sums, Real *g, const Real *h, ImageShape hs, const Real *u, const Real *mean);

// du (with the border of us, which is cleared) from g and the sums; dgamma and dbeta are added to.
// count is the numbers a group has.
void norm_input(Real *du, ImageShape us, Real *dgamma, Real *dbeta, const Real *g, const Real *u,
                const Real *sums, const Real *mean, const Real *rstd, const Real *gamma,
                int groups);

#endif
