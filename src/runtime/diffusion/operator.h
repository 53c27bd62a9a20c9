// Composition operators: how the predictions of single factors become one. One file each.
//
// An operator is a choice of weights in one affine family, with s_null of no factor shown and s_i
// of factor i shown alone, by one network or by K:
//   s = s_null + sum_i w_i (s_i - s_null) = (1 - sum_i w_i) s_null + sum_i w_i s_i.
// Coefficients sum to one, so it does not matter whether networks predict noise, v or the clean
// sample. Evaluating the branches, adding them up (compose_scores) and the derivatives are the same
// for all; an operator says which weights are its own, and refuses others. With one factor and
// without given weights each but the router, which learns them, gives that factor's prediction.
#ifndef FACET_DIFFUSION_OPERATOR_H
#define FACET_DIFFUSION_OPERATOR_H

#include "base/status.h"

typedef struct ComposeOperator {
    const char *name; // of --mode
    // The weights [factors] from those given, NULL for the operator's own.
    FacetStatus (*weights)(double *weights, const double *given, int factors);
} ComposeOperator;

extern const ComposeOperator compose_sum;         // the paper's: corrections added up
extern const ComposeOperator compose_product;     // PoCo: a product of experts
extern const ComposeOperator compose_convex;      // GPC: a convex combination of policies
extern const ComposeOperator compose_interpolate; // Mao et al.: the first factor's networks alone
extern const ComposeOperator compose_router;      // FDP: weights by a network (diffusion/router.h)

// Fails with what the operator expects of its weights, and what it found.
FacetStatus compose_refuse(const ComposeOperator *operator, const char * expected,
                           const double *given, int factors);

#endif
