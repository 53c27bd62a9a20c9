// The fast tracer held to the plain one: single rays, and whole frames of every shipped venue.
#include "base/rng.h"
#include "camera/scene.h"
#include "scenes.h"

#include <embree3/rtcore.h>

// Whether the next scene is told that the processor holds sixteen rays. Embree takes packets of
// both widths on any processor, so both are tested on all. This stands before Embree's own.
static bool sixteen;

ssize_t rtcGetDeviceProperty(RTCDevice device, enum RTCDeviceProperty property)
{
    (void)device;
    return property == RTC_DEVICE_PROPERTY_NATIVE_RAY16_SUPPORTED && sixteen;
}

static Rays random_rays(FacetRng *rng)
{
    Rays rays = {.near = 1e-3f, .far = lanes(200.0f)};
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        FacetVec3 d =
            vec3_unit(vec3(rng_normal(rng), rng_normal(rng), rng_normal(rng)), vec3(1, 0, 0));
        rays.origin.x[lane] = (float)rng_range(rng, -20.0, 20.0);
        rays.origin.y[lane] = (float)rng_range(rng, -15.0, 15.0);
        rays.origin.z[lane] = (float)rng_range(rng, 0.2, 7.0);
        rays.direction.x[lane] = (float)d.x;
        rays.direction.y[lane] = (float)d.y;
        rays.direction.z[lane] = (float)d.z;
        rays.active[lane] = rng_uniform(rng) < 0.9 ? -1 : 0;
    }
    return rays;
}

static Lanes facing(const Hits *hits, const Rays *rays)
{
    Lanes3 n = lanes3_scale(hits->normal, 1.0f / lanes3_norm(hits->normal));
    return lanes_abs(lanes3_dot(n, rays->direction));
}

// Every ray in a hall of boxes, plates and drums meets the same surface at the same distance.
static void meet_the_same_surfaces(void)
{
    enum { ROUNDS = 40 };
    FacetVenue *venue;
    assert_ok(facet_venue_load(&venue, NULL, "industrial"));
    FacetRng rng = rng_make(4, 0);
    int rays_traced = 0, same = 0, shadows = 0;
    for (int round = 0; round < ROUNDS; round++) {
        Rays rays[PACKETS_MAX];
        Hits fast[PACKETS_MAX], plain[PACKETS_MAX];
        LanesMask fast_blocked[PACKETS_MAX], plain_blocked[PACKETS_MAX];
        int packets = 1 + round % PACKETS_MAX;
        for (int i = 0; i < packets; i++) rays[i] = random_rays(&rng);
        embree_trace(fast, venue->tracer, rays, packets);
        mesh_trace(plain, &venue->mesh, rays, packets);
        for (int i = 0; i < packets; i++) rays[i].far = lanes(6.0f);
        embree_blocked(fast_blocked, venue->tracer, rays, packets);
        mesh_blocked(plain_blocked, &venue->mesh, rays, packets);
        for (int i = 0; i < packets; i++) {
            Lanes fast_facing = facing(&fast[i], &rays[i]),
                  plain_facing = facing(&plain[i], &rays[i]);
            for (int lane = 0; lane < BATCH_LANES; lane++) {
                if (!rays[i].active[lane]) {
                    assert_int_equal(fast[i].hit[lane], 0);
                    assert_int_equal(plain[i].hit[lane], 0);
                    assert_int_equal(fast_blocked[i][lane], 0);
                    continue;
                }
                float t = plain[i].distance[lane];
                rays_traced++;
                same += fast[i].hit[lane] == plain[i].hit[lane] &&
                        (!fast[i].hit[lane] ||
                         (fabsf(fast[i].distance[lane] - t) < 1e-4f * (1.0f + t) &&
                          fabsf(fast_facing[lane] - plain_facing[lane]) < 1e-3f));
                shadows += fast_blocked[i][lane] == plain_blocked[i][lane];
            }
        }
    }
    // A ray through an edge may go either way.
    assert_true(rays_traced > 1000);
    assert_true(same >= rays_traced - rays_traced / 200);
    assert_true(shadows >= rays_traced - rays_traced / 200);
    facet_venue_destroy(venue);
}

static void rays_meet_the_same_surfaces(void **unused)
{
    (void)unused;
    sixteen = false;
    meet_the_same_surfaces();
}

static void rays_in_wide_packets_meet_the_same_surfaces(void **unused)
{
    (void)unused;
    sixteen = true;
    meet_the_same_surfaces();
}

