// Frames of the shipped venues: the same bits on any number of threads, the sensor's statistics,
// sizes that fit no tile, colours of gates, other looks.
#include "base/rng.h"
#include "camera/scene.h"
#include "scenes.h"

static Frame320 frame, other;

static FacetCameraShot shot_at(const FacetVenue *venue, int gate, int side, double distance)
{
    FacetCameraShot shot = {.seed = 3, .stream = 7, .time = 2.5};
    double yaw;
    facet_camera_stand(&shot.pos_world, &yaw, facet_venue_gate(venue, gate), side, distance, 0.2);
    shot.attitude = quat_from_yaw(yaw);
    return shot;
}

static void threads_change_nothing(void **unused)
{
    (void)unused;
    FacetVenueNames names;
    assert_ok(facet_venue_names(&names, NULL));
    FacetCamera camera = facet_camera_default();
    for (int i = 0; i < names.count; i++) {
        FacetVenue *venue;
        assert_ok(facet_venue_load(&venue, NULL, names.name[i]));
        FacetCameraShot shot = shot_at(venue, i, i % 2 ? 1 : -1, 6.0);
        facet_camera_render(&frame.rgb[0][0][0], &camera, venue, &shot, NULL);
        for (int threads = 1; threads <= 3; threads++) {
            FacetPool *pool;
            assert_ok(facet_pool_create(&pool, threads));
            memset(&other, 0, sizeof other);
            facet_camera_render(&other.rgb[0][0][0], &camera, venue, &shot, pool);
            assert_memory_equal(&frame, &other, sizeof frame);
            facet_pool_destroy(pool);
        }
        // A venue loaded again is the same venue.
        facet_venue_destroy(venue);
        assert_ok(facet_venue_load(&venue, NULL, names.name[i]));
        facet_camera_render(&other.rgb[0][0][0], &camera, venue, &shot, NULL);
        assert_memory_equal(&frame, &other, sizeof frame);
        facet_venue_destroy(venue);
    }
}

// The eight-lane generator gives the words of the one-lane one, and its sums of bytes have the
// statistics they should.
static void noise_follows_the_generator(void **unused)
{
    (void)unused;
    double sum = 0.0, square = 0.0, fourth = 0.0;
    enum { ROUNDS = 4000 };
    for (uint32_t round = 0; round < ROUNDS; round++) {
        LanesMask pixel;
        for (uint32_t lane = 0; lane < BATCH_LANES; lane++) pixel[lane] = (int)(8 * round + lane);
        Lanes3 noise;
        sensor_noise(&noise, 0x123456789abcdefu, 0xfedcba987654321u, &pixel);
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            uint32_t words[4];
            rng_block(words, 0x123456789abcdefu, 0xfedcba987654321u, (uint32_t)pixel[lane]);
            const float found[3] = {noise.x[lane], noise.y[lane], noise.z[lane]};
            for (int c = 0; c < 3; c++) {
                uint32_t w = words[c];
                double bytes = (w & 255) + (w >> 8 & 255) + (w >> 16 & 255) + (w >> 24);
                double expected = (bytes - 510.0) / sqrt(4.0 * (65536.0 - 1.0) / 12.0);
                assert_near((double)found[c], expected, 1e-6);
                sum += expected, square += expected * expected;
                fourth += expected * expected * expected * expected;
            }
        }
    }
    double count = 3.0 * BATCH_LANES * ROUNDS;
    assert_near(sum / count, 0.0, 0.013);
    assert_near(square / count, 1.0, 0.015);
    assert_near(fourth / count, 2.7, 0.1); // four uniforms: 3 - 6/5/4
}

