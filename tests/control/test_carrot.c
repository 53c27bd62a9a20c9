// Tests of the carrot: progress, look-ahead, speed on a line, the cut of a circle, loops, the end.
#include "control/control.h"
#include "flying.h"

enum { LAST_KEY = FACET_CHUNK_KEYPOINTS - 1 };

static FacetControlPreset race_preset(void)
{
    FacetControlPreset preset;
    assert_ok(facet_control_preset(&preset, "race"));
    return preset;
}

static FacetReference straight(FacetVec3 from, FacetVec3 to, double speed)
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference reference;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i] = (FacetKeypoint){vec3_lerp(from, to, (double)i / LAST_KEY), speed};
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    return reference;
}

// A circle about the z axis at height 2, from angle 0 on, whose radius may change.
static FacetReference spiral(double radius, double radius_end, double turn, double speed)
{
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference reference;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        double u = (double)i / LAST_KEY, r = radius + u * (radius_end - radius);
        chunk[i] = (FacetKeypoint){{r * cos(turn * u), r * sin(turn * u), 2.0}, speed};
    }
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    return reference;
}

static FacetVec3 at_arc(const FacetReference *reference, double arc)
{
    int i = 0;
    while (i < FACET_REFERENCE_WAYPOINTS - 2 && reference->arc[i + 1] < arc) i++;
    double t = (arc - reference->arc[i]) / (reference->arc[i + 1] - reference->arc[i]);
    return vec3_lerp(reference->pos[i], reference->pos[i + 1], clamp(t, 0.0, 1.0));
}

static void progress_is_monotone(void **unused)
{
    (void)unused;
    FacetControlPreset preset = race_preset();
    FacetReference reference = spiral(3.0, 5.0, 9.0, 3.0);
    FacetRng rng = rng_make(1, 0);
    FacetCarrot carrot = {0};
    double last = 0.0, away = 0.0;
    for (int k = 0; k < 5000; k++) {
        // Wanders about the path, often backwards.
        away = clamp(away + rng_range(&rng, -0.2, 0.22), 0.0, facet_reference_length(&reference));
        FacetVec3 x = vec3_add(at_arc(&reference, away), random_vec3(&rng, 0.8));
        FacetSetpoint to = facet_carrot_advance(&carrot, &preset.carrot, &reference, x);
        assert_true(carrot.arc >= last);
        assert_between(carrot.arc, 0.0, facet_reference_length(&reference));
        assert_true(vec3_finite(to.pos));
        assert_true(vec3_finite(to.vel));
        assert_true(vec3_finite(to.acc));
        // The arc lies on the segment it says, and the distance is that of the point there.
        assert_between(carrot.arc, reference.arc[carrot.segment] - 1e-9,
                       reference.arc[carrot.segment + 1] + 1e-9);
        assert_near(carrot.distance, vec3_distance(at_arc(&reference, carrot.arc), x), 1e-9);
        last = carrot.arc;
    }
    assert_less(1.0, last);
}

// The nearest point against a search by brute force, over the window ahead.
static void nearest_point_against_brute_force(void **unused)
{
    (void)unused;
    FacetControlPreset preset = race_preset();
    preset.carrot.window = 2.0;
    FacetReference reference = spiral(3.0, 4.0, 4.0, 3.0);
    FacetRng rng = rng_make(2, 0);
    for (int k = 0; k < 200; k++) {
        double start = rng_range(&rng, 0.0, facet_reference_length(&reference) - 3.0);
        FacetVec3 x = vec3_add(at_arc(&reference, start + 0.8), random_vec3(&rng, 0.5));
        FacetCarrot carrot = {.arc = start};
        while (reference.arc[carrot.segment + 1] < start) carrot.segment++;
        facet_carrot_advance(&carrot, &preset.carrot, &reference, x);
        double best = INFINITY, best_arc = 0.0;
        for (double arc = start; arc < start + 2.0; arc += 1e-3) {
            double distance = vec3_distance(at_arc(&reference, arc), x);
            if (distance < best) best = distance, best_arc = arc;
        }
        assert_near(carrot.distance, best, 2e-4);
        assert_near(carrot.arc, best_arc, 5e-2);
    }
}

