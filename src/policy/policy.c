// A policy's parts, and what it says of itself (see facet/policy.h).
#include "policy/parts.h"

#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Names --------------------------------------------------------------------------------------

static const char *const method_names[] = {"factored", "baseline", "knet", "oracle"};
static const char *const mode_names[] = {"composed", "joint"};
static const char *const sampler_names[] = {"ddim", "dpmpp"};

static Status find_name(int *index, const char *kind, const char *name, const char *const *names,
                        int count)
{
    for (*index = 0; *index < count; ++*index)
        if (strcmp(name, names[*index]) == 0) return status_ok();
    char text[200];
    text_unknown(text, sizeof text, kind, name, names, count);
    return status_fail("%s", text);
}

const char *policy_method_name(PolicyMethod method) { return method_names[method]; }

Status policy_method_parse(PolicyMethod *method, const char *name)
{
    int index;
    TRY(find_name(&index, "method", name, method_names, 4));
    *method = (PolicyMethod)index;
    return status_ok();
}

Status policy_mode_parse(PolicyMode *mode, const char *name)
{
    int index;
    TRY(find_name(&index, "mode", name, mode_names, 2));
    *mode = (PolicyMode)index;
    return status_ok();
}

Status policy_sampler_parse(PolicySampler *sampler, const char *name)
{
    int index;
    TRY(find_name(&index, "sampler", name, sampler_names, 2));
    *sampler = (PolicySampler)index;
    return status_ok();
}

// ---- Parts --------------------------------------------------------------------------------------

bool policy_knows(const Policy *policy, int factor, int value)
{
    for (int i = 0; i < factor_split_count(policy->training); i++)
        if (factor_split_task(policy->training, i).value[factor] == value) return true;
    return false;
}

int policy_network_of(const Policy *policy, int factor, int value)
{
    if (value == FACTOR_NULL) return 0;
    int network = 1;
    for (int f = 0; f < factor_count(policy->space); f++)
        for (int v = 0; v < factor_value_count(policy->space, f); v++) {
            if (f == factor && v == value) return network;
            network += policy_knows(policy, f, v);
        }
    assert(false && "the policy knows the value");
    return 0;
}

void policy_network_value(int *factor, int *value, const Policy *policy, int network)
{
    *factor = 0;
    *value = FACTOR_NULL;
    int at = 0;
    for (int f = 0; f < factor_count(policy->space) && at < network; f++)
        for (int v = 0; v < factor_value_count(policy->space, f) && at < network; v++) {
            at += policy_knows(policy, f, v);
            *factor = f;
            *value = v;
        }
}

void policy_prefix(char out[SAFETENSORS_NAME_SIZE], const Policy *policy, int network)
{
    int factor, value;
    policy_network_value(&factor, &value, policy, network);
    if (policy->method != POLICY_KNET)
        out[0] = '\0';
    else if (value == FACTOR_NULL)
        strcpy(out, "null.");
    else
        snprintf(out, SAFETENSORS_NAME_SIZE, "%s=%s.", factor_name(policy->space, factor),
                 factor_value_name(policy->space, factor, value));
}

float *policy_block(const TensorTable *table)
{
    size_t bytes = (table->size * sizeof(float) + 63) / 64 * 64;
    float *block = aligned_alloc(64, bytes);
    if (block) memset(block, 0, bytes);
    return block;
}

Status policy_build(Policy *policy, ScoreNetConfig config)
{
    bool factored = policy->method == POLICY_FACTORED || policy->method == POLICY_ORACLE;
    int factors = factor_count(policy->space);
    config.factors = factored ? factors : 0;
    config.context = policy->encoder ? encoder_config(policy->encoder)->features : 0;
    if (policy->encoder && policy->method == POLICY_KNET)
        return status_fail("a knet policy cannot see");
    if (factors > SCORE_FACTORS_MAX)
        return status_fail("expected at most %d factors, found %d", SCORE_FACTORS_MAX, factors);
    policy->networks = 1;
    for (int f = 0; f < factors; f++) {
        config.values[f] = factored ? factor_value_count(policy->space, f) : 0;
        for (int v = 0; v < factor_value_count(policy->space, f); v++)
            policy->networks += policy->method == POLICY_KNET && policy_knows(policy, f, v);
    }
    return score_net_create(&policy->net, config);
}

Status policy_allocate(Policy *policy)
{
    policy->params = calloc((size_t)policy->networks, sizeof *policy->params);
    for (int i = 0; i < policy->networks; i++) {
        if (policy->params) policy->params[i] = policy_block(&policy->net->table);
        if (!policy->params || !policy->params[i])
            return status_fail("out of memory for %d networks of %zu parameters", policy->networks,
                               policy->net->table.parameters);
    }
    if (!policy->encoder) return status_ok();
    policy->encoder_params = policy_block(encoder_table(policy->encoder));
    return policy->encoder_params ? status_ok() : status_fail("out of memory for the encoder");
}

void policy_destroy(Policy *policy)
{
    if (!policy) return;
    for (int i = 0; policy->params && i < policy->networks; i++) free(policy->params[i]);
    free(policy->params);
    score_net_free(policy->net);
    free(policy->encoder_params);
    encoder_free(policy->encoder);
    normalizer_destroy(policy->normalizer);
    factor_split_destroy(policy->training);
    factor_split_destroy(policy->held_out);
    factor_space_destroy(policy->space);
    free(policy);
}

// ---- Accessors ----------------------------------------------------------------------------------

PolicyMethod policy_method(const Policy *policy) { return policy->method; }
const FactorSpace *policy_space(const Policy *policy) { return policy->space; }
const FactorSplit *policy_training(const Policy *policy) { return policy->training; }
const FactorSplit *policy_held_out(const Policy *policy) { return policy->held_out; }
const Normalizer *policy_normalizer(const Policy *policy) { return policy->normalizer; }
const PolicyRecord *policy_record(const Policy *policy) { return &policy->record; }
int policy_horizon(const Policy *policy) { return policy->net->config.horizon; }
int policy_dim(const Policy *policy) { return policy->net->config.dim; }
int policy_noise_steps(const Policy *policy) { return policy->schedule.steps; }
int policy_default_steps(const Policy *policy) { return policy->default_steps; }
double policy_default_temperature(const Policy *policy) { return policy->temperature; }
int policy_networks(const Policy *policy) { return policy->networks; }

size_t policy_parameters(const Policy *policy)
{
    size_t encoder = policy->encoder ? encoder_table(policy->encoder)->parameters : 0;
    return (size_t)policy->networks * policy->net->table.parameters + encoder;
}

bool policy_sees(const Policy *policy) { return policy->encoder; }

void policy_frame_size(const Policy *policy, int *width, int *height)
{
    assert(policy->encoder && "the policy sees");
    const EncoderConfig *config = encoder_config(policy->encoder);
    *width = config->width * config->shrink;
    *height = config->height * config->shrink;
}

int policy_frame_shrink(const Policy *policy) { return encoder_config(policy->encoder)->shrink; }

Status policy_check_frame(const Policy *policy, int width, int height)
{
    int wide, high;
    if (!policy->encoder) return status_fail("the policy does not see and takes no frames");
    policy_frame_size(policy, &wide, &high);
    if (width == wide && height == high) return status_ok();
    return status_fail("expected a frame of %d x %d pixels, found %d x %d", wide, high, width,
                       height);
}
