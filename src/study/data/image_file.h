// What the writer and the reader of image files share: names in the file, and work that a pool
// shares out.
//
//   /          attributes  factors   JSON: {"venue":["Field",...],"color":[...]}
//                          settings  a text, or missing
//   images     [N][height][width][3]  bytes, one chunk a frame, gzip
//   actions    [N][T][D]              floats
//   tasks      [N][K]                 integers: which value of each factor, from 0
//   flights    [N]                    integers from 0
#ifndef FACET_DATA_IMAGE_FILE_H
#define FACET_DATA_IMAGE_FILE_H

#include "base/pool.h"

#include <facet_study/image_set.h>
#include <stddef.h>

#define IMAGE_FILE_IMAGES   "images"
#define IMAGE_FILE_ACTIONS  "actions"
#define IMAGE_FILE_TASKS    "tasks"
#define IMAGE_FILE_FLIGHTS  "flights"
#define IMAGE_FILE_FACTORS  "factors"
#define IMAGE_FILE_SETTINGS "settings"

enum {
    IMAGE_CHANNELS = 3,
    IMAGE_SIZE_MAX = 16384, // of each of width, height, T and D
    IMAGE_BATCH = 64,       // compressed frames in memory at a time
};

static inline size_t image_bytes(FacetFrameShape shape)
{
    return (size_t)shape.width * (size_t)shape.height * IMAGE_CHANNELS;
}

static inline size_t image_action_count(FacetFrameShape shape)
{
    return (size_t)shape.horizon * (size_t)shape.dim;
}

// pool_for, or a plain loop without a pool.
static inline void image_for(FacetPool *pool, int count,
                             void (*task)(void *context, int index, int worker), void *context)
{
    if (pool)
        pool_for(pool, count, task, context);
    else
        for (int i = 0; i < count; i++) task(context, i, 0);
}

#endif