// On an even grey the light varies by light/full_well + read_noise^2.
static void sensor_noise_has_its_variance(void **unused)
{
    (void)unused;
    FacetVenue *venue =
        scene_make(DARK_SKY, DARK_LIGHT,
                   "\"lamp\": {\"pattern\": \"plain\", \"colors\": [[0.5, 0.7, 0.9]],"
                   " \"emit\": 1}",
                   "{\"box\": [1, 400, 400], \"at\": [5, 0, -200], \"material\": \"lamp\"}");
    FacetCamera camera = quiet_camera();
    FacetCameraShot shot = {.attitude = quat_identity(), .seed = 11};
    const double wells[] = {2000.0, 0.0, 1000.0}, reads[] = {0.0, 0.02, 0.015};
    for (int i = 0; i < 3; i++) {
        camera.full_well = wells[i], camera.read_noise = reads[i];
        shot.stream = (uint64_t)i;
        facet_camera_render(&frame.rgb[0][0][0], &camera, venue, &shot, NULL);
        for (int c = 0; c < 3; c++) {
            double level = 0.5 + 0.2 * c, light = level * level, sum = 0.0, square = 0.0;
            for (int y = 0; y < 240; y++)
                for (int x = 0; x < 320; x++) {
                    double e = light_of(frame.rgb[y][x][c]) - light;
                    sum += e, square += e * e;
                }
            double variance = (wells[i] > 0.0 ? light / wells[i] : 0.0) + reads[i] * reads[i];
            double rounding = 4.0 * light / (255.0 * 255.0) / 12.0; // of a byte, seen as light
            assert_near(sum / 76800.0, 0.0, 6e-4);
            assert_near(square / 76800.0, variance + rounding, 0.03 * variance);
        }
    }
    // Another stream is another noise, the same stream the same.
    facet_camera_render(&other.rgb[0][0][0], &camera, venue, &shot, NULL);
    assert_memory_equal(&frame, &other, sizeof frame);
    shot.stream++;
    facet_camera_render(&other.rgb[0][0][0], &camera, venue, &shot, NULL);
    assert_memory_not_equal(&frame, &other, sizeof frame);
    facet_venue_destroy(venue);
}

// A frame that no tile divides is written to its last pixel and no further, and shows what the
// larger one shows.
static void odd_sizes(void **unused)
{
    (void)unused;
    enum { WIDTH = 37, HEIGHT = 27, SIZE = WIDTH * HEIGHT * 3 };
    FacetVenue *venue;
    assert_ok(facet_venue_load(&venue, NULL, "piazza"));
    FacetCamera camera = quiet_camera();
    camera.width = WIDTH, camera.height = HEIGHT;
    FacetCameraShot shot = shot_at(venue, 0, 1, 5.0);
    static uint8_t rgb[SIZE + 64], again[SIZE + 64];
    memset(rgb, 0xAA, sizeof rgb);
    memset(again, 0x55, sizeof again);
    facet_camera_render(rgb, &camera, venue, &shot, NULL);
    facet_camera_render(again, &camera, venue, &shot, NULL);
    assert_memory_equal(rgb, again, SIZE); // no byte was left as it was
    for (int i = SIZE; i < SIZE + 64; i++) assert_int_equal(rgb[i], 0xAA);
    facet_venue_destroy(venue);
}

