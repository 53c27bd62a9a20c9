// The backward pass of the score network (see diffusion/score_pass.h).
#ifndef FACET_TRAIN_SCORE_BACKWARD_H
#define FACET_TRAIN_SCORE_BACKWARD_H

#include "diffusion/score_pass.h"

#define score_backward REAL_NAME(score_backward)

// Gradients for dout [rows][T][D], of the rows of the last forward pass. dparams is a block of the
// table's size, overwritten; dx [rows][T][D] is the gradient of x and dcontext [rows][context] that
// of the context, and may overwrite it. Each may be NULL. The pass uses up the activations: one
// backward pass a forward pass.
void score_backward(Real *dparams, Real *dx, Real *dcontext, ScoreWork *work, const Real *dout,
                    FacetPool *pool);

#endif
