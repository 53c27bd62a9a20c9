// How a policy was trained, for the results of its flights.
#ifndef FACET_CLI_JSON_TRAINING_H
#define FACET_CLI_JSON_TRAINING_H

#include "base/json.h"
#include "policy/policy.h"

// What the policy's own record says: {"command", "version", "seed", "recipe", "composed_loss",
// "drop", "updates", "rows", "networks", "parameters"}, and what is not there for all.
Json *json_from_training(const FacetPolicy *policy);

#endif
