// The exact interaction of factors, for an expert that has one action a task (paper, Section 3.2).
//
// With l_z = log w_z - |a - alpha c_z|^2 / 2 sigma^2, and L(S), m(S), C(S) the log-sum of l, the
// mean and the covariance of the centres over a set S of tasks under the responsibilities there
// (certify/mixture.h), the interaction log-ratio of eq. (g), its gradient and its Hessian are
//
//   g     = l_z + (K - 1) L(all) - sum_i L(z_i)
//   grad  = alpha / sigma^2 (c_z + (K - 1) m(all) - sum_i m(z_i)) = s(z) - s_comp(z)
//   Hess  = alpha^2 / sigma^4 ((K - 1) C(all) - sum_i C(z_i))
//
// where z_i stands for all tasks with that value of factor i. The Hessian lives in the span of the
// centres, so its norm is that of a matrix with as many rows as there are tasks.
//
// Far from the centres g grows without bound, about linearly, so no G holds for all actions, as
// Assumption 1 would have it. The proof of Theorem 1 needs less: |g| <= G and |Hess| <= M on the
// segment of length 2 sqrt(G / M) from the point along the gradient. interaction_measure finds the
// least G, M and length with that property for the points it is given.
#ifndef FACET_CERTIFY_INTERACTION_H
#define FACET_CERTIFY_INTERACTION_H

#include "base/pool.h"
#include "certify/mixture.h"

#include <facet/progress.h>

typedef struct Interaction {
    double g;         // the log-ratio
    double gap;       // |grad g| = |s(z) - s_comp(z)|
    double curvature; // operator norm of the Hessian
} Interaction;

// At an action a [size] for task `index` of the mixture. gradient [size] may be NULL.
Interaction interaction_at(double *gradient, const Mixture *mixture, int index, const double *a,
                           double alpha_bar);

// One noise level: the constants of Theorem 1 for the states there, and what they bound.
typedef struct InteractionLevel {
    double sigma;
    double g, m;    // over the states and their segments
    double length;  // of the segments, at least 2 sqrt(g / m); infinite when that found no end
    double bound;   // 2 sqrt(g m); infinite with the length
    double max_gap; // over the states
    bool holds;     // max_gap <= bound, but for rounding
    long points;    // at which g and its Hessian were computed
} InteractionLevel;

typedef struct InteractionReport {
    int tasks, states;        // of the mixture; a level
    long points;              // of all levels
    double g, m;              // greatest of all levels
    double bound;             // 2 sqrt(g m), as the theorem states it: one number for all levels
    double max_gap;           // greatest of all levels
    double length;            // longest segment
    double worst_ratio;       // greatest max_gap / bound of a level, each with its own bound
    bool holds;               // at every level, each with its own bound
    int level_count;          // noise levels
    InteractionLevel *levels; // [level_count], in the order given
} InteractionReport;

// Measures at states [levels][count][size], where level k has alpha_bar[k] and state i belongs to
// task index[i] of the mixture. g and m are the greatest values at points along the segments: from
// each to the next a tenth farther on, and wherever the likeliest task changes. The stage is "noise
// levels".
FacetStatus interaction_measure(InteractionReport *report, const Mixture *mixture,
                                const double *states, const double *alpha_bar, int levels,
                                const int *index, int count, FacetPool *pool,
                                const FacetProgress *progress);
void interaction_report_free(InteractionReport *report);

#endif
