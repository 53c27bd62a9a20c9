// Tests of the SE(3) controller: hover, tracking with feed-forward, recovery, guards, Psi, rates.
#include "control/control.h"
#include "flying.h"

static const FacetVec3 ZERO = {0.0, 0.0, 0.0};

static FacetSe3Gains race_gains(void)
{
    FacetControlPreset preset;
    assert_ok(facet_control_preset(&preset, "race"));
    return preset.gains;
}

// One step of the closed loop.
static FacetSe3Output step_towards(FacetQuadState *state, const FacetQuadModel *model,
                                   const FacetSe3Gains *gains, const FacetSetpoint *to)
{
    FacetSe3Output out;
    double command[FACET_QUAD_MOTORS];
    facet_se3_control(&out, gains, &model->params, state, to);
    facet_quad_mix(command, model, out.wrench);
    facet_quad_step(state, model, command, ZERO);
    return out;
}

// ---- Hover ------------------------------------------------------------------------------------

static void hover_is_kept(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetSe3Gains gains = race_gains();
    FacetSetpoint to = {.pos = {1.0, -2.0, 3.0}, .yaw = 2.5};
    FacetQuadState state = facet_quad_hover(&model, to.pos, to.yaw);
    FacetSe3Output out;
    facet_se3_control(&out, &gains, &params, &state, &to);
    assert_near(out.wrench.force, params.mass * params.gravity, 1e-14);
    assert_vec3_near(out.wrench.torque, ZERO, 1e-14);
    for (int i = 0; i < 6000; i++) step_towards(&state, &model, &gains, &to);
    assert_vec3_near(state.pos_world, to.pos, 1e-10);
    assert_near(attitude_angle(state.attitude, quat_from_yaw(2.5)), 0.0, 1e-10);
}

// From a place and a heading nearby, with the motors' lag and drag.
static void hover_is_reached(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    static const char *const names[2] = {"race", "soft"};
    for (int k = 0; k < 2; k++) {
        FacetControlPreset preset;
        assert_ok(facet_control_preset(&preset, names[k]));
        FacetSetpoint to = {.pos = {0.0, 0.0, 2.0}, .yaw = 1.5};
        FacetQuadState state = facet_quad_hover(&model, vec3(1.5, -1.0, 1.0), -0.5);
        for (int i = 0; i < 9000; i++) step_towards(&state, &model, &preset.gains, &to);
        assert_vec3_near(state.pos_world, to.pos, 1e-6);
        assert_near(attitude_angle(state.attitude, quat_from_yaw(1.5)), 0.0, 1e-6);
    }
}

// ---- Tracking ---------------------------------------------------------------------------------

// One coordinate a sin(w t + p) + c with its first four derivatives.
static void wave(double out[5], double a, double w, double p, double c, double t)
{
    double s = a * sin(w * t + p), k = a * cos(w * t + p);
    out[0] = s + c;
    out[1] = w * k;
    out[2] = -w * w * s;
    out[3] = -w * w * w * k;
    out[4] = w * w * w * w * s;
}

static FacetSetpoint lissajous(double t)
{
    double x[5], y[5], z[5], yaw[5];
    wave(x, 2.0, 1.6, 0.0, 0.0, t);
    wave(y, 1.5, 2.1, 0.4, 0.0, t);
    wave(z, 0.7, 1.3, 1.0, 3.0, t);
    wave(yaw, 0.8, 1.1, 0.2, 0.3, t);
    return (FacetSetpoint){.pos = {x[0], y[0], z[0]},
                           .vel = {x[1], y[1], z[1]},
                           .acc = {x[2], y[2], z[2]},
                           .jerk = {x[3], y[3], z[3]},
                           .snap = {x[4], y[4], z[4]},
                           .yaw = yaw[0],
                           .yaw_rate = yaw[1],
                           .yaw_acc = yaw[2]};
}

// The attitude that flies the trajectory: thrust along a + g, heading as wanted.
static FacetQuat flat_attitude(double t, double gravity)
{
    FacetSetpoint to = lissajous(t);
    FacetVec3 b3 = vec3_unit(vec3_add(to.acc, vec3(0.0, 0.0, gravity)), ZERO);
    FacetVec3 heading = vec3(cos(to.yaw), sin(to.yaw), 0.0);
    FacetVec3 b2 = vec3_unit(vec3_cross(b3, heading), ZERO), b1 = vec3_cross(b2, b3);
    // Tilts here stay far below a half turn, so w is far from zero.
    double w = 0.5 * sqrt(1.0 + b1.x + b2.y + b3.z);
    return quat_normalize((FacetQuat){w, (b2.z - b3.y) / (4.0 * w), (b3.x - b1.z) / (4.0 * w),
                                      (b1.y - b2.x) / (4.0 * w)});
}

