// Tests of the dynamics and of one step: closed forms, invariants, order of convergence.
#include "flying.h"

static const double STEP = 1.0 / FACET_QUAD_RATE;
static const double OFF[4] = {0.0, 0.0, 0.0, 0.0};
static const FacetVec3 STILL = {0.0, 0.0, 0.0};

static void run(FacetQuadState *state, const FacetQuadModel *model, const double command[4],
                FacetVec3 wind, int steps)
{
    for (int i = 0; i < steps; i++) facet_quad_step(state, model, command, wind);
}

// Tumbling with the motors off.
static FacetQuadState thrown(FacetRng *rng)
{
    FacetQuadState state = random_state(rng);
    for (int i = 0; i < FACET_QUAD_MOTORS; i++) state.thrust[i] = 0.0;
    return state;
}

static void free_fall_without_drag(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(1, 0);
    FacetQuadParams params = facet_quad_params_default();
    params.drag = vec3(0.0, 0.0, 0.0);
    FacetQuadModel model = facet_quad_model(&params, STEP);
    const double t = 3.0;
    for (int k = 0; k < 5; k++) {
        FacetQuadState start = thrown(&rng), state = start;
        run(&state, &model, OFF, random_vec3(&rng, 5.0), 1800);
        FacetVec3 vel = start.vel_world, pos = vec3_axpy(start.pos_world, t, vel);
        vel.z -= params.gravity * t;
        pos.z -= 0.5 * params.gravity * t * t;
        assert_vec3_near(state.vel_world, vel, 1e-10);
        assert_vec3_near(state.pos_world, pos, 1e-10);
    }
}

// v' = -k (v - wind) - g, whatever the attitude does, when drag is the same along all axes.
static void free_fall_with_isotropic_drag(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(2, 0);
    FacetQuadParams params = facet_quad_params_default();
    const double k = 0.45, t = 3.0;
    params.drag = vec3(k, k, k);
    FacetQuadModel model = facet_quad_model(&params, STEP);
    for (int i = 0; i < 5; i++) {
        FacetQuadState start = thrown(&rng), state = start;
        FacetVec3 wind = random_vec3(&rng, 4.0);
        run(&state, &model, OFF, wind, 1800);
        FacetVec3 terminal = wind;
        terminal.z -= params.gravity / k;
        FacetVec3 excess = vec3_sub(start.vel_world, terminal);
        FacetVec3 vel = vec3_axpy(terminal, exp(-k * t), excess);
        FacetVec3 pos =
            vec3_axpy(vec3_axpy(start.pos_world, t, terminal), (1.0 - exp(-k * t)) / k, excess);
        assert_vec3_near(state.vel_world, vel, 1e-7);
        assert_vec3_near(state.pos_world, pos, 1e-7);
    }
}

// Held at one attitude, each body axis decays at its own rate towards its own terminal speed.
static void free_fall_with_drag_along_body_axes(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(3, 0);
    FacetQuadParams params = facet_quad_params_default();
    params.drag = vec3(0.544, 0.386, 0.1);
    FacetQuadModel model = facet_quad_model(&params, STEP);
    const double t = 3.0, rate[3] = {0.544, 0.386, 0.1};
    for (int i = 0; i < 5; i++) {
        FacetQuadState start = thrown(&rng);
        start.omega_body = vec3(0.0, 0.0, 0.0);
        FacetQuadState state = start;
        run(&state, &model, OFF, STILL, 1800);
        Mat3 r = quat_to_mat3(start.attitude);
        FacetVec3 v0 = mat3_tmul_vec3(r, start.vel_world);
        FacetVec3 g = mat3_tmul_vec3(r, vec3(0.0, 0.0, -params.gravity));
        const double v[3] = {v0.x, v0.y, v0.z}, pull[3] = {g.x, g.y, g.z};
        double vel[3], way[3];
        for (int j = 0; j < 3; j++) {
            double terminal = pull[j] / rate[j], keep = exp(-rate[j] * t);
            vel[j] = terminal + keep * (v[j] - terminal);
            way[j] = terminal * t + (1.0 - keep) / rate[j] * (v[j] - terminal);
        }
        FacetVec3 way_world = mat3_mul_vec3(r, vec3(way[0], way[1], way[2]));
        assert_vec3_near(state.vel_world, mat3_mul_vec3(r, vec3(vel[0], vel[1], vel[2])), 1e-10);
        assert_vec3_near(state.pos_world, vec3_add(start.pos_world, way_world), 1e-10);
        assert_near(attitude_angle(state.attitude, start.attitude), 0.0, 1e-12);
    }
}

static FacetVec3 momentum_world(const FacetQuadState *state, const FacetQuadParams *params)
{
    return mat3_mul_vec3(quat_to_mat3(state->attitude),
                         vec3_mul(params->inertia, state->omega_body));
}

static double spin_energy(const FacetQuadState *state, const FacetQuadParams *params)
{
    return 0.5 * vec3_dot(state->omega_body, vec3_mul(params->inertia, state->omega_body));
}

