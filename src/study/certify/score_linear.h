// The score network linearised at the rows of a forward pass: what tangents and Jacobians share
// (private to the room).
#ifndef FACET_DIFFUSION_SCORE_LINEAR_H
#define FACET_DIFFUSION_SCORE_LINEAR_H

#include "diffusion/score_work.h"

#define ScoreLinear        REAL_NAME(ScoreLinear)
#define score_slopes_size  REAL_NAME(score_slopes_size)
#define score_linearise    REAL_NAME(score_linearise)
#define score_unit_tangent REAL_NAME(score_unit_tangent)

typedef struct ScoreLinear {
    const ScoreWork *work;
    Real *slope; // [rows][2 blocks + 1][T][C], what each unit's norm and activation multiply by
} ScoreLinear;

// Time steps [first, first + count) of a sequence.
typedef struct Window {
    int first, count;
} Window;

size_t score_slopes_size(const ScoreNet *net, int rows);

// Fills the slopes of the rows of the work's last forward pass.
void score_linearise(const ScoreLinear *linear, FacetPool *pool);

// What follows the convolution of unit u, for n directions on a window of time: th from tu, both
// padded blocks of n sequences of window.count. The last u is the head. Direction d is one of row
// row_of[d]. residual is a block like th, or NULL; th may be residual. tu is overwritten.
void score_unit_tangent(Real *th, Real *tu, const ScoreLinear *linear, int u, const Real *residual,
                        const int *row_of, int n, Window window);

#endif
