// One plan denoised by two policies that sense different things (Modality-Composable Diffusion
// Policy): at every step of the sampler
//
//   s = w s_first + (1 - w) s_second
//
// on the same noisy plan, where each s is the policy's own prediction, composed over its factors.
// The weights add up to one, so it does not matter what the networks predict, as long as it is the
// same. With w = 1 and w = 0 the plan is that of the first and of the second alone, to the bit.
#ifndef FACET_GATE_BLEND_H
#define FACET_GATE_BLEND_H

#include <facet/policy.h>

typedef struct Blend Blend;

// Whether one plan means the same to both: chunks, ranges, noise schedule, prediction, steps, clip
// and temperature are equal, and each has one network. The refusal names the first that differs.
FacetStatus blend_check(const FacetPolicy *first, const FacetPolicy *second,
                        const FacetPolicySampling *how);

// For up to `plans` plans at once. The policies, which pass the check, must outlive it.
FacetStatus blend_create(Blend **blend, const FacetPolicy *first, const FacetPolicy *second,
                         int plans);
void blend_destroy(Blend *blend); // accepts NULL

// Samples actions [plans][T][D] of tasks[0] to the first policy and tasks[1] to the second, in
// which null leaves a factor open. All plans observe the same one step: the frame and the numbers,
// of which each policy takes what it takes. The noise is that of how->seed and how->numbers
// [plans].
FacetStatus blend_sample(double *actions, Blend *blend, double weight,
                         const FacetFactorTask tasks[2], const uint8_t *frame,
                         const double *numbers, int plans, const FacetPolicySampling *how);

#endif
