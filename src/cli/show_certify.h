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
    const Race *race;
    const Policy *policy;
    const char *policy_file;
    const char *command;
    CertifyOptions options;
    CertifyStudy study;
    CertifyDiagnostics diagnostics;
    ExactProducts products;
    ExactPlan *exact; // [exact_count], of every feasible task
    int exact_count;
    PassageOptions passage_options;
    PassageResult *passage; // [options.task_count]; NULL when no rollouts were asked for
} Certification;

// The record of a task's main plan.
const CertifyRecord *main_record(const Certification *all, int task);

// A task counts as certified when all its gates are.
bool task_certified(const CertifyRecord *record);

// C eps of Corollary "ss" as the paper takes it, C_LTV max_k ||d eps_k||; not finite when C_LTV is
// not.
double command_bound(const PlanCertificate *plan);

// "not certified: C_LTV is not finite at step 3 of 50", or an empty text.
void describe_failure(char out[240], const CertifyRecord *record);

// The greatest of each number over the products, and whether Theorem 1 held on all.
InteractionReport worst_interaction(const Certification *all);

void show_certification(const Certification *all);
Json *json_from_certification(const Certification *all);

#endif
