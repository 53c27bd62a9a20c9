// Small policies that see, with random weights.
#ifndef FACET_TESTS_POLICY_SEEING_H
#define FACET_TESTS_POLICY_SEEING_H

#include "testing.h"

#include "nn/optim.h"
#include "policy/parts.h"

#include <stdlib.h>

// What a policy of a test is to be: the rest is the same for all.
typedef struct Seeing {
    PolicyMethod method;
    const FactorSpace *space;
    const char *const *trained; // tasks; a missing value stands for all
    int trained_count;
    int horizon, dim;
    int width, height, shrink; // of a frame in pixels
    double knee;               // of the normalizer
} Seeing;

static inline void random_block(float *params, const TensorTable *table, uint64_t seed)
{
    Real *block = calloc(table->size, sizeof *block);
    assert_non_null(block);
    tensor_init(block, table, seed);
    for (size_t i = 0; i < table->size; i++) params[i] = (float)block[i];
    free(block);
}

static inline Policy *seeing_policy(const Seeing *of)
{
    const double min[] = {-3.0, -2.0, -1.0}, max[] = {5.0, 2.5, 1.5};
    Policy *policy = calloc(1, sizeof *policy);
    assert_non_null(policy);
    assert_true(of->dim <= 3);
    policy->method = of->method;
    assert_ok(factor_space_copy(&policy->space, of->space));
    assert_ok(factor_split_create(&policy->training, policy->space));
    assert_ok(factor_split_create(&policy->held_out, policy->space));
    for (int i = 0; i < of->trained_count; i++) {
        FactorTask task;
        assert_ok(factor_task_parse(&task, policy->space, of->trained[i], FACTOR_MISSING_NULL));
        assert_ok(factor_split_add_matching(policy->training, task));
    }
    assert_ok(
        normalizer_create(&policy->normalizer, min, max, of->dim, NORMALIZER_CONSTANT_REFUSED));
    policy->normalizer->knee = of->knee;
    assert_ok(schedule_cosine(&policy->schedule, 20));
    policy->prediction = PREDICT_V;
    policy->spacing = SPACING_TRAILING;
    policy->clip = 1.5;
    policy->default_steps = 5;
    policy->temperature = 1.0;
    policy->record = (PolicyRecord){.recipe = "default",
                                    .command = "facet gate train",
                                    .data = "frames.h5",
                                    .data_hash = "0123456789abcdef",
                                    .version = "0.1.0",
                                    .batch = 8,
                                    .draws = 1};
    assert_ok(encoder_create(&policy->encoder, (EncoderConfig){.width = of->width / of->shrink,
                                                               .height = of->height / of->shrink,
                                                               .shrink = of->shrink,
                                                               .stem_channels = 4,
                                                               .stem_kernel = 5,
                                                               .stem_stride = 2,
                                                               .stages = 2,
                                                               .channels = {8, 12},
                                                               .strides = {2, 1},
                                                               .blocks = 1,
                                                               .groups = 2,
                                                               .features = 6}));
    assert_ok(policy_build(policy, (ScoreNetConfig){.horizon = of->horizon,
                                                    .dim = of->dim,
                                                    .blocks = 2,
                                                    .channels = 16,
                                                    .cond = 8,
                                                    .time_width = 8,
                                                    .embed = 4}));
    assert_ok(policy_allocate(policy));
    const Tensor *head = tensor_find(&policy->net->table, "out.weight");
    random_block(policy->params[0], &policy->net->table, 1);
    random_block(policy->encoder_params, encoder_table(policy->encoder), 2);
    // The head starts at zero; give it something to say.
    for (size_t k = 0; k < head->size; k++)
        policy->params[0][head->offset + k] = 0.3f * sinf((float)(k * k));
    return policy;
}

#endif
