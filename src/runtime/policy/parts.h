// What a policy is made of, for the files of this room and for those that look inside it.
#ifndef FACET_POLICY_PARTS_H
#define FACET_POLICY_PARTS_H

#include "base/safetensors.h"
#include "diffusion/router.h"
#include "diffusion/sampler.h"
#include "diffusion/schedule.h"
#include "diffusion/score_net.h"
#include "encoder/encoder.h"
#include "policy/observe.h"
#include "policy/policy.h"

struct FacetPolicy {
    FacetPolicyMethod method;
    FacetFactorSpace *space;
    FacetFactorSplit *training, *held_out;
    Normalizer *normalizer;
    NoiseSchedule schedule;
    Prediction prediction;
    Spacing spacing;
    double clip;        // of sampling, in normalised units; 0 does not clip
    int default_steps;  // of sampling
    double temperature; // of sampling
    PolicyRecord record;
    ScoreNet *net;  // the shape of every network
    int networks;   // 1, or for knet 1 + the known values of all factors
    float **params; // [networks], blocks of the net's table; knet: the null network first

    Observe *observe; // NULL of a policy that acts blind

    // Only of a policy that sees: what turns images into features, for each network its own.
    Encoder *encoder;
    float **encoder_params; // [networks], blocks of its table

    // Only of a knet that was given a router.
    Router *router;
    float *router_params; // a block of its table
    PolicyRouterRecord router_record;
};

// Makes the network's shape and counts the networks. Method, space, training tasks, observations
// and encoder are set; `config` says horizon to embed, and the factors and the context follow.
FacetStatus policy_build(FacetPolicy *policy, ScoreNetConfig config);

// Observations of one frame of a camera, for a policy with an encoder, and whether these are a
// policy's; a file that says nothing of observations means them. And whether observations fit the
// encoder.
FacetStatus policy_observe_frame(FacetPolicy *policy);
bool policy_observes_frame(const FacetPolicy *policy);
FacetStatus policy_check_observe(const FacetPolicy *policy);

// Makes room for the weights of all networks and of the encoder.
FacetStatus policy_allocate(FacetPolicy *policy);

// The network of a factor's value, or of the null token, in a knet policy.
int policy_network_of(const FacetPolicy *policy, int factor, int value);

// The factor and value of a network of a knet policy; the null network has the value
// FACET_FACTOR_NULL.
void policy_network_value(int *factor, int *value, const FacetPolicy *policy, int network);

// Refuses a task with a value that the policy does not know.
FacetStatus policy_check_task(const FacetPolicy *policy, FacetFactorTask task);

// Refuses a way of sampling that the policy does not have.
FacetStatus policy_check_sampling(const FacetPolicy *policy, const FacetPolicySampling *sampling);

// Which noise of a seed plan `plan` starts from: it follows from its task, with a null as one more
// value, and how many of `tasks` before it are the same and have the same one of `seeds`; NULL: all
// have.
uint64_t policy_noise_number(const FacetPolicy *policy, const FacetFactorTask *tasks,
                             const uint64_t *seeds, int plan);

// Stands before the names of a network's tensors in a file: "" or "track=race1.". Those of its
// encoder have "encoder." behind that.
void policy_prefix(char out[SAFETENSORS_NAME_SIZE], const FacetPolicy *policy, int network);
void policy_encoder_prefix(char out[SAFETENSORS_NAME_SIZE], const FacetPolicy *policy, int network);

// The settings as the metadata of a file. `format` says what kind of file it is.
#define POLICY_FORMAT     "facet policy 1"
#define CHECKPOINT_FORMAT "facet checkpoint 1"
Json *policy_metadata(const FacetPolicy *policy, const char *format);

// Fills `sources` (one a tensor of the table) with a block of parameters, with `prefix` before each
// name.
void policy_sources(TensorSource *sources, const TensorTable *table, const float *params,
                    TensorType type, const char *prefix);

// Reads such a block back.
FacetStatus policy_read_block(float *params, const TensorTable *table, const Safetensors *file,
                              const char *prefix);

// The starting noise [T D] of sample `number`, at the temperature of `how`.
void policy_noise(float *x, const FacetPolicy *policy, const FacetPolicySampling *how,
                  uint64_t number);

// A block of parameters, zero; freed with free.
float *policy_block(const TensorTable *table);

// ---- A router (router_json.c) -------------------------------------------------------------------

// Makes a router of this width for a policy's branches, with weights of zero, in place of the one
// it has. Refuses a policy of one network.
FacetStatus policy_router_create(FacetPolicy *policy, int hidden);
void policy_router_free(FacetPolicy *policy);

// Its settings and how it was trained.
Json *policy_router_to_json(const FacetPolicy *policy);
FacetStatus policy_router_from_json(FacetPolicy *policy, const JsonRef *root);

// ---- An encoder's settings (encoder_json.c) ----------------------------------------------------

Json *policy_encoder_to_json(const EncoderConfig *config);
FacetStatus policy_encoder_from_json(EncoderConfig *config, const JsonRef *root);

#endif
