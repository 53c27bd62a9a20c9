// Shaded frames a second on one core, in every venue, by processor time.
//
// The poses are those of the task: all gates, both sides, 3 to 10 m away, up to 45 degrees off the
// axis. Usage: camera [frames] [venue]
#include "base/rng.h"
#include "bench.h"
#include "math/geometry.h"

#include <facet_study/camera.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 200;
    if (frames < 1 || frames > 1000000) frames = 200;
    FacetCamera camera = facet_camera_default();
    uint8_t *rgb = malloc((size_t)(camera.width * camera.height * 3));
    FacetVenueNames names;
    must(rgb ? facet_venue_names(&names, NULL) : status_fail(FACET_NO_MEMORY, "out of memory"));
    printf("%d frames of %dx%d a venue, one thread, processor time\n", frames, camera.width,
           camera.height);
    for (int i = 0; i < names.count; i++) {
        if (argc > 2 && strcmp(argv[2], names.name[i]) != 0) continue;
        FacetVenue *venue;
        must(facet_venue_load(&venue, NULL, names.name[i]));
        double start = processor_seconds();
        for (int k = 0; k < frames; k++) {
            FacetCameraShot shot = random_shot(venue, k);
            facet_camera_render(rgb, &camera, venue, &shot, NULL);
        }
        double seconds = processor_seconds() - start;
        printf("%-12s %7.1f frames/s  %6.2f ms a frame\n", names.name[i], frames / seconds,
               1e3 * seconds / frames);
        facet_venue_destroy(venue);
    }
    free(rgb);
    return 0;
}
