// The certificates of a race study: the plans of every task, for several seeds and numbers of
// denoising steps, and the gates of the first seed's plans.
//
// A study that stops part-way goes on from its state file: every finished record is in it.
#ifndef FACET_CERTIFY_STUDY_H
#define FACET_CERTIFY_STUDY_H

#include "certify/record.h"
#include "ranks/ranks.h"

enum { STUDY_SWEEP_MAX = 8 };

typedef struct CertifyOptions {
    const FacetCourseTask *tasks;
    int task_count;
    int steps; // of the plans
    uint64_t seed;
    int seeds;                  // seed, seed + 1, ...
    int sweep[STUDY_SWEEP_MAX]; // further numbers of steps, with the first seed
    int sweep_count;
    double gusts;      // m/s, of the gates' disturbance and of w; 0 is still air
    int gust_flights;  // that the largest disturbance is taken over
    double slowest;    // pace down to which an uncertified plan is tried; 1 for its own alone
    bool repair;       // plans are repaired, all crossings centred, before they are slowed
    const char *state; // file that records wait in; NULL for none
    FacetRanks *ranks; // that share the plans; NULL for this process alone
    const char *study; // names the policy and whatever else results depend on
} CertifyOptions;

typedef struct CertifyStudy {
    CertifyRecord *records;
    int count;
    int resumed; // of those, done in earlier runs
} CertifyStudy;

// Certifies all that is not in the state file yet: the stage "denoising steps". A stop fails with a
// line that says how to go on. Rank 0 reads and writes the file, and all get all records.
FacetStatus certify_study(CertifyStudy *study, const FacetRace *race, const FacetPolicy *policy,
                          const CertifyOptions *options, const FacetProgress *progress);
void certify_study_free(CertifyStudy *study);

// The record of a task, or NULL.
const CertifyRecord *certify_study_record(const CertifyStudy *study, FacetCourseTask task,
                                          int steps, int turn);

// Names a policy by its weights and settings, for CertifyOptions.study.
void certify_study_policy_name(char out[24], const FacetPolicy *policy);

// The diagnostics of facet_study/certify.h on the expert's chunks of the race's training tasks: the
// feasible ones that the policy was trained on.
FacetStatus certify_study_diagnostics(FacetCertifyDiagnostics *out, const FacetRace *race,
                                      const FacetPolicy *policy, int samples, uint64_t seed,
                                      const FacetProgress *progress);

#endif
