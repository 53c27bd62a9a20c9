// The bound for a pair that nobody has flown, from a leave-one-out study, in a certificate's file.
#ifndef FACET_PROGRAM_NEW_PAIR_H
#define FACET_PROGRAM_NEW_PAIR_H

#include "base/json.h"

#include <facet/policy.h>

// What a study found of the recipe that has the policy's losses, at the most that its pairs can
// speak for. Its networks are smaller than the policy.
typedef struct NewPair {
    bool known; // the study has such a recipe
    int pairs;
    double composed_loss, agreement, parameters; // of the study's networks
    double confidence, largest, mean;            // the last two in m
} NewPair;

FacetStatus new_pair_read(NewPair *out, const char *file, const FacetPolicy *policy);
Json *json_from_new_pair(const NewPair *pair);
void new_pair_print(const NewPair *pair);

#endif
