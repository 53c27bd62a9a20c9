// An agent: a policy that acts on observations, in a loop.
//
//   facet_agent_create(&agent, policy, task, NULL, NULL);
//   for (;;) {
//       facet_agent_observe(agent, "joints", joints, 7);
//       facet_agent_observe_image(agent, "wrist", rgb, 84, 84);
//       facet_agent_act(action, agent);
//   }
//
// It plans T actions, carries out the first `execute` of them, one a call, and then plans anew from
// what it has observed since: a receding horizon, as in Diffusion Policy (Chi et al. 2023). With
// execute = 1 it plans at every step. Plans do not overlap: the rest of a plan is dropped.
//
// Nothing is allocated after the create. The noise of plan p in episode e follows from (seed, e, p)
// alone: the same observations give the same actions, to the bit, whatever else runs. Each of
// several threads may have agents of its own of one policy.
#ifndef FACET_AGENT_H
#define FACET_AGENT_H

#include <facet/api.h>
#include <facet/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FacetAgent FacetAgent;

// All zero is a good choice. Of `sampling`, the agent sets seeds and numbers itself, and nobody
// watches its progress; weights are copied.
typedef struct FacetAgentOptions {
    FacetPolicySampling sampling;
    int execute;      // actions of a plan to carry out, 1 to T; 0 for the policy's own number
    uint64_t episode; // below 2^32: which noise of the seed
} FacetAgentOptions;

// Makes an agent of a policy that takes observations, at the beginning of an episode. The policy
// and the pool must outlive it; a NULL pool is the calling thread. Destroy accepts NULL.
FACET_API FacetStatus facet_agent_create(FacetAgent **agent, const FacetPolicy *policy,
                                         FacetFactorTask task, const FacetAgentOptions *options,
                                         FacetPool *pool);
FACET_API void facet_agent_destroy(FacetAgent *agent);

// What is observed now, by the names of the policy's keys (facet_policy_key): all of them, in any
// order, before each act. A wrong name, width or size is refused, as are numbers that are not
// finite. At the beginning of an episode the first step stands for those that would be before it.
FACET_API FacetStatus facet_agent_observe(FacetAgent *agent, const char *key, const double *numbers,
                                          int count);
FACET_API FacetStatus facet_agent_observe_image(FacetAgent *agent, const char *key,
                                                const uint8_t *rgb, int width, int height);

// The next action, [D] in the data's units. It plans when the last plan is used up. After a failure
// the agent is as it was before the call.
FACET_API FacetStatus facet_agent_act(double *action, FacetAgent *agent);

// Another task from the next act on, which plans anew.
FACET_API FacetStatus facet_agent_set_task(FacetAgent *agent, FacetFactorTask task);

// Forgets all observations and begins an episode.
FACET_API FacetStatus facet_agent_reset(FacetAgent *agent, uint64_t episode);

// The plan that is carried out, [T][D], which lives until the next act that plans; NULL before the
// first. *next is the row of the next action.
FACET_API const double *facet_agent_plan(const FacetAgent *agent, int *next);

// How long acts took, in seconds of the wall clock, since the create.
typedef struct FacetAgentTimes {
    long acts, plans;
    double last;                // act
    double plan_mean;           // over acts that planned
    double plan_max, other_max; // of acts that planned, and of the others
} FacetAgentTimes;

FACET_API FacetAgentTimes facet_agent_times(const FacetAgent *agent);

#ifdef __cplusplus
}
#endif

#endif
