// Evaluation of policies on the race study, for the paper's tables.
#ifndef FACET_RACE_EVAL_H
#define FACET_RACE_EVAL_H

#include "policy/policy.h"
#include "ranks/ranks.h"

#include <facet_study/race.h>

// One way to plan, flown on every feasible task for several seeds.
typedef struct EvalRun {
    int tasks, seeds;
    FacetRaceResult *results; // [seeds][tasks]
} EvalRun;

// Plans with a policy and flies: the stage "seeds". Seed k is `seed + k`.
FacetStatus eval_run(EvalRun *run, const FacetRace *race, const FacetPolicy *policy,
                     const FacetPolicySampling *sampling, int seeds, const FacetProgress *progress);
void eval_run_free(EvalRun *run);

// The same shared out over ranks: seed k is part `first + k` of work that they share, and each
// flies its own. Once all ranks are through, all get all.
FacetStatus eval_run_share(EvalRun *run, const FacetRace *race, const FacetPolicy *policy,
                           const FacetPolicySampling *sampling, int seeds, FacetRanks *ranks,
                           int first, const FacetProgress *progress);
void eval_run_collect(EvalRun *run, FacetRanks *ranks, int first);

const FacetRaceResult *eval_result(const EvalRun *run, int seed, int task);

// Totals of one seed, and of all seeds together.
FacetRaceTotals eval_totals(const EvalRun *run, int seed);
FacetRaceTotals eval_totals_all(const EvalRun *run);

// Mean over the tasks of one seed of the distance from the expert's path, m.
double eval_error(const EvalRun *run, int seed);

// Means of the generated speed of one task over the seeds, m/s, and the gates passed in all seeds.
double eval_speed(const EvalRun *run, int task);
FacetRaceTally eval_task_tally(const EvalRun *run, int task);

// The standard deviation over the seeds of the share of gates passed in one task; 0 for one seed.
double eval_task_spread(const EvalRun *run, int task);

// The opening is round and the vehicle a point, as in the paper. With a vehicle of a radius a gate
// is passed when the whole of it is inside: these are counts of that, of one seed, or of all (-1).
#define EVAL_VEHICLE_RADIUS 0.125 // m
FacetRaceTotals eval_vehicle_totals(const EvalRun *run, const FacetRace *race, double radius,
                                    int seed);
int eval_vehicle_passed(const FacetRace *race, const FacetRaceResult *result, double radius);

// Pairs of sizes of one track whose reference speeds differ, and those of them whose plans, on the
// mean of the seeds, are fast in the same order.
typedef struct EvalOrder {
    int right, pairs;
} EvalOrder;
EvalOrder eval_speed_order(const EvalRun *run);

// For a held-out task the number of one that was trained on and has the same path and speed: the
// same track at the same reference speed. -1 when there is none. Such a task is new in name alone.
int eval_same_task(const EvalRun *run, int task);

// Rows of one update through the network, in training: noisy rows, and a branch each of the
// composed loss. All of a method's updates times this is what its training costs.
double eval_update_rows(const FacetPolicy *policy);
double eval_training_rows(const FacetPolicy *policy); // all of them

// Rows through a policy's networks in the training of its router, forwards alone; 0 without one.
double eval_router_rows(const FacetPolicy *policy);

// The row of the paper's comparison that a policy belongs to: "baseline", "knet", "factored",
// "ours" (factored with the composed loss) or "oracle".
const char *eval_method(const FacetPolicy *policy);

#endif
