// Evaluating the score network: forward, backward, tangent (see diffusion/score_net.h).
//
// Work is split, and sums are taken, in an order that does not depend on the number of threads: the
// same inputs give the same bits on 1, 2 or N. Nothing here allocates once the workspace exists.
#ifndef FACET_DIFFUSION_SCORE_PASS_H
#define FACET_DIFFUSION_SCORE_PASS_H

#include "diffusion/score_net.h"
#include "math/real.h"

#include <facet/pool.h>

#define ScoreWork               REAL_NAME(ScoreWork)
#define score_work_create       REAL_NAME(score_work_create)
#define score_work_create_train REAL_NAME(score_work_create_train)
#define score_work_free         REAL_NAME(score_work_free)
#define score_load              REAL_NAME(score_load)
#define score_forward           REAL_NAME(score_forward)
#define score_backward          REAL_NAME(score_backward)
#define score_tangent           REAL_NAME(score_tangent)
#define ScoreTangent            REAL_NAME(ScoreTangent)
#define score_tangent_create    REAL_NAME(score_tangent_create)
#define score_tangent_free      REAL_NAME(score_tangent_free)
#define ScoreJacobian           REAL_NAME(ScoreJacobian)
#define score_jacobian_create   REAL_NAME(score_jacobian_create)
#define score_jacobian_free     REAL_NAME(score_jacobian_free)
#define score_jacobian          REAL_NAME(score_jacobian)

// Rows that a training pass takes through the whole network as one piece of work.
enum { SCORE_SHARD = 8 };

typedef struct ScoreWork ScoreWork;

// A workspace for up to `rows` rows: to evaluate, or to train with a pool of up to `threads`
// threads. The network must outlive it. Evaluating splits every layer over the threads, which gives
// the shortest time for few rows; training splits the rows into shards.
Status score_work_create(ScoreWork **work, const ScoreNet *net, int rows);
Status score_work_create_train(ScoreWork **work, const ScoreNet *net, int rows, int threads);
void score_work_free(ScoreWork *work);

// Takes the parameters, a block of the network's table: packs the weights, and keeps the pointer.
// Call it again whenever they change.
void score_load(ScoreWork *work, const Real *params, ThreadPool *pool);

// out [rows][T][D] from x [rows][T][D], diffusion times t [rows], factor values z [rows][K] and
// context [rows][context], NULL for a network without. The workspace keeps the activations for the
// backward pass or the tangent, and the pointers z and context, which the backward pass reads.
void score_forward(Real *out, ScoreWork *work, const Real *x, const Real *t, const int *z,
                   const Real *context, int rows, ThreadPool *pool);

// Gradients for dout [rows][T][D], of the rows of the last forward pass. dparams is a block of the
// table's size, overwritten; dx [rows][T][D] is the gradient of x and dcontext [rows][context] that
// of the context, and may overwrite it. Each may be NULL. The pass uses up the activations: one
// backward pass a forward pass.
void score_backward(Real *dparams, Real *dx, Real *dcontext, ScoreWork *work, const Real *dout,
                    ThreadPool *pool);

// A workspace for tangents along up to `directions` directions at up to `rows` rows.
typedef struct ScoreTangent ScoreTangent;
Status score_tangent_create(ScoreTangent **tangent, const ScoreNet *net, int rows, int directions);
void score_tangent_free(ScoreTangent *tangent);

// tout [directions][T][D]: the derivative of row row_of[d] of the last forward pass, along the
// change tx [directions][T][D] of its x. Time, factors and context stay.
void score_tangent(Real *tout, ScoreTangent *tangent, const ScoreWork *work, const Real *tx,
                   const int *row_of, int directions, ThreadPool *pool);

// A workspace for whole Jacobians of up to `rows` rows with a pool of up to `threads` threads.
typedef struct ScoreJacobian ScoreJacobian;
Status score_jacobian_create(ScoreJacobian **jacobian, const ScoreNet *net, int rows, int threads);
void score_jacobian_free(ScoreJacobian *jacobian);

// out [rows][T D][T D]: out[r][i][j] is the derivative of number i of row r's output with respect
// to number j of its x, at the rows of the last forward pass.
void score_jacobian(Real *out, ScoreJacobian *jacobian, const ScoreWork *work, ThreadPool *pool);

#endif
