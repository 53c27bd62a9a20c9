// Tests of the referee and of crashes: where a motion meets a gate, in which order and direction.
#include "course/course.h"
#include "flying.h"

// A track of gates along x at x = 0, 4, 8, …, all facing +x.
static FacetTrack row_of_gates(int count)
{
    FacetTrack track = {.gate_count = count};
    for (int i = 0; i < count; i++) {
        track.gates[i].center = vec3(4.0 * i, 0.0, 2.0);
        track.gates[i].normal = vec3(1.0, 0.0, 0.0);
    }
    return track;
}

// Shows the referee straight motion in `steps` equal steps of `step` seconds.
static void watch_line(FacetReferee *referee, FacetVec3 from, FacetVec3 to, int steps, double time,
                       double step)
{
    for (int i = 0; i < steps; i++)
        referee_watch(referee, vec3_lerp(from, to, (double)i / steps),
                      vec3_lerp(from, to, (double)(i + 1) / steps), time + i * step, step);
}

// Random gates and random lines through their planes, in steps of any length: the crossing is
// where the line meets the plane, not where a sample happens to be.
static void crossing_is_interpolated(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(1, 0);
    for (int k = 0; k < 500; k++) {
        FacetTrack track = {.gate_count = 2};
        FacetCourseGate *gate = &track.gates[0];
        gate->center = random_vec3(&rng, 5.0);
        gate->normal = random_direction(&rng);
        track.gates[1] = (FacetCourseGate){.center = {99.0, 0.0, 0.0}, .normal = {1.0, 0.0, 0.0}};
        // Aim at a point of the plane at a known distance from the centre.
        FacetVec3 aside = vec3_cross(gate->normal, random_direction(&rng));
        double miss = rng_range(&rng, 0.0, 2.4), half_width = rng_range(&rng, 0.2, 2.0);
        FacetVec3 target = vec3_axpy(gate->center, miss / vec3_norm(aside), aside);
        FacetVec3 vel = vec3_axpy(random_vec3(&rng, 3.0), 6.0, gate->normal);
        double t_cross = rng_range(&rng, 0.05, 0.15), start = rng_range(&rng, 0.0, 9.0);
        int steps = 1 + (int)(30.0 * rng_uniform(&rng));
        FacetVec3 from = vec3_axpy(target, -t_cross, vel);
        FacetReferee referee = referee_make(&track, half_width);
        watch_line(&referee, from, vec3_axpy(from, 0.2, vel), steps, start, 0.2 / steps);
        const FacetPassage *result = &referee.gates[0];
        assert_true(result->crossed);
        assert_int_equal(result->passed, miss <= half_width);
        assert_near(result->miss, miss, 1e-12);
        assert_near(hypot(result->at[0], result->at[1]), miss, 1e-12);
        assert_near(result->time, start + t_cross, 1e-12);
        assert_near(result->speed, vec3_norm(vel), 1e-10);
        assert_int_equal(referee.next, 1);
    }
}

// As one flies through along x, y is to the left and z up.
static void a_crossing_lies_to_the_left_and_up(void **unused)
{
    (void)unused;
    FacetTrack track = row_of_gates(1);
    FacetReferee referee = referee_make(&track, 0.5);
    watch_line(&referee, vec3(-1.0, 0.2, 1.9), vec3(1.0, 0.2, 1.9), 4, 0.0, 0.1);
    assert_near(referee.gates[0].at[0], 0.2, 1e-12);
    assert_near(referee.gates[0].at[1], -0.1, 1e-12);
}

