// The batched dynamics and mixer against the scalar, double-precision ones.
#include "base/rng.h"
#include "quad/quad.h"
#include "testing.h"

enum { TEN_SECONDS = 6000, HOLD = 60 }; // steps; a command is held for HOLD steps

static FacetQuadModel model_with_lag(double lag)
{
    FacetQuadParams params = facet_quad_params_default();
    params.drag.z = 0.1;
    params.motor_lag = lag;
    return facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
}

static FacetVec3 random_vec3(FacetRng *rng, double size)
{
    double x = rng_range(rng, -size, size), y = rng_range(rng, -size, size);
    return vec3(x, y, rng_range(rng, -size, size));
}

static FacetQuadState random_state(const FacetQuadModel *model, FacetRng *rng)
{
    FacetQuadState state =
        facet_quad_hover(model, random_vec3(rng, 10.0), rng_range(rng, -3.0, 3.0));
    state.attitude = quat_mul(state.attitude, quat_exp(random_vec3(rng, 0.5)));
    state.vel_world = random_vec3(rng, 5.0);
    state.omega_body = random_vec3(rng, 1.0);
    return state;
}

// The input as single precision has it: what is compared is the step, not the input's rounding.
static double rounded(double value) { return (double)(float)value; }

// A spread of thrusts about hover, with little torque left over, as a controller gives them.
static void random_command(double command[4], const FacetQuadModel *model, FacetRng *rng)
{
    double hover = 0.25 * model->params.mass * model->params.gravity;
    double all = hover * rng_range(rng, 0.7, 1.3);
    for (int i = 0; i < 4; i++) command[i] = rounded(all * rng_range(rng, 0.99, 1.01));
}

static double attitude_gap(FacetQuat a, FacetQuat b)
{
    return vec3_norm(quat_log(quat_mul(quat_conj(a), b)));
}

// Ten seconds of changing commands and winds in eight lanes, beside eight scalar flights.
static void check_ten_seconds(double lag)
{
    FacetQuadModel model = model_with_lag(lag);
    QuadBatchModel numbers = quad_batch_model(&model);
    FacetRng rng = rng_make(11, 0);
    FacetQuadState states[BATCH_LANES];
    QuadBatch batch;
    double command[BATCH_LANES][4];
    FacetVec3 wind[BATCH_LANES];
    Lanes lane_command[4], lane_wind[3];
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        states[lane] = random_state(&model, &rng);
        quad_batch_set(&batch, lane, &states[lane]);
        states[lane] = quad_batch_get(&batch, lane);
    }
    for (int step = 0; step < TEN_SECONDS; step++) {
        for (int lane = 0; lane < BATCH_LANES && step % HOLD == 0; lane++) {
            random_command(command[lane], &model, &rng);
            wind[lane] = random_vec3(&rng, 3.0);
            wind[lane] = vec3(rounded(wind[lane].x), rounded(wind[lane].y), rounded(wind[lane].z));
            for (int i = 0; i < 4; i++) lane_command[i][lane] = (float)command[lane][i];
            lane_wind[0][lane] = (float)wind[lane].x;
            lane_wind[1][lane] = (float)wind[lane].y;
            lane_wind[2][lane] = (float)wind[lane].z;
        }
        quad_batch_step(&batch, &numbers, lane_command, lane_wind, NULL);
        for (int lane = 0; lane < BATCH_LANES; lane++)
            facet_quad_step(&states[lane], &model, command[lane], wind[lane]);
    }
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        FacetQuadState got = quad_batch_get(&batch, lane), want = states[lane];
        assert_near(vec3_distance(got.pos_world, want.pos_world), 0.0, 2e-2);
        assert_near(vec3_distance(got.vel_world, want.vel_world), 0.0, 4e-3);
        assert_near(vec3_distance(got.omega_body, want.omega_body), 0.0, 1e-4);
        assert_near(attitude_gap(got.attitude, want.attitude), 0.0, 5e-4);
        assert_near(quat_norm(got.attitude), 1.0, 3e-7);
        for (int i = 0; i < 4; i++) assert_near(got.thrust[i], want.thrust[i], 1e-6);
        assert_true(vec3_norm(want.vel_world) > 0.1); // it did fly
    }
}

static void ten_seconds_of_varied_commands(void **unused)
{
    (void)unused;
    check_ten_seconds(0.033);
}

static void ten_seconds_with_ideal_motors(void **unused)
{
    (void)unused;
    check_ten_seconds(0.0);
}

