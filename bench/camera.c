// Shaded frames a second on one core, in every venue, by processor time, beside Embree's share: the
// camera's own rays alone, without shadows, mirrors, materials and noise.
//
// The poses are those of the task: all gates, both sides, 3 to 10 m away, up to 45 degrees off the
// axis. The two take turns at every pose; its time is the median of the rounds.
// Usage: camera [frames] [venue]
#include "base/rng.h"
#include "bench.h"
#include "camera/scene.h"

#include <string.h>

enum { ROUNDS = 5, TILE_WIDTH = 16, TILE_HEIGHT = 4 };

static FacetCameraShot random_shot(const FacetVenue *venue, int number)
{
    FacetRng rng = rng_make(1, (uint64_t)number);
    FacetCameraShot shot = {.seed = 1, .stream = (uint64_t)number};
    const FacetCourseGate *gate = facet_venue_gate(venue, number % facet_venue_gate_count(venue));
    double yaw, distance = rng_range(&rng, 3.0, 10.0);
    facet_camera_stand(&shot.pos_world, &yaw, gate, number % 2 ? 1 : -1, distance,
                       rng_range(&rng, -0.25 * FACET_PI, 0.25 * FACET_PI));
    shot.attitude = quat_from_yaw(yaw + rng_range(&rng, -0.2, 0.2));
    for (int i = 0; i < facet_venue_gate_count(venue); i++)
        shot.colors[i] = (uint8_t)((number + i) % facet_venue_color_count(venue));
    shot.time = rng_range(&rng, 0.0, 10.0);
    return shot;
}

// ---- Embree alone -------------------------------------------------------------------------------

// The rays through the pixels of the tile at (left, top): blocks of 4 x 2 pixels, two below each
// other.
static void aim_tile(Rays tile[PACKETS_MAX], const FacetCamera *camera, const FacetCameraShot *shot,
                     int left, int top)
{
    double focal = 0.5 * camera->width / tan(0.5 * camera->fov);
    double c = cos(camera->tilt), s = sin(camera->tilt);
    Mat3 turn = quat_to_mat3(shot->attitude);
    FacetVec3 eye = vec3_add(shot->pos_world, mat3_mul_vec3(turn, camera->mount_body));
    for (int i = 0; i < PACKETS_MAX; i++) {
        Rays *rays = &tile[i];
        rays->origin = lanes3(lanes((float)eye.x), lanes((float)eye.y), lanes((float)eye.z));
        rays->near = 0.0f, rays->far = lanes(1e4f), rays->active = (LanesMask)rays->far != 0;
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            double u = (left + i / 2 * 4 + lane % 4 + 0.5 - 0.5 * camera->width) / focal;
            double v = (top + i % 2 * 2 + lane / 4 + 0.5 - 0.5 * camera->height) / focal;
            FacetVec3 way = mat3_mul_vec3(turn, vec3(c + s * v, -u, s - c * v));
            way = vec3_scale(way, 1.0 / vec3_norm(way));
            rays->direction.x[lane] = (float)way.x;
            rays->direction.y[lane] = (float)way.y;
            rays->direction.z[lane] = (float)way.z;
        }
    }
}

static int aim_frame(Rays (*tiles)[PACKETS_MAX], const FacetCamera *camera,
                     const FacetCameraShot *shot)
{
    int count = 0;
    for (int y = 0; y < camera->height; y += TILE_HEIGHT)
        for (int x = 0; x < camera->width; x += TILE_WIDTH)
            aim_tile(tiles[count++], camera, shot, x, y);
    return count;
}

// ---- Clocks -------------------------------------------------------------------------------------

typedef struct Times {
    double frame, rays; // s, sums of medians
} Times;

static void measure_pose(Times *times, const FacetCamera *camera, const FacetVenue *venue,
                         const FacetCameraShot *shot, uint8_t *rgb, Rays (*tiles)[PACKETS_MAX])
{
    double frame[ROUNDS], rays[ROUNDS];
    int count = aim_frame(tiles, camera, shot);
    for (int round = 0; round < ROUNDS; round++) {
        double start = processor_seconds();
        facet_camera_render(rgb, camera, venue, shot, NULL);
        double between = processor_seconds();
        for (int i = 0; i < count; i++) {
            Hits hits[PACKETS_MAX];
            embree_trace(hits, venue->tracer, tiles[i], PACKETS_MAX);
        }
        frame[round] = between - start;
        rays[round] = processor_seconds() - between;
    }
    times->frame += median(frame, ROUNDS);
    times->rays += median(rays, ROUNDS);
}

static void measure_venue(const char *name, int frames)
{
    FacetCamera camera = facet_camera_default();
    uint8_t *rgb = malloc((size_t)(camera.width * camera.height * 3));
    size_t tile_count = (size_t)(camera.width * camera.height / (TILE_WIDTH * TILE_HEIGHT));
    Rays(*tiles)[PACKETS_MAX] = aligned_alloc(64, tile_count * sizeof *tiles);
    FacetVenue *venue;
    if (!rgb || !tiles) must(status_fail(FACET_NO_MEMORY, "out of memory"));
    must(facet_venue_load(&venue, NULL, name));
    Times times = {0};
    for (int k = 0; k < frames; k++) {
        FacetCameraShot shot = random_shot(venue, k);
        measure_pose(&times, &camera, venue, &shot, rgb, tiles);
    }
    printf("%-12s %6.1f frames/s  %5.2f ms a frame   rays alone %6.1f frames/s   ratio %.2f\n",
           name, frames / times.frame, 1e3 * times.frame / frames, frames / times.rays,
           times.rays / times.frame);
    facet_venue_destroy(venue);
    free(tiles);
    free(rgb);
}

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 50;
    if (frames < 1 || frames > 1000000) frames = 50;
    FacetVenueNames names;
    must(facet_venue_names(&names, NULL));
    printf("%d frames of 320x240 a venue, one core, processor time, median of %d\n", frames,
           ROUNDS);
    for (int i = 0; i < names.count; i++)
        if (argc <= 2 || strcmp(argv[2], names.name[i]) == 0) measure_venue(names.name[i], frames);
    return 0;
}
