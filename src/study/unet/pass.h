// Evaluating and training the U-Net (see unet/unet.h).
//
// Rows are taken through the network in shards of four, each with activations and gradients of its
// own, and gradients are summed over the shards in their order: the same bits on any number of
// threads. Nothing here allocates once the workspace exists.
#ifndef FACET_UNET_PASS_H
#define FACET_UNET_PASS_H

#include "base/pool.h"
#include "math/real.h"
#include "unet/unet.h"

#define UnetWork         REAL_NAME(UnetWork)
#define unet_work_create REAL_NAME(unet_work_create)
#define unet_work_free   REAL_NAME(unet_work_free)
#define unet_forward     REAL_NAME(unet_forward)
#define unet_backward    REAL_NAME(unet_backward)

enum { UNET_SHARD = 4 };

typedef struct UnetWork UnetWork;

// A workspace for up to `rows` rows, to evaluate or to train. The network must outlive it. Free
// accepts NULL.
FacetStatus unet_work_create(UnetWork **work, const Unet *net, int rows, bool trains);
void unet_work_free(UnetWork *work);

// out [rows][T][D] of x [rows][T][D] at diffusion times t [rows] with factor values z [rows][K],
// EMBEDDING_NULL for a null token. It keeps the pointers params and z for the backward pass.
void unet_forward(Real *out, UnetWork *work, const Real *params, const Real *x, const Real *t,
                  const int *z, int rows, FacetPool *pool);

// Gradients for dout [rows][T][D], of the rows of the last forward pass: dparams, a block of the
// table's size, is overwritten, and dx [rows][T][D] unless it is NULL.
void unet_backward(Real *dparams, Real *dx, UnetWork *work, const Real *dout, FacetPool *pool);

#endif
