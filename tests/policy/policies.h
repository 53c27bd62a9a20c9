// Small policies with random weights, for tests of files and sampling.
#ifndef FACET_TESTS_POLICY_POLICIES_H
#define FACET_TESTS_POLICY_POLICIES_H

#include "data/samples.h"
#include "factor/factor.h"
#include "policy/parts.h"
#include "train/optim.h"

enum { TINY_T = 6, TINY_D = 2, TINY_SIZE = TINY_T * TINY_D };

static inline FacetFactorTask task_of(const FacetFactorSpace *space, const char *text)
{
    FacetFactorTask task;
    assert_ok(facet_factor_task_parse(&task, space, text, FACET_FACTOR_MISSING_NULL));
    return task;
}

// Random weights for a block of a table.
static inline void fill_weights(float *params, const TensorTable *table, uint64_t seed)
{
    Real *block = calloc(table->size, sizeof *block);
    assert_non_null(block);
    tensor_init(block, table, seed);
    for (size_t k = 0; k < table->size; k++) params[k] = (float)block[k];
    free(block);
}

// Frames of 32 x 24 pixels, halved.
enum { TINY_WIDTH = 32, TINY_HEIGHT = 24, TINY_FRAME = TINY_WIDTH * TINY_HEIGHT * 3 };

static inline EncoderConfig tiny_encoder(int features)
{
    return (EncoderConfig){.width = TINY_WIDTH / 2,
                           .height = TINY_HEIGHT / 2,
                           .shrink = 2,
                           .stem_channels = 8,
                           .stem_kernel = 3,
                           .stem_stride = 2,
                           .stages = 1,
                           .channels = {8},
                           .strides = {2},
                           .blocks = 1,
                           .groups = 4,
                           .features = features};
}

static inline void fill_frames(uint8_t *frames, int count, int seed)
{
    for (int i = 0; i < count * TINY_FRAME; i++)
        frames[i] = (uint8_t)(128.0 + 100.0 * sin(0.01 * (seed + 1) * i + seed));
}

static const ScoreNetConfig tiny_net = {.horizon = TINY_T,
                                        .dim = TINY_D,
                                        .blocks = 2,
                                        .channels = 16,
                                        .cond = 8,
                                        .time_width = 8,
                                        .embed = 4};

// Two factors of three values. It was trained on five tasks, none of them with track c. With
// features it sees; `observe` says what it takes, and NULL makes one that acts blind.
static inline FacetPolicy *tiny_policy_shaped(FacetPolicyMethod method, int features,
                                              FacetStatus (*observe)(FacetPolicy *policy),
                                              ScoreNetConfig net)
{
    static const char *const trained[] = {"a/s", "a/m", "b/s", "b/l", "a/l"};
    FacetPolicy *policy = calloc(1, sizeof *policy);
    assert_non_null(policy);
    policy->method = method;
    assert_ok(factor_space_from_json(
        &policy->space, "{\"track\":[\"a\",\"b\",\"c\"],\"size\":[\"s\",\"m\",\"l\"]}", "test"));
    assert_ok(factor_split_create(&policy->training, policy->space));
    assert_ok(factor_split_create(&policy->held_out, policy->space));
    for (int i = 0; i < 5; i++)
        assert_ok(factor_split_add(policy->training, task_of(policy->space, trained[i])));
    assert_ok(factor_split_add(policy->held_out, task_of(policy->space, "b/m")));
    assert_ok(normalizer_create(&policy->normalizer, (double[]){-3.0, 1.0 / 7.0},
                                (double[]){5.0, 0.5}, TINY_D));
    assert_ok(schedule_cosine(&policy->schedule, 20));
    policy->prediction = PREDICT_V;
    policy->spacing = SPACING_TRAILING;
    policy->clip = 1.5;
    policy->default_steps = 5;
    policy->temperature = 1.0;
    policy->record = (PolicyRecord){.recipe = "paper",
                                    .command = "facet train \"x\"",
                                    .data = "demos.h5",
                                    .data_hash = "0123456789abcdef",
                                    .version = "0.1.0",
                                    .seed = UINT64_MAX,
                                    .epochs = 7,
                                    .batch = 32,
                                    .warmup = 500,
                                    .rate = 1e-4,
                                    .drop = {0.1, 0.3},
                                    .composed_weight = 1.0,
                                    .draws = features ? 4 : 1,
                                    .jitter = features ? 0.5 : 0.0,
                                    .updates = 1234,
                                    .loss = 0.123456789};
    if (features) assert_ok(encoder_create(&policy->encoder, tiny_encoder(features)));
    if (observe) assert_ok(observe(policy));
    assert_ok(policy_build(policy, net));
    assert_ok(policy_allocate(policy));
    for (int i = 0; i < policy->networks; i++) {
        fill_weights(policy->params[i], &policy->net->table, (uint64_t)(1 + i));
        // The head and the selection start at zero; give them something to say.
        static const char *const zero[] = {"out.weight", "select.weight"};
        for (int n = 0; n < 2; n++) {
            const Tensor *tensor = tensor_find(&policy->net->table, zero[n]);
            for (size_t k = 0; tensor && k < tensor->size; k++)
                policy->params[i][tensor->offset + k] = 0.3f * sinf((float)(k * k + 7 * (size_t)i));
        }
    }
    for (int i = 0; i < policy->networks && features; i++)
        fill_weights(policy->encoder_params[i], encoder_table(policy->encoder), 70 + (uint64_t)i);
    return policy;
}

static inline FacetPolicy *tiny_policy_made(FacetPolicyMethod method, int features,
                                            FacetStatus (*observe)(FacetPolicy *policy))
{
    return tiny_policy_shaped(method, features, observe, tiny_net);
}

// Its network sees farther and is not told where steps stand.
static inline FacetPolicy *tiny_policy_wide(FacetPolicyMethod method)
{
    ScoreNetConfig net = tiny_net;
    net.dilation[0] = 1, net.dilation[1] = 2, net.no_position = true;
    return tiny_policy_shaped(method, 0, NULL, net);
}

// With features it sees one frame of a camera.
static inline FacetPolicy *tiny_policy_with(FacetPolicyMethod method, int features)
{
    return tiny_policy_made(method, features, features ? policy_observe_frame : NULL);
}

static inline FacetPolicy *tiny_policy(FacetPolicyMethod method)
{
    return tiny_policy_with(method, 0);
}

#endif
