// Tests of the dense reference made from an action chunk.
#include "control/control.h"
#include "flying.h"

enum { LAST = FACET_REFERENCE_WAYPOINTS - 1, LAST_KEY = FACET_CHUNK_KEYPOINTS - 1 };

static void random_chunk(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], FacetRng *rng)
{
    FacetVec3 pos = random_vec3(rng, 2.0);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        chunk[i] = (FacetKeypoint){pos, rng_range(rng, 1.0, 5.0)};
        pos = vec3_add(pos, random_vec3(rng, 0.5));
    }
}

static void straight_chunk(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], FacetVec3 from, FacetVec3 to,
                           double speed)
{
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i] = (FacetKeypoint){vec3_lerp(from, to, (double)i / LAST_KEY), speed};
}

static void assert_reference_finite(const FacetReference *reference)
{
    for (int i = 0; i <= LAST; i++) {
        assert_true(vec3_finite(reference->pos[i]));
        assert_true(vec3_finite(reference->vel[i]));
        assert_true(vec3_finite(reference->acc[i]));
        assert_true(isfinite(reference->yaw[i]));
        assert_true(isfinite(reference->arc[i]));
    }
}

// Waypoint i stands at 31 i / 255 keypoints: on the ends exactly, on a straight line between.
static void interpolation_is_linear_between_keypoints(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(1, 0);
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference reference;
    random_chunk(chunk, &rng);
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    assert_vec3_near(reference.pos[0], chunk[0].pos, 0.0);
    assert_vec3_near(reference.pos[LAST], chunk[LAST_KEY].pos, 1e-15);
    for (int i = 0; i <= LAST; i++) {
        double u = 31.0 * i / 255.0;
        int k = (int)fmin(floor(u), 30.0);
        double t = u - k;
        FacetVec3 a = chunk[k].pos, b = chunk[k + 1].pos;
        assert_vec3_near(reference.pos[i], vec3_add(vec3_scale(a, 1.0 - t), vec3_scale(b, t)),
                         1e-14);
        double speed = (1.0 - t) * chunk[k].speed + t * chunk[k + 1].speed;
        assert_near(vec3_norm(reference.vel[i]), speed, 1e-13);
    }
    // A keypoint in between lies on the reference where the lines beside it meet.
    for (int k = 1; k < LAST_KEY; k++) {
        int i = k * 255 / 31; // the last waypoint before it
        double t = (double)(k * 255 % 31) / 31.0;
        FacetVec3 before = reference.pos[i], edge = vec3_sub(chunk[k].pos, chunk[k - 1].pos);
        assert_vec3_near(vec3_axpy(before, t * 31.0 / 255.0, edge), chunk[k].pos, 1e-13);
    }
    double arc = 0.0;
    for (int i = 0; i <= LAST; i++) {
        if (i) arc += vec3_distance(reference.pos[i], reference.pos[i - 1]);
        assert_near(reference.arc[i], arc, 1e-12);
    }
    assert_near(facet_reference_length(&reference), arc, 1e-12);
}

static void straight_line(void **unused)
{
    (void)unused;
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference reference;
    FacetVec3 from = vec3(1.0, 2.0, 3.0), to = vec3(-5.0, 10.0, 5.0);
    straight_chunk(chunk, from, to, 4.0);
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    FacetVec3 along = vec3_unit(vec3_sub(to, from), to);
    double length = vec3_distance(from, to);
    for (int i = 0; i <= LAST; i++) {
        assert_vec3_near(reference.vel[i], vec3_scale(along, 4.0), 1e-12);
        assert_vec3_near(reference.acc[i], vec3(0, 0, 0), 1e-11);
        assert_near(reference.yaw[i], atan2(along.y, along.x), 1e-12);
        assert_near(reference.arc[i], length * i / LAST, 1e-12);
    }
    assert_near(facet_reference_duration(&reference), length / 4.0, 1e-12);
}

