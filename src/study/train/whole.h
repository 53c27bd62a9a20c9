// Training on demonstrations in memory, each of which is one sample: a whole plan and what was
// observed at its first row.
#ifndef FACET_TRAIN_WHOLE_H
#define FACET_TRAIN_WHOLE_H

#include "policy/normalizer.h"

#include <facet_study/dataset.h>
#include <facet_study/train.h>

// As facet_policy_train, of one rank. The policy takes all observations of the dataset, of one
// step; the options name as many. `name` stands for a file in messages and in the record. The
// ranges of actions are those of the dataset, or `ranges` if it is not NULL; the knee is the
// options'.
FacetStatus train_whole(FacetTrainSummary *summary, const FacetDataset *dataset, const char *name,
                        const Normalizer *ranges, const char *out, const FacetTrainOptions *options,
                        FacetPool *pool, const FacetProgress *progress);

#endif
