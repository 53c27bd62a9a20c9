// Options of the beacon and of a policy that flies by it beside the camera's (facet_study/gate.h).
#ifndef FACET_PROGRAM_GATE_BESIDE_H
#define FACET_PROGRAM_GATE_BESIDE_H

#include "args.h"
#include "base/json.h"

#include <facet_study/gate.h>

// Rows of a command's table.
#define BEACON_BIAS   "m that the beacon is off all flight long, on each axis"
#define BEACON_NOISE  "m that each of its readings is off, on each axis"
#define BEACON_SURVEY "m from a common origin to each venue's own, 0 for one of all"
#define BEACON_OPTIONS(beacon)                                                                     \
    option_double("beacon-bias", &(beacon).bias, "M", 0.0, 1e3, BEACON_BIAS),                      \
        option_double("beacon-noise", &(beacon).noise, "M", 0.0, 1e3, BEACON_NOISE),               \
        option_double("beacon-survey", &(beacon).survey, "M", 0.0, 1e3, BEACON_SURVEY)

// The errors that a world has unless told otherwise.
FacetBeaconParams beacon_options(void);
Json *json_from_beacon(const FacetBeaconParams *beacon);

// Loads the policy that flies beside another one in a way of sampling; refusals name its file.
FacetStatus gate_beside_load(FacetPolicy **beside, const FacetPolicy *policy,
                             const FacetPolicySampling *how, const char *path);

#endif
