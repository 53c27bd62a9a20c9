// Small policies with random weights, for tests of files and sampling.
#ifndef FACET_TESTS_POLICY_POLICIES_H
#define FACET_TESTS_POLICY_POLICIES_H

#include "data/samples.h"

#include "nn/optim.h"
#include "policy/parts.h"

enum { TINY_T = 6, TINY_D = 2, TINY_SIZE = TINY_T * TINY_D };

static inline FactorTask task_of(const FactorSpace *space, const char *text)
{
    FactorTask task;
    assert_ok(factor_task_parse(&task, space, text, FACTOR_MISSING_NULL));
    return task;
}

// Two factors of three values. It was trained on five tasks, none of them with track c.
static inline Policy *tiny_policy(PolicyMethod method)
{
    static const char *const trained[] = {"a/s", "a/m", "b/s", "b/l", "a/l"};
    Policy *policy = calloc(1, sizeof *policy);
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
                                (double[]){5.0, 0.5}, TINY_D, NORMALIZER_CONSTANT_REFUSED));
    assert_ok(schedule_cosine(&policy->schedule, 20));
    policy->prediction = PREDICT_V;
    policy->spacing = SPACING_TRAILING;
    policy->clip = 1.5;
    policy->default_steps = 5;
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
                                    .updates = 1234,
                                    .loss = 0.123456789};
    assert_ok(policy_build(policy, (ScoreNetConfig){.horizon = TINY_T,
                                                    .dim = TINY_D,
                                                    .blocks = 2,
                                                    .channels = 16,
                                                    .cond = 8,
                                                    .time_width = 8,
                                                    .embed = 4}));
    assert_ok(policy_allocate(policy));
    for (int i = 0; i < policy->networks; i++) {
        Real *block = calloc(policy->net->table.size, sizeof *block);
        assert_non_null(block);
        tensor_init(block, &policy->net->table, (uint64_t)(1 + i));
        for (size_t k = 0; k < policy->net->table.size; k++) policy->params[i][k] = (float)block[k];
        free(block);
        // The head starts at zero; give it something to say.
        const Tensor *head = tensor_find(&policy->net->table, "out.weight");
        for (size_t k = 0; k < head->size; k++)
            policy->params[i][head->offset + k] = 0.3f * sinf((float)(k * k + 7 * (size_t)i));
    }
    return policy;
}

#endif
