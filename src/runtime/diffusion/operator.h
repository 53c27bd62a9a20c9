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

enum { COMPOSE_TRIED_MAX = 32 };

typedef struct ComposeOperator {
    const char *name;  // of --mode
    const char *whose; // of tables: "product of experts (PoCo)"
    // The weights [factors] from those given, NULL for the operator's own.
    FacetStatus (*weights)(double *weights, const double *given, int factors);
    // The weights [COMPOSE_TRIED_MAX][2] that a search tries of two factors; returns how many. NULL
    // of an operator that learns its weights.
    int (*tried)(double (*weights)[2]);
} ComposeOperator;

// All operators: the mode that names each (facet/policy.h), and its name here. Tables have them in
// the order of the modes.
#define COMPOSE_OPERATORS(X)                                                                       \
    X(FACET_POLICY_COMPOSED, compose_sum)            /* the paper's: corrections added up */       \
    X(FACET_POLICY_PRODUCT, compose_product)         /* PoCo: a product of experts */              \
    X(FACET_POLICY_CONVEX, compose_convex)           /* GPC: a convex combination of policies */   \
    X(FACET_POLICY_INTERPOLATE, compose_interpolate) /* Mao et al.: the first factor's networks */ \
    X(FACET_POLICY_ROUTER, compose_router)           /* FDP: weights by a network (router.h) */

#define COMPOSE_DECLARE(mode, operator) extern const ComposeOperator operator;
COMPOSE_OPERATORS(COMPOSE_DECLARE)
#undef COMPOSE_DECLARE

#define COMPOSE_COUNT(mode, operator) +1
enum { COMPOSE_OPERATOR_COUNT = 0 COMPOSE_OPERATORS(COMPOSE_COUNT) };
#undef COMPOSE_COUNT

// Fails with what the operator expects of its weights, and what it found.
FacetStatus compose_refuse(const ComposeOperator *operator, const char * expected,
                           const double *given, int factors);

#endif
