// Layers one by one, in plain form: what the fused passes of the networks are compared with.
#ifndef FACET_TESTS_NN_REFERENCE_LAYERS_H
#define FACET_TESTS_NN_REFERENCE_LAYERS_H

#include "train/layers_backward.h"

#define conv1d_forward      REAL_NAME(conv1d_forward)
#define conv1d_tangent      REAL_NAME(conv1d_tangent)
#define conv1d_dilated      REAL_NAME(conv1d_dilated)
#define linear_forward      REAL_NAME(linear_forward)
#define linear_tangent      REAL_NAME(linear_tangent)
#define norm_tangent        REAL_NAME(norm_tangent)
#define group_norm_forward  REAL_NAME(group_norm_forward)
#define group_norm_backward REAL_NAME(group_norm_backward)
#define group_norm_tangent  REAL_NAME(group_norm_tangent)
#define mish_tangent        REAL_NAME(mish_tangent)
#define film_forward        REAL_NAME(film_forward)
#define film_backward       REAL_NAME(film_backward)
#define film_tangent        REAL_NAME(film_tangent)
#define residual_forward    REAL_NAME(residual_forward)

// The tangent (directional derivative) of x is tx. Sequences are padded blocks (nn/layers.h).

// y[t][o] = bias[o] + sum_k sum_i x[t + k - 1][i] w[k][i][o]
void conv1d_forward(Real *y, const Real *x, const Real *w, const Real *bias, int batch, int time,
                    int in, int out);
void conv1d_tangent(Real *ty, const Real *tx, const Real *w, int batch, int time, int in, int out);

// y[t][o] = sum_k sum_i x[t + (k - 1) dilation][i] w[k][i][o]
void conv1d_dilated(Real *y, const Real *x, const Real *w, int batch, int time, int dilation,
                    int in, int out);

// y = x w + bias
void linear_forward(Real *y, const Real *x, const Real *w, const Real *bias, int rows, int in,
                    int out);
void linear_tangent(Real *ty, const Real *tx, const Real *w, int rows, int in, int out);

// tx and ty are [directions][rows][channels].
void norm_tangent(Real *ty, const Real *tx, const Real *xhat, const Real *rstd, const Real *gamma,
                  int directions, int rows, int channels);

// GroupNorm: mean and variance over all rows of one sample and channels/groups neighbouring
// channels. x is dense [batch][time][channels], rstd [batch][groups].
void group_norm_forward(Real *y, Real *xhat, Real *rstd, const Real *x, const Real *gamma,
                        const Real *beta, int batch, int time, int channels, int groups);
void group_norm_backward(Real *dx, Real *dgamma, Real *dbeta, const Real *dy, const Real *xhat,
                         const Real *rstd, const Real *gamma, int batch, int time, int channels,
                         int groups);
// tx and ty are [directions][batch][time][channels].
void group_norm_tangent(Real *ty, const Real *tx, const Real *xhat, const Real *rstd,
                        const Real *gamma, int directions, int batch, int time, int channels,
                        int groups);

void mish_tangent(Real *ty, const Real *tx, const Real *x, int directions, size_t size);

// FiLM: y[b][t] = x[b][t] (1 + scale[b]) + shift[b]; film [batch][2][channels] is both.
void film_forward(Real *y, const Real *x, const Real *film, int batch, int time, int channels);
// Overwrites dx and dfilm.
void film_backward(Real *dx, Real *dfilm, const Real *dy, const Real *x, const Real *film,
                   int batch, int time, int channels);
// tfilm [directions][batch][2][channels] is NULL when the directions leave the condition alone.
void film_tangent(Real *ty, const Real *tx, const Real *tfilm, const Real *x, const Real *film,
                  int directions, int batch, int time, int channels);

// y = x + f
void residual_forward(Real *y, const Real *x, const Real *f, size_t size);

#endif
