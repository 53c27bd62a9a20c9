// Frames a second that an image file takes and gives, against a copy in memory.
//
// The frames are gradients under five levels of noise, which is what a camera's sensor leaves.
// Reading is warm and in random order. Usage: image_set [frames] [threads] [width height]
#include "bench.h"

#include <facet/image_set.h>
#include <facet/rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BATCH = 64, HORIZON = 16, DIM = 3, DISTINCT = 256 };

static const char path[] = "image_set_bench.h5";

static void draw(uint8_t *rgb, ImageShape shape, int frame)
{
    Rng rng = rng_make(1, (uint64_t)frame);
    double slope_x = rng_range(&rng, -0.5, 0.5), slope_y = rng_range(&rng, -0.5, 0.5);
    for (int y = 0; y < shape.height; y++)
        for (int x = 0; x < shape.width; x++)
            for (int c = 0; c < 3; c++)
                *rgb++ = (uint8_t)(120.0 + 10 * c + slope_x * x + slope_y * y +
                                   rng_range(&rng, 0.0, 5.0));
}

static void write_all(const uint8_t *rgb, ImageShape shape, int frames, ThreadPool *pool)
{
    FactorSpace *space;
    ImageWriter *writer;
    must(factor_space_from_json(&space, "{\"venue\":[\"a\",\"b\"]}", "bench"));
    must(image_writer_create(&writer, path, space, shape, NULL));
    static double actions[BATCH * HORIZON * DIM];
    FactorTask tasks[BATCH];
    int flights[BATCH] = {0};
    for (int i = 0; i < BATCH; i++) tasks[i] = factor_task_at(space, i % 2);
    size_t size = (size_t)(shape.width * shape.height * 3);
    for (int n = 0; n < frames; n += BATCH)
        must(image_writer_add(writer, rgb + (size_t)(n % DISTINCT) * size, actions, tasks, flights,
                              frames - n < BATCH ? frames - n : BATCH, pool));
    must(image_writer_finish(writer));
    factor_space_destroy(space);
}

static void read_all(uint8_t *rgb, ImageSet *set, int frames, ThreadPool *pool)
{
    Rng rng = rng_make(2, 0);
    for (int n = 0; n < frames; n += BATCH) {
        int64_t order[BATCH];
        for (int i = 0; i < BATCH; i++) order[i] = (int64_t)(rng_uniform(&rng) * frames);
        must(image_set_read(rgb, set, order, frames - n < BATCH ? frames - n : BATCH, pool));
    }
}

static void report(const char *what, int frames, double seconds, size_t size)
{
    printf("%-22s %9.0f frames/s %9.1f MB/s\n", what, frames / seconds,
           1e-6 * frames * (double)size / seconds);
}

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 10000, threads = argc > 2 ? atoi(argv[2]) : 2;
    ImageShape shape = {argc > 4 ? atoi(argv[3]) : 160, argc > 4 ? atoi(argv[4]) : 120, HORIZON,
                        DIM};
    if (frames < 1 || shape.width < 1 || shape.width > 4096 || shape.height < 1 ||
        shape.height > 4096)
        must(status_fail("usage: image_set [frames] [threads] [width height]"));
    size_t size = (size_t)(shape.width * shape.height * 3);
    ThreadPool *pool;
    must(pool_create(&pool, threads));
    uint8_t *rgb = malloc(DISTINCT * size), *out = malloc(BATCH * size);
    must(rgb && out ? status_ok() : status_fail("out of memory"));
    for (int i = 0; i < DISTINCT; i++) draw(rgb + (size_t)i * size, shape, i);
    printf("%d frames of %dx%d, %d threads, wall time\n", frames, shape.width, shape.height,
           pool_threads(pool));

    double start = wall_seconds();
    for (int n = 0; n < frames; n += BATCH)
        memcpy(out, rgb + (size_t)(n % DISTINCT) * size, BATCH * size);
    report("copy, one thread", frames, wall_seconds() - start, size);

    start = wall_seconds();
    write_all(rgb, shape, frames, pool);
    report("write", frames, wall_seconds() - start, size);

    ImageSet *set;
    start = wall_seconds();
    must(image_set_open(&set, (const char *const[]){path}, 1));
    report("open and check", frames, wall_seconds() - start, size);
    read_all(out, set, frames, pool);
    start = wall_seconds();
    read_all(out, set, frames, pool);
    report("read", frames, wall_seconds() - start, size);
    image_set_close(set);

    struct stat info;
    must(stat(path, &info) == 0 ? status_ok() : status_fail("%s: is gone", path));
    printf("%.1f MB a 1000 frames, %.0f %% of the pixels\n", 1e-3 * (double)info.st_size / frames,
           100.0 * (double)info.st_size / ((double)frames * (double)size));
    remove(path);
    free(rgb);
    free(out);
    pool_destroy(pool);
    return 0;
}