// Located afresh among all points of a range, not only ahead of where it was.
static void locate_within_a_range(void **unused)
{
    (void)unused;
    FacetReference reference = straight(vec3(0, 0, 2), vec3(20, 0, 2), 3.0);
    static const struct {
        double x, from, to, arc;
    } cases[] = {
        {7.0, 0.0, 20.0, 7.0},                              // the nearest of all
        {7.0, 9.0, 12.0, 9.0},                              // no nearer than the range begins
        {-3.0, -5.0, 20.0, 0.0},                            // a range that begins before the path
        {25.0, 15.0, 99.0, 20.0}, {25.0, 50.0, 99.0, 20.0}, // a range past the end of the path
        {7.0, 9.0, 8.0, 9.0},                               // an empty range is its first point
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        FacetVec3 x = vec3(cases[i].x, 0.4, 2.0);
        FacetCarrot carrot = facet_carrot_locate(&reference, x, cases[i].from, cases[i].to);
        assert_near(carrot.arc, cases[i].arc, 1e-9);
        assert_near(carrot.distance, hypot(cases[i].x - cases[i].arc, 0.4), 1e-9);
        assert_between(carrot.arc, reference.arc[carrot.segment] - 1e-9,
                       reference.arc[carrot.segment + 1] + 1e-9);
    }
}

// On a straight line the carrot's lead is taken out: the setpoint stands beside the vehicle and
// moves at the reference's velocity, so that nothing speeds it up.
static void setpoint_on_a_straight_line(void **unused)
{
    (void)unused;
    FacetControlPreset preset = race_preset();
    FacetReference reference = straight(vec3(0, 0, 2), vec3(30, 0, 2), 4.0);
    FacetCarrot carrot = {0};
    FacetSetpoint to = {0};
    for (int i = 0; i <= 20; i++)
        to = facet_carrot_advance(&carrot, &preset.carrot, &reference, vec3(0.5 * i, 0.3, 2.0));
    assert_near(carrot.arc, 10.0, 1e-9);
    assert_near(carrot.distance, 0.3, 1e-9);
    assert_vec3_near(to.pos, vec3(10.0, 0.0, 2.0), 1e-9);
    assert_vec3_near(to.vel, vec3(4.0, 0.0, 0.0), 1e-9);
    assert_vec3_near(to.acc, vec3(0.0, 0.0, 0.0), 1e-9);
    assert_near(to.yaw, 0.0, 1e-12);
}

// Before a right-angled corner the setpoint moves sideways by what the carrot has gone round it:
// its look-ahead less the way to the corner.
static void look_ahead_is_clamped(void **unused)
{
    (void)unused;
    const FacetCarrotParams params = {
        .lookahead_time = 0.5, .lookahead_min = 1.2, .lookahead_max = 3.0, .window = 1.0};
    const double speeds[] = {0.5, 2.3, 4.0, 5.9, 6.1, 20.0};
    for (size_t k = 0; k < sizeof speeds / sizeof *speeds; k++) {
        FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
        FacetReference reference;
        for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
            chunk[i] =
                (FacetKeypoint){{fmin(0.5 * i, 10.0), fmax(0.5 * i - 10.0, 0.0), 2.0}, speeds[k]};
        assert_ok(facet_reference_from_chunk(&reference, chunk));
        FacetCarrot carrot = {0};
        FacetSetpoint to = {0};
        for (int i = 0; i <= 94; i++)
            to = facet_carrot_advance(&carrot, &params, &reference, vec3(0.1 * i, 0.0, 2.0));
        double lookahead = clamp(0.5 * speeds[k], 1.2, 3.0);
        // The waypoints round the corner off by a few centimetres.
        assert_vec3_near(to.pos, vec3(9.4, lookahead - 0.6, 2.0), 0.06);
        assert_vec3_near(to.vel, vec3(speeds[k], 0.0, 0.0), 1e-9);
    }
}

