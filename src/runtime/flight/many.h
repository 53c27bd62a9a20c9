// Many flights in one setup, of plans that are made one by one: eight at a time, shared out over a
// pool.
#ifndef FACET_FLIGHT_MANY_H
#define FACET_FLIGHT_MANY_H

#include <facet/flight.h>

// Makes flight `index`: its keypoints, and what is not the setup's own in its start and gusts.
// Called from the pool's threads.
typedef void (*ManyMake)(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], FacetQuadState *start,
                         FacetGusts *gusts, const void *context, int index);

// flights [count]: what facet_flight_fly_batch makes of them. A plan that nothing can fly crashes
// at once and crosses nothing. Each flight is the same at any number of threads and whatever the
// others are. Allocates while it works.
FacetStatus many_fly(FacetFlight *flights, int count, const FacetFlightSetup *setup,
                     FacetQuadState start, ManyMake make, const void *context, FacetPool *pool);

#endif
