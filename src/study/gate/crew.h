// The pilots of a crew, one a thread.
#ifndef FACET_GATE_CREW_H
#define FACET_GATE_CREW_H

#include <facet_study/gate.h>

typedef struct Pilots {
    const FacetGateCrew *crew;
    int count;
    FacetGatePilot *pilots;
} Pilots;

// A failure leaves nothing to release.
FacetStatus pilots_make(Pilots *out, const FacetGateCrew *crew, int threads);
void pilots_release(Pilots *pilots);

#endif
