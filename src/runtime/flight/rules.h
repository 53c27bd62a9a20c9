// What single and batched flights share: how often gusts change, and when a flight is over.
#ifndef FACET_FLIGHT_RULES_H
#define FACET_FLIGHT_RULES_H

#include "flight/flight.h"

enum { GUST_STEPS = 10 }; // simulation steps between two changes of the wind

// The progress (m) at which a plan counts as flown.
static inline double end_of_path(const FacetReference *plan)
{
    return facet_reference_length(plan) - 0.05;
}

// Steps after which a flight times out: twice its plan's duration and two seconds.
static inline long step_limit(const FacetReference *plan, const FacetQuadModel *model)
{
    return (long)((2.0 * facet_reference_duration(plan) + 2.0) / model->step);
}

// Whether the gate settled last was missed by more than `most` (m); 0 allows any miss.
static inline bool gives_up(const FacetReferee *referee, double most)
{
    return most > 0.0 && referee->next > 0 && referee->gates[referee->next - 1].miss > most;
}

#endif