// An asymmetric body spun about its middle axis, which turns over again and again.
static void torque_free_rotation_keeps_energy_and_momentum(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, STEP);
    FacetQuadState state = {.attitude = quat_exp(vec3(0.3, -0.2, 0.9)),
                            .omega_body = {5.0, 0.05, 0.1}};
    FacetVec3 momentum = momentum_world(&state, &params);
    double energy = spin_energy(&state, &params), least = 5.0;
    for (int i = 0; i < 18000; i++) {
        facet_quad_step(&state, &model, OFF, STILL);
        least = fmin(least, state.omega_body.x);
        assert_near(spin_energy(&state, &params) / energy, 1.0, 1e-8);
        assert_near(vec3_distance(momentum_world(&state, &params), momentum) / vec3_norm(momentum),
                    0.0, 1e-7);
    }
    assert_less(least, -4.5); // it did turn over
}

// A body with two equal moments precesses: w_x + i w_y turns at (J_z - J_x)/J_x w_z.
static void symmetric_top_precesses_as_the_closed_form(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    params.inertia = vec3(1.5e-3, 1.5e-3, 2.9e-3);
    FacetQuadModel model = facet_quad_model(&params, STEP);
    FacetQuadState state = {.attitude = quat_identity(), .omega_body = {1.0, 0.0, 4.0}};
    double rate = (2.9 - 1.5) / 1.5 * 4.0, t = 5.0;
    run(&state, &model, OFF, STILL, 3000);
    assert_vec3_near(state.omega_body, vec3(cos(rate * t), sin(rate * t), 4.0), 1e-8);
}

// A tumbling flight with lag, drag and wind, whose commands change every 0.1 s.
static FacetQuadState tumble(const FacetQuadParams *params, int steps_per_change)
{
    FacetQuadModel model = facet_quad_model(params, 0.1 / steps_per_change);
    FacetRng rng = rng_make(4, 0);
    FacetQuadState state = random_state(&rng);
    for (int k = 0; k < 5; k++) {
        double command[4];
        random_thrusts(command, &rng, 0.0, 2.0);
        run(&state, &model, command, vec3(2.0, -1.0, 0.5), steps_per_change);
    }
    return state;
}

static void block_errors(double out[4], const FacetQuadState *from, const FacetQuadState *to)
{
    double d[QUAD_TANGENT];
    quad_local(d, from, to);
    for (int b = 0; b < 4; b++) out[b] = vec3_norm(vec3(d[3 * b], d[3 * b + 1], d[3 * b + 2]));
}

static void step_converges_with_fourth_order(void **unused)
{
    (void)unused;
    static const char *const blocks[4] = {"position", "attitude", "velocity", "body rate"};
    FacetQuadParams params = facet_quad_params_default();
    params.drag.z = 0.2;
    FacetQuadState exact = tumble(&params, 4096);
    double last[4] = {0.0}, error[4];
    for (int halving = 0; halving <= 3; halving++) {
        FacetQuadState state = tumble(&params, 10 << halving);
        block_errors(error, &exact, &state);
        for (int b = 0; b < 4; b++) {
            double ratio = last[b] / error[b];
            if (halving > 0 && !(ratio > 13.0 && ratio < 19.5)) {
                print_error("halving %d: %s error fell %.3g -> %.3g, %.2f times, expected 16\n",
                            halving, blocks[b], last[b], error[b], ratio);
                fail();
            }
            last[b] = error[b];
        }
    }
    for (int b = 0; b < 4; b++) assert_less(error[b], 1e-5);
}

static void hover_stays(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, STEP);
    FacetQuadState start = facet_quad_hover(&model, vec3(1.0, -2.0, 3.0), 0.7), state = start;
    run(&state, &model, start.thrust, STILL, 6000);
    assert_vec3_near(state.pos_world, start.pos_world, 1e-10);
    assert_vec3_near(state.vel_world, STILL, 1e-11);
    assert_vec3_near(state.omega_body, STILL, 1e-11);
    assert_near(attitude_angle(state.attitude, quat_from_yaw(0.7)), 0.0, 1e-11);
}

// The thrusts against the exact exponential, and the climb that they give against its integral.
static void motor_lag_is_the_exact_exponential(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    params.drag = STILL;
    FacetQuadModel model = facet_quad_model(&params, STEP);
    FacetQuadState start = facet_quad_hover(&model, STILL, 0.0), state = start;
    const double up[4] = {3.0, 3.0, 3.0, 3.0};
    double lag = params.motor_lag, extra = 4.0 * (3.0 - start.thrust[0]) / params.mass;
    for (int i = 1; i <= 300; i++) {
        facet_quad_step(&state, &model, up, STILL);
        double t = i * STEP, decay = exp(-t / lag);
        for (int m = 0; m < 4; m++)
            assert_near(state.thrust[m], 3.0 + (start.thrust[m] - 3.0) * decay, 1e-13);
        assert_near(state.vel_world.z, extra * (t - lag * (1.0 - decay)), 1e-8);
        double climb = extra * (0.5 * t * t - lag * t + lag * lag * (1.0 - decay));
        assert_near(state.pos_world.z, climb, 1e-8);
    }
    assert_vec3_near(state.omega_body, STILL, 1e-12);
}