static void one_step_in_any_attitude(void **unused)
{
    (void)unused;
    FacetQuadModel model = model_with_lag(0.033);
    QuadBatchModel numbers = quad_batch_model(&model);
    FacetRng rng = rng_make(12, 0);
    for (int round = 0; round < 200; round++) {
        FacetQuadState states[BATCH_LANES];
        QuadBatch batch;
        double command[BATCH_LANES][4];
        FacetVec3 wind[BATCH_LANES];
        Lanes lane_command[4], lane_wind[3], moved[3];
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            states[lane] = random_state(&model, &rng);
            states[lane].attitude = quat_exp(random_vec3(&rng, FACET_PI));
            states[lane].omega_body = random_vec3(&rng, 20.0);
            wind[lane] = random_vec3(&rng, 10.0);
            for (int i = 0; i < 4; i++) {
                command[lane][i] = rng_range(&rng, 0.0, model.params.thrust_max);
                states[lane].thrust[i] = rng_range(&rng, 0.0, model.params.thrust_max);
                lane_command[i][lane] = (float)command[lane][i];
            }
            lane_wind[0][lane] = (float)wind[lane].x;
            lane_wind[1][lane] = (float)wind[lane].y;
            lane_wind[2][lane] = (float)wind[lane].z;
            quad_batch_set(&batch, lane, &states[lane]);
        }
        quad_batch_step(&batch, &numbers, lane_command, lane_wind, moved);
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            FacetQuadState want = states[lane], got = quad_batch_get(&batch, lane);
            facet_quad_step(&want, &model, command[lane], wind[lane]);
            FacetVec3 shift = vec3_sub(want.pos_world, states[lane].pos_world);
            assert_near((double)moved[0][lane], shift.x, 1e-7);
            assert_near((double)moved[1][lane], shift.y, 1e-7);
            assert_near((double)moved[2][lane], shift.z, 1e-7);
            assert_near(vec3_distance(got.pos_world, want.pos_world), 0.0, 2e-6);
            assert_near(vec3_distance(got.vel_world, want.vel_world), 0.0, 3e-6);
            assert_near(vec3_distance(got.omega_body, want.omega_body), 0.0, 2e-5);
            assert_near(attitude_gap(got.attitude, want.attitude), 0.0, 1e-6);
        }
    }
}

static void lanes_do_not_see_each_other(void **unused)
{
    (void)unused;
    FacetQuadModel model = model_with_lag(0.033);
    QuadBatchModel numbers = quad_batch_model(&model);
    FacetRng rng = rng_make(13, 0);
    FacetQuadState state = random_state(&model, &rng);
    FacetQuadState broken = {.pos_world = {(double)NAN, HUGE_VAL, 0.0}};
    QuadBatch together, alone;
    double command[4];
    Lanes lane_command[4], wind[3] = {{0}};
    random_command(command, &model, &rng);
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        quad_batch_set(&together, lane, &state);
        quad_batch_set(&alone, lane, lane == 5 ? &state : &broken);
        for (int i = 0; i < 4; i++) lane_command[i][lane] = (float)command[i];
    }
    for (int step = 0; step < 600; step++) {
        quad_batch_step(&together, &numbers, lane_command, wind, NULL);
        quad_batch_step(&alone, &numbers, lane_command, wind, NULL);
    }
    FacetQuadState a = quad_batch_get(&together, 2), b = quad_batch_get(&alone, 5);
    assert_memory_equal(&a, &b, sizeof a);
    assert_false(quad_finite(&broken));
}

static void mixers_agree(void **unused)
{
    (void)unused;
    FacetQuadModel model = model_with_lag(0.033);
    QuadBatchModel numbers = quad_batch_model(&model);
    FacetRng rng = rng_make(14, 0);
    int limited = 0;
    for (int round = 0; round < 500; round++) {
        // From torques well within the motors' range to far beyond it.
        double size = pow(10.0, rng_range(&rng, -3.0, 1.0));
        FacetQuadWrench wanted[BATCH_LANES];
        Lanes force, torque[3], thrust[4];
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            wanted[lane] = (FacetQuadWrench){rng_range(&rng, -5.0, 30.0), random_vec3(&rng, size)};
            force[lane] = (float)wanted[lane].force;
            torque[0][lane] = (float)wanted[lane].torque.x;
            torque[1][lane] = (float)wanted[lane].torque.y;
            torque[2][lane] = (float)wanted[lane].torque.z;
        }
        quad_batch_mix(thrust, &numbers, &force, torque);
        for (int lane = 0; lane < BATCH_LANES; lane++) {
            double want[4];
            facet_quad_mix(want, &model, wanted[lane]);
            for (int i = 0; i < 4; i++) {
                assert_near((double)thrust[i][lane], want[i], 1e-5);
                limited += want[i] == 0.0 || want[i] == model.params.thrust_max;
            }
        }
    }
    assert_in_range(limited, 1000, 500 * BATCH_LANES * 4 - 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_seconds_of_varied_commands),
        cmocka_unit_test(ten_seconds_with_ideal_motors),
        cmocka_unit_test(one_step_in_any_attitude),
        cmocka_unit_test(lanes_do_not_see_each_other),
        cmocka_unit_test(mixers_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
