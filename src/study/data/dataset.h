// Demonstrations beyond facet_study/dataset.h.
#ifndef FACET_DATA_DATASET_H
#define FACET_DATA_DATASET_H

#include "policy/normalizer.h"

#include <facet_study/dataset.h>

// The normalizer of the actions over the demos with mask[demo], or of all demos when mask is NULL.
// Refuses actions of which no number changes.
FacetStatus dataset_normalizer(Normalizer **normalizer, const FacetDataset *dataset,
                               const bool *mask);

#endif
