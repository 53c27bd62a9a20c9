// The backward pass of nn/epilogue.h.
#ifndef FACET_TRAIN_EPILOGUE_BACKWARD_H
#define FACET_TRAIN_EPILOGUE_BACKWARD_H

#include "nn/epilogue.h"

#define epilogue_backward REAL_NAME(epilogue_backward)

// Turns xhat into du in place. dvectors [3][channels] collects the gradients of bias, gamma and
// beta: it is added to. With a FiLM, dfilm (laid out like film) is overwritten. scratch is
// [channels]. The gradient of the residual is dh itself.
void epilogue_backward(Real *xhat, Real *dvectors, Real *dfilm, const Real *dh, const Real *rstd,
                       EpilogueParams p, const Real *film, int film_stride, Real *scratch,
                       int batch, int time, int channels);

#endif
