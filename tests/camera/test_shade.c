// Light on scenes whose answer is known: shaded ground, shadows, mirrors, water, haze, exposure.
#include "math/geometry.h"
#include "scenes.h"

#define GREY "\"grey\": {\"pattern\": \"plain\", \"colors\": [[0.6, 0.5, 0.4]]}"
#define LAMP "\"lamp\": {\"pattern\": \"plain\", \"colors\": [[1, 1, 1]], \"emit\": 1}"

static Frame320 frame;

static void draw(const FacetVenue *venue, const FacetCamera *camera, const FacetCameraShot *shot)
{
    facet_camera_render(&frame.rgb[0][0][0], camera, venue, shot, NULL);
}

// The light of channel c at a point of the world.
static double light_at(const FacetCamera *camera, const FacetCameraShot *shot, FacetVec3 point,
                       int c)
{
    double u, v;
    assert_true(facet_camera_project(&u, &v, camera, shot->pos_world, shot->attitude, point));
    assert_true(u >= 0.0);
    assert_true(u < 320.0);
    assert_true(v >= 0.0);
    assert_true(v < 240.0);
    return light_of(frame.rgb[(int)v][(int)u][c]);
}

// color (above + sun cos) on flat ground; nothing but the sky above it.
static void ground_in_the_sun(void **unused)
{
    (void)unused;
    FacetVenue *venue = scene_make("{\"zenith\": [0.5, 0.5, 0.5], \"horizon\": [0.5, 0.5, 0.5]}",
                                   "{\"sun\": {\"direction\": [0.6, 0, 0.8], \"color\": [1, 1, 1],"
                                   " \"strength\": 0.9}, \"above\": [0.3, 0.4, 0.5],"
                                   " \"below\": [0, 0, 0]}",
                                   GREY, "{\"rect\": [200, 200], \"material\": \"grey\"}");
    FacetCamera camera = quiet_camera();
    // With its back to the sun, whose glow is not in the picture.
    FacetCameraShot shot = {.pos_world = vec3(0.0, 0.0, 2.0), .attitude = quat_from_yaw(FACET_PI)};
    draw(venue, &camera, &shot);
    const double color[3] = {0.36, 0.25, 0.16}, above[3] = {0.09, 0.16, 0.25};
    for (int c = 0; c < 3; c++) {
        double expected = color[c] * (above[c] + 0.9 * 0.8);
        assert_near(light_at(&camera, &shot, vec3(-8.0, 1.0, 0.0), c), expected, 0.004);
        assert_near(light_of(frame.rgb[5][160][c]), 0.25, 0.004);
    }
    // Twice the exposure is twice the light.
    camera.exposure = 2.0;
    draw(venue, &camera, &shot);
    assert_near(light_at(&camera, &shot, vec3(-8.0, 1.0, 0.0), 1), 2.0 * 0.25 * (0.16 + 0.72),
                0.006);
    facet_venue_destroy(venue);
}

// A roof at 3 m under a sun at 45 degrees: its shadow is where the corner's rays meet the ground.
static void a_roof_casts_its_shadow(void **unused)
{
    (void)unused;
    for (int soft = 0; soft < 2; soft++) {
        char light[300];
        snprintf(light, sizeof light,
                 "{\"sun\": {\"direction\": [0, 1, 1], \"color\": [1, 1, 1], \"strength\": 1,"
                 " \"softness\": %s}, \"above\": [0.3, 0.3, 0.3], \"below\": [0, 0, 0]}",
                 soft ? "0.1" : "0");
        FacetVenue *venue =
            scene_make(DARK_SKY, light, GREY,
                       "{\"rect\": [200, 200], \"material\": \"grey\"},"
                       "{\"rect\": [2, 2], \"at\": [8, 0, 3], \"material\": \"grey\"}");
        FacetCamera camera = quiet_camera();
        camera.samples = 8;
        FacetCameraShot shot = {.pos_world = vec3(0.0, -1.0, 2.0), .attitude = quat_identity()};
        draw(venue, &camera, &shot);
        const double lit = 0.36 * (0.09 + sqrt(0.5)), dark = 0.36 * 0.09;
        // The roof spans y from -1 to 1 and throws its shadow 3 m towards -y.
        const double edges[2] = {-4.0, -2.0};
        for (int i = 0; i < 2; i++) {
            double out = i ? 1.0 : -1.0, width = soft ? 0.75 : 0.12;
            FacetVec3 inside = vec3(8.0, edges[i] - out * width, 0.0);
            FacetVec3 outside = vec3(8.0, edges[i] + out * width, 0.0);
            assert_near(light_at(&camera, &shot, inside, 0), dark, 0.004);
            assert_near(light_at(&camera, &shot, outside, 0), lit, 0.006);
        }
        // A wide sun is seen past the edge, each part of it by other pixels: half of it on the
        // mean.
        double along = 0.0;
        for (int i = 0; i < 64; i++)
            along += light_at(&camera, &shot, vec3(7.2 + 0.025 * i, -2.0, 0.0), 0) / 64.0;
        if (soft) assert_near(along, 0.5 * (lit + dark), 0.2 * lit);
        facet_venue_destroy(venue);
    }
}

