// Tables and JSON of facet certify.
#ifndef FACET_CLI_SHOW_CERTIFY_H
#define FACET_CLI_SHOW_CERTIFY_H

#include "base/json.h"
#include "certify/exact.h"
#include "certify/passage.h"
#include "certify/path.h"
#include "certify/study.h"

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

// The record of a task's main plan.
const CertifyRecord *main_record(const Certification *all, int task);

// A task counts as certified when all its gates are.
bool task_certified(const CertifyRecord *record);

// Constants that hold along every task's plan; not finite when there is none that contracts.
FacetTubeConstants measured_constants(const Certification *all);

// C eps of Corollary "ss" as the paper takes it, C_LTV max_k ||d eps_k||; not finite when C_LTV is
// not.
double command_bound(const FacetPlanCertificate *plan);

// "not certified: C_LTV is not finite at step 3 of 50", or an empty text.
void describe_failure(char out[240], const CertifyRecord *record);

// The greatest of each number over the products, and whether Theorem 1 held on all.
InteractionReport worst_interaction(const Certification *all);

void show_certification(const Certification *all);
Json *json_from_certification(const Certification *all);

#endif
