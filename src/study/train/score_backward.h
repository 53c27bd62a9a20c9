// The backward pass of the score network (see diffusion/score_pass.h).
#ifndef FACET_TRAIN_SCORE_BACKWARD_H
#define FACET_TRAIN_SCORE_BACKWARD_H

#include "diffusion/score_pass.h"

#define score_backward         REAL_NAME(score_backward)
#define score_backward_rows    REAL_NAME(score_backward_rows)
#define score_backward_weights REAL_NAME(score_backward_weights)
#define score_parts            REAL_NAME(score_parts)
#define score_part_start       REAL_NAME(score_part_start)

// Gradients for dout [rows][T][D], of the rows of the last forward pass. dparams is a block of the
// table's size, overwritten; dx [rows][T][D] is the gradient of x and dcontext [rows][context] that
// of the context, and may overwrite it. Each may be NULL. The pass uses up the activations: one
// backward pass a forward pass.
void score_backward(Real *dparams, Real *dx, Real *dcontext, ScoreWork *work, const Real *dout,
                    FacetPool *pool);

// The parts of the table whose gradients are summed one by one, in the table's order: condition,
// FiLM, stem, the units, head.
enum { SCORE_PART_CONDITION, SCORE_PART_FILM, SCORE_PART_STEM, SCORE_PART_UNITS };
int score_parts(const ScoreNet *net);

// Where a part begins in the block, and after the last one the block's size.
size_t score_part_start(const ScoreNet *net, int part);

// The two halves of the backward pass: the gradients of the activations of the rows that the
// workspace computes, and from those of all rows the gradients of the parts [first, last).
void score_backward_rows(Real *dx, ScoreWork *work, const Real *dout, FacetPool *pool);
void score_backward_weights(Real *dparams, Real *dcontext, ScoreWork *work, int first, int last,
                            FacetPool *pool);

#endif
