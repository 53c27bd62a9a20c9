// Small policies that take observations, numbers and images, with random weights.
#ifndef FACET_TESTS_POLICY_OBSERVERS_H
#define FACET_TESTS_POLICY_OBSERVERS_H

#include "policies.h"

typedef enum Taken { TAKES_NUMBERS, TAKES_IMAGES, TAKES_BOTH, TAKES_ALL } Taken;

enum {
    SEEN_STEPS = 2,   // n
    SEEN_EXECUTE = 3, // of TINY_T
    SEEN_DIM = 5,     // numbers of a step: arm 0 to 2, hand 0 and 1
    SEEN_SHOWN = 4,   // of them, those that change
    SEEN_IMAGES = 2,
    SEEN_FEATURES = 6,
};

// arm 1 never changed in training.
static const double seen_min[SEEN_DIM] = {-1.0, 2.0, 0.1, -7.0, 3.0};
static const double seen_max[SEEN_DIM] = {3.0, 2.0, 1.0 / 3.0, 11.0, 3.5};

static inline FacetStatus observe_taken(FacetPolicy *policy, bool numbers, bool images)
{
    const FacetPolicyKey arm = {.name = "arm", .dim = 3}, hand = {.name = "hand", .dim = 2};
    FacetPolicyKey eye = {.name = "eye", .width = TINY_WIDTH, .height = TINY_HEIGHT}, far = eye;
    FacetPolicyKey keys[4];
    int count = 0;
    strcpy(far.name, "far");
    if (numbers) keys[count++] = arm;
    if (images) keys[count++] = eye;
    if (numbers) keys[count++] = hand;
    if (images) keys[count++] = far;
    return observe_create(&policy->observe, SEEN_STEPS, SEEN_EXECUTE, keys, count, seen_min,
                          seen_max);
}

static inline FacetStatus observe_only_numbers(FacetPolicy *policy)
{
    return observe_taken(policy, true, false);
}

static inline FacetStatus observe_only_images(FacetPolicy *policy)
{
    return observe_taken(policy, false, true);
}

static inline FacetStatus observe_both(FacetPolicy *policy)
{
    return observe_taken(policy, true, true);
}

static inline FacetPolicy *tiny_observer(FacetPolicyMethod method, Taken taken)
{
    return tiny_policy_made(method, taken == TAKES_NUMBERS ? 0 : SEEN_FEATURES,
                            taken == TAKES_NUMBERS  ? observe_only_numbers
                            : taken == TAKES_IMAGES ? observe_only_images
                                                    : observe_both);
}

// Observations of any number of steps, a little outside the ranges at times.
static inline void fill_numbers(double *numbers, int steps, int seed)
{
    for (int i = 0; i < steps * SEEN_DIM; i++) {
        double middle = 0.5 * (seen_min[i % SEEN_DIM] + seen_max[i % SEEN_DIM]);
        double half = 0.5 * (seen_max[i % SEEN_DIM] - seen_min[i % SEEN_DIM]);
        numbers[i] = middle + 1.1 * half * sin(1.0 + 0.7 * i + 2.3 * seed);
    }
}

// What a policy is told of `plans` plans; the blocks are as large as the largest policy needs.
static inline FacetPolicyObserved observed_of(const FacetPolicy *policy, const double *numbers,
                                              const uint8_t *frames)
{
    return (FacetPolicyObserved){.numbers = policy->observe->dim ? numbers : NULL,
                                 .frames = policy->observe->images ? frames : NULL};
}

#endif