// Faster along a line: acc = speed d(speed)/ds along it.
static void acceleration_along_a_line(void **unused)
{
    (void)unused;
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference reference;
    straight_chunk(chunk, vec3(0, 0, 1), vec3(31.0, 0, 1), 0.0);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i].speed = 1.0 + 0.1 * i; // 0.1 m/s a metre
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    for (int i = 0; i <= LAST; i++) {
        double speed = 1.0 + 0.1 * reference.pos[i].x;
        assert_vec3_near(reference.acc[i], vec3(0.1 * speed, 0.0, 0.0), 1e-10);
    }
}

// Round a circle and a half: yaw turns on without a jump, acc points to the centre with v^2/R.
static void a_circle_and_a_half_is_followed(void **unused)
{
    (void)unused;
    const double radius = 3.0, speed = 2.0, turn = 3.0 * FACET_PI;
    for (int side = -1; side <= 1; side += 2) {
        FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
        FacetReference reference;
        for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
            double angle = side * turn * i / LAST_KEY;
            chunk[i] = (FacetKeypoint){{radius * cos(angle), radius * sin(angle), 1.5}, speed};
        }
        assert_ok(facet_reference_from_chunk(&reference, chunk));
        for (int i = 0; i <= LAST; i++) {
            double angle = side * turn * i / LAST, off = 0.2; // a keypoint interval is 0.3 rad
            assert_near(reference.yaw[i], angle + side * 0.5 * FACET_PI, off);
            assert_near(vec3_norm(reference.vel[i]), speed, 1e-12);
            // yaw = atan2 of the velocity, up to whole turns
            double heading = atan2(reference.vel[i].y, reference.vel[i].x);
            double turns = (reference.yaw[i] - heading) / (2.0 * FACET_PI);
            assert_near(turns, round(turns), 1e-9);
            if (i > 0) assert_less(fabs(reference.yaw[i] - reference.yaw[i - 1]), 0.3);
            if (i < 8 || i > LAST - 8) continue;
            FacetVec3 inwards = vec3_scale(reference.pos[i], -1.0);
            inwards.z = 0.0;
            double pull = vec3_dot(reference.acc[i], vec3_unit(inwards, inwards));
            assert_between(pull, 0.7 * speed * speed / radius, 1.3 * speed * speed / radius);
        }
        assert_near(reference.yaw[LAST] - reference.yaw[0], side * turn, 0.4);
    }
}

// Where the path is vertical the heading stays as it was, and the velocity points up.
static void vertical_stretch_keeps_the_heading(void **unused)
{
    (void)unused;
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference reference;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        double run = fmin(i, 10.0), climb = fmax(0.0, i - 10.0);
        chunk[i] = (FacetKeypoint){{-0.5 * run, 0.5 * run, 1.0 + 0.3 * climb}, 2.0};
    }
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    assert_reference_finite(&reference);
    for (int i = 0; i <= LAST; i++) assert_near(reference.yaw[i], 0.75 * FACET_PI, 1e-9);
    assert_vec3_near(reference.vel[LAST], vec3(0.0, 0.0, 2.0), 1e-12);
}

// A path that begins with a climb heads where it goes afterwards, whatever the rounding errors of
// the climb say.
static void vertical_start_heads_where_the_path_goes(void **unused)
{
    (void)unused;
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference reference;
    FacetRng rng = rng_make(2, 0);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        double climb = fmin(i, 15.0), run = fmax(0.0, i - 15.0);
        chunk[i] =
            (FacetKeypoint){{rng_range(&rng, -1e-9, 1e-9), 0.5 * run, 1.0 + 0.2 * climb}, 2.0};
    }
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    for (int i = 0; i <= LAST; i++) assert_near(reference.yaw[i], 0.5 * FACET_PI, 1e-4);
    // Straight up all the way: nothing says where to head, so along x.
    straight_chunk(chunk, vec3(1, 1, 1), vec3(1, 1, 5), 1.0);
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    for (int i = 0; i <= LAST; i++) assert_near(reference.yaw[i], 0.0, 0.0);
    assert_reference_finite(&reference);
}

