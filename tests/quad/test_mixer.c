// Tests of the mixer: exact when the wrench fits, and who gives way when it does not.
#include "flying.h"

static QuadModel make_model(void)
{
    QuadParams params = quad_params_default();
    return quad_model(&params, 1.0 / QUAD_RATE);
}

static void assert_within_limits(const double thrust[4], const QuadModel *model)
{
    for (int i = 0; i < QUAD_MOTORS; i++) assert_between(thrust[i], 0.0, model->params.thrust_max);
}

// Any thrusts within the limits make a wrench that the mixer turns back into those thrusts.
static void test_wrench_that_fits_is_reproduced(void **unused)
{
    (void)unused;
    QuadModel model = make_model();
    Rng rng = rng_make(1, 0);
    for (int k = 0; k < 2000; k++) {
        double wanted[4], got[4];
        random_thrusts(wanted, &rng, 0.0, model.params.thrust_max);
        quad_mix(got, &model, quad_wrench(&model, wanted));
        for (int i = 0; i < QUAD_MOTORS; i++) assert_near(got[i], wanted[i], 1e-13);
    }
}

// Wrenches up to far beyond the limits. Roll and pitch torque are kept exactly as long as the
// motors' range can hold them, and keep their direction after that.
static void test_roll_and_pitch_come_first(void **unused)
{
    (void)unused;
    QuadModel model = make_model();
    Rng rng = rng_make(2, 0);
    double reach = model.lever * model.params.thrust_max; // spread of 4 |roll| at this torque
    int held = 0, shrunk = 0;
    for (int k = 0; k < 5000; k++) {
        double size = 3.0 * rng_uniform(&rng);
        QuadWrench wanted = {rng_range(&rng, -20.0, 50.0), random_vec3(&rng, size * reach)};
        wanted.torque.z *= 0.3;
        double thrust[4];
        quad_mix(thrust, &model, wanted);
        assert_within_limits(thrust, &model);
        QuadWrench got = quad_wrench(&model, thrust);
        double spread = 0.5 * (fabs(wanted.torque.x) + fabs(wanted.torque.y)) / model.lever;
        double keep = fmin(1.0, model.params.thrust_max / spread);
        assert_near(got.torque.x, keep * wanted.torque.x, 1e-13);
        assert_near(got.torque.y, keep * wanted.torque.y, 1e-13);
        held += keep == 1.0, shrunk += keep < 1.0;
    }
    assert_true(held > 500 && shrunk > 500); // both cases were met
}

// Yaw gives way before roll and pitch: it is kept when it fits beside them, never reversed, and
// never larger than wanted.
static void test_yaw_gives_way_first(void **unused)
{
    (void)unused;
    QuadModel model = make_model();
    Rng rng = rng_make(3, 0);
    int cut = 0;
    for (int k = 0; k < 5000; k++) {
        QuadWrench wanted = {rng_range(&rng, -5.0, 30.0), random_vec3(&rng, 0.4)};
        double thrust[4];
        quad_mix(thrust, &model, wanted);
        QuadWrench got = quad_wrench(&model, thrust);
        assert_true(got.torque.z * wanted.torque.z >= -1e-15);
        assert_true(fabs(got.torque.z) <= fabs(wanted.torque.z) + 1e-15);
        if (fabs(got.torque.z) < fabs(wanted.torque.z) - 1e-12) {
            cut++;
            // Cut only when the motors' range is used up from end to end.
            double low = fmin(fmin(thrust[0], thrust[1]), fmin(thrust[2], thrust[3]));
            double high = fmax(fmax(thrust[0], thrust[1]), fmax(thrust[2], thrust[3]));
            assert_near(high - low, model.params.thrust_max, 1e-12);
        }
    }
    assert_true(cut > 500);
}

// Full thrust and a roll: the collective gives way and the roll stays, also on the other side.
static void test_collective_gives_way_to_attitude(void **unused)
{
    (void)unused;
    QuadModel model = make_model();
    double most = 4.0 * model.params.thrust_max, thrust[4];
    Vec3 torque = vec3(0.2, -0.1, 0.01);
    const double forces[2] = {most, 0.0};
    for (int k = 0; k < 2; k++) {
        quad_mix(thrust, &model, (QuadWrench){forces[k], torque});
        assert_within_limits(thrust, &model);
        QuadWrench got = quad_wrench(&model, thrust);
        assert_vec3_near(got.torque, torque, 1e-14);
        // No more than it has to: one motor stands at its limit.
        double low = fmin(fmin(thrust[0], thrust[1]), fmin(thrust[2], thrust[3]));
        double high = fmax(fmax(thrust[0], thrust[1]), fmax(thrust[2], thrust[3]));
        if (k == 0) {
            assert_near(high, model.params.thrust_max, 1e-14);
            assert_less(got.force, most);
        } else {
            assert_near(low, 0.0, 1e-14);
            assert_less(0.0, got.force);
        }
    }
}

static void test_collective_alone_is_clamped(void **unused)
{
    (void)unused;
    QuadModel model = make_model();
    double thrust[4];
    quad_mix(thrust, &model, (QuadWrench){.force = 1e6});
    for (int i = 0; i < 4; i++) assert_near(thrust[i], model.params.thrust_max, 0.0);
    quad_mix(thrust, &model, (QuadWrench){.force = -3.0});
    for (int i = 0; i < 4; i++) assert_near(thrust[i], 0.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrench_that_fits_is_reproduced),
        cmocka_unit_test(test_roll_and_pitch_come_first),
        cmocka_unit_test(test_yaw_gives_way_first),
        cmocka_unit_test(test_collective_gives_way_to_attitude),
        cmocka_unit_test(test_collective_alone_is_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