static void backwards_does_not_count(void **unused)
{
    (void)unused;
    FacetTrack track = row_of_gates(2);
    FacetReferee referee = referee_make(&track, 0.5);
    watch_line(&referee, vec3(1.0, 0.0, 2.0), vec3(-1.0, 0.0, 2.0), 7, 0.0, 0.1);
    assert_int_equal(referee.next, 0);
    assert_false(referee.gates[0].crossed);
    assert_false(referee.gates[0].passed);
    // The least distance is kept all the same.
    assert_less(referee.gates[0].miss, 0.2);
    // Then forwards.
    watch_line(&referee, vec3(-1.0, 0.0, 2.0), vec3(1.0, 0.0, 2.0), 7, 0.7, 0.1);
    assert_true(referee.gates[0].passed);
    assert_int_equal(referee_passed(&referee), 1);
}

static void gates_count_in_order(void **unused)
{
    (void)unused;
    FacetTrack track = row_of_gates(4);
    FacetReferee referee = referee_make(&track, 0.5);
    // The third and the fourth first: they come too early.
    watch_line(&referee, vec3(6.0, 0.0, 2.0), vec3(14.0, 0.0, 2.0), 40, 0.0, 0.01);
    assert_int_equal(referee_passed(&referee), 0);
    assert_int_equal(referee.next, 0);
    // Then all in order.
    watch_line(&referee, vec3(-2.0, 0.0, 2.0), vec3(14.0, 0.0, 2.0), 80, 1.0, 0.01);
    assert_int_equal(referee_passed(&referee), 4);
    for (int i = 0; i < 4; i++)
        assert_near(referee.gates[i].time, 1.0 + (2.0 + 4.0 * i) / 20.0, 1e-12);
    // Nothing happens after the last.
    watch_line(&referee, vec3(-2.0, 0.0, 2.0), vec3(14.0, 0.0, 2.0), 80, 9.0, 0.01);
    assert_int_equal(referee_passed(&referee), 4);
    assert_near(referee.gates[0].time, 1.1, 1e-12);
}

// A near crossing outside of the opening settles the gate as missed, for good.
static void near_miss_settles_the_gate(void **unused)
{
    (void)unused;
    FacetTrack track = row_of_gates(2);
    FacetReferee referee = referee_make(&track, 0.5);
    watch_line(&referee, vec3(-1.0, 0.8, 2.0), vec3(1.0, 0.8, 2.0), 3, 0.0, 0.1);
    assert_true(referee.gates[0].crossed);
    assert_false(referee.gates[0].passed);
    assert_near(referee.gates[0].miss, 0.8, 1e-12);
    assert_int_equal(referee.next, 1);
    watch_line(&referee, vec3(-1.0, 0.0, 2.0), vec3(1.0, 0.0, 2.0), 3, 1.0, 0.1);
    assert_false(referee.gates[0].passed);
}

// A crossing beyond the capture radius is no attempt; just within it is one.
static void capture_radius(void **unused)
{
    (void)unused;
    FacetTrack track = row_of_gates(2);
    const double off[2] = {PASSAGE_CAPTURE_RADIUS + 0.01, PASSAGE_CAPTURE_RADIUS - 0.01};
    for (int k = 0; k < 2; k++) {
        FacetReferee referee = referee_make(&track, 0.5);
        watch_line(&referee, vec3(-1.0, off[k], 2.0), vec3(1.0, off[k], 2.0), 4, 0.0, 0.1);
        assert_int_equal(referee.gates[0].crossed, k == 1);
        assert_int_equal(referee.next, k);
        assert_near(referee.gates[0].miss, off[k], 1e-12);
        if (k == 1) continue;
        watch_line(&referee, vec3(-1.0, 0.0, 2.0), vec3(1.0, 0.0, 2.0), 4, 1.0, 0.1);
        assert_true(referee.gates[0].passed);
    }
    // An opening wider than the radius counts to its edge.
    FacetReferee wide = referee_make(&track, 4.0);
    watch_line(&wide, vec3(-1.0, 3.9, 2.0), vec3(1.0, 3.9, 2.0), 4, 0.0, 0.1);
    assert_true(wide.gates[0].passed);
}