static void repeated_keypoints(void **unused)
{
    (void)unused;
    // Repeats at the start, in the middle and at the end.
    static const int repeats[][2] = {{1, 5}, {12, 14}, {28, 31}};
    for (size_t k = 0; k < sizeof repeats / sizeof *repeats; k++) {
        FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
        FacetReference reference;
        straight_chunk(chunk, vec3(0, 0, 1), vec3(0, 9.3, 1), 3.0);
        for (int i = repeats[k][0]; i <= repeats[k][1]; i++) chunk[i].pos = chunk[i - 1].pos;
        assert_ok(facet_reference_from_chunk(&reference, chunk));
        assert_reference_finite(&reference);
        for (int i = 0; i <= LAST; i++) {
            assert_vec3_near(reference.vel[i], vec3(0.0, 3.0, 0.0), 1e-9);
            assert_vec3_near(reference.acc[i], vec3(0.0, 0.0, 0.0), 1e-6);
            assert_near(reference.yaw[i], 0.5 * FACET_PI, 1e-9);
        }
    }
}

static void bad_values_are_refused(void **unused)
{
    (void)unused;
    FacetReference reference;
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    const double bad[3] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        straight_chunk(chunk, vec3(0, 0, 1), vec3(5, 0, 1), 2.0);
        chunk[7].pos.z = bad[k];
        assert_refused(facet_reference_from_chunk(&reference, chunk), "keypoint 7 of the plan");
        straight_chunk(chunk, vec3(0, 0, 1), vec3(5, 0, 1), 2.0);
        chunk[31].speed = bad[k];
        assert_refused(facet_reference_from_chunk(&reference, chunk), "keypoint 31 of the plan");
    }
    straight_chunk(chunk, vec3(1, 2, 3), vec3(1, 2, 3), 2.0);
    assert_refused(facet_reference_from_chunk(&reference, chunk), "the plan has no length");
    // Finite numbers whose distances are not, or which no flight could ever end.
    straight_chunk(chunk, vec3(0, 0, 1), vec3(5, 0, 1), 2.0);
    chunk[3].pos.x = 1e200;
    assert_refused(facet_reference_from_chunk(&reference, chunk), "the plan is");
    chunk[3].pos.x = 1e12;
    assert_refused(facet_reference_from_chunk(&reference, chunk), "the plan is");
}

// A speed below zero counts as zero, and changes nothing but the speeds.
static void negative_speed_counts_as_zero(void **unused)
{
    (void)unused;
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference zero, negative;
    straight_chunk(chunk, vec3(0, 0, 1), vec3(6, 2, 1), 2.0);
    chunk[0].speed = chunk[12].speed = chunk[13].speed = chunk[LAST_KEY].speed = 0.0;
    assert_ok(facet_reference_from_chunk(&zero, chunk));
    chunk[0].speed = -1e-3, chunk[12].speed = -0.5, chunk[13].speed = -3.0;
    chunk[LAST_KEY].speed = -1e6;
    assert_ok(facet_reference_from_chunk(&negative, chunk));
    assert_memory_equal(&negative, &zero, sizeof zero);
}

// A plan that stands still has a duration all the same.
static void duration_of_a_slow_plan(void **unused)
{
    (void)unused;
    FacetReference reference;
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    straight_chunk(chunk, vec3(0, 0, 1), vec3(5, 0, 1), 0.0);
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    assert_reference_finite(&reference);
    assert_near(facet_reference_duration(&reference), 50.0, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpolation_is_linear_between_keypoints),
        cmocka_unit_test(straight_line),
        cmocka_unit_test(acceleration_along_a_line),
        cmocka_unit_test(a_circle_and_a_half_is_followed),
        cmocka_unit_test(vertical_stretch_keeps_the_heading),
        cmocka_unit_test(vertical_start_heads_where_the_path_goes),
        cmocka_unit_test(repeated_keypoints),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(negative_speed_counts_as_zero),
        cmocka_unit_test(duration_of_a_slow_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