static FacetVec3 flat_rate(double t, double gravity)
{
    const double h = 1e-4;
    FacetQuat before = flat_attitude(t - h, gravity), after = flat_attitude(t + h, gravity);
    return vec3_scale(quat_log(quat_mul(quat_conj(before), after)), 0.5 / h);
}

// The largest distance from the trajectory over 8 s, with some of the feed-forward left out.
static double tracking_error(double step, bool acceleration, bool higher)
{
    FacetQuadParams params = facet_quad_params_default();
    params.drag = ZERO;
    params.motor_lag = 0.0;
    FacetQuadModel model = facet_quad_model(&params, step);
    FacetSe3Gains gains = race_gains();
    FacetSetpoint to = lissajous(0.0);
    FacetQuadState state = {.pos_world = to.pos,
                            .attitude = flat_attitude(0.0, params.gravity),
                            .vel_world = to.vel,
                            .omega_body = flat_rate(0.0, params.gravity)};
    double worst = 0.0;
    for (int i = 0; i < (int)(8.0 / step + 0.5); i++) {
        to = lissajous(i * step);
        worst = fmax(worst, vec3_distance(state.pos_world, to.pos));
        if (!acceleration) to.acc = ZERO;
        if (!higher) to.jerk = to.snap = ZERO;
        step_towards(&state, &model, &gains, &to);
    }
    return worst;
}

static void smooth_trajectory_is_tracked(void **unused)
{
    (void)unused;
    double at_600 = tracking_error(1.0 / 600.0, true, true);
    double at_1200 = tracking_error(1.0 / 1200.0, true, true);
    double at_2400 = tracking_error(1.0 / 2400.0, true, true);
    print_message("error %.3g, %.3g, %.3g m at 600, 1200, 2400 Hz\n", at_600, at_1200, at_2400);
    // What is left comes from holding the command over a step, and shrinks with it.
    assert_less(at_600, 0.01);
    assert_between(at_600 / at_1200, 1.8, 2.2);
    assert_between(at_1200 / at_2400, 1.8, 2.2);
}

static void feed_forward_matters(void **unused)
{
    (void)unused;
    double full = tracking_error(1.0 / 600.0, true, true);
    double no_rates = tracking_error(1.0 / 600.0, true, false);
    double none = tracking_error(1.0 / 600.0, false, false);
    print_message("error %.3g m; %.3g without jerk and snap; %.3g without acceleration\n", full,
                  no_rates, none);
    assert_less(5.0 * full, no_rates);
    assert_less(5.0 * no_rates, none);
}

// Drag is balanced: at a steady speed nothing is left over, in any direction and heading.
static void cruise_with_drag_has_no_standing_error(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    params.drag = vec3(0.6, 0.4, 0.2);
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetSe3Gains gains = race_gains();
    const FacetVec3 speeds[3] = {{6.0, 0.0, 0.0}, {0.0, -4.0, 1.0}, {3.0, 3.0, -2.0}};
    for (int k = 0; k < 3; k++) {
        FacetSetpoint to = {.vel = speeds[k], .yaw = 0.7 * k};
        FacetQuadState state = facet_quad_hover(&model, ZERO, to.yaw);
        FacetSe3Output out;
        for (int i = 0; i < 9000; i++) {
            to.pos = vec3_scale(to.vel, i * model.step);
            out = step_towards(&state, &model, &gains, &to);
        }
        assert_vec3_near(out.position_error, ZERO, 1e-6);
        assert_vec3_near(out.velocity_error, ZERO, 1e-6);
        assert_near(out.attitude_error_2, 0.0, 1e-10);
    }
}

// ---- Attitude ---------------------------------------------------------------------------------

// Hovers in place after a bad start; returns how far it strayed on the way.
static double recover(FacetQuadState state, const FacetQuadModel *model)
{
    FacetSe3Gains gains = race_gains();
    FacetSetpoint to = {.pos = state.pos_world};
    double strayed = 0.0;
    for (int i = 0; i < 4800; i++) {
        step_towards(&state, model, &gains, &to);
        strayed = fmax(strayed, vec3_distance(state.pos_world, to.pos));
        assert_true(quad_finite(&state));
    }
    assert_vec3_near(state.pos_world, to.pos, 1e-3);
    assert_vec3_near(state.omega_body, ZERO, 1e-3);
    assert_near(attitude_angle(state.attitude, quat_identity()), 0.0, 1e-3);
    return strayed;
}

