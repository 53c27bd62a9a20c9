// What a policy sees: frames of the camera, shrunk and encoded.
//
// The weights are packed once, and an encoding allocates nothing.
#ifndef FACET_POLICY_SIGHT_H
#define FACET_POLICY_SIGHT_H

#include "encoder/encoder.h"

typedef struct Sight Sight;

// For up to `frames` frames at once and pools of up to `threads` threads. Encoder and parameters, a
// block of its table, must outlive it. The pool packs the weights.
FacetStatus sight_create(Sight **sight, const Encoder *encoder, const float *params, int frames,
                         int threads, FacetPool *pool);
void sight_free(Sight *sight); // accepts NULL

// features [count][features] of frames [count][height][width][3], as the camera gives them.
void sight_features(float *features, Sight *sight, const uint8_t *frames, int count,
                    FacetPool *pool);

// The same of images that have the encoder's size already.
void sight_shrunk(float *features, Sight *sight, const uint8_t *images, int count, FacetPool *pool);

#endif
