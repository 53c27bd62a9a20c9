// The backward pass of the image encoder (see encoder/encoder.h).
#ifndef FACET_TRAIN_ENCODER_BACKWARD_H
#define FACET_TRAIN_ENCODER_BACKWARD_H

#include "encoder/encoder.h"

#define encoder_backward REAL_NAME(encoder_backward)

// The gradients of the parameters for dfeatures [images][features], of the images of the last
// forward pass; dparams is a block of the table's size, overwritten; frozen parts get zero. Uses
// the activations up.
void encoder_backward(Real *dparams, EncoderWork *work, const Real *dfeatures, FacetPool *pool);

#endif
