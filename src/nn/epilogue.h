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

#define epilogue_forward  REAL_NAME(epilogue_forward)
#define epilogue_backward REAL_NAME(epilogue_backward)
#define epilogue_slope    REAL_NAME(epilogue_slope)
#define epilogue_tangent  REAL_NAME(epilogue_tangent)
#define EpilogueParams    REAL_NAME(EpilogueParams)

typedef struct EpilogueParams {
    const Real *bias, *gamma, *beta; // [channels]; bias may be NULL
} EpilogueParams;

// Rows [first, last) of a block: writes h, turns u into xhat in place, and clears the zero rows of
// both. rstd is [batch][time]. film [batch][2][channels] with film_stride from sample to sample, or
// NULL; residual is a padded block, or NULL; not both.
void epilogue_forward(Real *h, Real *u, Real *rstd, EpilogueParams p, const Real *film,
                      int film_stride, const Real *residual, int first, int last, int time,
                      int channels);

// Turns xhat into du in place. dvectors [3][channels] collects the gradients of bias, gamma and
// beta: it is added to. With a FiLM, dfilm (laid out like film) is overwritten. scratch is
// [channels]. The gradient of the residual is dh itself.
void epilogue_backward(Real *xhat, Real *dvectors, Real *dfilm, const Real *dh, const Real *rstd,
                       EpilogueParams p, const Real *film, int film_stride, Real *scratch,
                       int batch, int time, int channels);

// slope [time][channels] = (1 + scale) Mish'(gamma xhat + beta) gamma of one sample, where xhat
// points at the sample's first row and film at its scale (or is NULL).
void epilogue_slope(Real *slope, const Real *xhat, EpilogueParams p, const Real *film, int time,
                    int channels);

// th = slope rstd (tu - mean(tu) - xhat mean(tu xhat)) [+ residual] for one direction at one
// sample; th, tu and residual point at the direction's first row. th may be residual.
void epilogue_tangent(Real *th, Real *tu, const Real *slope, const Real *xhat, const Real *rstd,
                      const Real *residual, int time, int channels);

#endif
