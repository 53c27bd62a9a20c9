// A U-Net trained on demonstrations, for the study alone: what facet_policy_train is to the score
// network, with the same demonstrations, normaliser, order, losses and schedule, and the same way
// from noise to a plan.
//
// It stands in a file of its own kind, which no policy is read from: the averaged weights, with the
// settings of the training as metadata.
#ifndef FACET_UNET_POLICY_H
#define FACET_UNET_POLICY_H

#include "train/training.h"
#include "unet/unet.h"

typedef struct UnetPolicy {
    Training training; // its policy has all but the network: factors, ranges, schedule, sampling
    Unet *net;
    float *params; // averaged weights
    double loss;   // mean of the last epoch's updates, of this run's training; NAN for one that was
                   // there
} UnetPolicy;

// Trains one on the demonstrations `data` and writes it to `out`; one that is there is read and not
// trained again, and OUT.ckpt, which a stop leaves and which is written every 500 updates, is gone
// on from bit for bit. Files of other settings are refused. The options say what they say to
// facet_policy_train, with a number of updates; blocks, dilation and position mean nothing. The
// pool changes no bit. Options, pool and progress outlive the policy. Free accepts NULL.
FacetStatus unet_policy_train(UnetPolicy **policy, const char *data, const char *out,
                              const FacetTrainOptions *options, FacetPool *pool,
                              const FacetProgress *progress);
void unet_policy_free(UnetPolicy *policy);

// Samples `plans` plans by DDIM: actions [plans][T][D] of tasks [plans], each from the noise that a
// policy of the score network starts from with this seed [plans]. Composed, or joint.
FacetStatus unet_policy_sample(double *actions, const UnetPolicy *policy,
                               const FacetFactorTask *tasks, const uint64_t *seeds, int plans,
                               FacetPolicyMode mode, int steps, FacetPool *pool,
                               const FacetProgress *progress);

#endif
