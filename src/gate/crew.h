// The pilots of a crew, one a thread.
#ifndef FACET_GATE_CREW_H
#define FACET_GATE_CREW_H

#include <facet/gate.h>

typedef struct Pilots {
    const GateCrew *crew;
    int count;
    GatePilot *pilots;
} Pilots;

// A failure leaves nothing to release.
Status pilots_make(Pilots *out, const GateCrew *crew, int threads);
void pilots_release(Pilots *pilots);

#endif
