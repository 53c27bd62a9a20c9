// Flights beyond facet/flight.h: gusts and the search for a speed.
#ifndef FACET_FLIGHT_FLIGHT_H
#define FACET_FLIGHT_FLIGHT_H

#include <facet/flight.h>

// The wind after one more interval (s), exactly discretised.
FacetVec3 gust_next(FacetVec3 wind, const FacetGusts *gusts, double interval, FacetRng *rng);

// The share of a half-width within which the expert wants to cross: the rest is its reserve.
#define EXPERT_RESERVE 0.25

// Goes up with every change of the search that can change a speed.
enum { EXPERT_SEARCH_VERSION = 1 };

// The highest feasible speed of one task: candidates from the slowest up, then bisection.
// Fails when memory runs out; a task that cannot be flown is a result.
FacetStatus expert_search(FacetSpeedCell *cell, const FacetFlightSetup *setup, double speed_min,
                          double speed_max);

#endif
