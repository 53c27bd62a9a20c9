// A statistical certificate: how surely a planner's flights pass all gates of a task.
//
// Flies `samples` independent rollouts a task, each with fresh noise of the plan, a start off the
// track's start and slower than the reference, and fresh gusts, drawn as the demonstrations draw
// theirs. With k flights of n through all gates, the exact one-sided lower bound (Clopper and
// Pearson, 1934) holds with the given confidence, whatever the policy is: it assumes only that the
// rollouts are drawn as the flights to come will be. The confidence is a task's, and a gate's, own.
#ifndef FACET_CERTIFY_PASSAGE_H
#define FACET_CERTIFY_PASSAGE_H

#include <facet_study/race.h>

typedef struct PassageOptions {
    int samples;       // rollouts a task
    double confidence; // in (0, 1)
    uint64_t seed;
    double start_spread; // m, standard deviation of the start's offset on each axis
    double speed_least;  // of the start speed, as a share of the reference; the most is 1
    double gust_speed;   // m/s
} PassageOptions;

// 100 samples at 0.95, spread as facet_demo_defaults.
PassageOptions passage_defaults(void);

// One clear line for fewer than one sample or a confidence outside (0, 1).
FacetStatus passage_check(const PassageOptions *options);

// The seed that rollout `sample` gives to the planner. A policy planner should be made with those
// of all samples, so that it plans in batches.
uint64_t passage_plan_seed(const PassageOptions *options, int sample);

typedef struct PassageResult {
    FacetCourseTask task;
    int samples;
    int clear;    // flights that passed all gates
    double lower; // bound on the probability of that
    int gate_count;
    int gate_passed[FACET_TRACK_GATES_MAX];
    double gate_lower[FACET_TRACK_GATES_MAX];
} PassageResult;

// Flies the rollouts of all tasks in parallel: the stage "rollouts". results [count]. The same at
// any number of threads.
FacetStatus passage_certify(PassageResult *results, const FacetRace *race,
                            const FacetPlanner *planner, const FacetCourseTask *tasks, int count,
                            const PassageOptions *options, const FacetProgress *progress);

#endif