// Things farther than the sun's reach cast no shadow, and neither does anything on what is marked
// as unshaded.
static void shadows_that_are_left_out(void **unused)
{
    (void)unused;
    static const char *const reach[] = {"5", "2", "5"};
    static const char *const unshaded[] = {"false", "false", "true"};
    for (int i = 0; i < 3; i++) {
        char light[300], material[200];
        snprintf(light, sizeof light,
                 "{\"sun\": {\"direction\": [0, 0, 1], \"color\": [1, 1, 1], \"strength\": 1,"
                 " \"reach\": %s}, \"above\": [0.3, 0.3, 0.3], \"below\": [0, 0, 0]}",
                 reach[i]);
        snprintf(material, sizeof material,
                 "\"grey\": {\"pattern\": \"plain\", \"colors\": [[0.6, 0.6, 0.6]],"
                 " \"unshaded\": %s}",
                 unshaded[i]);
        FacetVenue *venue =
            scene_make(DARK_SKY, light, material,
                       "{\"rect\": [200, 200], \"material\": \"grey\"},"
                       "{\"rect\": [2, 2], \"at\": [8, 0, 3], \"material\": \"grey\"}");
        FacetCamera camera = quiet_camera();
        FacetCameraShot shot = {.pos_world = vec3(0.0, 0.0, 2.0), .attitude = quat_identity()};
        draw(venue, &camera, &shot);
        assert_near(light_at(&camera, &shot, vec3(8.0, 0.0, 0.0), 0),
                    0.36 * (0.09 + (i == 0 ? 0.0 : 1.0)), 0.008);
        facet_venue_destroy(venue);
    }
}

// A mirror on the ground shows a lamp where its image below the ground is projected.
static void a_mirror_shows_the_mirrored_point(void **unused)
{
    (void)unused;
    FacetVenue *venue = scene_make(
        DARK_SKY, DARK_LIGHT,
        LAMP ", \"glass\": {\"pattern\": \"plain\", \"colors\": [[1, 1, 1]], \"mirror\": 1}",
        "{\"rect\": [200, 200], \"material\": \"glass\"},"
        "{\"ball\": [0.3, 0.3, 0.3], \"at\": [9, 0.7, 3.5], \"material\": \"lamp\"}");
    FacetCamera camera = quiet_camera();
    camera.samples = 8;
    camera.tilt = -0.5; // the lamp itself is above the picture
    FacetCameraShot shot = {.pos_world = vec3(0.0, 0.0, 1.5), .attitude = quat_identity()};
    double u, v, found_u, found_v;
    assert_true(
        facet_camera_project(&u, &v, &camera, shot.pos_world, shot.attitude, vec3(9, 0.7, 3.5)));
    assert_true(v < -5.0);
    assert_true(
        facet_camera_project(&u, &v, &camera, shot.pos_world, shot.attitude, vec3(9, 0.7, -3.5)));
    draw(venue, &camera, &shot);
    assert_true(centroid(&found_u, &found_v, &frame, 0) > 5.0);
    assert_near(found_u, u, 0.12);
    assert_near(found_v, v, 0.12);
    facet_venue_destroy(venue);
}

#define STILL_WATER(height)                                                                        \
    "\"water\": {\"pattern\": \"water\", \"colors\": [[0, 0, 0], [0, 0, 0], [0, 0, 0]],"           \
    " \"scale\": 1, \"depth\": 1, \"wave_height\": " height ", \"wave_length\": 1}"