// ---- In closed loop ---------------------------------------------------------------------------

static FacetQuadState moving_start(const FacetQuadModel *model, const FacetReference *reference)
{
    FacetQuadState state = facet_quad_hover(model, reference->pos[0], reference->yaw[0]);
    state.vel_world = reference->vel[0];
    return state;
}

static void chase(FacetQuadState *state, FacetCarrot *carrot, const FacetQuadModel *model,
                  const FacetControlPreset *preset, const FacetReference *reference)
{
    FacetSetpoint to = facet_carrot_advance(carrot, &preset->carrot, reference, state->pos_world);
    FacetSe3Output out;
    double command[FACET_QUAD_MOTORS];
    facet_se3_control(&out, &preset->gains, &model->params, state, &to);
    facet_quad_mix(command, model, out.wrench);
    facet_quad_step(state, model, command, vec3(0, 0, 0));
}

// From a wrong speed and place, the vehicle settles on the line at the reference's speed.
static void no_speed_bias_on_a_straight_line(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    static const char *const names[2] = {"race", "soft"};
    const double speeds[3] = {1.0, 3.0, 8.0};
    for (int k = 0; k < 6; k++) {
        FacetControlPreset preset;
        assert_ok(facet_control_preset(&preset, names[k % 2]));
        double speed = speeds[k / 2];
        FacetReference reference = straight(vec3(0, 0, 2), vec3(12.0 * speed, 0, 2), speed);
        FacetQuadState state = moving_start(&model, &reference);
        state.vel_world = vec3_scale(state.vel_world, 0.5);
        state.pos_world.y = 0.4;
        FacetCarrot carrot = {0};
        while (carrot.arc < 10.0 * speed) chase(&state, &carrot, &model, &preset, &reference);
        assert_near(state.vel_world.x / speed, 1.0, 1e-4);
        assert_near(carrot.distance, 0.0, 1e-3);
    }
}

// On a circle it settles inside by L^2/(2R), the depth of the carrot's own chord.
static void cut_of_a_circle(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetControlPreset preset = race_preset();
    const double radius = 6.0, speed = 1.5, turn = 1.8 * FACET_PI;
    const double looks[2] = {1.2, 2.0};
    for (int k = 0; k < 2; k++) {
        preset.carrot.lookahead_time = 0.0;
        preset.carrot.lookahead_min = looks[k];
        FacetReference reference = spiral(radius, radius, turn, speed);
        FacetQuadState state = moving_start(&model, &reference);
        FacetCarrot carrot = {0};
        double length = facet_reference_length(&reference), sum = 0.0;
        long count = 0;
        while (carrot.arc < 0.85 * length) {
            chase(&state, &carrot, &model, &preset, &reference);
            if (carrot.arc < 0.35 * length) continue;
            // From the polygon of keypoints, of which the path is made.
            sum += carrot.distance;
            count++;
            assert_less(hypot(state.pos_world.x, state.pos_world.y), radius);
        }
        double cut = looks[k] * looks[k] / (2.0 * radius);
        print_message("cut %.4f m, L^2/(2R) = %.4f m\n", sum / (double)count, cut);
        assert_between(sum / (double)count, 0.92 * cut, 1.08 * cut);
    }
}

// ---- Loops and ends ---------------------------------------------------------------------------

// Two rounds, the second 0.3 m outside of the first. Flown along a line nearer to the second, the
// progress stays in the first round; with a window as long as the path it would jump.
static void window_keeps_it_from_a_later_pass(void **unused)
{
    (void)unused;
    FacetControlPreset preset = race_preset();
    FacetReference reference = spiral(3.0, 3.6, 4.0 * FACET_PI, 3.0);
    double length = facet_reference_length(&reference);
    double arcs[2];
    for (int k = 0; k < 2; k++) {
        FacetCarrotParams params = preset.carrot;
        params.window = k == 0 ? 1.0 : length;
        FacetCarrot carrot = {0};
        for (int i = 0; i <= 400; i++) {
            double angle = 0.01 * i, r = 3.25 + 0.3 * angle / (2.0 * FACET_PI);
            double last = carrot.arc;
            facet_carrot_advance(&carrot, &params, &reference,
                                 vec3(r * cos(angle), r * sin(angle), 2.0));
            if (k == 0) assert_less(carrot.arc - last, 0.2);
        }
        arcs[k] = carrot.arc;
    }
    assert_between(arcs[0], 3.0 * 4.0 - 1.0, 3.0 * 4.0 + 1.5); // 4 rad along the first round
    assert_less(arcs[0] + 15.0, arcs[1]); // the test can tell: without a window it does jump
}

