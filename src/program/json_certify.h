// JSON of facet certify (docs/json.md describes it).
#ifndef FACET_CLI_JSON_CERTIFY_H
#define FACET_CLI_JSON_CERTIFY_H

#include "base/json.h"
#include "certify/budget.h"
#include "certify/passage.h"
#include "certify/path.h"
#include "certify/summary.h"
#include "new_pair.h"

// All that a run of facet certify found.
typedef struct Certification {
    const FacetRace *race;
    const FacetPolicy *policy;
    const char *policy_file;
    const char *command;
    CertifyOptions options;
    CertifyStudy study;
    FacetCertifyDiagnostics diagnostics;
    ExactProducts products;
    Budget budget;            // count 0 with the interaction
    char no_interaction[240]; // why the exact interaction was left out; empty when it was not
    ExactPlan *exact;         // [exact_count], of every feasible task
    int exact_count;
    NewPair new_pair; // from a study of its own
    PassageOptions passage_options;
    PassageResult *passage; // [options.task_count]; NULL when no rollouts were asked for
} Certification;

Json *json_from_certification(const Certification *all);

// The budget of Theorem 2 of one policy.
Json *json_from_budget(const Budget *budget, const FacetPolicy *policy);

// The diagnostics over noised demonstrations, as members of an object.
void json_set_diagnostics(Json *out, const FacetCertifyDiagnostics *diagnostics);

#endif
