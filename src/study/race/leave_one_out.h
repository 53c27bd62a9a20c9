// Leave-one-pair-out: how far a policy's plans of a pair that training did not show are from the
// expert's, and what that says of a pair that nobody has flown.
//
// Each training pair (a track with an opening) is left out in turn, and a network that learned the
// others plans it. A pair's error is the largest distance of a keypoint from the expert's, over
// several plans. If n pairs and a new one are exchangeable, the new one's error is above the
// k-th smallest of the n with a probability of at most alpha, k = ceil((1 - alpha) (n + 1)): split
// conformal prediction. The smallest alpha that n errors can speak for is 1 / (n + 1).
//
// That is exact for networks that learned equally many pairs. The new pair's network learned one
// more, so the plain bound takes for granted that one more pair does no harm. Jackknife+ (Barber,
// Candès, Ramdas and Tibshirani, 2021) does not: with R_i the error of pair i under the network
// without it, and d_i the distance of that network's plan of the new pair from the plan of the
// network that learned all, the error is at most the k-th smallest R_i + d_i with a probability of
// at least 1 - 2 alpha.
#ifndef FACET_RACE_LEAVE_ONE_OUT_H
#define FACET_RACE_LEAVE_ONE_OUT_H

#include <facet_study/race.h>

// A pair that the course does not hold out.
typedef struct TrainingPair {
    FacetCourseTask task;
    bool track_again, opening_again; // another such pair has its track, its opening
} TrainingPair;

// The feasible ones, track by track. `pairs` holds facet_race_task_max; returns how many there are.
int training_pairs(TrainingPair *pairs, const FacetRace *race);

// Whether training without it still shows its track and its opening: else it cannot be left out.
bool pair_can_be_left_out(const TrainingPair *pair);

// Deals the pairs that can be left out into folds, round and round in their order: fold [count] is
// the fold that leaves a pair out, or -1 when none does. A pair goes to the next fold whose
// training still links the values of all pairs that it leaves out. No results play a part.
void pair_folds(int *fold, const TrainingPair *pairs, int count, int folds);

// The plans of some pairs, with the seeds that follow the first one.
typedef struct PairPlans {
    const FacetCourseTask *tasks; // [count]
    int count, seeds;
    uint64_t first;
    FacetKeypoint *plans; // [count][seeds][32]
} PairPlans;

// Samples them from a policy, as `how` says but for its seed.
FacetStatus pairs_plan(PairPlans *pairs, const FacetRace *race, const FacetPolicy *policy,
                       const FacetPolicySampling *how, const FacetProgress *progress);

// What became of the plans of one pair.
typedef struct PairResult {
    FacetCourseTask task;
    double largest; // m, the largest distance of a keypoint from the expert's, in any plan
    double mean;    // m, the mean distance of a plan's keypoints, of the worst plan
    double error;   // m, the same, over all plans
    double speed;   // mean speed of the plans over the expert's
    double apart;   // m, the largest distance of the composed from the joint plans, where measured
    int passed, gates, crashes; // of all flights, raw and in still air
} PairResult;

// Flies them: results [count].
FacetStatus pairs_measure(PairResult *results, const FacetRace *race, PairPlans *pairs,
                          const FacetProgress *progress);

// The largest distance of a keypoint in `count` plans [count][32] from the same one in others, m.
double plans_apart(const FacetKeypoint *a, const FacetKeypoint *b, int count);

// The k-th smallest of the errors, k = ceil((1 - alpha) (count + 1)); infinite when there are
// fewer. Sorts the errors.
double conformal_bound(double *errors, int count, double alpha);

#endif
