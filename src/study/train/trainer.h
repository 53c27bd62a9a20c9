// Training the score network: denoising with factor dropout, and the composed loss.
//
// Paper, Sections 3.1 and A.3. For each row of the batch (a sample, or one of its draws) draw t,
// eps and, independently for each factor i, whether its value is replaced by the null token
// (probability drop[i]):
//   L = mean || p(x_t, t, z dropped) - target ||^2,  x_t = sqrt(abar) x0 + sqrt(1 - abar) eps.
// The composed loss is an addition to the paper, with weight W (0 leaves it out): for the first
// half of the rows, without dropout, the composed prediction itself is trained on the same noise:
//   L += W mean || p_null + sum_i (p_i - p_null) - target ||^2.
// The agreement loss is another, with weight A: for the same rows, a factor i drawn at random takes
// the value z' that the next sample of the batch has, and the composed prediction of this
// combination, which nobody may have demonstrated, is to agree with the joint one, whatever it is:
//   L += A mean || p_null + sum_{j != i} (p_j - p_null) + (p_i' - p_null) - p(x_t, t, z') ||^2.
// A sample whose context is dear, such as the features of an image, may be used for several rows,
// each with its own t, eps and dropout; its context gets the sum of their gradients.
//
// Every draw is keyed by (seed, update, row), so training that resumes at an update continues bit
// for bit, on any number of threads.
#ifndef FACET_DIFFUSION_TRAINER_H
#define FACET_DIFFUSION_TRAINER_H

#include "diffusion/schedule.h"
#include "diffusion/score_pass.h"
#include "train/optim.h"
#include "train/sharing.h"

typedef struct TrainConfig {
    int batch; // samples of an update
    int draws; // rows a sample, each with its own noise and dropout
    Prediction prediction;
    double drop[SCORE_FACTORS_MAX]; // a probability a factor
    double composed_weight;         // W
    double agreement_weight;        // A; needs a composed loss
    bool no_selection;              // the selection stays as it begins: the context as it is
    OptimizerConfig optimizer;
    double rate, rate_floor; // peak learning rate, and the part of it that is left at the end
    long warmup, total;      // updates
    uint64_t seed;
    FacetRanks *ranks; // that share every update; NULL for this process alone
} TrainConfig;

// Batch 32, one draw, predicts v, drop 0.1, no composed loss, the default optimizer, rate 1e-4
// after 500 updates and constant.
TrainConfig trainer_default(void);

typedef struct TrainReport {
    long update;      // the number of this update, from 1
    double loss;      // denoise + W composed + A agreement
    double denoise;   // mean squared error of the prediction
    double composed;  // mean squared error of the composed prediction; 0 without composed loss
    double agreement; // mean squared difference of composed and joint; 0 without its loss
    double grad_norm; // before clipping
    double rate;
    bool finite; // false: loss or gradients were not finite, and nothing was updated
} TrainReport;

// Mean squared errors of predictions that nothing is learned from.
typedef struct TrainLoss {
    double joint;    // with all factors shown
    double composed; // of the composed prediction; that of the joint one without factors
} TrainLoss;

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
    const NoiseSchedule *schedule;
    Real *params, *grads; // blocks of the network's table
    Optimizer *optimizer; // moments, moving average, number of updates
    ScoreWork *work;
    Sharing *sharing;     // of updates over ranks; NULL for none
    int noisy;            // batch draws: row r is draw r % draws of sample r / draws
    int composed;         // how many of them, the first ones, have the composed loss
    int last_part;        // of the table, whose gradients are summed: all, or the first ones
    int group;            // rows that a composed row adds: 1 + K branches, and for the agreement
                          // the branch of the other value and the joint prediction with it
    int rows;             // of a pass: noisy, then a group a composed row
    Real *x, *out, *dout; // [rows][T][D]
    Real *target;         // [noisy][T][D]
    Real *t;              // [rows]
    int *z;               // [rows][K]
    int *swapped;         // [composed], the factor whose value is another one's
    Real *context_rows;   // [rows][context], and then its gradient
    Real *dcontext;       // [batch][context], the gradient of the last pass
    double *squares;      // [noisy + 2 composed], squared errors
    const Real *data;     // the batch of the current pass
    const int *tasks;
    const Real *context;
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
