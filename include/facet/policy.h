// A trained policy as one object: load and sample.
//
// A policy turns a task into an action chunk of T x D numbers by denoising. It carries all that
// sampling needs: the factors' names, the channels' ranges, the network's shape and weights, the
// noise schedule, what the network predicts, and the record of its training. It lives in one
// safetensors file (docs/policies.md describes it).
//
// A policy is constant once loaded: any number of threads may use it at once. Loading allocates the
// policy, facet_policy_sample a workspace for as long as it works, and a runner once for all.
#ifndef FACET_POLICY_H
#define FACET_POLICY_H

#include <facet/api.h>
#include <facet/factor.h>
#include <facet/pool.h>
#include <facet/progress.h>
#include <facet/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FacetPolicy FacetPolicy;

// The methods of the paper's comparison.
typedef enum FacetPolicyMethod {
    FACET_POLICY_FACTORED, // one network that is shown the factors, some of them null
    FACET_POLICY_BASELINE, // the same network without factor input
    FACET_POLICY_KNET,   // 1 + sum |values| networks without factor input, one a value and one for
                         // all
    FACET_POLICY_ORACLE, // factored, with nothing held out
} FacetPolicyMethod;

// "factored", "baseline", "knet", "oracle"; a constant text.
FACET_API const char *facet_policy_method_name(FacetPolicyMethod method);

// Reads a policy's file. A failure names the file, the tensor or setting, what was expected and
// what was found. The policy is the caller's and does not need the file any more. Destroy accepts
// NULL.
FACET_API FacetStatus facet_policy_load(FacetPolicy **policy, const char *path);
FACET_API void facet_policy_destroy(FacetPolicy *policy);

// ---- What a policy is ---------------------------------------------------------------------------

// A policy may act on observations beside the task: numbers, and images, which an encoder turns
// into features, of the last few steps. Observations of other widths or sizes are refused.
typedef struct FacetPolicyInfo {
    FacetPolicyMethod method;
    int horizon;                   // T, actions of a plan
    int dim;                       // D, numbers of an action
    int noise_steps;               // of training; no sampler takes more
    int default_steps;             // of sampling
    double default_temperature;    // of sampling
    int networks;                  // 1, or those of FACET_POLICY_KNET
    size_t parameters;             // of all networks and of the encoder
    int observe_keys;              // observations that it takes, by name; 0 of one that acts blind
    int observe_steps;             // n, the steps of them that it looks back on; 0 of a blind one
    int observe_dim;               // numbers of a step, of all keys that are numbers
    int observe_images;            // images of a step
    int execute;                   // actions of a plan to carry out before the next; T of a blind
                                   // one
    bool sees;                     // takes images
    int frame_width, frame_height; // pixels of an image; 0 of a policy that does not see
    int frame_shrink;              // images are averaged over shrink x shrink pixels first
} FacetPolicyInfo;

FACET_API FacetPolicyInfo facet_policy_info(const FacetPolicy *policy);

enum { FACET_POLICY_KEY_SIZE = 128 }; // bytes of a key's name, with its final zero

// One observation: numbers of a width, or images.
typedef struct FacetPolicyKey {
    char name[FACET_POLICY_KEY_SIZE];
    int dim;           // numbers; 0 of an image
    int width, height; // pixels; 0 of numbers
    int at;            // where it stands in a step: its first number, or which image it is
} FacetPolicyKey;

// The observation with this number, from 0 to observe_keys.
FACET_API FacetPolicyKey facet_policy_key(const FacetPolicy *policy, int index);

// These live as long as the policy.
FACET_API const FacetFactorSpace *facet_policy_space(const FacetPolicy *policy);
// The tasks it was trained on, and those held out of training.
FACET_API const FacetFactorSplit *facet_policy_training(const FacetPolicy *policy);
FACET_API const FacetFactorSplit *facet_policy_held_out(const FacetPolicy *policy);

// Whether training showed this value. A task with a value that it did not is refused.
FACET_API bool facet_policy_knows(const FacetPolicy *policy, int factor, int value);

// ---- Sampling -----------------------------------------------------------------------------------

