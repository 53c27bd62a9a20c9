// Directional derivatives of the score network, which its Jacobian is compared with.
#ifndef FACET_TESTS_CERTIFY_SCORE_TANGENT_H
#define FACET_TESTS_CERTIFY_SCORE_TANGENT_H

#include "certify/score_linear.h"

#define score_tangent        REAL_NAME(score_tangent)
#define ScoreTangent         REAL_NAME(ScoreTangent)
#define score_tangent_create REAL_NAME(score_tangent_create)
#define score_tangent_free   REAL_NAME(score_tangent_free)

// A workspace for tangents along up to `directions` directions at up to `rows` rows.
typedef struct ScoreTangent ScoreTangent;
FacetStatus score_tangent_create(ScoreTangent **tangent, const ScoreNet *net, int rows,
                                 int directions);
void score_tangent_free(ScoreTangent *tangent);

// tout [directions][T][D]: the derivative of row row_of[d] of the last forward pass, along the
// change tx [directions][T][D] of its x. Time, factors and context stay.
void score_tangent(Real *tout, ScoreTangent *tangent, const ScoreWork *work, const Real *tx,
                   const int *row_of, int directions, FacetPool *pool);

#endif