// One gate flown past, the next one passed: the first is missed and the race goes on.
static void missed_gate_then_the_next_one(void **unused)
{
    (void)unused;
    FacetTrack track = row_of_gates(3);
    FacetReferee referee = referee_make(&track, 0.5);
    watch_line(&referee, vec3(-2.0, 3.0, 2.0), vec3(2.0, 3.0, 2.0), 40, 0.0, 0.01);
    watch_line(&referee, vec3(2.0, 3.0, 2.0), vec3(3.0, 0.0, 2.0), 10, 0.4, 0.01);
    watch_line(&referee, vec3(3.0, 0.0, 2.0), vec3(10.0, 0.0, 2.0), 70, 0.5, 0.01);
    assert_false(referee.gates[0].crossed);
    assert_false(referee.gates[0].passed);
    assert_true(referee.gates[1].passed);
    assert_true(referee.gates[2].passed);
    assert_int_equal(referee_passed(&referee), 2);
    // The first gate's miss is the least distance while it was open, at the time of that.
    assert_between(referee.gates[0].miss, 2.5, 3.0 + 1e-12);
    assert_between(referee.gates[0].time, 0.0, 0.6);
    assert_near(referee.gates[0].speed, 0.0, 0.0);
    // Only a passage does that: a near miss of the second gate leaves the first one open.
    referee = referee_make(&track, 0.5);
    watch_line(&referee, vec3(3.0, 1.0, 2.0), vec3(5.0, 1.0, 2.0), 20, 0.0, 0.01);
    assert_int_equal(referee.next, 0);
    assert_false(referee.gates[1].crossed);
}

// At the edge of the opening: exactly the half-width passes, a hair more does not.
static void boundary_of_the_half_width(void **unused)
{
    (void)unused;
    FacetTrack track = row_of_gates(2);
    const double edge[2] = {0.75, nextafter(0.75, 1.0)}; // 2 + 0.75 is exact, too
    for (int k = 0; k < 2; k++) {
        FacetReferee referee = referee_make(&track, 0.75);
        referee_watch(&referee, vec3(-1.0, edge[k], 2.0), vec3(1.0, edge[k], 2.0), 0.0, 0.1);
        assert_true(referee.gates[0].crossed);
        assert_int_equal(referee.gates[0].passed, k == 0);
    }
}

// A sample that lies exactly on the plane counts once.
static void sample_on_the_plane(void **unused)
{
    (void)unused;
    FacetTrack track = row_of_gates(2);
    FacetReferee referee = referee_make(&track, 0.5);
    referee_watch(&referee, vec3(-1.0, 0.1, 2.0), vec3(0.0, 0.1, 2.0), 0.0, 0.1);
    assert_true(referee.gates[0].passed);
    assert_near(referee.gates[0].time, 0.1, 1e-15);
    FacetPassage before = referee.gates[0];
    referee_watch(&referee, vec3(0.0, 0.1, 2.0), vec3(1.0, 0.1, 2.0), 0.1, 0.1);
    assert_near(referee.gates[0].time, before.time, 0.0);
    assert_int_equal(referee.next, 1);
    // A motion that begins on the plane has not come through it.
    referee = referee_make(&track, 0.5);
    referee_watch(&referee, vec3(0.0, 0.0, 2.0), vec3(1.0, 0.0, 2.0), 0.0, 0.1);
    assert_int_equal(referee.next, 0);
}

// Standing still, and motion that is not a number, settle nothing.
static void no_motion(void **unused)
{
    (void)unused;
    FacetTrack track = row_of_gates(2);
    FacetReferee referee = referee_make(&track, 0.5);
    FacetVec3 here = vec3(-0.5, 0.0, 2.0);
    referee_watch(&referee, here, here, 0.0, 0.1);
    assert_int_equal(referee.next, 0);
    assert_near(referee.gates[0].miss, 0.5, 1e-15);
    referee_watch(&referee, here, vec3(NAN, NAN, NAN), 0.0, 0.1);
    assert_int_equal(referee.next, 0);
    assert_near(referee.gates[0].miss, 0.5, 1e-15);
    assert_true(isinf(referee.gates[1].miss)); // never looked at
}

