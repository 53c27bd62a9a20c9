// Image files that C and Python compute alike: frames of a gradient under noise.
#ifndef FACET_TESTS_DATA_IMAGES_H
#define FACET_TESTS_DATA_IMAGES_H

#include "factor/factor.h"
#include "samples.h"

#include <facet_study/image_set.h>

enum {
    FRAME_WIDTH = 20,
    FRAME_HEIGHT = 12,
    FRAME_BYTES = FRAME_WIDTH * FRAME_HEIGHT * 3,
    FRAME_STEPS = 4,
    FRAME_CHANNELS = 3,
    FRAME_ACTIONS = FRAME_STEPS * FRAME_CHANNELS,
};

static const FacetFrameShape frame_shape = {FRAME_WIDTH, FRAME_HEIGHT, FRAME_STEPS, FRAME_CHANNELS};

// A gradient that moves with the frame, and five levels of noise.
static inline void sample_frame(uint8_t *rgb, int frame)
{
    for (int y = 0; y < FRAME_HEIGHT; y++)
        for (int x = 0; x < FRAME_WIDTH; x++)
            for (int c = 0; c < 3; c++) {
                uint32_t place = (uint32_t)(((frame * FRAME_HEIGHT + y) * FRAME_WIDTH + x) * 3 + c);
                uint32_t noise = (place * 2654435761u >> 16) % 5;
                *rgb++ = (uint8_t)((uint32_t)(6 * x + 4 * y + 40 * c + frame) + noise);
            }
}

static inline double sample_frame_action(int frame, int i) { return (100.0 * frame + i) / 7.0; }
static inline int sample_frame_task(int frame) { return 4 * frame % 9; }
static inline int sample_frame_flight(int frame) { return frame / 3; }

// Adds frames [first, first + count) of the sample.
static inline FacetStatus add_frames(FacetImageWriter *writer, const FacetFactorSpace *space,
                                     int first, int count, FacetPool *pool)
{
    size_t room = (size_t)count + 1;
    uint8_t *rgb = malloc(room * FRAME_BYTES);
    double *actions = malloc(room * FRAME_ACTIONS * sizeof *actions);
    FacetFactorTask *tasks = malloc(room * sizeof *tasks);
    int *flights = malloc(room * sizeof *flights);
    assert_true(rgb);
    assert_true(actions);
    assert_true(tasks);
    assert_true(flights);
    for (int n = 0; n < count; n++) {
        sample_frame(rgb + n * FRAME_BYTES, first + n);
        for (int i = 0; i < FRAME_ACTIONS; i++)
            actions[n * FRAME_ACTIONS + i] = sample_frame_action(first + n, i);
        tasks[n] = factor_task_at(space, sample_frame_task(first + n));
        flights[n] = sample_frame_flight(first + n);
    }
    FacetStatus status = facet_image_writer_add(writer, rgb, actions, tasks, flights, count, pool);
    free(rgb);
    free(actions);
    free(tasks);
    free(flights);
    return status;
}

#define SAMPLE_SETTINGS "{\"seed\":7,\"venue\":\"Zürich\"}"

// Writes frames [0, count) of the sample, `step` at a time.
static inline FacetStatus write_frames(const char *path, int count, int step, FacetPool *pool)
{
    FacetFactorSpace *space = sample_space();
    FacetImageWriter *writer;
    FacetStatus status =
        facet_image_writer_create(&writer, path, space, frame_shape, SAMPLE_SETTINGS);
    for (int n = 0; n < count && status.ok; n += step) {
        status = add_frames(writer, space, n, count - n < step ? count - n : step, pool);
        if (!status.ok) facet_image_writer_abandon(writer);
    }
    if (status.ok) status = facet_image_writer_finish(writer);
    facet_factor_space_destroy(space);
    return status;
}

// Frame `n` of a set is frame `frame` of the sample.
static inline void expect_labels(const FacetImageSet *set, int64_t n, int frame)
{
    assert_int_equal(factor_task_index(facet_image_set_space(set), facet_image_set_task(set, n)),
                     sample_frame_task(frame));
    assert_int_equal(facet_image_set_flight(set, n), sample_frame_flight(frame));
    for (int i = 0; i < FRAME_ACTIONS; i++)
        assert_true(facet_image_set_actions(set, n)[i] == sample_frame_action(frame, i));
}

static inline void expect_image(const uint8_t *rgb, int frame)
{
    uint8_t expected[FRAME_BYTES];
    sample_frame(expected, frame);
    assert_memory_equal(rgb, expected, FRAME_BYTES);
}

static inline FacetStatus open_one(FacetImageSet **set, const char *path)
{
    return facet_image_set_open(set, (const char *const[]){path}, 1);
}

#endif
