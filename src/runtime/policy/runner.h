// Sampling many plans at once: the workspace of a runner, and the way from noise to plans. Private
// to the room, but for the predictions that a router is trained on.
//
// A plan is denoised by one thread from its noise to its end, a few plans at a time in a lane of
// its own: threads wait for each other nowhere. What is left over when the threads have taken
// equally many plans is shared out layer by layer. A policy of several networks (knet) has few rows
// of a plan for each of them, so there all plans of a batch go step by step, and a thread takes
// some rows of one network. A row's result does not depend on its company, so a plan has the same
// bits on every way.
#ifndef FACET_POLICY_RUNNER_H
#define FACET_POLICY_RUNNER_H

#include "base/progress.h"
#include "policy/parts.h"
#include "policy/sight.h"

enum {
    RUNNER_ROOM = 1024,        // plans of a batch, which bounds the memory
    RUNNER_ROWS = SCORE_SHARD, // branches that a lane evaluates at once: one piece of work
    RUNNER_FRAMES = 32,        // encoded at once
};

// Rows of a batch that one of several networks predicts at once: `count` of the runner's `rows`
// from `first` on.
typedef struct RunnerJob {
    int network, first, count;
} RunnerJob;

struct FacetPolicyRunner {
    const FacetPolicy *policy;
    int threads;        // of the largest pool
    int size;           // T D
    int room;           // plans of a batch
    SamplerPlan plan;   // of the last sampling
    float *x;           // [room][size]
    float *p, *before;  // [room][size], the prediction, and the clean sample of the step before
    int *z;             // [room][K]
    uint64_t *numbers;  // [room], of the noise
    Sampler **networks; // [networks], which hold the weights
    Sampler **lanes;    // [threads]

    // Only for a policy that takes observations.
    float *context;  // [networks][room][context]
    Sight **sights;  // [networks], of one that sees
    float *features; // [RUNNER_FRAMES][features]

    // Only for knet.
    RunnerJob *jobs;         // [networks + room (1 + K) / RUNNER_ROWS]
    int job_count;           // of the batch
    int *rows;               // [room (1 + K)], the branches [plans][1 + K], network by network
    float *branches;         // [room][1 + K][size]
    float *inputs, *outputs; // [threads][RUNNER_ROWS][size]
    float *contexts;         // [threads][RUNNER_ROWS][context]
    RouterWork *router;      // of one row; NULL of a policy without
};

// One call of policy_runner_sample_path.
typedef struct RunnerCall {
    FacetPolicyRunner *runner;
    const FacetPolicySampling *how;
    const FacetFactorTask *tasks; // [plans]
    const FacetPolicyObserved *observed;
    int plans;
    double *actions; // [plans][T][D]
    double *path;    // [steps + 1][plans][T][D], or NULL
    FacetPool *pool;
    Progress *progress;
    int first, count;                 // plans of the batch that is being sampled
    double weights[FACET_FACTOR_MAX]; // of the mode
} RunnerCall;

// Images of all steps of a plan, and how many a runner encodes at once.
static inline int runner_images(const FacetPolicyRunner *runner)
{
    const Observe *observe = runner->policy->observe;
    return observe->steps * observe->images;
}

static inline int runner_frames(const FacetPolicyRunner *runner)
{
    int64_t all = (int64_t)runner->room * runner_images(runner);
    return all < RUNNER_FRAMES ? (int)all : RUNNER_FRAMES;
}

// Samples the batch [first, first + count): at most `room` plans.
FacetStatus runner_sample_batch(RunnerCall *call, int first, int count);

// Of several networks: shares the branches of the batch out among them, from the call's tasks,
// first and count; and predicts all of runner->branches at runner->x and time t.
void runner_share_out(const RunnerCall *call);
void runner_predict(const RunnerCall *call, int t);

#endif