// The gate's frame has the colour asked for, in every venue and from both sides.
static void gates_show_their_color(void **unused)
{
    (void)unused;
    FacetVenueNames names;
    assert_ok(facet_venue_names(&names, NULL));
    FacetCamera camera = quiet_camera();
    for (int i = 0; i < names.count; i++) {
        FacetVenue *venue;
        assert_ok(facet_venue_load(&venue, NULL, names.name[i]));
        for (int gate = 0; gate < facet_venue_gate_count(venue); gate++)
            for (int color = 0; color < facet_venue_color_count(venue); color++) {
                const FacetCourseGate *g = facet_venue_gate(venue, gate);
                FacetCameraShot shot = shot_at(venue, gate, gate % 2 ? 1 : -1, 4.0);
                facet_camera_paint(&shot, venue, gate, color, 1, 0);
                for (int k = 0; k < facet_venue_gate_count(venue); k++)
                    assert_int_equal(shot.colors[k] == color, k == gate);
                facet_camera_render(&frame.rgb[0][0][0], &camera, venue, &shot, NULL);
                // The middle of the upper beam.
                double u, v;
                FacetVec3 beam =
                    vec3_add(g->center, vec3(0.0, 0.0, facet_venue_half_width(venue) + 0.125));
                assert_true(
                    facet_camera_project(&u, &v, &camera, shot.pos_world, shot.attitude, beam));
                const uint8_t *p = frame.rgb[(int)v][(int)u];
                const char *name = facet_venue_color_name(venue, color);
                bool red = p[0] > 2 * p[1] && p[0] > 2 * p[2];
                bool blue = p[2] > 2 * p[0] && p[2] > p[1] + p[1] / 2;
                bool white = p[0] > 90 && abs(p[0] - p[1]) < 40 && abs(p[1] - p[2]) < 50;
                bool right = name[0] == 'r' ? red : name[0] == 'b' ? blue : white;
                if (!right)
                    fail_msg("%s gate %s: %s is (%d, %d, %d)", names.name[i], g->name, name, p[0],
                             p[1], p[2]);
            }
        facet_venue_destroy(venue);
    }
}

// The other gates wear every other colour, as the seed and the stream say.
static void the_other_gates_have_other_colors(void **unused)
{
    (void)unused;
    FacetVenue *venue;
    assert_ok(facet_venue_load(&venue, NULL, "Field"));
    int seen[FACET_VENUE_COLORS_MAX] = {0}, trials = 600;
    for (int i = 0; i < trials; i++) {
        FacetCameraShot shot = {0}, again = {0};
        facet_camera_paint(&shot, venue, 2, 1, 5, (uint64_t)i);
        facet_camera_paint(&again, venue, 2, 1, 5, (uint64_t)i);
        assert_memory_equal(shot.colors, again.colors, sizeof shot.colors);
        seen[shot.colors[0]]++;
    }
    assert_int_equal(seen[1], 0);
    assert_in_range(seen[0], 250, 350); // four standard deviations
    assert_int_equal(seen[0] + seen[2], trials);
    facet_venue_destroy(venue);
    // With one colour there is no other.
    venue = scene_make(DARK_SKY, DARK_LIGHT,
                       "\"grey\": {\"pattern\": \"plain\", \"colors\": [[1, 1, 1]]}",
                       "{\"rect\": [9, 9], \"material\": \"grey\"}");
    FacetCameraShot shot = {0};
    facet_camera_paint(&shot, venue, 0, 0, 1, 0);
    assert_int_equal(shot.colors[0], 0);
    facet_venue_destroy(venue);
}

// Another look is another picture of the same things: the same number gives the same bytes, and
// the gates keep their colours.
static void looks_change_all_but_the_gates(void **unused)
{
    (void)unused;
    FacetVenue *venue;
    assert_ok(facet_venue_load(&venue, NULL, "piazza"));
    FacetCamera camera = quiet_camera();
    FacetCameraShot shot = shot_at(venue, 2, 1, 4.0);
    facet_camera_paint(&shot, venue, 2, 0, 1, 0);
    const FacetCourseGate *gate = facet_venue_gate(venue, 2);
    FacetVec3 beam = vec3_add(gate->center, vec3(0.0, 0.0, facet_venue_half_width(venue) + 0.125));
    double u, v;
    assert_true(facet_camera_project(&u, &v, &camera, shot.pos_world, shot.attitude, beam));
    facet_camera_render(&frame.rgb[0][0][0], &camera, venue, &shot, NULL);
    for (shot.look = 1; shot.look <= 20; shot.look++) {
        int changed = 0;
        facet_camera_render(&other.rgb[0][0][0], &camera, venue, &shot, NULL);
        for (int y = 0; y < 240; y++)
            for (int x = 0; x < 320; x++)
                changed += memcmp(frame.rgb[y][x], other.rgb[y][x], 3) != 0;
        assert_true(changed > 320 * 240 / 2);
        const uint8_t *p = other.rgb[(int)v][(int)u];
        assert_true(p[0] > p[1] + p[1] / 2);
        assert_true(p[0] > p[2] + p[2] / 2);
        facet_camera_render(&frame.rgb[0][0][0], &camera, venue, &shot, NULL);
        assert_memory_equal(&frame, &other, sizeof frame);
    }
    facet_venue_destroy(venue);
}

