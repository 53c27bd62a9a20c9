// The loss of a router (diffusion/router.h) and its gradient.
//
// Denoising by the routed prediction, with the branches' own predictions s_b held fixed:
//   L = mean || sum_b w_b s_b - target ||^2.
#ifndef FACET_TRAIN_ROUTER_BACKWARD_H
#define FACET_TRAIN_ROUTER_BACKWARD_H

#include "diffusion/router.h"

#define RouterBatch      REAL_NAME(RouterBatch)
#define router_gradients REAL_NAME(router_gradients)

typedef struct RouterBatch {
    const Real *x;        // [rows][T][D], noisy
    const Real *t;        // [rows]
    const int *z;         // [rows][K]
    const Real *branches; // [rows][1 + K][T][D], the null branch first
    const Real *target;   // [rows][T][D]
} RouterBatch;

// The loss; grads, a block of the router's table, is overwritten with its gradient.
double router_gradients(Real *grads, RouterWork *work, const Real *params, const RouterBatch *batch,
                        int rows);

#endif