// An ideal motor acts from the first instant of the step on.
static void ideal_motor_has_no_lag(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    params.drag = STILL;
    params.motor_lag = 0.0;
    FacetQuadModel model = facet_quad_model(&params, STEP);
    FacetQuadState state = facet_quad_hover(&model, STILL, 0.0);
    const double up[4] = {3.0, 3.0, 3.0, 3.0};
    facet_quad_step(&state, &model, up, STILL);
    assert_near(state.thrust[0], 3.0, 0.0);
    assert_near(state.vel_world.z, (12.0 / params.mass - params.gravity) * STEP, 1e-14);
}

static void quaternion_stays_unit(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(5, 0);
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, STEP);
    FacetQuadState state = random_state(&rng);
    double command[4];
    for (int i = 0; i < 36000; i++) {
        if (i % 12 == 0) {
            // Random thrusts, with torques that also brake the spin so that it stays bounded.
            FacetVec3 w = state.omega_body;
            double mean = rng_range(&rng, 0.0, 3.0);
            FacetVec3 torque = vec3_axpy(random_vec3(&rng, 0.05), -0.005, w);
            facet_quad_mix(command, &model, (FacetQuadWrench){4.0 * mean, torque});
        }
        facet_quad_step(&state, &model, command, STILL);
        assert_near(quat_norm(state.attitude), 1.0, 1e-15 * 4.0);
    }
    assert_true(quad_finite(&state));
}

// A flight in wind is the same flight in still air, seen from a frame that moves along.
static void wind_is_a_moving_frame(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(6, 0);
    FacetQuadParams params = facet_quad_params_default();
    params.drag.z = 0.3;
    FacetQuadModel model = facet_quad_model(&params, STEP);
    for (int k = 0; k < 5; k++) {
        FacetQuadState windy = random_state(&rng), still = windy;
        FacetVec3 wind = random_vec3(&rng, 6.0);
        still.vel_world = vec3_sub(still.vel_world, wind);
        double command[4];
        random_thrusts(command, &rng, 1.0, 1.4);
        run(&windy, &model, command, wind, 1200);
        run(&still, &model, command, STILL, 1200);
        assert_vec3_near(windy.vel_world, vec3_add(still.vel_world, wind), 1e-10);
        assert_vec3_near(windy.pos_world, vec3_axpy(still.pos_world, 2.0, wind), 1e-10);
        assert_near(attitude_angle(windy.attitude, still.attitude), 0.0, 1e-12);
    }
}

// The directions of the rotors' forces and torques, from where they stand and how they turn.
static void wrench_of_single_rotors(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    FacetQuadModel model = facet_quad_model(&params, STEP);
    double a = params.arm * sqrt(0.5);
    const FacetVec3 place[4] = {{a, a, 0.0}, {-a, a, 0.0}, {-a, -a, 0.0}, {a, -a, 0.0}};
    const double spin[4] = {1.0, -1.0, 1.0, -1.0};
    for (int i = 0; i < 4; i++) {
        double thrust[4] = {0.0};
        thrust[i] = 2.0;
        FacetQuadWrench wrench = facet_quad_wrench(&model, thrust);
        FacetVec3 torque = vec3_cross(place[i], vec3(0.0, 0.0, 2.0));
        torque.z += spin[i] * 2.0 * params.torque_ratio;
        assert_near(wrench.force, 2.0, 0.0);
        assert_vec3_near(wrench.torque, torque, 1e-16);
    }
}

static void finite_sees_every_number(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(7, 0);
    FacetQuadState good = random_state(&rng);
    assert_true(quad_finite(&good));
    enum { NUMBERS = sizeof(FacetQuadState) / sizeof(double) };
    assert_int_equal(NUMBERS, 17);
    for (int i = 0; i < NUMBERS; i++) {
        const double bad[3] = {NAN, INFINITY, -INFINITY};
        for (int k = 0; k < 3; k++) {
            FacetQuadState state = good;
            memcpy((char *)&state + (size_t)i * sizeof(double), &bad[k], sizeof(double));
            assert_int_equal(quad_finite(&state), 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_fall_without_drag),
        cmocka_unit_test(free_fall_with_isotropic_drag),
        cmocka_unit_test(free_fall_with_drag_along_body_axes),
        cmocka_unit_test(torque_free_rotation_keeps_energy_and_momentum),
        cmocka_unit_test(symmetric_top_precesses_as_the_closed_form),
        cmocka_unit_test(step_converges_with_fourth_order),
        cmocka_unit_test(hover_stays),
        cmocka_unit_test(motor_lag_is_the_exact_exponential),
        cmocka_unit_test(ideal_motor_has_no_lag),
        cmocka_unit_test(quaternion_stays_unit),
        cmocka_unit_test(wind_is_a_moving_frame),
        cmocka_unit_test(wrench_of_single_rotors),
        cmocka_unit_test(finite_sees_every_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
