// Tests of the step's derivative in tangent coordinates, and of the coordinates themselves.
#include "flying.h"

static void retract_and_local_are_inverse(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(1, 0);
    for (int k = 0; k < 200; k++) {
        FacetQuadState from = random_state(&rng), to = random_state(&rng);
        double d[QUAD_TANGENT], back[QUAD_TANGENT];
        quad_local(d, &from, &to);
        FacetQuadState again = quad_retract(&from, d);
        assert_vec3_near(again.pos_world, to.pos_world, 1e-14);
        assert_vec3_near(again.vel_world, to.vel_world, 1e-14);
        assert_vec3_near(again.omega_body, to.omega_body, 1e-14);
        assert_near(attitude_angle(again.attitude, to.attitude), 0.0, 1e-13);
        assert_near(quat_norm(again.attitude), 1.0, 1e-15);
        for (int i = 0; i < FACET_QUAD_MOTORS; i++)
            assert_near(again.thrust[i], to.thrust[i], 1e-14);

        FacetVec3 turn = vec3_scale(random_direction(&rng), rng_range(&rng, 0.0, 3.0));
        for (int i = 0; i < QUAD_TANGENT; i++) d[i] = rng_range(&rng, -2.0, 2.0);
        d[3] = turn.x, d[4] = turn.y, d[5] = turn.z;
        FacetQuadState moved = quad_retract(&from, d);
        quad_local(back, &from, &moved);
        for (int i = 0; i < QUAD_TANGENT; i++) assert_near(back[i], d[i], 1e-13);
    }
}

// One step from a state moved along tangent coordinate `axis` (or the command) by `reach`,
// in tangent coordinates about `base`.
static void moved_step(double out[QUAD_TANGENT], const FacetQuadState *base,
                       const FacetQuadState *state, const FacetQuadModel *model,
                       const double command[4], FacetVec3 wind, int axis, double reach)
{
    double d[QUAD_TANGENT] = {0.0}, moved[4];
    memcpy(moved, command, sizeof moved);
    if (axis < QUAD_TANGENT)
        d[axis] = reach;
    else
        moved[axis - QUAD_TANGENT] += reach;
    FacetQuadState next = quad_retract(state, d);
    facet_quad_step(&next, model, moved, wind);
    quad_local(out, base, &next);
}

static void compare_with_differences(const FacetQuadParams *params, double step, uint64_t seed)
{
    FacetRng rng = rng_make(seed, 0);
    FacetQuadModel model = facet_quad_model(params, step);
    for (int k = 0; k < 25; k++) {
        FacetQuadState state = random_state(&rng), next = state;
        state.omega_body = vec3_scale(state.omega_body, 2.0);
        next = state;
        double command[4], jacobian[QUAD_TANGENT][QUAD_TANGENT];
        double by_command[QUAD_TANGENT][FACET_QUAD_MOTORS];
        random_thrusts(command, &rng, 0.0, params->thrust_max);
        FacetVec3 wind = random_vec3(&rng, 4.0);
        facet_quad_step(&next, &model, command, wind);
        quad_step_jacobian(jacobian, by_command, &state, &model, command, wind);
        const double reach = 1e-5;
        for (int j = 0; j < QUAD_TANGENT + FACET_QUAD_MOTORS; j++) {
            double plus[QUAD_TANGENT], minus[QUAD_TANGENT];
            moved_step(plus, &next, &state, &model, command, wind, j, reach);
            moved_step(minus, &next, &state, &model, command, wind, j, -reach);
            for (int i = 0; i < QUAD_TANGENT; i++) {
                double difference = (plus[i] - minus[i]) / (2.0 * reach);
                double exact = j < QUAD_TANGENT ? jacobian[i][j] : by_command[i][j - QUAD_TANGENT];
                if (!(fabs(exact - difference) < 2e-9)) {
                    print_error("state %d: d out[%d] / d in[%d] = %.12g, differences give %.12g\n",
                                k, i, j, exact, difference);
                    fail();
                }
            }
        }
    }
}

static void jacobian_with_lag_drag_and_wind(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    params.drag.z = 0.25;
    compare_with_differences(&params, 1.0 / FACET_QUAD_RATE, 2);
}

static void jacobian_with_ideal_motors(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    params.motor_lag = 0.0;
    compare_with_differences(&params, 1.0 / FACET_QUAD_RATE, 3);
}

// A long step, where the terms of higher order in the step show.
static void jacobian_of_a_long_step(void **unused)
{
    (void)unused;
    FacetQuadParams params = facet_quad_params_default();
    params.drag = vec3(2.0, 1.0, 0.5);
    compare_with_differences(&params, 0.02, 4);
}

// Ideal motors forget what they turned at: the columns of the thrusts vanish.
static void ideal_motors_forget(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(5, 0);
    FacetQuadParams params = facet_quad_params_default();
    params.motor_lag = 0.0;
    FacetQuadModel model = facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
    FacetQuadState state = random_state(&rng);
    double command[4], jacobian[QUAD_TANGENT][QUAD_TANGENT],
        by_command[QUAD_TANGENT][FACET_QUAD_MOTORS];
    random_thrusts(command, &rng, 0.0, 3.0);
    quad_step_jacobian(jacobian, by_command, &state, &model, command, vec3(0.0, 0.0, 0.0));
    for (int i = 0; i < QUAD_TANGENT; i++)
        for (int j = 12; j < QUAD_TANGENT; j++) assert_near(jacobian[i][j], 0.0, 0.0);
    for (int i = 0; i < FACET_QUAD_MOTORS; i++) assert_near(by_command[12 + i][i], 1.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(retract_and_local_are_inverse),
        cmocka_unit_test(jacobian_with_lag_drag_and_wind),
        cmocka_unit_test(jacobian_with_ideal_motors),
        cmocka_unit_test(jacobian_of_a_long_step),
        cmocka_unit_test(ideal_motors_forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
