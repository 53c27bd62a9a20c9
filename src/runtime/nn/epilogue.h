// What follows a convolution in a residual block, in one pass over each row while it is in cache:
//
//   xhat = norm(u + bias),  m = Mish(gamma xhat + beta),
//   h = m (1 + scale) + shift   with a FiLM, or   h = m + residual,  or h = m.
//
// u is the product of conv1d_rows; blocks are padded sequences (nn/layers.h). The layers of
// nn/layers.h compute the same one by one, and tests compare.
#ifndef FACET_NN_EPILOGUE_H
#define FACET_NN_EPILOGUE_H

#include "nn/real.h"

#define epilogue_forward REAL_NAME(epilogue_forward)
#define EpilogueParams   REAL_NAME(EpilogueParams)

typedef struct EpilogueParams {
    const Real *bias, *gamma, *beta; // [channels]; bias may be NULL
} EpilogueParams;

// Rows [first, last) of a block: writes h, turns u into xhat in place, and clears the zero rows of
// both. rstd is [batch][time]. film [batch][2][channels] with film_stride from sample to sample, or
// NULL; residual is a padded block, or NULL; not both.
void epilogue_forward(Real *h, Real *u, Real *rstd, EpilogueParams p, const Real *film,
                      int film_stride, const Real *residual, int first, int last, int time,
                      int channels);

#endif
