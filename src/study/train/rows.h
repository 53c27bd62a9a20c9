// The rows of a training update, whatever network they go through: noise, factor dropout, and the
// losses of what it predicts.
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
#ifndef FACET_TRAIN_ROWS_H
#define FACET_TRAIN_ROWS_H

#include "base/pool.h"
#include "diffusion/schedule.h"
#include "diffusion/score_net.h"
#include "ranks/ranks.h"
#include "train/optim.h"

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

#define TrainRows     REAL_NAME(TrainRows)
#define rows_create   REAL_NAME(rows_create)
#define rows_free     REAL_NAME(rows_free)
#define rows_draw     REAL_NAME(rows_draw)
#define rows_losses   REAL_NAME(rows_losses)
#define rows_draw_one REAL_NAME(rows_draw_one)
#define rows_add_one  REAL_NAME(rows_add_one)

typedef struct TrainRows {
    TrainConfig config;
    const NoiseSchedule *schedule;
    int size, factors, width; // T D of a sample, K, and the width of its context
    int noisy;                // batch draws: row r is draw r % draws of sample r / draws
    int composed;             // how many of them, the first ones, have the composed loss
    int group;                // rows that a composed row adds: 1 + K branches, and for the
                              // agreement the branch of the other value and the joint prediction
                              // with it
    int count;                // of a pass: noisy, then a group a composed row
    Real *x, *out, *dout;     // [count][T][D]
    Real *target;             // [noisy][T][D]
    Real *t;                  // [count]
    int *z;                   // [count][K]
    int *swapped;             // [composed], the factor whose value is another one's
    Real *context;            // [count][width], and then its gradient
    double *squares;          // [noisy + 2 composed], squared errors
    // The batch that is drawn from, and the number of updates before this one.
    const Real *data;
    const int *tasks;
    const Real *contexts;
    uint64_t update;
} TrainRows;

// Room for the rows of samples of T D = `size` numbers, K factors and a context of this width.
// Refuses settings that make no training. The schedule must outlive it. Free takes the members, not
// the struct.
FacetStatus rows_create(TrainRows *rows, const TrainConfig *config, const NoiseSchedule *schedule,
                        int size, int factors, int width);
void rows_free(TrainRows *rows);

// Lays out x, t, z and context of the update that follows `updates` others, and the targets, for
// clean samples x0 [batch][T][D] of tasks z [batch][K] in contexts [batch][width]. It keeps the
// pointers.
void rows_draw(TrainRows *rows, const Real *x0, const int *z, const Real *contexts, long updates,
               FacetPool *pool);

// After the forward pass, which has filled `out`: the losses, and in `dout` their gradient.
TrainReport rows_losses(TrainRows *rows);

// ---- Losses that nothing is learned from --------------------------------------------------------

// Rows of a pass for one sample: the joint prediction, and the branches of the composed one.
static inline int rows_of_one(int factors) { return factors ? 2 + factors : 1; }

// Sample `sample` of the batch that rows->data, tasks and contexts point to, with the time and
// noise of validation `number`, as number `at` of a pass. And its squared errors after the pass.
void rows_draw_one(TrainRows *rows, int at, int sample, uint64_t number);
void rows_add_one(TrainLoss *sum, const TrainRows *rows, int at);

// Rows that the losses of composed predictions add for each of theirs.
int rows_group(const TrainConfig *config, int factors);

#endif
