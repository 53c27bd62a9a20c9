// Evaluating the score network (see diffusion/score_net.h).
//
// Work is split, and sums are taken, in an order that does not depend on the number of threads: the
// same inputs give the same bits on 1, 2 or N. Nothing here allocates once the workspace exists.
#ifndef FACET_DIFFUSION_SCORE_PASS_H
#define FACET_DIFFUSION_SCORE_PASS_H

#include "base/pool.h"
#include "diffusion/score_net.h"
#include "math/real.h"

#define ScoreWork               REAL_NAME(ScoreWork)
#define score_work_create       REAL_NAME(score_work_create)
#define score_work_create_train REAL_NAME(score_work_create_train)
#define score_work_free         REAL_NAME(score_work_free)
#define score_lane_create       REAL_NAME(score_lane_create)
#define score_share             REAL_NAME(score_share)
#define score_load              REAL_NAME(score_load)
#define score_forward           REAL_NAME(score_forward)

// Rows that a training pass takes through the whole network as one piece of work.
enum { SCORE_SHARD = 6 };

typedef struct ScoreWork ScoreWork;

// A workspace for up to `rows` rows and pools of up to `threads` threads, to evaluate or to train.
// The network must outlive it.
FacetStatus score_work_create(ScoreWork **work, const ScoreNet *net, int rows, int threads);
FacetStatus score_work_create_train(ScoreWork **work, const ScoreNet *net, int rows, int threads);
void score_work_free(ScoreWork *work);

// Takes the parameters, a block of the network's table: packs the weights, and keeps the pointer.
// Call it again whenever they change.
void score_load(ScoreWork *work, const Real *params, FacetPool *pool);

// A small workspace for one thread of many that evaluate side by side. It keeps no activations, and
// computes with the weights of a loaded workspace of the same network, which must outlive it; it
// may be given those of another at any time.
FacetStatus score_lane_create(ScoreWork **lane, const ScoreNet *net, int rows);
void score_share(ScoreWork *lane, const ScoreWork *with);

// out [rows][T][D] from x [rows][T][D], diffusion times t [rows], factor values z [rows][K] and
// context [rows][context], NULL for a network without. The workspace keeps the activations for the
// backward pass or the tangent, and the pointers z and context, which the backward pass reads.
void score_forward(Real *out, ScoreWork *work, const Real *x, const Real *t, const int *z,
                   const Real *context, int rows, FacetPool *pool);

#endif
