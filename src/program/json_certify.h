// JSON of facet certify (docs/json.md describes it).
#ifndef FACET_CLI_JSON_CERTIFY_H
#define FACET_CLI_JSON_CERTIFY_H

#include "base/json.h"
#include "certify/passage.h"
#include "certify/path.h"
#include "certify/summary.h"

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
    char no_interaction[240]; // why the exact interaction was left out; empty when it was not
    ExactPlan *exact;         // [exact_count], of every feasible task
    int exact_count;
    PassageOptions passage_options;
    PassageResult *passage; // [options.task_count]; NULL when no rollouts were asked for
} Certification;

Json *json_from_certification(const Certification *all);

#endif
