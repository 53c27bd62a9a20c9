// What a training draws from: chunks of demonstrations, with what was observed before them.
//
// A policy that acts blind learns whole demonstrations: one sample each. One that takes
// observations learns a chunk of T actions from every row of a demonstration on, and sees the n
// rows up to that one. Past the ends of a demonstration its last action and its first observation
// are repeated, as in Diffusion Policy (Chi et al. 2023).
#ifndef FACET_TRAIN_SAMPLES_H
#define FACET_TRAIN_SAMPLES_H

#include "policy/parts.h"

#include <facet_study/dataset.h>

typedef struct Samples {
    int horizon, dim, factors; // T, D, and K of the factor space
    const Observe *observe;    // NULL of a policy that acts blind
    const Encoder *encoder;    // NULL of one that does not see

    int count;         // samples
    int *demo, *first; // [count], where the chunk of a sample begins: which demo, and its row there
    int demos;
    int64_t *starts; // [demos + 1], in rows of all demos
    int *z;          // [demos][K]
    int *source;     // [demos], which one of all that were added it is
    int sources;     // added so far, with those that were left out

    float *actions;  // [rows][D], normalised
    float *numbers;  // [rows][shown], normalised
    uint8_t *pixels; // [rows][images][height][width][3], of the encoder's size; NULL where frames
                     // stay in their files
} Samples;

// Whether a trained policy can be shown a dataset that was read for its observations: actions and
// observations of its widths, and demonstrations of its horizon if it acts blind. And whether the
// dataset has these factors.
FacetStatus samples_fit(const FacetPolicy *policy, const FacetDataset *dataset);
FacetStatus samples_fit_space(const FacetFactorSpace *space, const FacetDataset *dataset);

// Adds the demos of the mask. The policy says what a sample is: horizon, normalizer, observations
// and encoder. With whole chunks, each demo is one sample of T rows, with the numbers observed at
// the first of them; its images stay in their files.
FacetStatus samples_add(Samples *samples, const FacetPolicy *policy, int horizon,
                        const FacetDataset *dataset, const bool *mask, bool whole);
void samples_free(Samples *samples); // the members, not the struct

// Sample i: x [T][D], z [factors of a network, K or 0], numbers [n][shown], and, where there are
// pixels, rgb [n][images][height][width][3].
void samples_get(float *x, int *z, float *numbers, uint8_t *rgb, const Samples *samples, int i,
                 int factors);

#endif
