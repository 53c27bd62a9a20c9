// Training the score network: the rows of an update and their losses (train/rows.h), the network's
// passes, and the optimizer.
#ifndef FACET_DIFFUSION_TRAINER_H
#define FACET_DIFFUSION_TRAINER_H

#include "diffusion/score_pass.h"
#include "train/optim.h"
#include "train/rows.h"
#include "train/sharing.h"

// Batch 32, one draw, predicts v, drop 0.1, no composed loss, the default optimizer, rate 1e-4
// after 500 updates and constant.
TrainConfig trainer_default(void);

#define Trainer           REAL_NAME(Trainer)
#define trainer_create    REAL_NAME(trainer_create)
#define trainer_free      REAL_NAME(trainer_free)
#define trainer_gradients REAL_NAME(trainer_gradients)
#define trainer_step      REAL_NAME(trainer_step)
#define trainer_loss      REAL_NAME(trainer_loss)
#define trainer_collect   REAL_NAME(trainer_collect)
#define trainer_spread    REAL_NAME(trainer_spread)

typedef struct Trainer {
    TrainConfig config;
    const ScoreNet *net;
    Real *params, *grads; // blocks of the network's table
    Optimizer *optimizer; // moments, moving average, number of updates
    ScoreWork *work;
    Sharing *sharing; // of updates over ranks; NULL for none
    int last_part;    // of the table, whose gradients are summed: all, or the first ones
    TrainRows rows;   // of the current update
    Real *dcontext;   // [batch][context], the gradient of the last pass
} Trainer;

// Parameters start from the seed. Network and schedule must outlive the trainer; `threads` are
// those of the largest pool that will run it.
FacetStatus trainer_create(Trainer **trainer, const ScoreNet *net, const NoiseSchedule *schedule,
                           TrainConfig config, int threads);
void trainer_free(Trainer *trainer);

// The losses and the gradients for clean samples x0 [batch][T][D] of tasks z [batch][K] in contexts
// [batch][context], NULL for a network without. Draws are those of the next update. The context's
// gradient is left in trainer->dcontext.
TrainReport trainer_gradients(Trainer *trainer, const Real *x0, const int *z, const Real *context,
                              FacetPool *pool);

// One update: gradients, clipping, AdamW, moving average.
TrainReport trainer_step(Trainer *trainer, const Real *x0, const int *z, const Real *context,
                         FacetPool *pool);

// The errors of these parameters on `count` samples, at most a batch. Times and noise are those of
// validation `number`, the same whatever was learned; no factor is dropped. It takes some samples
// at a time, and needs rows of an update for one of them: 2 + K, or 1 without factors. Ranks do not
// share it.
bool trainer_validates(const TrainConfig *config, int factors);
TrainLoss trainer_loss(Trainer *trainer, const Real *params, const Real *x0, const int *z,
                       const Real *context, int count, uint64_t number, FacetPool *pool);

// Of ranks, each keeps the moments and the moving average of its own part of the weights. Gathers
// all on rank 0; or gives rank 0's weights, moments, average and number of updates to all.
void trainer_collect(Trainer *trainer);
void trainer_spread(Trainer *trainer);

#endif
