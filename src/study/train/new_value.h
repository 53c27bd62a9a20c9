// A new value of a factor for a policy that is trained already (see facet_study/train.h).
//
// The network stays as it is, bit for bit: only the embedding of the new value is learned, on the
// losses that the policy was trained with. It begins at the mean of the factor's other values. What
// the network has not learned to do no embedding makes it do: a value is new when it lies among, or
// near, those that it knows.
#ifndef FACET_TRAIN_NEW_VALUE_H
#define FACET_TRAIN_NEW_VALUE_H

#include "policy/parts.h"

#include <facet_study/dataset.h>

// A policy with one more value, "size=tiny", last of its factor: the same weights, and a first
// guess of its embedding. `path` names the policy in messages.
FacetStatus new_value_policy(FacetPolicy **grown, int *factor, const FacetPolicy *policy,
                             const char *text, const char *path);

// The values of a dataset's task in the policy's space, by their names.
FacetStatus new_value_task(FacetFactorTask *task, const FacetFactorSpace *space,
                           const FacetDataset *dataset, int demo);

#endif
