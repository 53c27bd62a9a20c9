// Training a policy that sees: the score network in the context of images, and the encoder that
// makes the context, as one model.
//
// An update changes each image a little (exposure, contrast, colour cast), encodes it once, and
// trains the score network on several noisy rows of its sample; the gradients of the features go on
// into the encoder. Both parts have the same learning rate and a moving average each, and their
// gradients are clipped by their common norm. Every draw is keyed by (seed, update, sample), so
// training that resumes at an update continues bit for bit, on any number of threads.
#ifndef FACET_POLICY_IMAGE_TRAINER_H
#define FACET_POLICY_IMAGE_TRAINER_H

#include "encoder/encoder.h"
#include "policy/parts.h"
#include "train/trainer.h"

typedef struct ImageTrainer {
    const Encoder *encoder;
    double jitter; // strength of the images' changes; 0 for none
    bool frozen;   // the encoder keeps its weights
    Trainer *trainer;
    float *params, *grads; // of the encoder, blocks of its table
    Optimizer *optimizer;  // of the encoder
    EncoderWork *work;
    float *inputs;         // [batch][height][width][3]
    float *features;       // [batch][features]
    const uint8_t *images; // the batch of the current step
} ImageTrainer;

// Parameters start from the seed. Encoder, network and schedule must outlive the trainer, and the
// network's context is as wide as the encoder's features; `threads` are those of the largest pool
// that will run it. Free accepts NULL.
FacetStatus image_trainer_create(ImageTrainer **trainer, const Encoder *encoder,
                                 const ScoreNet *net, const NoiseSchedule *schedule,
                                 TrainConfig config, double jitter, bool freeze_encoder,
                                 int threads);
void image_trainer_free(ImageTrainer *trainer);

// Starts the encoder from other weights, a block of its table.
void image_trainer_set_encoder(ImageTrainer *trainer, const float *params);

// One update with images [batch][height][width][3] of the encoder's size, clean samples x0
// [batch][T][D] and tasks z [batch][K]. Nothing is updated unless all numbers are finite.
TrainReport image_trainer_step(ImageTrainer *trainer, const uint8_t *images, const float *x0,
                               const int *z, FacetPool *pool);

// Updates done so far.
long image_trainer_updates(const ImageTrainer *trainer);

// The averaged weights become those of a policy with the same encoder and network.
void image_trainer_store(FacetPolicy *policy, const ImageTrainer *trainer);

#endif
