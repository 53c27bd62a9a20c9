// The backward pass of the encoder's head (see encoder/head.c).
#ifndef FACET_TRAIN_ENCODER_HEAD_BACKWARD_H
#define FACET_TRAIN_ENCODER_HEAD_BACKWARD_H

#include "encoder/encoder.h"

#define encoder_head_backward REAL_NAME(encoder_head_backward)

// Overwrites the gradients of the head's parameters in dparams, and leaves those of its input in
// the workspace's dpooled.
void encoder_head_backward(Real *dparams, EncoderWork *work, const Real *dfeatures,
                           FacetPool *pool);

#endif
