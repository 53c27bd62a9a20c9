// Frames a second that an image file takes and gives, against a copy in memory.
//
// The frames are those of the camera in the first venue. Reading is warm and in random order.
// "a core" counts processor time: other programs that share the machine do not change it.
// Usage: image_set [frames] [threads] [width height]
#include "base/rng.h"
#include "bench.h"
#include "factor/factor.h"
#include "math/geometry.h"

#include <facet_study/camera.h>
#include <facet_study/image_set.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BATCH = 64, HORIZON = 16, DIM = 3, DISTINCT = 256 }; // DISTINCT is a multiple of BATCH

static const char path[] = "image_set_bench.h5";

static size_t image_size(FacetFrameShape shape) { return (size_t)(shape.width * shape.height * 3); }

// What the camera sees at a gate of the first venue, from 3 to 10 m.
static void draw(uint8_t *rgb, FacetFrameShape shape)
{
    FacetCamera camera = facet_camera_default();
    camera.width = shape.width;
    camera.height = shape.height;
    FacetVenueNames names;
    FacetVenue *venue;
    must(facet_venue_names(&names, NULL));
    must(facet_venue_load(&venue, NULL, names.name[0]));
    for (int n = 0; n < DISTINCT; n++) {
        FacetRng rng = rng_make(1, (uint64_t)n);
        FacetCameraShot shot = {.seed = 1, .stream = (uint64_t)n};
        double yaw, distance = rng_range(&rng, 3.0, 10.0);
        facet_camera_stand(&shot.pos_world, &yaw,
                           facet_venue_gate(venue, n % facet_venue_gate_count(venue)),
                           n % 2 ? 1 : -1, distance, rng_range(&rng, -0.7, 0.7));
        shot.attitude = quat_from_yaw(yaw);
        facet_camera_render(rgb + (size_t)n * image_size(shape), &camera, venue, &shot, NULL);
    }
    facet_venue_destroy(venue);
}

static void write_all(const uint8_t *rgb, FacetFrameShape shape, int frames, FacetPool *pool)
{
    FacetFactorSpace *space;
    FacetImageWriter *writer;
    must(factor_space_from_json(&space, "{\"venue\":[\"a\",\"b\"]}", "bench"));
    must(facet_image_writer_create(&writer, path, space, shape, NULL));
    static double actions[BATCH * HORIZON * DIM];
    FacetFactorTask tasks[BATCH];
    int flights[BATCH] = {0};
    for (int i = 0; i < BATCH; i++) tasks[i] = factor_task_at(space, i % 2);
    size_t size = image_size(shape);
    for (int n = 0; n < frames; n += BATCH)
        must(facet_image_writer_add(writer, rgb + (size_t)(n % DISTINCT) * size, actions, tasks,
                                    flights, frames - n < BATCH ? frames - n : BATCH, pool));
    must(facet_image_writer_finish(writer));
    facet_factor_space_destroy(space);
}

static void read_all(uint8_t *rgb, FacetImageSet *set, int frames, FacetPool *pool)
{
    FacetRng rng = rng_make(2, 0);
    for (int n = 0; n < frames; n += BATCH) {
        int64_t order[BATCH];
        for (int i = 0; i < BATCH; i++) order[i] = (int64_t)(rng_uniform(&rng) * frames);
        must(facet_image_set_read(rgb, set, order, frames - n < BATCH ? frames - n : BATCH, pool));
    }
}

typedef struct Watch {
    double wall, processor;
} Watch;

static Watch now(void) { return (Watch){wall_seconds(), bench_clock(CLOCK_PROCESS_CPUTIME_ID)}; }

static void report(const char *what, int frames, Watch start)
{
    Watch end = now();
    printf("%-16s %10.0f frames/s %10.0f frames/s a core\n", what, frames / (end.wall - start.wall),
           frames / (end.processor - start.processor));
}

static void measure(const uint8_t *rgb, uint8_t *out, FacetFrameShape shape, int frames,
                    FacetPool *pool)
{
    size_t size = image_size(shape);
    Watch start = now();
    for (int n = 0; n < frames; n += BATCH)
        memcpy(out, rgb + (size_t)(n % DISTINCT) * size, BATCH * size);
    report("copy", frames, start);

    start = now();
    write_all(rgb, shape, frames, pool);
    report("write", frames, start);

    FacetImageSet *set;
    start = now();
    must(facet_image_set_open(&set, (const char *const[]){path}, 1));
    report("open and check", frames, start);

    read_all(out, set, frames, pool);
    start = now();
    read_all(out, set, frames, pool);
    report("read", frames, start);
    facet_image_set_close(set);
}

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 10000, threads = argc > 2 ? atoi(argv[2]) : 2;
    int width = argc > 4 ? atoi(argv[3]) : 80, height = argc > 4 ? atoi(argv[4]) : 60;
    if (frames < 1 || width < 1 || width > 4096 || height < 1 || height > 4096)
        must(status_fail(FACET_BAD_ARGUMENT, "usage: image_set [frames] [threads] [width height]"));
    FacetFrameShape shape = {width, height, HORIZON, DIM};
    size_t size = image_size(shape);
    FacetPool *pool;
    must(facet_pool_create(&pool, threads));
    uint8_t *rgb = malloc(DISTINCT * size), *out = malloc(BATCH * size);
    must(rgb && out ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory"));
    draw(rgb, shape);
    printf("%d frames of %dx%d, %d threads\n", frames, width, height, facet_pool_threads(pool));
    measure(rgb, out, shape, frames, pool);

    struct stat info;
    must(stat(path, &info) == 0 ? status_ok() : status_fail(FACET_BAD_FILE, "%s: is gone", path));
    printf("%.1f MB a 1000 frames, %.0f %% of the pixels\n", 1e-3 * (double)info.st_size / frames,
           100.0 * (double)info.st_size / ((double)frames * (double)size));
    remove(path);
    free(rgb);
    free(out);
    facet_pool_destroy(pool);
    return 0;
}
