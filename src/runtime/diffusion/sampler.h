// From noise to a plan: DDIM and DPM-Solver++ 2M on a joint or a composed prediction.
//
// Paper, Section 3.2, eq. (composed): s_comp = s_null + sum_i w_i (s_i - s_null), where s_i shows
// factor i alone and the other factors are null. The 1 + K branches of all plans are one batch.
//
// A step of either sampler is linear in the noisy x, in the clean sample x0 that the network
// implies there, and in the x0 of the step before:
//   DDIM (Song et al. 2020, no added noise), from abar to the next visited abar':
//     x' = sqrt(abar') x0 + sqrt(1 - abar') eps,  eps = (x - sqrt(abar) x0) / sqrt(1 - abar)
//   DPM-Solver++ 2M (Lu et al. 2022), lambda = log(sqrt(abar)/sqrt(1 - abar)), h = lambda' -
//   lambda, r = h_before / h:
//     x' = (sigma'/sigma) x - sqrt(abar') (e^-h - 1) ((1 + 1/2r) x0 - 1/2r x0_before)
// The last step goes to abar' = 1, where both return x0. The next time is looked up in the list of
// visited times. Clipping limits x0, and eps follows from the clipped x0.
#ifndef FACET_DIFFUSION_SAMPLER_H
#define FACET_DIFFUSION_SAMPLER_H

#include "diffusion/schedule.h"
#include "diffusion/score_pass.h"

#include <stdint.h>

typedef enum SamplerKind {
    SAMPLER_DDIM,
    SAMPLER_DPMPP,
} SamplerKind;

typedef enum Composition {
    COMPOSE_JOINT,   // all factors shown at once
    COMPOSE_FACTORS, // null + sum of corrections
} Composition;

typedef struct SamplerConfig {
    SamplerKind kind;
    int steps;
    Spacing spacing;
    Prediction prediction;
    double clip; // x0 is limited to [-clip, clip]; 0 does not clip
} SamplerConfig;

// x' = keep x + now x0 + before x0_before, with x0 = clean.first x + clean.second p.
typedef struct SamplerStep {
    int t;
    double alpha_bar, alpha_bar_next;
    Mix clean;
    double keep, now, before;
} SamplerStep;

typedef struct SamplerPlan {
    SamplerConfig config;
    SamplerStep step[SCHEDULE_STEPS_MAX]; // the first config.steps
} SamplerPlan;

// The coefficients of every step. Refuses more steps than the schedule has, and a negative clip.
FacetStatus sampler_plan(SamplerPlan *plan, const NoiseSchedule *schedule, SamplerConfig config);

#define Sampler             REAL_NAME(Sampler)
#define sampler_create      REAL_NAME(sampler_create)
#define sampler_free        REAL_NAME(sampler_free)
#define sampler_lane_create REAL_NAME(sampler_lane_create)
#define sampler_share       REAL_NAME(sampler_share)
#define sampler_noise       REAL_NAME(sampler_noise)
#define sampler_load        REAL_NAME(sampler_load)
#define sampler_work        REAL_NAME(sampler_work)
#define compose_scores      REAL_NAME(compose_scores)
#define sampler_predict     REAL_NAME(sampler_predict)
#define sampler_begin       REAL_NAME(sampler_begin)
#define sampler_step        REAL_NAME(sampler_step)
#define sampler_advance     REAL_NAME(sampler_advance)
#define sampler_run         REAL_NAME(sampler_run)

typedef struct Sampler Sampler;

// A sampler for up to `plans` plans at once and pools of up to `threads` threads. The network must
// outlive it.
FacetStatus sampler_create(Sampler **sampler, const ScoreNet *net, int plans, int threads);
void sampler_free(Sampler *sampler);

// A sampler for one thread of many that sample side by side, for up to `rows` branches at once: it
// computes with the weights of a loaded sampler (score_share).
FacetStatus sampler_lane_create(Sampler **lane, const ScoreNet *net, int rows);
void sampler_share(Sampler *lane, const Sampler *with);

// The starting noise of sample `number`: the same for the same seed.
void sampler_noise(Real *x, uint64_t seed, uint64_t number, int size);

// out [plans][size] from branches [plans][1 + factors][size], the null branch first.
void compose_scores(Real *out, const Real *branches, const double *weights, int factors, int plans,
                    int size);

// Takes the parameters, a block of the network's table, and keeps the pointer. Call it again
// whenever they change.
void sampler_load(Sampler *sampler, const Real *params, FacetPool *pool);

// The prediction p [plans][T][D] at x [plans][T][D] and time t for tasks z [plans][K]. weights [K]
// scale the corrections, NULL means ones; joint prediction does not use them. context
// [plans][context] is the same for all branches of a plan; NULL for a network without.
void sampler_predict(Real *p, Sampler *sampler, const Real *x, int t, Composition composition,
                     const double *weights, const int *z, const Real *context, int plans,
                     FacetPool *pool);

// The same, step by step for the plans of one run: begin says what stays the same, and keeps the
// pointers; step number `index`, in order, predicts for the first `plans` of them. The conditions
// of several steps are computed at once.
void sampler_begin(Sampler *sampler, const SamplerPlan *plan, Composition composition, const int *z,
                   const Real *context, int plans);
void sampler_step(Real *p, Sampler *sampler, const Real *x, int index, const double *weights,
                  int plans, FacetPool *pool);

// The activations of the last prediction, for tangents: its row i (1 + K) + b is branch b of plan i
// when composed, and row i is plan i when joint.
const ScoreWork *sampler_work(const Sampler *sampler);

// Takes x [size] over step `index` of the plan, given the prediction p there; x0_before [size]
// holds the clean sample of the step before and gets this one's. Fails when x stops being finite.
FacetStatus sampler_advance(Real *x, Real *x0_before, const Real *p, const SamplerPlan *plan,
                            int index, size_t size);

// Turns the noise in x [plans][T][D] into plans, and names the step where numbers stop being
// finite. path, if not NULL, gets x before each step and at the end, [steps + 1][plans][T][D].
FacetStatus sampler_run(Real *x, Real *path, Sampler *sampler, const SamplerPlan *plan,
                        Composition composition, const double *weights, const int *z,
                        const Real *context, int plans, FacetPool *pool);

#endif