// Still water over a black floor under a white sky gives back Fresnel's share, by Schlick.
static void still_water_mirrors_by_the_angle(void **unused)
{
    (void)unused;
    FacetVenue *venue =
        scene_make("{\"zenith\": [1, 1, 1], \"horizon\": [1, 1, 1]}", DARK_LIGHT, STILL_WATER("0"),
                   "{\"rect\": [900, 900], \"material\": \"water\"}");
    FacetCamera camera = quiet_camera();
    camera.tilt = -0.4;
    FacetCameraShot shot = {.pos_world = vec3(0.0, 0.0, 2.0), .attitude = quat_identity()};
    draw(venue, &camera, &shot);
    const double distances[] = {1.5, 2.5, 4.0, 8.0, 20.0};
    for (int i = 0; i < 5; i++) {
        // The middle of the pixel that shows the point, and the angle at which it looks down.
        double u, v;
        FacetVec3 point = vec3(distances[i], 0.0, 0.0);
        assert_true(facet_camera_project(&u, &v, &camera, shot.pos_world, shot.attitude, point));
        double y = ((int)v + 0.5 - 120.0) / 160.0, x = ((int)u + 0.5 - 160.0) / 160.0;
        double down = sin(0.4) + y * cos(0.4);
        double cosine = down / sqrt(1.0 + x * x + y * y);
        double expected = 0.02 + 0.98 * pow(1.0 - cosine, 5.0);
        assert_near(light_of(frame.rgb[(int)v][(int)u][1]), expected, 0.008);
    }
    facet_venue_destroy(venue);
}

// Waves break the mirror image, move with time, and come back to the same picture at the same time.
static void waves_move(void **unused)
{
    (void)unused;
    FacetVenue *venue =
        scene_make("{\"zenith\": [0, 0, 0], \"horizon\": [1, 1, 1]}", DARK_LIGHT,
                   STILL_WATER("0.02"), "{\"rect\": [900, 900], \"material\": \"water\"}");
    FacetCamera camera = quiet_camera();
    FacetCameraShot shot = {.pos_world = vec3(0.0, 0.0, 2.0), .attitude = quat_identity()};
    static Frame320 before;
    draw(venue, &camera, &shot);
    before = frame;
    shot.time = 0.4;
    draw(venue, &camera, &shot);
    int changed = 0, sky = 0;
    for (int y = 0; y < 240; y++)
        for (int x = 0; x < 320; x++) {
            int difference = abs(frame.rgb[y][x][0] - before.rgb[y][x][0]);
            if (y > 180) changed += difference > 3;
            if (y < 150) sky += difference > 0;
        }
    assert_true(changed > 59 * 320 / 3);
    assert_int_equal(sky, 0);
    shot.time = 0.0;
    draw(venue, &camera, &shot);
    assert_memory_equal(&frame, &before, sizeof frame);
    facet_venue_destroy(venue);
}

// Half of what is seen at the haze's distance is haze.
static void half_is_haze_at_its_distance(void **unused)
{
    (void)unused;
    FacetVenue *venue =
        scene_make(DARK_SKY,
                   "{\"sun\": {\"direction\": [0, 0, 1], \"color\": [1, 1, 1],"
                   " \"strength\": 0}, \"above\": [0, 0, 0], \"below\": [0, 0, 0],"
                   " \"haze\": {\"color\": [0, 1, 0], \"distance\": 50}}",
                   LAMP, "{\"box\": [1, 40, 40], \"at\": [50.58, 0, 0], \"material\": \"lamp\"}");
    FacetCamera camera = quiet_camera();
    FacetCameraShot shot = {.pos_world = vec3(0.0, 0.0, 15.0), .attitude = quat_identity()};
    draw(venue, &camera, &shot);
    assert_near(light_at(&camera, &shot, vec3(50.08, 0.0, 15.0), 0), 0.5, 0.006);
    assert_near(light_at(&camera, &shot, vec3(50.08, 0.0, 15.0), 1), 1.0, 0.006);
    facet_venue_destroy(venue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ground_in_the_sun),
        cmocka_unit_test(a_roof_casts_its_shadow),
        cmocka_unit_test(shadows_that_are_left_out),
        cmocka_unit_test(a_mirror_shows_the_mirrored_point),
        cmocka_unit_test(still_water_mirrors_by_the_angle),
        cmocka_unit_test(waves_move),
        cmocka_unit_test(half_is_haze_at_its_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