static void recovery_from_exactly_inverted(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    // A half turn about each axis, and about all the diagonals between them.
    for (int x = -1; x <= 1; x++)
        for (int y = -1; y <= 1; y++)
            for (int z = -1; z <= 1; z++) {
                if (!x && !y && !z) continue;
                FacetQuadState state = facet_quad_hover(&model, ZERO, 0.0);
                state.attitude = quat_exp(vec3_scale(vec3_unit(vec3(x, y, z), ZERO), FACET_PI));
                assert_less(recover(state, &model), 2.5);
            }
    // Exactly: a quaternion without rounding.
    FacetQuadState rolled = facet_quad_hover(&model, ZERO, 0.0);
    rolled.attitude = (FacetQuat){0.0, 1.0, 0.0, 0.0};
    assert_less(recover(rolled, &model), 2.5);
}

static void recovery_from_random_attitudes(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetRng rng = rng_make(1, 0);
    double worst = 0.0;
    for (int k = 0; k < 30; k++) {
        FacetQuadState state = facet_quad_hover(&model, ZERO, 0.0);
        // Every third starts within a degree of a half turn, where Psi is almost 2.
        double angle = k % 3 ? rng_range(&rng, 0.0, FACET_PI) : FACET_PI - rng_range(&rng, 0, 0.02);
        state.attitude = quat_exp(vec3_scale(random_direction(&rng), angle));
        state.omega_body = k % 2 ? random_vec3(&rng, 6.0) : ZERO;
        worst = fmax(worst, recover(state, &model));
    }
    assert_less(worst, 8.0); // the worst starts almost inverted, in a spin about the thrust axis
}

// Turned by an angle away from what is wanted: Psi = 1 - cos(angle), e_R = sin(angle) axis.
static void psi_and_attitude_error_of_known_turns(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetSe3Gains gains = race_gains();
    FacetRng rng = rng_make(2, 0);
    const double degrees[] = {0.0, 0.01, 1.0, 45.0, 90.0, 135.0, 177.0, 178.0, 179.9, 180.0};
    for (size_t k = 0; k < sizeof degrees / sizeof *degrees; k++) {
        double angle = degrees[k] * FACET_PI / 180.0;
        FacetVec3 axis = random_direction(&rng);
        FacetSetpoint to = {.yaw = 0.6};
        FacetQuadState state = facet_quad_hover(&model, ZERO, to.yaw);
        state.attitude = quat_mul(state.attitude, quat_from_axis_angle(axis, angle));
        FacetSe3Output out;
        facet_se3_control(&out, &gains, &params, &state, &to);
        assert_near(out.attitude_error_2, 1.0 - cos(angle), 1e-14);
        if (degrees[k] < 177.4)
            assert_vec3_near(out.attitude_error, vec3_scale(axis, sin(angle)), 1e-14);
        else // near the half turn it has unit length, so that it does not vanish
            assert_near(vec3_norm(out.attitude_error), 1.0, 1e-12);
        if (degrees[k] > 177.4 && degrees[k] < 180.0)
            assert_vec3_near(out.attitude_error, axis, 1e-10);
    }
}

// ---- The desired body rate and its derivative ---------------------------------------------------

// Rc, Wc and dWc, read back from what the controller puts out.
typedef struct Commanded {
    FacetQuat attitude;
    FacetVec3 rate, rate_dot; // in the commanded frame
} Commanded;

static Commanded read_back(const FacetSe3Output *out, const FacetSe3Gains *gains,
                           const FacetQuadParams *params, const FacetQuadState *state)
{
    double sine = vec3_norm(out->attitude_error), angle = atan2(sine, 1.0 - out->attitude_error_2);
    FacetVec3 turn = vec3_scale(vec3_unit(out->attitude_error, ZERO), angle); // from Rc to R
    FacetVec3 w = state->omega_body, wc_body = vec3_sub(w, out->rate_error);
    FacetVec3 gyroscopic = vec3_cross(w, vec3_mul(params->inertia, w));
    FacetVec3 inertial = vec3_sub(out->wrench.torque, gyroscopic);
    FacetVec3 total = vec3(inertial.x / params->inertia.x, inertial.y / params->inertia.y,
                           inertial.z / params->inertia.z);
    FacetVec3 forward = vec3_axpy(vec3_axpy(total, gains->attitude, out->attitude_error),
                                  gains->rate, out->rate_error);
    FacetVec3 dwc_body = vec3_add(forward, vec3_cross(w, wc_body));
    Mat3 rc_t_r = quat_to_mat3(quat_exp(turn));
    return (Commanded){quat_mul(state->attitude, quat_exp(vec3_scale(turn, -1.0))),
                       mat3_mul_vec3(rc_t_r, wc_body), mat3_mul_vec3(rc_t_r, dwc_body)};
}

