// A policy's parts, and what it says of itself (see facet/policy.h).
#include "base/memory.h"
#include "base/text.h"
#include "diffusion/operator.h"
#include "factor/factor.h"
#include "policy/parts.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Names --------------------------------------------------------------------------------------

static const char *const method_names[] = {"factored", "baseline", "knet", "oracle"};
static const char *const sampler_names[] = {"ddim", "dpmpp"};

#define OPERATOR_OF_MODE(mode, operator) [mode] = &(operator),
static const ComposeOperator *const operators[FACET_POLICY_MODES] = {
    COMPOSE_OPERATORS(OPERATOR_OF_MODE)};
#undef OPERATOR_OF_MODE
static_assert(COMPOSE_OPERATOR_COUNT + 1 == FACET_POLICY_MODES,
              "every mode but joint has an operator in diffusion/operator.h");

static FacetStatus find_name(int *index, const char *kind, const char *name,
                             const char *const *names, int count)
{
    for (*index = 0; *index < count; ++*index)
        if (strcmp(name, names[*index]) == 0) return status_ok();
    char text[200];
    text_unknown(text, sizeof text, kind, name, names, count);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

const char *facet_policy_method_name(FacetPolicyMethod method) { return method_names[method]; }

FacetStatus policy_method_parse(FacetPolicyMethod *method, const char *name)
{
    int index;
    TRY(find_name(&index, "method", name, method_names, 4));
    *method = (FacetPolicyMethod)index;
    return status_ok();
}

FacetStatus facet_policy_mode_parse(FacetPolicyMode *mode, const char *name)
{
    int index;
    const char *names[FACET_POLICY_MODES];
    for (int i = 0; i < FACET_POLICY_MODES; i++) names[i] = policy_mode_name((FacetPolicyMode)i);
    TRY(find_name(&index, "mode", name, names, FACET_POLICY_MODES));
    *mode = (FacetPolicyMode)index;
    return status_ok();
}

FacetStatus facet_policy_sampler_parse(FacetPolicySampler *sampler, const char *name)
{
    int index;
    TRY(find_name(&index, "sampler", name, sampler_names, 2));
    *sampler = (FacetPolicySampler)index;
    return status_ok();
}

const ComposeOperator *policy_mode_operator(FacetPolicyMode mode) { return operators[mode]; }

const char *policy_mode_name(FacetPolicyMode mode)
{
    return mode == FACET_POLICY_JOINT ? "joint" : operators[mode]->name;
}

FacetStatus policy_mode_weights(double *weights, const FacetPolicy *policy, FacetPolicyMode mode,
                                const double *given)
{
    if (mode == FACET_POLICY_JOINT) return status_ok();
    return operators[mode]->weights(weights, given, facet_factor_count(policy->space));
}

const char *policy_sampler_name(FacetPolicySampler sampler) { return sampler_names[sampler]; }

// ---- Parts --------------------------------------------------------------------------------------

bool facet_policy_knows(const FacetPolicy *policy, int factor, int value)
{
    for (int i = 0; i < facet_factor_split_count(policy->training); i++)
        if (facet_factor_split_task(policy->training, i).value[factor] == value) return true;
    return false;
}

bool policy_was_shown(const FacetPolicy *policy, int factor, int value)
{
    return facet_policy_knows(policy, factor, value) && policy->record.drop[factor] < 1.0;
}

bool policy_learned_to_compose(const FacetPolicy *policy)
{
    bool hidden = true;
    for (int f = 0; f < facet_factor_count(policy->space); f++)
        hidden = hidden && policy->record.drop[f] > 0.0;
    bool factored =
        policy->method == FACET_POLICY_FACTORED || policy->method == FACET_POLICY_ORACLE;
    return !factored || hidden || policy->record.composed_weight > 0.0;
}

int policy_network_of(const FacetPolicy *policy, int factor, int value)
{
    if (value == FACET_FACTOR_NULL) return 0;
    int network = 1;
    for (int f = 0; f < facet_factor_count(policy->space); f++)
        for (int v = 0; v < facet_factor_value_count(policy->space, f); v++) {
            if (f == factor && v == value) return network;
            network += facet_policy_knows(policy, f, v);
        }
    assert(false && "the policy knows the value");
    return 0;
}

void policy_network_value(int *factor, int *value, const FacetPolicy *policy, int network)
{
    *factor = 0;
    *value = FACET_FACTOR_NULL;
    int at = 0;
    for (int f = 0; f < facet_factor_count(policy->space) && at < network; f++)
        for (int v = 0; v < facet_factor_value_count(policy->space, f) && at < network; v++) {
            at += facet_policy_knows(policy, f, v);
            *factor = f;
            *value = v;
        }
}

void policy_prefix(char out[SAFETENSORS_NAME_SIZE], const FacetPolicy *policy, int network)
{
    int factor, value;
    policy_network_value(&factor, &value, policy, network);
    if (policy->method != FACET_POLICY_KNET)
        out[0] = '\0';
    else if (value == FACET_FACTOR_NULL)
        strcpy(out, "null.");
    else
        snprintf(out, SAFETENSORS_NAME_SIZE, "%s=%s.", facet_factor_name(policy->space, factor),
                 facet_factor_value_name(policy->space, factor, value));
}

void policy_encoder_prefix(char out[SAFETENSORS_NAME_SIZE], const FacetPolicy *policy, int network)
{
    char prefix[SAFETENSORS_NAME_SIZE];
    policy_prefix(prefix, policy, network);
    snprintf(out, SAFETENSORS_NAME_SIZE, "%.200sencoder.", prefix);
}

float *policy_block(const TensorTable *table) { return memory_block(table->size * sizeof(float)); }

FacetStatus policy_observe_frame(FacetPolicy *policy)
{
    FacetPolicyKey key = {.name = "frame"};
    policy_frame_size(policy, &key.width, &key.height);
    return observe_create(&policy->observe, 1, 1, &key, 1, NULL, NULL);
}

bool policy_observes_frame(const FacetPolicy *policy)
{
    const Observe *o = policy->observe;
    return o && o->steps == 1 && o->execute == 1 && o->count == 1 && o->images == 1 &&
           strcmp(o->keys[0].name, "frame") == 0;
}

FacetStatus policy_check_observe(const FacetPolicy *policy)
{
    const Observe *o = policy->observe;
    if ((o->images > 0) != (policy->encoder != NULL))
        return status_fail(FACET_BAD_ARGUMENT, "expected %s encoder for %d images",
                           o->images ? "an" : "no", o->images);
    for (int i = 0; i < o->count; i++)
        if (o->keys[i].width) TRY(policy_check_frame(policy, o->keys[i].width, o->keys[i].height));
    return status_ok();
}

FacetStatus policy_build(FacetPolicy *policy, ScoreNetConfig config)
{
    bool factored =
        policy->method == FACET_POLICY_FACTORED || policy->method == FACET_POLICY_ORACLE;
    int factors = facet_factor_count(policy->space);
    config.factors = factored ? factors : 0;
    int features = policy->encoder ? encoder_config(policy->encoder)->features : 0;
    config.context = policy->observe ? observe_context(policy->observe, features) : 0;
    if (factors > SCORE_FACTORS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "expected at most %d factors, found %d",
                           SCORE_FACTORS_MAX, factors);
    policy->networks = 1;
    for (int f = 0; f < factors; f++) {
        config.values[f] = factored ? facet_factor_value_count(policy->space, f) : 0;
        for (int v = 0; v < facet_factor_value_count(policy->space, f); v++)
            policy->networks +=
                policy->method == FACET_POLICY_KNET && facet_policy_knows(policy, f, v);
    }
    return score_net_create(&policy->net, config);
}

FacetStatus policy_allocate(FacetPolicy *policy)
{
    policy->params = calloc((size_t)policy->networks, sizeof *policy->params);
    policy->encoder_params = calloc((size_t)policy->networks, sizeof *policy->encoder_params);
    bool complete = policy->params && policy->encoder_params;
    for (int i = 0; i < policy->networks && complete; i++) {
        policy->params[i] = policy_block(&policy->net->table);
        if (policy->encoder)
            policy->encoder_params[i] = policy_block(encoder_table(policy->encoder));
        complete = policy->params[i] && (policy->encoder_params[i] || !policy->encoder);
    }
    return complete
               ? status_ok()
               : status_fail(FACET_NO_MEMORY, "out of memory for %d networks of %zu parameters",
                             policy->networks, policy->net->table.parameters);
}

void facet_policy_destroy(FacetPolicy *policy)
{
    if (!policy) return;
    for (int i = 0; policy->params && i < policy->networks; i++) free(policy->params[i]);
    for (int i = 0; policy->encoder_params && i < policy->networks; i++)
        free(policy->encoder_params[i]);
    free(policy->params);
    score_net_free(policy->net);
    free(policy->encoder_params);
    encoder_free(policy->encoder);
    policy_router_free(policy);
    observe_free(policy->observe);
    normalizer_destroy(policy->normalizer);
    factor_split_destroy(policy->training);
    factor_split_destroy(policy->held_out);
    facet_factor_space_destroy(policy->space);
    free(policy);
}

// ---- Accessors ----------------------------------------------------------------------------------

FacetPolicyMethod policy_method(const FacetPolicy *policy) { return policy->method; }
const FacetFactorSpace *facet_policy_space(const FacetPolicy *policy) { return policy->space; }
const FacetFactorSplit *facet_policy_training(const FacetPolicy *policy)
{
    return policy->training;
}
const FacetFactorSplit *facet_policy_held_out(const FacetPolicy *policy)
{
    return policy->held_out;
}
const Normalizer *policy_normalizer(const FacetPolicy *policy) { return policy->normalizer; }
const PolicyRecord *policy_record(const FacetPolicy *policy) { return &policy->record; }
const PolicyRouterRecord *policy_router_record(const FacetPolicy *policy)
{
    return policy->router ? &policy->router_record : NULL;
}
int policy_horizon(const FacetPolicy *policy) { return policy->net->config.horizon; }
int policy_dim(const FacetPolicy *policy) { return policy->net->config.dim; }
int policy_noise_steps(const FacetPolicy *policy) { return policy->schedule.steps; }
int policy_default_steps(const FacetPolicy *policy) { return policy->default_steps; }
double policy_default_temperature(const FacetPolicy *policy) { return policy->temperature; }
int policy_networks(const FacetPolicy *policy) { return policy->networks; }

size_t policy_parameters(const FacetPolicy *policy)
{
    size_t encoder = policy->encoder ? encoder_table(policy->encoder)->parameters : 0;
    return (size_t)policy->networks * (policy->net->table.parameters + encoder);
}

size_t policy_router_parameters(const FacetPolicy *policy)
{
    return policy->router ? policy->router->table.parameters : 0;
}

bool policy_sees(const FacetPolicy *policy) { return policy->encoder; }

void policy_frame_size(const FacetPolicy *policy, int *width, int *height)
{
    assert(policy->encoder && "the policy sees");
    const EncoderConfig *config = encoder_config(policy->encoder);
    *width = config->width * config->shrink;
    *height = config->height * config->shrink;
}

int policy_frame_shrink(const FacetPolicy *policy)
{
    return encoder_config(policy->encoder)->shrink;
}

FacetPolicyInfo facet_policy_info(const FacetPolicy *policy)
{
    FacetPolicyInfo info = {
        .method = policy_method(policy),
        .horizon = policy_horizon(policy),
        .dim = policy_dim(policy),
        .noise_steps = policy_noise_steps(policy),
        .default_steps = policy_default_steps(policy),
        .default_temperature = policy_default_temperature(policy),
        .networks = policy_networks(policy),
        .parameters = policy_parameters(policy),
        .execute = policy_horizon(policy),
        .sees = policy_sees(policy),
    };
    if (policy->observe) {
        info.observe_keys = policy->observe->count;
        info.observe_steps = policy->observe->steps;
        info.observe_dim = policy->observe->dim;
        info.observe_images = policy->observe->images;
        info.execute = policy->observe->execute;
    }
    if (!info.sees) return info;
    policy_frame_size(policy, &info.frame_width, &info.frame_height);
    info.frame_shrink = policy_frame_shrink(policy);
    return info;
}

FacetPolicyKey facet_policy_key(const FacetPolicy *policy, int index)
{
    assert(policy->observe && index >= 0 && index < policy->observe->count);
    return policy->observe->keys[index];
}

FacetStatus policy_check_blind(const FacetPolicy *policy)
{
    char keys[200] = "";
    if (!policy->observe) return status_ok();
    for (int i = 0; i < policy->observe->count; i++) {
        size_t used = strlen(keys);
        snprintf(keys + used, sizeof keys - used, "%s%s", i ? ", " : "",
                 policy->observe->keys[i].name);
    }
    return status_fail(FACET_BAD_ARGUMENT,
                       "expected a policy that acts blind, found one that takes observations (%s) "
                       "and acts through an agent",
                       keys);
}

FacetStatus policy_check_frame(const FacetPolicy *policy, int width, int height)
{
    int wide, high;
    if (!policy->encoder)
        return status_fail(FACET_BAD_ARGUMENT, "the policy does not see and takes no frames");
    policy_frame_size(policy, &wide, &high);
    if (width == wide && height == high) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT, "expected a frame of %d x %d pixels, found %d x %d",
                       wide, high, width, height);
}