// ---- Crashes ----------------------------------------------------------------------------------

static void crash_kinds(void **unused)
{
    (void)unused;
    const FacetArena arena = {{-5.0, -4.0, 0.0}, {5.0, 4.0, 3.0}};
    FacetQuadState good = {.pos_world = {1.0, 1.0, 1.0}, .attitude = quat_identity()};
    assert_int_equal(crash_check(&arena, &good), FACET_CRASH_NONE);
    static const struct {
        FacetVec3 pos;
        FacetCrashKind kind;
    } places[] = {
        {{0, 0, 0.0}, FACET_CRASH_NONE},      {{0, 0, -1e-9}, FACET_CRASH_GROUND},
        {{5.0, 4.0, 3.0}, FACET_CRASH_NONE},  {{5.1, 0, 1}, FACET_CRASH_BOUNDS},
        {{-5.1, 0, 1}, FACET_CRASH_BOUNDS},   {{0, 4.1, 1}, FACET_CRASH_BOUNDS},
        {{0, -4.1, 1}, FACET_CRASH_BOUNDS},   {{0, 0, 3.1}, FACET_CRASH_BOUNDS},
        {{9.0, 9.0, -1}, FACET_CRASH_GROUND},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        FacetQuadState state = good;
        state.pos_world = places[i].pos;
        assert_int_equal(crash_check(&arena, &state), places[i].kind);
    }
    // Lost attitude: tilted past 120 degrees, whatever the heading.
    for (int k = 0; k < 12; k++) {
        FacetVec3 axis = vec3(cos(k), sin(k), 0.0);
        FacetQuadState state = good;
        FacetQuat yaw = quat_from_yaw(0.7 * k);
        state.attitude = quat_mul(quat_from_axis_angle(axis, 119.9 * FACET_PI / 180.0), yaw);
        assert_int_equal(crash_check(&arena, &state), FACET_CRASH_NONE);
        state.attitude = quat_mul(quat_from_axis_angle(axis, 120.1 * FACET_PI / 180.0), yaw);
        assert_int_equal(crash_check(&arena, &state), FACET_CRASH_ATTITUDE);
    }
    // Not a number comes before all others.
    FacetQuadState state = good;
    state.pos_world = vec3(0.0, 0.0, -1.0);
    state.omega_body.y = NAN;
    assert_int_equal(crash_check(&arena, &state), FACET_CRASH_NONFINITE);
    state = good;
    state.thrust[2] = INFINITY;
    assert_int_equal(crash_check(&arena, &state), FACET_CRASH_NONFINITE);
    state = good;
    state.pos_world.x = NAN;
    assert_int_equal(crash_check(&arena, &state), FACET_CRASH_NONFINITE);
}

static void crash_names(void **unused)
{
    (void)unused;
    assert_string_equal(facet_crash_name(FACET_CRASH_NONE), "none");
    assert_string_equal(facet_crash_name(FACET_CRASH_GROUND), "ground");
    assert_string_equal(facet_crash_name(FACET_CRASH_BOUNDS), "bounds");
    assert_string_equal(facet_crash_name(FACET_CRASH_ATTITUDE), "attitude");
    assert_string_equal(facet_crash_name(FACET_CRASH_NONFINITE), "non-finite state");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossing_is_interpolated),
        cmocka_unit_test(a_crossing_lies_to_the_left_and_up),
        cmocka_unit_test(backwards_does_not_count),
        cmocka_unit_test(gates_count_in_order),
        cmocka_unit_test(near_miss_settles_the_gate),
        cmocka_unit_test(capture_radius),
        cmocka_unit_test(missed_gate_then_the_next_one),
        cmocka_unit_test(boundary_of_the_half_width),
        cmocka_unit_test(sample_on_the_plane),
        cmocka_unit_test(no_motion),
        cmocka_unit_test(crash_kinds),
        cmocka_unit_test(crash_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
