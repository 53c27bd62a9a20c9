// Training the U-Net: the rows, losses, optimizer and learning rate of the score network's training
// (train/rows.h, train/optim.h), with the U-Net's passes in place of its own.
#ifndef FACET_UNET_TRAINER_H
#define FACET_UNET_TRAINER_H

#include "train/rows.h"
#include "unet/pass.h"

#define UnetTrainer            REAL_NAME(UnetTrainer)
#define unet_trainer_create    REAL_NAME(unet_trainer_create)
#define unet_trainer_free      REAL_NAME(unet_trainer_free)
#define unet_trainer_gradients REAL_NAME(unet_trainer_gradients)
#define unet_trainer_step      REAL_NAME(unet_trainer_step)

typedef struct UnetTrainer {
    TrainConfig config;
    const Unet *net;
    Real *params, *grads; // blocks of the network's table
    Optimizer *optimizer; // moments, moving average, number of updates
    UnetWork *work;
    TrainRows rows; // of the current update
} UnetTrainer;

// Parameters start from the seed. Network and schedule must outlive the trainer. Ranks do not share
// it. Free accepts NULL.
FacetStatus unet_trainer_create(UnetTrainer **trainer, const Unet *net,
                                const NoiseSchedule *schedule, const TrainConfig *config);
void unet_trainer_free(UnetTrainer *trainer);

// The losses and the gradients for clean samples x0 [batch][T][D] of tasks z [batch][K], with the
// draws of the next update.
TrainReport unet_trainer_gradients(UnetTrainer *trainer, const Real *x0, const int *z,
                                   FacetPool *pool);

// One update: gradients, clipping, AdamW, moving average. Nothing is updated unless all numbers are
// finite.
TrainReport unet_trainer_step(UnetTrainer *trainer, const Real *x0, const int *z, FacetPool *pool);

#endif
