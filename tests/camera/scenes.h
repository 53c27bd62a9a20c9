// What the tests of this room share: venues of their own in a temporary folder, and pictures of
// them.
#ifndef FACET_TESTS_CAMERA_SCENES_H
#define FACET_TESTS_CAMERA_SCENES_H

#include "scratch.h"

#include <facet_study/camera.h>

// ---- Venues -------------------------------------------------------------------------------------

// One gate, far from where the scenes are.
#define FAR_GATE                                                                                   \
    "{\"frame\": {\"half_width\": 0.762, \"bar\": 0.25, \"thickness\": 0.12},"                     \
    " \"gates\": [{\"name\": \"1\", \"center\": [900, 0, 2], \"normal\": [1, 0, 0]}],"             \
    " \"colors\": {\"red\": [0.9, 0.1, 0.1]}}"

// A venue with no light of its own: the parts that a scene is about come from the test.
#define DARK_SKY "{\"zenith\": [0, 0, 0], \"horizon\": [0, 0, 0]}"
#define DARK_LIGHT                                                                                 \
    "{\"sun\": {\"direction\": [0, 0, 1], \"color\": [1, 1, 1], \"strength\": 0},"                 \
    " \"above\": [0, 0, 0], \"below\": [0, 0, 0]}"

static inline void scene_write(Scratch *folder, const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "venues/%s.json", name);
    scratch_write(folder, path, text);
}

// A folder of courses with the venue "scene".
static inline Scratch scene_folder(const char *common, const char *scene)
{
    Scratch folder = scratch_begin();
    assert_int_equal(mkdir(scratch_path(&folder, "venues"), 0777), 0);
    scene_write(&folder, "venues", common);
    scene_write(&folder, "scene", scene);
    return folder;
}

// The venue of these parts: JSON of the sky, the light, the materials and the objects.
static inline FacetVenue *scene_make(const char *sky, const char *light, const char *materials,
                                     const char *objects)
{
    char text[4096];
    int size = snprintf(text, sizeof text,
                        "{\"description\": \"test\", \"sky\": %s, \"light\": %s,"
                        " \"materials\": {\"pole\": {\"pattern\": \"plain\","
                        " \"colors\": [[0, 0, 0]]}, %s}, \"poles\": \"pole\", \"objects\": [%s]}",
                        sky, light, materials, objects);
    assert_true(size < (int)sizeof text);
    Scratch folder = scene_folder(FAR_GATE, text);
    FacetVenue *venue;
    assert_ok(facet_venue_load(&venue, folder.folder, "scene"));
    scratch_end(&folder);
    return venue;
}

// ---- Pictures -----------------------------------------------------------------------------------

typedef struct Frame320 {
    uint8_t rgb[240][320][3];
} Frame320;

// The default camera without noise.
static inline FacetCamera quiet_camera(void)
{
    FacetCamera camera = facet_camera_default();
    camera.full_well = camera.read_noise = 0.0;
    return camera;
}

// The linear light of a pixel's channel, as the sensor's square root hides it.
static inline double light_of(uint8_t value) { return value / 255.0 * (value / 255.0); }

// The centre of gravity of the light in channel c; returns all of it.
static inline double centroid(double *u, double *v, const Frame320 *frame, int c)
{
    double sum = 0.0, su = 0.0, sv = 0.0;
    for (int y = 0; y < 240; y++)
        for (int x = 0; x < 320; x++) {
            double light = light_of(frame->rgb[y][x][c]);
            sum += light, su += light * (x + 0.5), sv += light * (y + 0.5);
        }
    *u = su / sum, *v = sv / sum;
    return sum;
}

#endif
