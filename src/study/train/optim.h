// Training: initial values, AdamW, clipping by the global norm, the moving average of the weights,
// and the learning rate over time. All are flat loops over the block of nn/tensor.h.
//
// AdamW (Loshchilov and Hutter 2019), as PyTorch computes it:
//   p <- p (1 - rate decay),  m <- b1 m + (1 - b1) g,  v <- b2 v + (1 - b2) g^2,
//   p <- p - rate (m / (1 - b1^n)) / (sqrt(v / (1 - b2^n)) + eps)      at update n = 1, 2, ...
// Moving average at update n: decay min(d, 1 - (1 + n)^-0.75), so that it forgets the start.
#ifndef FACET_NN_OPTIM_H
#define FACET_NN_OPTIM_H

#include "base/pool.h"
#include "nn/real.h"
#include "nn/tensor.h"

#include <stdint.h>

#define tensor_init       REAL_NAME(tensor_init)
#define Optimizer         REAL_NAME(Optimizer)
#define optimizer_create  REAL_NAME(optimizer_create)
#define optimizer_free    REAL_NAME(optimizer_free)
#define optimizer_freeze  REAL_NAME(optimizer_freeze)
#define optimizer_squares REAL_NAME(optimizer_squares)
#define optimizer_sum     REAL_NAME(optimizer_sum)
#define optimizer_norm    REAL_NAME(optimizer_norm)
#define optimizer_step    REAL_NAME(optimizer_step)

typedef struct OptimizerConfig {
    double beta1, beta2, epsilon;
    double weight_decay;
    double clip_norm; // gradients with a larger global norm are scaled to it; 0 does not clip
    double ema_decay; // the largest decay of the moving average
} OptimizerConfig;

// betas (0.95, 0.999), eps 1e-8, weight decay 1e-6, clipping at 1, moving average 0.9999.
OptimizerConfig optimizer_default(void);

// The learning rate at update n = 1, 2, ..., total: linear over `warmup` updates up to `peak`, then
// a cosine down to `floor` of it. With total = 0 it stays at the peak.
double optimizer_rate(double peak, double floor, long warmup, long total, long n);

// The decay of the moving average at update n = 1, 2, ...
double optimizer_ema_decay(double decay, long n);

typedef struct Optimizer {
    OptimizerConfig config;
    long updates; // done so far; it decides the bias corrections and the moving average's decay
    Real *m, *v;  // moments, blocks of the table's size
    Real *ema;    // the moving average of the weights
    const TensorTable *table;
    int *chunk_tensor;   // [chunks]
    size_t *chunk_start; // [chunks], in the block
    size_t *chunk_size;
    double *chunk_square; // [chunks], sums of squares
    int chunks;
    int first, last; // chunks that are worked on here; all but where ranks share them
} Optimizer;

// Fills the block from the table: tensor i draws from stream i of the seed. Gaps become zero.
void tensor_init(Real *params, const TensorTable *table, uint64_t seed);

// The moving average starts at the weights. The table must outlive the optimizer.
FacetStatus optimizer_create(Optimizer **optimizer, const TensorTable *table,
                             OptimizerConfig config, const Real *params);
void optimizer_free(Optimizer *optimizer);

// Leaves the tensors that begin before number `before` of the block as they are from now on.
void optimizer_freeze(Optimizer *optimizer, size_t before);

// The Euclidean norm of the gradients of what is trained; not finite when one of them is not. It is
// the sum of the squares of every chunk, in their order.
void optimizer_squares(Optimizer *optimizer, const Real *grads, FacetPool *pool);
double optimizer_sum(const Optimizer *optimizer);
double optimizer_norm(Optimizer *optimizer, const Real *grads, FacetPool *pool);

// One update of params and of the moving average. `norm` is the gradients' norm, for clipping.
void optimizer_step(Optimizer *optimizer, Real *params, const Real *grads, double norm, double rate,
                    FacetPool *pool);

#endif
