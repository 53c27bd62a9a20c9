// Composition operators on the race study: weights chosen by flying training tasks.
//
// An operator (diffusion/operator.h) leaves its weights to whoever uses it. PoCo's are set by hand,
// GPC's are searched for by rollouts, the interpolation's are a weight of one network; here all are
// chosen alike, by flying the tasks that the policy was trained on, and no other. A router's follow
// from its training, on the same tasks.
#ifndef FACET_RACE_OPERATORS_H
#define FACET_RACE_OPERATORS_H

#include "diffusion/operator.h"
#include "race/eval.h"

// The weights [COMPOSE_TRIED_MAX][2] of track and size that are tried for an operator; returns how
// many. They are the operator's own (ComposeOperator.tried). One that learns its weights has a
// single candidate, NAN.
int operator_candidates(double (*weights)[2], FacetPolicyMode mode);

typedef struct OperatorChoice {
    double weights[2]; // of track and size; NAN of a router
    int tried;
    FacetRaceTally training; // gates of the training tasks with these weights
    double error;            // m, mean distance from the expert's path there
} OperatorChoice;

// The weights to sample with: NULL of a router.
const double *operator_weights(const OperatorChoice *choice);

// Predictions a step that count: those of a factor whose weight is not 0, and that of no factor
// unless it cancels. A router takes all.
int operator_passes(const OperatorChoice *choice);

// Flies `plans` plans a training task with each candidate, and takes the one that passes most
// gates, then the one nearest to the expert's path. Plans have the seeds from how->seed + 2^32 on,
// which an evaluation from how->seed on does not have. The stage is "weights", an item a candidate.
FacetStatus operator_choose(OperatorChoice *choice, const FacetRace *race,
                            const FacetPolicy *policy, const FacetPolicySampling *how, int plans,
                            const FacetProgress *progress);

#endif
