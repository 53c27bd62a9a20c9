// The exact interaction of factors, for an expert that has one action a task (paper, Section 3.2).
//
// Such an expert's noised density is a Gaussian a task, N(alpha c_z, sigma^2 I), with alpha^2 =
// abar and sigma^2 = 1 - abar, and every marginal is a mixture of them. With l_z = log w_z - |a -
// alpha c_z|^2 / 2 sigma^2, and L(S), m(S), C(S) the log-sum of l, the mean and the covariance of
// the centres over a set S of tasks under the responsibilities there, the interaction log-ratio of
// eq. (g), its gradient and its Hessian are
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

#include "diffusion/sampler.h"

#include <facet/factor.h>
#include <facet/pool.h>

enum { MIXTURE_TASKS_MAX = 64 };

// ---- Mixtures -----------------------------------------------------------------------------------

// The tasks of an expert with their centres and prior. Constant once made.
typedef struct Mixture Mixture;

// Copies centres [count][size] and the tasks' values. Tasks are complete and differ; weights
// [count] are positive, and NULL makes the prior uniform. At most MIXTURE_TASKS_MAX tasks. Destroy
// accepts NULL.
Status mixture_create(Mixture **mixture, const double *centres, const FactorTask *tasks,
                      const double *weights, int count, int factors, int size);
void mixture_destroy(Mixture *mixture);

int mixture_count(const Mixture *mixture);
int mixture_size(const Mixture *mixture);
FactorTask mixture_task(const Mixture *mixture, int index);
const double *mixture_centre(const Mixture *mixture, int index); // [size]

// The exact denoiser E[a_0 | a, shown factors of z] in x0 [size], where a null of z is not shown.
// At least one task fits z. The score is (alpha x0 - a) / sigma^2.
void mixture_denoise(double *x0, const Mixture *mixture, FactorTask z, const double *a,
                     double alpha_bar);

// The denoiser of the exact composed score s_null + sum_i (s_i - s_null). Every value of z has a
// task; z itself need not be one.
void mixture_compose(double *x0, const Mixture *mixture, FactorTask z, const double *a,
                     double alpha_bar);

// Samples with the exact joint or composed score: x [size] holds the noise and gets the action.
// The plan predicts x0. path, if not NULL, gets x before each step and at the end,
// [steps + 1][size].
Status mixture_sample(double *x, double *path, const Mixture *mixture, const SamplerPlan *plan,
                      Composition composition, FactorTask z);

// ---- Interaction --------------------------------------------------------------------------------

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
    double length;  // of the segments, at least 2 sqrt(g / m)
    double bound;   // 2 sqrt(g m); infinite when the segments found no end
    double max_gap; // over the states
} InteractionLevel;

typedef struct InteractionReport {
    int tasks, states;        // of the product; states a level
    long points;              // at which g and its Hessian were computed
    double g, m;              // greatest of all levels
    double bound;             // 2 sqrt(g m), as the theorem states it: one number for all levels
    double max_gap;           // greatest of all levels
    double length;            // longest segment
    double worst_ratio;       // greatest max_gap / bound of a level, each with its own bound
    bool holds;               // max_gap <= bound at every level
    int level_count;          // noise levels, the noisiest first
    InteractionLevel *levels; // [level_count]
} InteractionReport;

// Measures at states [levels][states][size], with levels' abar, for tasks index[states] of the
// mixture. g and m are greatest values over points along the segments, spaced by a tenth of the
// distance covered.
Status interaction_measure(InteractionReport *report, const Mixture *mixture, const double *states,
                           const double *alpha_bar, int levels, const int *index, int count,
                           ThreadPool *pool);
void interaction_report_free(InteractionReport *report);

#endif
