// An expert with one action a task, under noise: a mixture of Gaussians with known centres.
//
// Paper, Section 3.3: the noised density of task z is N(alpha c_z, sigma^2 I), with alpha^2 = abar
// and sigma^2 = 1 - abar, so every marginal over tasks is a mixture of them and every score is
// known: s = (alpha m - a) / sigma^2, where m is the mean of the centres under the responsibilities
// of the tasks that fit, which is the exact denoiser E[a_0 | a].
#ifndef FACET_CERTIFY_MIXTURE_H
#define FACET_CERTIFY_MIXTURE_H

#include "diffusion/sampler.h"
#include "factor/factor.h"

enum { MIXTURE_TASKS_MAX = 64 };

// The tasks with their centres and prior. Constant once made.
typedef struct Mixture {
    int count, factors, size;
    FacetFactorTask *tasks; // [count]
    double *centres;        // [count][size]
    double *log_weight;     // [count]
    double *reduced;        // [count][count], the centres in coordinates of their own span
    double spread;          // the greatest distance between two centres
} Mixture;

// Copies centres [count][size] and the tasks. The tasks have `factors` values and differ; weights
// [count] are positive, and NULL makes the prior uniform. 1 to MIXTURE_TASKS_MAX tasks. Destroy
// accepts NULL.
FacetStatus mixture_create(Mixture **mixture, const double *centres, const FacetFactorTask *tasks,
                           const double *weights, int count, int factors, int size);
void mixture_destroy(Mixture *mixture);

// Whether a task of the mixture has the values of z that are not null.
bool mixture_fits(const Mixture *mixture, int index, FacetFactorTask z);

// l [count]: log w_z - |a - alpha c_z|^2 / 2 sigma^2, up to a constant that all tasks share.
void mixture_logs(double *l, const Mixture *mixture, const double *a, double alpha_bar);

// Responsibilities r [count] of the tasks that fit z, zero for the others, from l; returns the
// log-sum of l over them. At least one task fits.
double mixture_shares(double *r, const Mixture *mixture, const double *l, FacetFactorTask z);

// The exact denoiser E[a_0 | a, z] in x0 [size], where a null of z is not shown.
void mixture_denoise(double *x0, const Mixture *mixture, FacetFactorTask z, const double *a,
                     double alpha_bar);

// The denoiser of the exact composed score s_null + sum_i (s_i - s_null) (eq. composed). Every
// value of z has a task; z itself need not be one.
void mixture_compose(double *x0, const Mixture *mixture, FacetFactorTask z, const double *a,
                     double alpha_bar);

// Takes x [size] over step `index` of the sampler's plan, given the clean sample x0 there;
// x0_before [size] holds that of the step before and gets this one's. False when x stops being
// finite.
bool mixture_step(double *x, double *x0_before, const double *x0, const SamplerPlan *plan,
                  int index, size_t size);

// Samples with the exact joint or composed score: x [size] holds the noise and gets the action.
// The sampler's plan predicts x0. path, if not NULL, gets x before each step and at the end,
// [steps + 1][size].
FacetStatus mixture_sample(double *x, double *path, const Mixture *mixture, const SamplerPlan *plan,
                           Composition composition, FacetFactorTask z);

#endif
