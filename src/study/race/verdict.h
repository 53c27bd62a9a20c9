// A verdict before flight: how surely a plan passes all gates, in gusts and from spread starts.
//
// A pilot batch of flights looks for the pace, the plan's own or the next slower one, at which
// enough of them pass; then as many fresh flights at that pace are counted. The exact one-sided
// lower bound of the rate (Clopper and Pearson, 1934) comes from the fresh flights alone, each
// task's at 1 - (1 - confidence) / tasks, so that with the given confidence all tasks' bounds hold
// at once (Bonferroni), whatever the pilot chose. It assumes that the simulator is the world and
// that flights to come are drawn as these are.
#ifndef FACET_RACE_VERDICT_H
#define FACET_RACE_VERDICT_H

#include <facet_study/race.h>

typedef enum VerdictKind { VERDICT_GO, VERDICT_SLOWER, VERDICT_NO } VerdictKind;

const char *verdict_name(VerdictKind kind); // "go", "go slower", "no"

typedef struct VerdictOptions {
    int samples;         // flights a task; as many again for each pace that the pilot tries
    double confidence;   // of all tasks' bounds at once, in (0, 1)
    double least;        // probability to pass all gates that a go needs, in (0, 1)
    double gusts;        // m/s
    double start_spread; // m, standard deviation of the start's offset on each axis
    double speed_least;  // of the start speed, as a share of the reference; the most is 1
    uint64_t seed;
} VerdictOptions;

// At 0.95 for a rate of 0.9, spread as facet_demo_defaults.
VerdictOptions verdict_defaults(void);

typedef struct Verdict {
    VerdictKind kind;
    double pace;      // that was flown: 1 is the plan's own
    int raw_clear;    // flights of the raw plan through all gates, at its own pace
    int clear;        // flights of the plan
    double raw_lower; // the bounds
    double lower;
} Verdict;

// verdicts [count], from the raw plans and the plans to be flown, [count][32]. Fails when an option
// is out of range. The stage is "verdicts".
FacetStatus verdicts_fly(Verdict *verdicts, const FacetRace *race, const FacetCourseTask *tasks,
                         const FacetKeypoint *const *raw, const FacetKeypoint *const *plans,
                         int count, const VerdictOptions *options, const FacetProgress *progress);

#endif
