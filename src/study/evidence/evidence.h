// How surely a rate is known: counts of tasks under several training seeds, and their intervals.
//
// Trials of one task are alike, and so are those of one training. An interval that takes them for
// independent, as Wilson's does, is too narrow for a statement about other tasks and other
// trainings. The bootstrap draws tasks and training seeds again, both with replacement, and takes
// the middle 95 % of the rates that come out.
#ifndef FACET_EVIDENCE_H
#define FACET_EVIDENCE_H

#include "base/json.h"
#include "math/statistics.h"

#include <stdint.h>

// What came of a task under a training seed: `passed` of `trials`, both [tasks][seeds]. A task may
// have no trials under a seed.
typedef struct EvidenceCounts {
    int tasks, seeds;
    double *passed, *trials;
} EvidenceCounts;

// All counts are 0.
FacetStatus evidence_counts_create(EvidenceCounts *counts, int tasks, int seeds);
void evidence_counts_free(EvidenceCounts *counts);
void evidence_count(EvidenceCounts *counts, int task, int seed, double passed, double trials);

typedef struct EvidenceRate {
    int tasks, seeds;      // with trials
    double passed, trials; // of all
    double mean;           // of the seeds' rates; NaN without trials
    double least, most;    // of them
    Interval bootstrap;    // 95 %, over tasks and seeds; NaN without trials
    Interval wilson;       // 95 %, as if all trials were independent; NaN without
} EvidenceRate;

EvidenceRate evidence_rate(const EvidenceCounts *counts);

// The 95 % interval of the rate of all, from `draws` of tasks and seeds keyed by `seed`: each sums
// what as many tasks and seeds have, drawn again with replacement. Draws without trials do not
// count.
Interval evidence_bootstrap(const EvidenceCounts *counts, int draws, uint64_t seed);

// How far one rate is ahead of another of the same tasks. Both have the same trials, so that what
// makes a task hard cancels, and the lead is known better than either rate: a draw has the same
// tasks for both, and trainings of each.
typedef struct EvidenceLead {
    double mean;        // of the seeds' rates; NaN when one has no trials
    Interval bootstrap; // 95 %
} EvidenceLead;

EvidenceLead evidence_lead(const EvidenceCounts *counts, const EvidenceCounts *other);
Json *json_from_lead(EvidenceLead lead); // {mean, low, high}

// The rate as {passed, trials, mean, least, most, low, high, wilson_low, wilson_high, tasks,
// seeds}.
Json *json_from_evidence(EvidenceRate rate);

#endif