// The state a short time away along the motion that the wrench gives, to first order. The errors
// of second order are even in time and cancel in a central difference.
static FacetQuadState drifted(const FacetQuadState *s, const FacetQuadParams *params,
                              const FacetQuadWrench *wrench, double t)
{
    FacetVec3 b3 = mat3_column(quat_to_mat3(s->attitude), 2), w = s->omega_body;
    FacetVec3 acc = vec3_scale(b3, wrench->force / params->mass);
    acc.z -= params->gravity;
    FacetVec3 net = vec3_sub(wrench->torque, vec3_cross(w, vec3_mul(params->inertia, w)));
    FacetVec3 spin =
        vec3(net.x / params->inertia.x, net.y / params->inertia.y, net.z / params->inertia.z);
    FacetQuadState out = *s;
    out.pos_world = vec3_axpy(s->pos_world, t, s->vel_world);
    out.vel_world = vec3_axpy(s->vel_world, t, acc);
    out.attitude = quat_mul(s->attitude, quat_exp(vec3_scale(w, t)));
    out.omega_body = vec3_axpy(w, t, spin);
    return out;
}

static void desired_rate_is_the_derivative_of_the_commanded_attitude(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    params.drag = ZERO; // the controller leaves the drag's own rate of change out
    FacetSe3Gains gains = race_gains();
    FacetRng rng = rng_make(3, 0);
    const double h = 1e-4;
    for (int k = 0; k < 50; k++) {
        double t = rng_range(&rng, 0.0, 10.0);
        FacetSetpoint to = lissajous(t);
        FacetQuadState state = {
            .pos_world = vec3_add(to.pos, random_vec3(&rng, 0.2)),
            .vel_world = vec3_add(to.vel, random_vec3(&rng, 0.3)),
            .attitude =
                quat_mul(flat_attitude(t, params.gravity), quat_exp(random_vec3(&rng, 0.3))),
            .omega_body = random_vec3(&rng, 2.0),
        };
        FacetSe3Output out, out_before, out_after;
        facet_se3_control(&out, &gains, &params, &state, &to);
        Commanded now = read_back(&out, &gains, &params, &state);
        FacetQuadState past = drifted(&state, &params, &out.wrench, -h);
        FacetQuadState next = drifted(&state, &params, &out.wrench, h);
        FacetSetpoint to_before = lissajous(t - h), to_after = lissajous(t + h);
        facet_se3_control(&out_before, &gains, &params, &past, &to_before);
        facet_se3_control(&out_after, &gains, &params, &next, &to_after);
        Commanded before = read_back(&out_before, &gains, &params, &past);
        Commanded after = read_back(&out_after, &gains, &params, &next);

        FacetVec3 turned = quat_log(quat_mul(quat_conj(before.attitude), after.attitude));
        assert_vec3_near(now.rate, vec3_scale(turned, 0.5 / h), 1e-5);
        FacetVec3 gained = vec3_sub(after.rate, before.rate);
        assert_vec3_near(now.rate_dot, vec3_scale(gained, 0.5 / h), 1e-3);
    }
}

// ---- Guards -----------------------------------------------------------------------------------

static int output_finite(const FacetSe3Output *out)
{
    return isfinite(out->wrench.force) && vec3_finite(out->wrench.torque) &&
           vec3_finite(out->attitude_error) && vec3_finite(out->rate_error) &&
           isfinite(out->attitude_error_2);
}

