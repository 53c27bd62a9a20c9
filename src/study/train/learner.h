// Training one network of a policy: the score network, and the encoder that turns what it sees into
// a part of its context, as one model.
//
// An update changes the images of a sample a little (exposure, contrast, colour cast), encodes each
// once, and trains the score network on several noisy rows of the sample; the gradients of the
// features go on into the encoder. Both parts have the same learning rate and a moving average
// each, and their gradients are clipped by their common norm. Every draw is keyed by (seed, update,
// sample), so training that resumes at an update continues bit for bit, on any number of threads.
// A policy that does not see has no encoder, and one that acts blind no context.
#ifndef FACET_TRAIN_LEARNER_H
#define FACET_TRAIN_LEARNER_H

#include "encoder/encoder.h"
#include "policy/parts.h"
#include "train/trainer.h"

// What a sample of a batch has beside its chunk and its task.
typedef struct LearnerShape {
    int numbers;            // observed numbers, which come first in the context
    int images;             // whose features follow
    const Encoder *encoder; // of the images; NULL without
} LearnerShape;

// The shape of a policy's samples.
LearnerShape learner_shape(const FacetPolicy *policy);

// A batch: x0 [batch][T][D], z [batch][K], numbers [batch][numbers] and rgb
// [batch][images][height][width][3] of the encoder's size.
typedef struct LearnerBatch {
    const float *x0;
    const int *z;
    const float *numbers;
    const uint8_t *rgb;
} LearnerBatch;

typedef struct Learner {
    LearnerShape shape;
    double jitter; // strength of the images' changes; 0 for none
    bool frozen;   // the encoder keeps its weights
    Trainer *trainer;
    float *context; // [batch][context]; NULL for a network without

    // Only with an encoder.
    float *params, *grads; // blocks of its table
    Optimizer *optimizer;
    EncoderWork *work;
    float *inputs;      // [batch][images][height][width][3]
    float *features;    // [batch][images][features], and then their gradients
    const uint8_t *rgb; // of the batch of the current step
} Learner;

// Parameters start from the seed. Encoder, network and schedule must outlive the learner, and the
// network's context is as wide as the shape says; `threads` are those of the largest pool that will
// run it. Free accepts NULL.
FacetStatus learner_create(Learner **learner, LearnerShape shape, const ScoreNet *net,
                           const NoiseSchedule *schedule, TrainConfig config, double jitter,
                           bool freeze_encoder, int threads);
void learner_free(Learner *learner);

// Starts the encoder from other weights, a block of its table.
void learner_set_encoder(Learner *learner, const float *params);

// The losses and the gradients of the score network alone, for the next update.
TrainReport learner_gradients(Learner *learner, const LearnerBatch *batch, FacetPool *pool);

// One update. Nothing is updated unless all numbers are finite.
TrainReport learner_step(Learner *learner, const LearnerBatch *batch, FacetPool *pool);

// The errors of the averaged weights on `count` samples, at most a batch, which are not learned:
// with all factors shown, and composed. The noise is that of validation `number`.
TrainLoss learner_loss(Learner *learner, const LearnerBatch *batch, int count, uint64_t number,
                       FacetPool *pool);

// Updates done so far.
long learner_updates(const Learner *learner);

// The averaged weights become those of a network of a policy with the same encoder and network.
void learner_store(FacetPolicy *policy, int network, const Learner *learner);

#endif
