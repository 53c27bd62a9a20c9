// A policy beyond facet/policy.h: saving it, and what it says of itself.
#ifndef FACET_POLICY_POLICY_H
#define FACET_POLICY_POLICY_H

#include "base/safetensors.h"
#include "diffusion/operator.h"
#include "policy/normalizer.h"

#include <facet/policy.h>
#include <facet/progress.h>

FacetStatus policy_method_parse(FacetPolicyMethod *method, const char *name);
const ComposeOperator *policy_mode_operator(FacetPolicyMode mode); // NULL of joint
const char *policy_mode_name(FacetPolicyMode mode);                // "composed"; a constant text

// The weights [factors] that a mode makes of the given ones, NULL for its own; joint has none.
FacetStatus policy_mode_weights(double *weights, const FacetPolicy *policy, FacetPolicyMode mode,
                                const double *given);
const char *policy_sampler_name(FacetPolicySampler sampler); // "ddim"

// Writes a policy with its weights as TENSOR_F32, or TENSOR_F16: half the size, rounded to 11 bits.
FacetStatus policy_save(const FacetPolicy *policy, const char *path, TensorType weights);

enum { POLICY_TEXT = 4096 };

// How a policy was trained.
typedef struct PolicyRecord {
    char recipe[32];
    char command[POLICY_TEXT];
    char data[256];     // file name of the demonstrations
    char data_hash[20]; // of their contents
    char version[32];   // of Facet
    uint64_t seed;
    int epochs, batch;
    long warmup;                   // updates
    double rate, rate_floor;       // peak learning rate, and the part of it left at the end
    double drop[FACET_FACTOR_MAX]; // probability that a factor is null
    double composed_weight;        // of the composed loss
    double agreement_weight;       // of the agreement of composed and joint
    int draws;                     // rows a sample; 1 unless the policy sees
    double jitter;                 // strength of the changes of exposure and colour in training
    bool frozen_encoder;           // kept as it was
    bool no_selection;             // the score network's selection was kept at zero
    char grown[256];               // "size=tiny of DATA to FILE", of a policy with a new value
    char frames[128];              // how frames joined on the way: "rounds=2,flights=100"
    long updates;                  // done, over all networks
    double loss;                   // mean of the last epoch, or the last tenth if it sees
} PolicyRecord;

// Whether training showed this value to the network: a policy that knows it may have had its factor
// always hidden.
bool policy_was_shown(const FacetPolicy *policy, int factor, int value);

// Whether training showed a policy what composition adds up: no factor, and each alone. Without
// dropout and composed loss it did not, and the policy plans jointly.
bool policy_learned_to_compose(const FacetPolicy *policy);

// How a policy's router was trained over its networks.
typedef struct PolicyRouterRecord {
    char command[POLICY_TEXT];
    char version[32]; // of Facet
    uint64_t seed;
    int batch;
    long updates;
    double rate; // peak learning rate
    double loss; // mean of the last tenth
} PolicyRouterRecord;

// NULL and 0 of a policy without a router.
const PolicyRouterRecord *policy_router_record(const FacetPolicy *policy);
size_t policy_router_parameters(const FacetPolicy *policy);

// The numbers of FacetPolicyInfo, one by one.
FacetPolicyMethod policy_method(const FacetPolicy *policy);
const Normalizer *policy_normalizer(const FacetPolicy *policy);
const PolicyRecord *policy_record(const FacetPolicy *policy);
int policy_horizon(const FacetPolicy *policy);       // T
int policy_dim(const FacetPolicy *policy);           // D
int policy_noise_steps(const FacetPolicy *policy);   // of training; no sampler takes more
int policy_default_steps(const FacetPolicy *policy); // of sampling
double policy_default_temperature(const FacetPolicy *policy);
int policy_networks(const FacetPolicy *policy);      // 1, or those of FACET_POLICY_KNET
size_t policy_parameters(const FacetPolicy *policy); // of networks and encoder, not of a router

bool policy_sees(const FacetPolicy *policy);
void policy_frame_size(const FacetPolicy *policy, int *width, int *height); // of one that sees
int policy_frame_shrink(
    const FacetPolicy *policy); // frames are averaged over shrink x shrink pixels
FacetStatus policy_check_frame(const FacetPolicy *policy, int width, int height);

// Refuses a policy that takes observations where there are none; the line names them.
FacetStatus policy_check_blind(const FacetPolicy *policy);

// The steps that a sampling takes, and how much noise is left before each of them and at the end:
// levels [steps + 1], sqrt(1 - abar), 0 at the end.
int policy_sampling_steps(const FacetPolicy *policy, const FacetPolicySampling *sampling);
FacetStatus policy_noise_levels(double *levels, const FacetPolicy *policy,
                                const FacetPolicySampling *sampling);

// facet_policy_sample and facet_policy_runner_sample, which also give the way from noise to plans,
// path [steps + 1][plans][T][D], NULL for none.
FacetStatus policy_sample_path(double *actions, double *path, const FacetPolicy *policy,
                               const FacetFactorTask *tasks, int plans,
                               const FacetPolicySampling *sampling, FacetPool *pool);
FacetStatus policy_runner_sample_path(double *actions, double *path, FacetPolicyRunner *runner,
                                      const FacetFactorTask *tasks,
                                      const FacetPolicyObserved *observed, int plans,
                                      const FacetPolicySampling *how, FacetPool *pool);

#endif
