// The layers of the U-Net, forward and backward.
//
// Arguments: outputs, scratch, inputs, parameters, sizes. Everything is row-major, and a sequence
// is [rows][time][channels] without padding. The gradient of x is dx. Backward passes ADD to dx,
// for what a step gave may be used twice, and overwrite the gradients of parameters.
#ifndef FACET_UNET_LAYERS_H
#define FACET_UNET_LAYERS_H

#include "nn/real.h"

#include <stddef.h>

#define unet_conv_scratch   REAL_NAME(unet_conv_scratch)
#define unet_unit_scratch   REAL_NAME(unet_unit_scratch)
#define unet_linear         REAL_NAME(unet_linear)
#define unet_linear_scratch REAL_NAME(unet_linear_scratch)
#define unet_conv_forward   REAL_NAME(unet_conv_forward)
#define unet_conv_backward  REAL_NAME(unet_conv_backward)
#define unet_up_forward     REAL_NAME(unet_up_forward)
#define unet_up_backward    REAL_NAME(unet_up_backward)
#define unet_norm_forward   REAL_NAME(unet_norm_forward)
#define unet_norm_backward  REAL_NAME(unet_norm_backward)
#define unet_unit_forward   REAL_NAME(unet_unit_forward)
#define unet_unit_backward  REAL_NAME(unet_unit_backward)
#define UnetUnitParams      REAL_NAME(UnetUnitParams)
#define UnetUnitGrads       REAL_NAME(UnetUnitGrads)
#define UnetFilm            REAL_NAME(UnetFilm)

// ---- Products -----------------------------------------------------------------------------------

// y = x w + bias, x [rows][in], w [in][out]. Its backward passes are in train/layers_backward.h.
size_t unet_linear_scratch(int in, int out);
void unet_linear(Real *y, Real *scratch, const Real *x, const Real *w, const Real *bias, int rows,
                 int in, int out);

// ---- Convolutions -------------------------------------------------------------------------------
//
// With `time` steps on the longer side, time / stride on the shorter, and (kernel - 1) / 2 zeros
// before the first:
//   convolution  y[t][o] = bias[o] + sum_k sum_i x[stride t + k - pad][i] w[k][i][o]
//   up           y[s][o] = bias[o] + sum of x[t][i] w[i][k][o] over stride t + k - pad = s

typedef struct UnetConv {
    int rows, time, in, out, kernel, stride;
} UnetConv;

// Numbers of scratch that a convolution takes, forward or backward.
size_t unet_conv_scratch(UnetConv c);

void unet_conv_forward(Real *y, Real *scratch, const Real *x, const Real *w, const Real *bias,
                       UnetConv c);
void unet_conv_backward(Real *dx, Real *dw, Real *dbias, Real *scratch, const Real *dy,
                        const Real *x, const Real *w, UnetConv c);
void unet_up_forward(Real *y, Real *scratch, const Real *x, const Real *w, const Real *bias,
                     UnetConv c);
void unet_up_backward(Real *dx, Real *dw, Real *dbias, Real *scratch, const Real *dy, const Real *x,
                      const Real *w, UnetConv c);

// ---- Group norm ---------------------------------------------------------------------------------
//
// xhat = (x - mean) rstd, rstd = 1 / sqrt(variance + 1e-5), over all steps of a row and the
// channels of one of UNET_GROUPS groups. xhat may be x, and dx may be dxhat, which it overwrites.

void unet_norm_forward(Real *xhat, Real *rstd, const Real *x, int rows, int time, int channels);
void unet_norm_backward(Real *dx, const Real *dxhat, const Real *xhat, const Real *rstd, int rows,
                        int time, int channels);

// ---- A unit -------------------------------------------------------------------------------------
//
// m = Mish(gamma norm(conv(x)) + beta), with kernel 3; y = m, or m (1 + scale) + shift with a FiLM.
// The forward pass keeps xhat [rows][time][out] and rstd [rows][UNET_GROUPS].

typedef struct UnetUnitParams {
    const Real *weight, *bias, *gamma, *beta;
} UnetUnitParams;

typedef struct UnetUnitGrads {
    Real *weight, *bias, *gamma, *beta;
} UnetUnitGrads;

// Scale [out] and then shift [out] of each row, `stride` numbers from row to row. NULL is none.
typedef struct UnetFilm {
    const Real *values;
    Real *grads;
    int stride;
} UnetFilm;

size_t unet_unit_scratch(UnetConv c);

void unet_unit_forward(Real *y, Real *xhat, Real *rstd, Real *scratch, const Real *x,
                       UnetUnitParams params, UnetFilm film, UnetConv c);
void unet_unit_backward(Real *dx, UnetUnitGrads grads, Real *scratch, const Real *dy, const Real *x,
                        const Real *xhat, const Real *rstd, UnetUnitParams params, UnetFilm film,
                        UnetConv c);

#endif