// Every venue has looks, and all its light stays finite: looking up from high above as well.
static void looks_of_every_venue(void **unused)
{
    (void)unused;
    FacetVenueNames names;
    assert_ok(facet_venue_names(&names, NULL));
    for (int i = 0; i < names.count; i++) {
        FacetVenue *venue;
        assert_ok(facet_venue_load(&venue, NULL, names.name[i]));
        for (uint64_t number = 1; number <= 20; number++) {
            Look look = venue->look;
            look_redraw(&look, venue->gate_count, number);
            Frame seen = {.venue = venue, .look = &look, .pixel = 0.006f};
            Rays up = {.origin = lanes3(lanes(0.0f), lanes(0.0f), lanes(200.0f)),
                       .direction = lanes3(lanes(0.6f), lanes(0.0f), lanes(0.8f)),
                       .far = lanes(1e4f),
                       .travelled = lanes(0.0f),
                       .active = {-1, -1, -1, -1, -1, -1, -1, -1}};
            Lanes3 light;
            shade(&light, &seen, &up, 0, 1);
            for (int lane = 0; lane < BATCH_LANES; lane++)
                assert_true(isfinite(light.x[lane] + light.y[lane] + light.z[lane]));
            assert_true(look.sky.cover == 0.0f || look.sky.cloud_scale > 0.0f);
        }
        facet_venue_destroy(venue);
    }
}

// Where the sun of this direction stands in a look of that number.
static FacetVec3 turned_sun(FacetVec3 sun, uint64_t number)
{
    Look look = {.light.sun_direction = {(float)sun.x, (float)sun.y, (float)sun.z}};
    look_redraw(&look, 0, number);
    const float *found = look.light.sun_direction;
    return vec3((double)found[0], (double)found[1], (double)found[2]);
}

// The suns of two venues turn by the same angle about the vertical, and all round over the looks.
static void the_sun_of_a_look_turns_about_the_vertical(void **unused)
{
    (void)unused;
    const FacetVec3 east = vec3(0.6, 0.0, 0.8), slanting = vec3(0.48, 0.36, 0.8);
    int seen[4] = {0};
    for (uint64_t number = 1; number <= 40; number++) {
        FacetVec3 first = turned_sun(east, number), second = turned_sun(slanting, number);
        assert_near(first.z, 0.8, 1e-6);
        assert_near(second.z, 0.8, 1e-6);
        assert_near(vec3_norm(first), 1.0, 1e-6);
        assert_near(vec3_norm(second), 1.0, 1e-6);
        assert_near(vec3_dot(first, second), vec3_dot(east, slanting), 1e-6);
        assert_near(vec3_cross(first, second).z, vec3_cross(east, slanting).z, 1e-6);
        seen[2 * (first.x > 0.0) + (first.y > 0.0)]++;
    }
    for (int i = 0; i < 4; i++) assert_true(seen[i] >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(noise_follows_the_generator),
        cmocka_unit_test(sensor_noise_has_its_variance),
        cmocka_unit_test(odd_sizes),
        cmocka_unit_test(gates_show_their_color),
        cmocka_unit_test(the_other_gates_have_other_colors),
        cmocka_unit_test(looks_change_all_but_the_gates),
        cmocka_unit_test(looks_of_every_venue),
        cmocka_unit_test(the_sun_of_a_look_turns_about_the_vertical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