// How what single factors say becomes one: s = s_null + sum_i w_i (s_i - s_null), with weights that
// the operator allows; or all factors at once. docs/studies.md
typedef enum FacetPolicyMode {
    FACET_POLICY_COMPOSED,    // any weights, ones unless given
    FACET_POLICY_JOINT,       // all factors shown at once; FACET_POLICY_KNET has no such network
    FACET_POLICY_PRODUCT,     // they sum to 1 (PoCo)
    FACET_POLICY_CONVEX,      // 0 or more, and sum to at most 1 (GPC)
    FACET_POLICY_INTERPOLATE, // the first factor's alone, from 0 to 1 (Mao et al.)
    FACET_POLICY_ROUTER,      // those of the policy's router, if it has one (FDP)
    FACET_POLICY_MODES,
} FacetPolicyMode;

typedef enum FacetPolicySampler {
    FACET_POLICY_DDIM,
    FACET_POLICY_DPMPP, // DPM-Solver++ 2M
} FacetPolicySampler;

// "composed", "joint", "product", "convex", "interpolate" or "router", and "ddim" or "dpmpp". A
// failure names the known ones.
FACET_API FacetStatus facet_policy_mode_parse(FacetPolicyMode *mode, const char *name);
FACET_API FacetStatus facet_policy_sampler_parse(FacetPolicySampler *sampler, const char *name);

// How to sample. All zero is a good choice: composed by DDIM, as the policy's file says.
typedef struct FacetPolicySampling {
    FacetPolicyMode mode;
    FacetPolicySampler sampler;
    int steps;               // 0 for the policy's default
    double temperature;      // scale of the starting noise; 0 for the policy's default
    uint64_t seed;           // of the starting noise
    const uint64_t *seeds;   // [plans], a seed a plan in its stead; NULL for one of all
    const uint64_t *numbers; // [plans], which noise of the seed each plan starts from; NULL: below
    const double *weights;   // [factors], w_i of the mode; NULL for its own
    const FacetProgress *progress; // the stage "plans", an item a plan; NULL: nobody watches
} FacetPolicySampling;

// Samples actions [plans][T][D], in the data's units, for tasks [plans]. A null value of a task
// leaves that factor open. Without numbers, the noise of a plan follows from its seed, its task and
// how many plans of this call before it have the same of both: what else is sampled with it changes
// nothing, and neither does the number of threads. Several threads may sample from one policy, each
// with its own pool; a NULL pool is the calling thread alone.
FACET_API FacetStatus facet_policy_sample(double *actions, const FacetPolicy *policy,
                                          const FacetFactorTask *tasks, int plans,
                                          const FacetPolicySampling *sampling, FacetPool *pool);

// Sampling again and again, such as a plan a frame: weights are packed and memory is made once, and
// a sampling allocates nothing. It is made for `plans` at once (more are taken in batches) and for
// pools of up to `threads` threads, 1 or more; `pool` packs the weights, and may be NULL. The
// policy must outlive its runners, and they share nothing else: each of several threads may have
// its own. Destroy accepts NULL.
typedef struct FacetPolicyRunner FacetPolicyRunner;
FACET_API FacetStatus facet_policy_runner_create(FacetPolicyRunner **runner,
                                                 const FacetPolicy *policy, int plans, int threads,
                                                 FacetPool *pool);
FACET_API void facet_policy_runner_destroy(FacetPolicyRunner *runner);

// What a policy observes, for every plan, from the oldest step to the newest. What it does not take
// is NULL.
typedef struct FacetPolicyObserved {
    const double *numbers; // [plans][observe_steps][observe_dim]
    const uint8_t *frames; // [plans][observe_steps][observe_images][height][width][3]
    bool shared;           // all plans observe the same, which is there once and encoded once
} FacetPolicyObserved;

// What facet_policy_sample gives, to the bit, of a policy that acts blind; `observed` may be NULL
// for it. Only a runner samples from one that takes observations; facet/agent.h keeps them for it.
FACET_API FacetStatus facet_policy_runner_sample(double *actions, FacetPolicyRunner *runner,
                                                 const FacetFactorTask *tasks,
                                                 const FacetPolicyObserved *observed, int plans,
                                                 const FacetPolicySampling *how, FacetPool *pool);

#ifdef __cplusplus
}
#endif

#endif
