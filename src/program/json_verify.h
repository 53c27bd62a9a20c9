// JSON of verification before flight.
#ifndef FACET_CLI_JSON_VERIFY_H
#define FACET_CLI_JSON_VERIFY_H

#include "base/json.h"

#include "race/verdict.h"

// What `facet fly --verify` flew: a raw and a verified flight a task.
typedef struct VerifiedFlights {
    int count;
    FacetRaceResult *raw, *verified; // [count]
    FacetVerifyReport *reports;      // [count]
    FacetVerifyOptions options;
    Verdict *verdicts; // [count]; NULL when none were flown
    VerdictOptions verdict_options;
} VerifiedFlights;

// The verified flights as json_from_results has them, with the raw ones under "raw" and what
// verification did under "verification".
Json *json_from_verified(const FacetRace *race, const VerifiedFlights *flights);

#endif