// Free fall wanted: no force to point along, so the vehicle keeps its thrust axis.
static void guard_of_zero_force(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    params.drag = ZERO;
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetSe3Gains gains = race_gains();
    FacetRng rng = rng_make(4, 0);
    FacetSetpoint to = {.acc = {0.0, 0.0, -params.gravity}, .yaw = 0.4};
    FacetQuadState level = facet_quad_hover(&model, ZERO, 0.4);
    FacetSe3Output out;
    facet_se3_control(&out, &gains, &params, &level, &to);
    assert_near(out.wrench.force, 0.0, 1e-14);
    assert_near(out.attitude_error_2, 0.0, 1e-14);
    assert_vec3_near(out.wrench.torque, ZERO, 1e-14);
    for (int k = 0; k < 50; k++) {
        FacetQuadState state = level;
        state.attitude = random_attitude(&rng);
        state.omega_body = random_vec3(&rng, 5.0);
        facet_se3_control(&out, &gains, &params, &state, &to);
        assert_true(output_finite(&out));
        assert_near(out.wrench.force, 0.0, 1e-14);
        // The thrust axis stays: the error is about it alone.
        assert_near(out.attitude_error.x, 0.0, 1e-12);
        assert_near(out.attitude_error.y, 0.0, 1e-12);
    }
}

// Force along the heading: the heading says nothing, so the body's own y axis does.
static void guard_of_force_along_heading(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetSe3Gains gains = race_gains();
    FacetRng rng = rng_make(5, 0);
    FacetSetpoint to = {.acc = {5.0, 0.0, -params.gravity}};
    FacetQuadState state = facet_quad_hover(&model, ZERO, 0.0);
    FacetSe3Output out;
    facet_se3_control(&out, &gains, &params, &state, &to);
    // The nose goes down by a quarter turn, and nothing else.
    assert_near(out.attitude_error_2, 1.0, 1e-14);
    assert_vec3_near(out.attitude_error, vec3(0.0, -1.0, 0.0), 1e-14);
    for (int k = 0; k < 50; k++) {
        state.attitude = random_attitude(&rng);
        state.omega_body = random_vec3(&rng, 5.0);
        double side = k % 2 ? 1.0 : -1.0;
        to.acc.x = 5.0 * side;
        facet_se3_control(&out, &gains, &params, &state, &to);
        assert_true(output_finite(&out));
        assert_between(out.attitude_error_2, -1e-14, 2.0 + 1e-14);
        to.acc.y = 1e-5; // and just beside the guard
        facet_se3_control(&out, &gains, &params, &state, &to);
        assert_true(output_finite(&out));
        to.acc.y = 0.0;
    }
    // The body's y axis along the force as well: nothing of the usual is left to go by.
    state.attitude = quat_from_yaw(-0.5 * FACET_PI);
    state.omega_body = ZERO;
    to.acc.x = 5.0;
    facet_se3_control(&out, &gains, &params, &state, &to);
    assert_true(output_finite(&out));
    // A force along y with its heading, and the body's y axis along it.
    to = (FacetSetpoint){.acc = {0.0, 5.0, -params.gravity}, .yaw = 0.5 * FACET_PI};
    state.attitude = quat_identity();
    facet_se3_control(&out, &gains, &params, &state, &to);
    assert_true(output_finite(&out));
    assert_between(out.attitude_error_2, 0.5, 2.0);
}

// ---- Presets ----------------------------------------------------------------------------------

static void presets_have_their_names(void **unused)
{
    (void)unused;
    FacetControlPreset race, soft, none;
    assert_ok(facet_control_preset(&race, "race"));
    assert_ok(facet_control_preset(&soft, "soft"));
    assert_string_equal(race.name, "race");
    assert_string_equal(soft.name, "soft");
    assert_less(soft.gains.position, race.gains.position);
    assert_refused(facet_control_preset(&none, "sotf"),
                   "no control preset 'sotf', did you mean 'soft'? known: race, soft");
    assert_refused(facet_control_preset(&none, ""), "race, soft");
    assert_refused(facet_control_preset(&none, "ra\nce"), "no control preset 'ra");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hover_is_kept),
        cmocka_unit_test(hover_is_reached),
        cmocka_unit_test(smooth_trajectory_is_tracked),
        cmocka_unit_test(feed_forward_matters),
        cmocka_unit_test(cruise_with_drag_has_no_standing_error),
        cmocka_unit_test(recovery_from_exactly_inverted),
        cmocka_unit_test(recovery_from_random_attitudes),
        cmocka_unit_test(psi_and_attitude_error_of_known_turns),
        cmocka_unit_test(desired_rate_is_the_derivative_of_the_commanded_attitude),
        cmocka_unit_test(guard_of_zero_force),
        cmocka_unit_test(guard_of_force_along_heading),
        cmocka_unit_test(presets_have_their_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
