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
#define score_limit             REAL_NAME(score_limit)
#define score_condition         REAL_NAME(score_condition)
#define score_forward_under     REAL_NAME(score_forward_under)
#define score_forward           REAL_NAME(score_forward)

// Rows that a training pass takes through the whole network as one piece of work.
enum { SCORE_SHARD = 4 };

// Conditions that a workspace computes at once, at least. FiLM has a quarter of the weights: the
// steps of one plan, which know their times beforehand, read them once for many steps.
enum { SCORE_CONDITIONS = 64 };

static inline int score_conditions(int rows, bool trains)
{
    return trains || rows > SCORE_CONDITIONS ? rows : SCORE_CONDITIONS;
}

typedef struct ScoreWork ScoreWork;

// A workspace for up to `rows` rows and pools of up to `threads` threads, to evaluate or to train.
// The network must outlive it.
FacetStatus score_work_create(ScoreWork **work, const ScoreNet *net, int rows, int threads);
FacetStatus score_work_create_train(ScoreWork **work, const ScoreNet *net, int rows, int threads);
void score_work_free(ScoreWork *work);

// Takes the parameters, a block of the network's table: packs the weights, and keeps the pointer.
// Call it again whenever they change.
void score_load(ScoreWork *work, const Real *params, FacetPool *pool);

// From now on passes of a workspace that trains compute only the rows of shards [first, last). The
// others stay as they are, for another rank that computes them.
void score_limit(ScoreWork *work, int first, int last);

// A small workspace for one thread of many that evaluate side by side. It keeps no activations, and
// computes with the weights of a loaded workspace of the same network, which must outlive it; it
// may be given those of another at any time.
FacetStatus score_lane_create(ScoreWork **lane, const ScoreNet *net, int rows);
void score_share(ScoreWork *lane, const ScoreWork *with);

// What the network makes of `rows` conditions: diffusion times t [rows], factor values z [rows][K]
// and context [rows][context], NULL for a network without. At most score_conditions(...) at once.
// The workspace keeps the pointers z and context, which the backward pass reads.
void score_condition(ScoreWork *work, const Real *t, const int *z, const Real *context, int rows,
                     FacetPool *pool);

// out [rows][T][D] from x [rows][T][D] under the conditions from `first` on. The workspace keeps
// the activations for the backward pass or the tangent.
void score_forward_under(Real *out, ScoreWork *work, const Real *x, int first, int rows,
                         FacetPool *pool);

// Both, for rows that have a condition each.
void score_forward(Real *out, ScoreWork *work, const Real *x, const Real *t, const int *z,
                   const Real *context, int rows, FacetPool *pool);

#endif
