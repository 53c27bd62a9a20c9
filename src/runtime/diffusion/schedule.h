// The noise schedule, what a network predicts, and which times a sampler visits.
//
// Paper, Section 3.1: a_t = sqrt(abar_t) a_0 + sqrt(1 - abar_t) eps, with the cosine schedule of
// Nichol and Dhariwal (2021): abar(s) = cos^2((s + 0.008)/1.008 pi/2),
// beta_t = min(1 - abar((t+1)/N)/abar(t/N), 0.999), abar_t = prod (1 - beta).
// The score is -eps / sqrt(1 - abar).
#ifndef FACET_DIFFUSION_SCHEDULE_H
#define FACET_DIFFUSION_SCHEDULE_H

#include "base/status.h"

enum { SCHEDULE_STEPS_MAX = 1000 };

typedef struct NoiseSchedule {
    int steps;                            // N, training steps
    double alpha_bar[SCHEDULE_STEPS_MAX]; // signal power left at t = 0, ..., N - 1
} NoiseSchedule;

FacetStatus schedule_cosine(NoiseSchedule *schedule, int steps);

// ---- What the network predicts ------------------------------------------------------------------

typedef enum Prediction {
    PREDICT_EPSILON, // the noise eps
    PREDICT_V,       // v = sqrt(abar) eps - sqrt(1 - abar) x0
    PREDICT_X0,      // the clean sample
} Prediction;

// "eps", "v" and "x0"; the parser names the three when it refuses.
const char *prediction_name(Prediction prediction);
FacetStatus prediction_parse(Prediction *prediction, const char *name);

// A combination first * a + second * b of two arrays.
typedef struct Mix {
    double first, second;
} Mix;

// The training target as a mix of x0 and eps.
Mix prediction_target(Prediction prediction, double alpha_bar);

// The clean sample, and the noise, as a mix of the noisy x and the prediction p. Every mix of a
// sum is the sum of the mixes where the weights add up to one, so scores compose the same whatever
// the network predicts.
Mix prediction_to_x0(Prediction prediction, double alpha_bar);
Mix prediction_to_epsilon(Prediction prediction, double alpha_bar);

// ---- Which times a sampler visits ---------------------------------------------------------------

typedef enum Spacing {
    SPACING_LEADING,  // multiples of N / S rounded down: 0 is visited, N - 1 only when S = N
    SPACING_TRAILING, // N - 1 is visited, 0 only when S = N
    SPACING_EVEN,     // both ends are visited, evenly spread and rounded
} Spacing;

const char *spacing_name(Spacing spacing);
FacetStatus spacing_parse(Spacing *spacing, const char *name);

// The `count` times in the order a sampler visits them: times[0] is the noisiest. Refuses more
// times than the schedule has.
FacetStatus schedule_times(int *times, int count, const NoiseSchedule *schedule, Spacing spacing);

#endif