// The normal of a ray that meets nothing is never read from what the memory held before.
static void missed_rays_have_a_normal(void **unused)
{
    (void)unused;
    FacetVenue *venue;
    assert_ok(facet_venue_load(&venue, NULL, "pool"));
    Rays rays = {.near = 1e-3f, .far = lanes(1.0f)};
    rays.origin.z = lanes(500.0f);
    rays.direction.z = lanes(1.0f);
    rays.active = (LanesMask){-1, -1, 0, -1, 0, -1, -1, -1};
    for (int plain = 0; plain < 2; plain++) {
        Hits hits;
        memset(&hits, 0x55, sizeof hits);
        if (plain)
            mesh_trace(&hits, &venue->mesh, &rays, 1);
        else
            embree_trace(&hits, venue->tracer, &rays, 1);
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            assert_int_equal(hits.hit[lane], 0);
            assert_near((double)hits.normal.x[lane], 0.0, 0.0);
            assert_near((double)hits.normal.y[lane], 0.0, 0.0);
            assert_near((double)hits.normal.z[lane], 1.0, 0.0);
        }
    }
    facet_venue_destroy(venue);
}

static void frames_look_the_same(void **unused)
{
    (void)unused;
    enum { WIDTH = 28, HEIGHT = 20, PIXELS = WIDTH * HEIGHT };
    FacetVenueNames names;
    assert_ok(facet_venue_names(&names, NULL));
    for (int i = 0; i < names.count; i++) {
        FacetVenue *venue;
        sixteen = i % 2;
        assert_ok(facet_venue_load(&venue, NULL, names.name[i]));
        FacetCamera camera = quiet_camera();
        camera.width = WIDTH, camera.height = HEIGHT;
        FacetCameraShot shot = {.time = 1.0, .colors = {0, 1, 2, 0, 1}};
        double yaw;
        facet_camera_stand(&shot.pos_world, &yaw, facet_venue_gate(venue, 2), 1, 4.0, 0.3);
        shot.attitude = quat_from_yaw(yaw);
        uint8_t fast[PIXELS][3], plain[PIXELS][3];
        facet_camera_render(&fast[0][0], &camera, venue, &shot, NULL);
        camera.reference = true;
        facet_camera_render(&plain[0][0], &camera, venue, &shot, NULL);
        int different = 0;
        for (int k = 0; k < PIXELS; k++)
            different += abs(fast[k][0] - plain[k][0]) > 2 || abs(fast[k][1] - plain[k][1]) > 2 ||
                         abs(fast[k][2] - plain[k][2]) > 2;
        if (different > PIXELS / 100) fail_msg("%s: %d pixels differ", names.name[i], different);
        facet_venue_destroy(venue);
    }
}

// The distance to the nearest surface is the same as by trying all, and is known on a box.
static void distances_are_those_by_trying_all(void **unused)
{
    (void)unused;
    FacetVenue *venue;
    assert_ok(facet_venue_load(&venue, NULL, "piazza"));
    FacetRng rng = rng_make(5, 0);
    int near = 0;
    for (int i = 0; i < 300; i++) {
        FacetVec3 p = vec3(rng_range(&rng, -26.0, 26.0), rng_range(&rng, -23.0, 23.0),
                           rng_range(&rng, 0.01, 4.0));
        double reach = i % 2 ? 0.5 : 3.0, plain = mesh_clearance(&venue->mesh, p, reach);
        assert_near(facet_venue_clearance(venue, p, reach), plain, 1e-5);
        near += plain < reach;
    }
    assert_true(near > 50);
    // The gate's frame: the middle of the opening, its inner edge, and before the upright.
    const FacetCourseGate *gate = facet_venue_gate(venue, 0);
    FacetVec3 across = vec3_cross(vec3(0.0, 0.0, 1.0), gate->normal);
    assert_near(facet_venue_clearance(venue, gate->center, 5.0), 0.762, 1e-5);
    assert_near(facet_venue_clearance(venue, vec3_axpy(gate->center, 0.5, across), 5.0), 0.262,
                1e-5);
    FacetVec3 upright = vec3_axpy(gate->center, 0.762 + 0.125, across);
    assert_near(facet_venue_clearance(venue, vec3_axpy(upright, -1.0, gate->normal), 5.0), 0.94,
                1e-5);
    facet_venue_destroy(venue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_meet_the_same_surfaces),
        cmocka_unit_test(rays_in_wide_packets_meet_the_same_surfaces),
        cmocka_unit_test(missed_rays_have_a_normal),
        cmocka_unit_test(frames_look_the_same),
        cmocka_unit_test(distances_are_those_by_trying_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
