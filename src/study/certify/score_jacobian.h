// The Jacobian of the score network with respect to its noisy input.
#ifndef FACET_CERTIFY_SCORE_JACOBIAN_H
#define FACET_CERTIFY_SCORE_JACOBIAN_H

#include "base/progress.h"
#include "diffusion/score_pass.h"

#define ScoreJacobian         REAL_NAME(ScoreJacobian)
#define score_jacobian_create REAL_NAME(score_jacobian_create)
#define score_jacobian_free   REAL_NAME(score_jacobian_free)
#define score_jacobian        REAL_NAME(score_jacobian)

// A workspace for whole Jacobians of up to `rows` rows with a pool of up to `threads` threads.
typedef struct ScoreJacobian ScoreJacobian;
FacetStatus score_jacobian_create(ScoreJacobian **jacobian, const ScoreNet *net, int rows,
                                  int threads);
void score_jacobian_free(ScoreJacobian *jacobian);

// out [rows][T D][T D]: out[r][i][j] is the derivative of number i of row r's output with respect
// to number j of its x, at the rows of the last forward pass. Asks the progress, which may be NULL,
// before the columns of every step, and fails when it said stop.
FacetStatus score_jacobian(Real *out, ScoreJacobian *jacobian, const ScoreWork *work,
                           FacetPool *pool, Progress *progress);

#endif
