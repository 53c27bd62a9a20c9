// Demonstrations that a tiny network learns in a moment: waves whose phase is the track, raised by
// the size.
#ifndef FACET_TESTS_POLICY_WAVES_H
#define FACET_TESTS_POLICY_WAVES_H

#include "base/rng.h"
#include "data/samples.h"
#include "policy/policy.h"

#include <facet_study/train.h>

enum { WAVE_T = 6, WAVE_D = 2, WAVE_TASKS = 6, WAVE_COPIES = 4 };

static inline double wave(FacetFactorTask task, int step, int column)
{
    return (column ? 20.0 : 3.0) * (sin(0.9 * step + 1.3 * task.value[0] + column) + task.value[1]);
}

// Copies of every task of tracks a, b, c and sizes s, m up to number `tasks`, with a little noise.
// With `constant`, the second channel is always 4.
static inline void write_waves(const char *path, int tasks, bool constant)
{
    FacetFactorSpace *space;
    assert_ok(factor_space_from_json(
        &space, "{\"track\":[\"a\",\"b\",\"c\"],\"size\":[\"s\",\"m\"]}", "waves"));
    const FacetDatasetLayout layout = {
        .space = space, .steps = WAVE_T, .action_dim = WAVE_D, .env_name = "waves", .env_type = 2};
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, path, &layout));
    FacetRng rng = rng_make(1, 1);
    for (int i = 0; i < tasks * WAVE_COPIES; i++) {
        FacetFactorTask task = factor_task_at(space, i % tasks);
        double actions[WAVE_T][WAVE_D];
        for (int t = 0; t < WAVE_T; t++)
            for (int d = 0; d < WAVE_D; d++)
                actions[t][d] =
                    constant && d == 1 ? 4.0 : wave(task, t, d) + 0.01 * rng_normal(&rng);
        assert_ok(facet_dataset_writer_append(writer, task, actions[0], NULL));
    }
    assert_ok(facet_dataset_writer_close(writer));
    facet_factor_space_destroy(space);
}

// A tiny network and a short training: 24 demos in batches of 8 are 3 updates an epoch.
static inline FacetTrainOptions tiny_training(void)
{
    return (FacetTrainOptions){.epochs = 10,
                               .batch = 8,
                               .blocks = 1,
                               .channels = 8,
                               .embed = 4,
                               .seed = 5,
                               .command = "facet train",
                               .version = "0"};
}

#endif
