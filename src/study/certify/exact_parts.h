// What the exact interaction and the budget of Theorem 2 share: the expert's mixture and the states
// along sampling paths.
#ifndef FACET_CERTIFY_EXACT_PARTS_H
#define FACET_CERTIFY_EXACT_PARTS_H

#include "base/progress.h"
#include "certify/exact.h"

enum { EXACT_SIZE = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS };

typedef struct Exact {
    const FacetRace *race;
    const FacetPolicy *policy;
    SamplerPlan network, scores; // the same steps, as the network predicts and with x0
} Exact;

FacetStatus exact_begin(Exact *e, const FacetRace *race, const FacetPolicy *policy, int steps);

// The mixture of these tasks, all with the same weight. Its factors are the course's.
FacetStatus exact_mixture(Mixture **mixture, const Exact *e, const FacetCourseTask *tasks,
                          int count);

// states [steps][3 count][SIZE]: for every task the network's path, the exact joint one and the
// exact composed one.
FacetStatus exact_states(double *states, const Exact *e, const Mixture *mixture,
                         const FacetCourseTask *tasks, int count, uint64_t seed,
                         Progress *progress);

// Fills `tasks` with the feasible ones and `trained` with those the policy was trained on.
FacetStatus exact_split(FacetCourseTask *tasks, int *count, FacetCourseTask *trained,
                        int *trained_count, const Exact *e);

#endif
