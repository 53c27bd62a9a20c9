// Frames that a small network learns in a moment: a bright square on a dark ground, and actions
// that say where it is.
#ifndef FACET_TESTS_POLICY_SQUARES_H
#define FACET_TESTS_POLICY_SQUARES_H

#include "nn/image_layers.h"
#include "waves.h"

#include <facet_study/image_set.h>

enum { SQUARE_T = 4, SQUARE_D = 2, SQUARE_SIZE = SQUARE_T * SQUARE_D };

static const FacetFrameShape square_shape = {80, 60, SQUARE_T, SQUARE_D};

static inline FacetFactorSpace *square_space(void)
{
    FacetFactorSpace *space;
    assert_ok(factor_space_from_json(
        &space, "{\"place\":[\"a\",\"b\",\"c\"],\"way\":[\"there\",\"away\"]}", "squares"));
    return space;
}

// One frame of a task. Where the square stands is a matter of chance; the way turns the actions.
static inline void draw_square(uint8_t *rgb, double *actions, FacetFactorTask task,
                               FacetFrameShape shape, uint64_t number)
{
    FacetRng rng = rng_make(11, number);
    int side = shape.height / 3, left = (int)(rng_uniform(&rng) * (shape.width - side));
    int top = (int)(rng_uniform(&rng) * (shape.height - side));
    for (int i = 0; i < shape.width * shape.height * 3; i++) {
        int column = i / 3 % shape.width - left, row = i / 3 / shape.width - top;
        bool inside = column >= 0 && column < side && row >= 0 && row < side;
        rgb[i] = (uint8_t)((inside ? 220 : 40) + 10 * task.value[0] + i % 3);
    }
    double sign = task.value[1] ? -1.0 : 1.0;
    for (int i = 0; i < SQUARE_SIZE; i++)
        actions[i] = sign * (i % 2 ? top + 0.5 : left + 0.5) * (1.0 + 0.1 * (i / SQUARE_D));
}

// `count` frames, of all tasks in turn; frames of another number look different.
static inline void write_squares(const char *path, FacetFrameShape shape, int count, uint64_t first)
{
    FacetFactorSpace *space = square_space();
    FacetImageWriter *writer;
    uint8_t *rgb = malloc((size_t)(shape.width * shape.height) * 3);
    assert_non_null(rgb);
    assert_ok(facet_image_writer_create(&writer, path, space, shape, NULL));
    for (int i = 0; i < count; i++) {
        double actions[SQUARE_SIZE];
        FacetFactorTask task = factor_task_at(space, i % factor_task_count(space));
        int flight = i / 6;
        draw_square(rgb, actions, task, shape, first + (uint64_t)i);
        assert_ok(facet_image_writer_add(writer, rgb, actions, &task, &flight, 1, NULL));
    }
    assert_ok(facet_image_writer_finish(writer));
    free(rgb);
    facet_factor_space_destroy(space);
}

// A tiny network and a short training.
static inline FacetTrainOptions square_training(void)
{
    FacetTrainOptions options = tiny_training();
    options.epochs = 0;
    options.recipe = "images";
    options.encoder = "small";
    options.updates = 6;
    options.batch = 4;
    options.draws = 2;
    return options;
}

#endif