static void end_of_the_path(void **unused)
{
    (void)unused;
    FacetControlPreset preset = race_preset();
    FacetReference reference = straight(vec3(0, 0, 2), vec3(10, 0, 2), 3.0);
    FacetCarrot carrot = {0};
    FacetSetpoint to = {0};
    for (int i = 0; i <= 60; i++)
        to = facet_carrot_advance(&carrot, &preset.carrot, &reference, vec3(0.2 * i, 0.0, 2.0));
    assert_near(carrot.arc, 10.0, 1e-12); // the vehicle is at 12 m
    assert_near(carrot.distance, 2.0, 1e-12);
    assert_vec3_near(to.pos, vec3(10.0, 0.0, 2.0), 1e-12);
    // And it stays there, wherever the vehicle goes.
    to = facet_carrot_advance(&carrot, &preset.carrot, &reference, vec3(3.0, 5.0, 2.0));
    assert_near(carrot.arc, 10.0, 1e-12);
    assert_vec3_near(to.pos, vec3(10.0, 0.0, 2.0), 1e-12);
}

// Repeated keypoints make segments without length; the progress gets across them.
static void repeated_keypoints_do_not_stop_it(void **unused)
{
    (void)unused;
    FacetControlPreset preset = race_preset();
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference reference;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        double x = i < 10 ? i : i < 15 ? 10.0 : i - 5.0;
        chunk[i] = (FacetKeypoint){{0.5 * x, 0.0, 2.0}, 2.0};
    }
    assert_ok(facet_reference_from_chunk(&reference, chunk));
    FacetCarrot carrot = {0};
    for (int i = 0; i <= 100; i++) {
        FacetSetpoint to =
            facet_carrot_advance(&carrot, &preset.carrot, &reference, vec3(0.1 * i, 0.1, 2.0));
        assert_near(carrot.arc, 0.1 * i, 1e-9);
        assert_near(to.pos.x, 0.1 * i, 1e-9);
        assert_vec3_near(to.vel, vec3(2.0, 0.0, 0.0), 1e-9);
    }
}

// A plan of no speed is a place to go to slowly, not a division by zero.
static void plan_without_speed(void **unused)
{
    (void)unused;
    FacetControlPreset preset = race_preset();
    FacetReference reference = straight(vec3(0, 0, 2), vec3(10, 0, 2), 0.0);
    FacetCarrot carrot = {0};
    FacetSetpoint to =
        facet_carrot_advance(&carrot, &preset.carrot, &reference, vec3(1.0, 0.0, 2.0));
    assert_true(vec3_finite(to.pos));
    assert_true(vec3_finite(to.vel));
    assert_true(vec3_finite(to.acc));
    assert_vec3_near(to.vel, vec3(0, 0, 0), 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(progress_is_monotone),
        cmocka_unit_test(nearest_point_against_brute_force),
        cmocka_unit_test(locate_within_a_range),
        cmocka_unit_test(setpoint_on_a_straight_line),
        cmocka_unit_test(look_ahead_is_clamped),
        cmocka_unit_test(no_speed_bias_on_a_straight_line),
        cmocka_unit_test(cut_of_a_circle),
        cmocka_unit_test(window_keeps_it_from_a_later_pass),
        cmocka_unit_test(end_of_the_path),
        cmocka_unit_test(repeated_keypoints_do_not_stop_it),
        cmocka_unit_test(plan_without_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
