// What a policy is told of the world beside its task: observations by name, numbers or images, of
// the last few steps.
//
// The numbers of one step are those of all keys that are numbers, side by side in the order of the
// keys. Each is normalised by its range in training; those that never changed there are left out.
// The network's context is, of the oldest step to the newest, the numbers, and behind them the
// encoder's features of the images, in the order of the keys:
//   context = [numbers of step 1; ...; numbers of step n; features of step 1; ...]
#ifndef FACET_POLICY_OBSERVE_H
#define FACET_POLICY_OBSERVE_H

#include "base/json.h"
#include "policy/normalizer.h"

#include <facet/policy.h>

enum { OBSERVE_KEYS_MAX = 64, OBSERVE_STEPS_MAX = 64, OBSERVE_DIM_MAX = 4096 };

typedef struct Observe {
    int steps;   // n, the newest one included
    int execute; // actions of a plan that are carried out before the next
    int count;   // keys
    FacetPolicyKey keys[OBSERVE_KEYS_MAX];
    int dim;            // numbers of a step; 0 for images alone
    int images;         // keys that are images
    Normalizer *ranges; // [dim]; NULL for images alone
    int shown;          // numbers of a step that are not constant
    int *channels;      // [shown], which ones
} Observe;

// The keys, in order: numbers of a width, or images of one size. `min` and `max` [dim] are the
// ranges of the numbers. All is copied. Free accepts NULL.
FacetStatus observe_create(Observe **observe, int steps, int execute, const FacetPolicyKey *keys,
                           int count, const double *min, const double *max);
void observe_free(Observe *observe);

// The width of the context's numbers, and of all of it.
int observe_numbers(const Observe *observe);
int observe_context(const Observe *observe, int features);

// The numbers of a context from those of a step, [dim] to [shown].
void observe_apply(float *out, const Observe *observe, const double *numbers);

// The key of this name; a failure names the known ones.
FacetStatus observe_find(int *key, const Observe *observe, const char *name);

// ---- As metadata of a file ----------------------------------------------------------------------

Json *observe_to_json(const Observe *observe);
FacetStatus observe_from_json(Observe **observe, const JsonRef *root);

#endif
