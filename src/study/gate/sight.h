// How well a policy sees: errors of the first offset by the distance from the gate.
#ifndef FACET_GATE_SIGHT_H
#define FACET_GATE_SIGHT_H

#include "gate/trials.h"

// Distances below 1, 2, 4, 6, 8 m and beyond.
enum { SIGHT_BINS = 6 };
extern const double sight_ends[SIGHT_BINS];

typedef struct GateSight {
    const FacetGateWorld *world;
    long frames[SIGHT_BINS];
    double along[SIGHT_BINS], across[SIGHT_BINS]; // m, sums of errors along and across the line of
                                                  // sight
    double spread[SIGHT_BINS]; // m, sums of the errors that the pilot says to expect
} GateSight;

// A FacetGateWatch's frame function, with a GateSight as its context.
FacetStatus sight_look(void *context, const FacetGateView *view, const double *offsets,
                       FacetVec3 estimate);

// The sums over the trials of training tasks, or of those held out; sights [trials->count].
GateSight sight_sum(const GateSight *sights, const GateTrials *trials, bool held_out);

#endif
