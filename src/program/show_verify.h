// Table and JSON of verification before flight.
#ifndef FACET_CLI_SHOW_VERIFY_H
#define FACET_CLI_SHOW_VERIFY_H

#include "base/json.h"

#include <facet_study/race.h>

// What `facet fly --verify` flew: a raw and a verified flight a task.
typedef struct VerifiedFlights {
    int count;
    FacetRaceResult *raw, *verified; // [count]
    FacetVerifyReport *reports;      // [count]
    FacetVerifyOptions options;
} VerifiedFlights;

// A row a task with the raw plan's numbers beside the verified one's, a line for every gate that
// slowing does not cure, and the totals of both.
void show_verified(const FacetRace *race, const VerifiedFlights *flights);

// The verified flights as json_from_results has them, with the raw ones under "raw" and what
// verification did under "verification".
Json *json_from_verified(const FacetRace *race, const VerifiedFlights *flights);

#endif
