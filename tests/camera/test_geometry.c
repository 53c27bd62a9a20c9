// Where points of the world appear in a frame, against their projection.
#include "base/rng.h"
#include "math/geometry.h"
#include "scenes.h"

#define LAMP "\"lamp\": {\"pattern\": \"plain\", \"colors\": [[1, 1, 1]], \"emit\": 1}"

static FacetQuat attitude_of(double yaw, double pitch, double roll)
{
    return quat_mul(quat_from_yaw(yaw), quat_mul(quat_from_axis_angle(vec3(0.0, 1.0, 0.0), pitch),
                                                 quat_from_axis_angle(vec3(1.0, 0.0, 0.0), roll)));
}

// The axes by hand: level and untilted, a point ahead is in the middle, one to the left of it is
// left in the picture, and one metre up at five metres is a fifth of the focal length.
static void projection_by_hand(void **unused)
{
    (void)unused;
    FacetCamera camera = facet_camera_default();
    camera.tilt = 0.0;
    camera.mount_body = vec3(0.0, 0.0, 0.0);
    FacetVec3 here = vec3(1.0, 2.0, 3.0);
    double u, v, focal = 160.0; // 90 degrees over 320 pixels
    assert_true(facet_camera_project(&u, &v, &camera, here, quat_identity(), vec3(6.0, 2.0, 3.0)));
    assert_near(u, 160.0, 1e-9);
    assert_near(v, 120.0, 1e-9);
    assert_true(facet_camera_project(&u, &v, &camera, here, quat_identity(), vec3(6.0, 3.0, 4.0)));
    assert_near(u, 160.0 - focal / 5.0, 1e-9);
    assert_near(v, 120.0 - focal / 5.0, 1e-9);
    assert_false(facet_camera_project(&u, &v, &camera, here, quat_identity(), vec3(0.0, 2.0, 3.0)));
    // A camera tilted up sees the point ahead lower; the edge of the picture is at 45 degrees.
    camera.tilt = 0.3;
    assert_true(facet_camera_project(&u, &v, &camera, here, quat_identity(), vec3(6.0, 2.0, 3.0)));
    assert_near(v, 120.0 + focal * tan(0.3), 1e-9);
    assert_true(facet_camera_project(&u, &v, &camera, here, quat_from_yaw(0.25 * FACET_PI),
                                     vec3(6.0, 2.0, 3.0)));
    assert_near(u, 160.0 + focal / cos(0.3), 1e-9);
}

// A small lamp shines where its centre is projected, to a tenth of a pixel, whatever the pose.
static void lamps_appear_where_they_are_projected(void **unused)
{
    (void)unused;
    FacetVenue *venue = scene_make(DARK_SKY, DARK_LIGHT, LAMP,
                                   "{\"ball\": [0.2, 0.2, 0.2], \"at\": [0.3, -0.2, 1.7],"
                                   " \"material\": \"lamp\"}");
    const FacetVec3 lamp = vec3(0.3, -0.2, 1.7);
    FacetCamera camera = quiet_camera();
    camera.samples = 8;
    static Frame320 frame;
    FacetRng rng = rng_make(1, 0);
    int seen = 0;
    for (int i = 0; i < 40; i++) {
        double yaw = rng_range(&rng, -3.0, 3.0), range = rng_range(&rng, 5.0, 9.0);
        FacetCameraShot shot = {
            .pos_world = vec3(lamp.x - range * cos(yaw), lamp.y - range * sin(yaw), 2.0),
            .attitude = attitude_of(yaw + rng_range(&rng, -0.6, 0.6), rng_range(&rng, -0.3, 0.6),
                                    rng_range(&rng, -0.8, 0.8))};
        double u, v, found_u, found_v;
        if (!facet_camera_project(&u, &v, &camera, shot.pos_world, shot.attitude, lamp)) continue;
        if (u < 12.0 || u > 308.0 || v < 12.0 || v > 228.0) continue;
        facet_camera_render(&frame.rgb[0][0][0], &camera, venue, &shot, NULL);
        double area = centroid(&found_u, &found_v, &frame, 0);
        double radius = 160.0 * 0.1 / range; // pixels, in the middle of the picture
        assert_true(area > 2.0 * radius * radius);
        assert_true(area < 8.0 * radius * radius);
        assert_near(found_u, u, 0.12);
        assert_near(found_v, v, 0.12);
        seen++;
    }
    assert_true(seen >= 20);
    facet_venue_destroy(venue);
}

// An edge across a pixel shows as a share of its light: more rays find it more finely.
static void edges_are_smoothed(void **unused)
{
    (void)unused;
    FacetVenue *venue =
        scene_make(DARK_SKY, DARK_LIGHT, LAMP,
                   "{\"box\": [0.1, 4, 4], \"at\": [5, 2.003, 0], \"material\": \"lamp\"}");
    FacetCamera camera = quiet_camera();
    camera.tilt = 0.0;
    camera.mount_body = vec3(0.0, 0.0, 0.0);
    FacetCameraShot shot = {.pos_world = vec3(0.0, 0.0, 2.0), .attitude = quat_identity()};
    static Frame320 frame;
    // The right edge of the box: y = 0.003 at x = 4.95, just left of the middle of the picture.
    double u, v;
    facet_camera_project(&u, &v, &camera, shot.pos_world, shot.attitude, vec3(4.95, 0.003, 2.0));
    int column = (int)u;
    const int counts[] = {1, 2, 4, 8};
    for (int i = 0; i < 4; i++) {
        camera.samples = counts[i];
        facet_camera_render(&frame.rgb[0][0][0], &camera, venue, &shot, NULL);
        double share = light_of(frame.rgb[120][column][0]);
        assert_near(share, u - column, 0.51 / counts[i] + 0.01);
        assert_near(light_of(frame.rgb[120][column - 1][0]), 1.0, 0.0);
        assert_near(light_of(frame.rgb[120][column + 1][0]), 0.0, 0.0);
    }
    facet_venue_destroy(venue);
}

// A pose at a gate: the right distance and side, and the gate's centre straight ahead.
static void standing_at_a_gate(void **unused)
{
    (void)unused;
    FacetCamera camera = facet_camera_default();
    FacetCourseGate gate = {.center = {3.0, -2.0, 1.5}, .normal = {0.6, 0.8, 0.0}};
    for (int side = -1; side <= 1; side += 2)
        for (int i = -1; i <= 1; i++) {
            FacetVec3 pos;
            double yaw, u, v, azimuth = 0.5 * i;
            facet_camera_stand(&pos, &yaw, &gate, side, 4.0, azimuth);
            FacetVec3 way = vec3_sub(gate.center, pos);
            assert_near(vec3_norm(way), 4.0, 1e-12);
            assert_near(vec3_dot(way, gate.normal), side * 4.0 * cos(azimuth), 1e-12);
            // A positive azimuth is a heading turned to the left of the axis.
            assert_near(vec3_cross(gate.normal, way).z, side * 4.0 * sin(azimuth), 1e-12);
            assert_true(
                facet_camera_project(&u, &v, &camera, pos, quat_from_yaw(yaw), gate.center));
            assert_near(u, 160.0, 1e-9);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection_by_hand),
        cmocka_unit_test(lamps_appear_where_they_are_projected),
        cmocka_unit_test(edges_are_smoothed),
        cmocka_unit_test(standing_at_a_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
