// Tests of the mixer: exact when the wrench fits, and who gives way when it does not.
#include "flying.h"

static FacetQuadModel make_model(void)
{
    FacetQuadParams params = facet_quad_params_default();
    return facet_quad_model(&params, 1.0 / FACET_QUAD_RATE);
}

static void assert_within_limits(const double thrust[4], const FacetQuadModel *model)
{
    for (int i = 0; i < FACET_QUAD_MOTORS; i++)
        assert_between(thrust[i], 0.0, model->params.thrust_max);
}

// Any thrusts within the limits make a wrench that the mixer turns back into those thrusts.
static void wrench_that_fits_is_reproduced(void **unused)
{
    (void)unused;
    FacetQuadModel model = make_model();
    FacetRng rng = rng_make(1, 0);
    for (int k = 0; k < 2000; k++) {
        double wanted[4], got[4];
        random_thrusts(wanted, &rng, 0.0, model.params.thrust_max);
        facet_quad_mix(got, &model, facet_quad_wrench(&model, wanted));
        for (int i = 0; i < FACET_QUAD_MOTORS; i++) assert_near(got[i], wanted[i], 1e-13);
    }
}

// Wrenches up to far beyond the limits. Roll and pitch torque are kept exactly as long as the
// motors' range can hold them, and keep their direction after that.
static void roll_and_pitch_come_first(void **unused)
{
    (void)unused;
    FacetQuadModel model = make_model();
    FacetRng rng = rng_make(2, 0);
    double reach = model.lever * model.params.thrust_max; // spread of 4 |roll| at this torque
    int held = 0, shrunk = 0;
    for (int k = 0; k < 5000; k++) {
        double size = 3.0 * rng_uniform(&rng);
        FacetQuadWrench wanted = {rng_range(&rng, -20.0, 50.0), random_vec3(&rng, size * reach)};
        wanted.torque.z *= 0.3;
        double thrust[4];
        facet_quad_mix(thrust, &model, wanted);
        assert_within_limits(thrust, &model);
        FacetQuadWrench got = facet_quad_wrench(&model, thrust);
        double spread = 0.5 * (fabs(wanted.torque.x) + fabs(wanted.torque.y)) / model.lever;
        double keep = fmin(1.0, model.params.thrust_max / spread);
        assert_near(got.torque.x, keep * wanted.torque.x, 1e-13);
        assert_near(got.torque.y, keep * wanted.torque.y, 1e-13);
        held += keep == 1.0, shrunk += keep < 1.0;
    }
    assert_true(held > 500);
    assert_true(shrunk > 500); // both cases were met
}

// Whether four thrusts with this collective and yaw, beside roll and pitch, are within the limits.
static int fits(double collective, double yaw, double roll, double pitch, double limit)
{
    const double thrust[4] = {collective + roll - pitch + yaw, collective + roll + pitch - yaw,
                              collective - roll + pitch + yaw, collective - roll - pitch - yaw};
    for (int i = 0; i < FACET_QUAD_MOTORS; i++)
        if (thrust[i] < -1e-9 || thrust[i] > limit + 1e-9) return 0;
    return 1;
}

// The collective is as near to what is wanted as roll and pitch and some part of the wanted yaw
// allow, and yaw takes what is left: never reversed, never more than wanted.
static void yaw_gives_way_first(void **unused)
{
    (void)unused;
    FacetQuadModel model = make_model();
    FacetRng rng = rng_make(3, 0);
    double limit = model.params.thrust_max;
    int yaw_cut = 0, force_cut = 0;
    for (int k = 0; k < 2000; k++) {
        FacetQuadWrench wanted = {rng_range(&rng, -5.0, 28.0), random_vec3(&rng, 0.45)};
        wanted.torque.z *= 0.5;
        double thrust[4];
        facet_quad_mix(thrust, &model, wanted);
        assert_within_limits(thrust, &model);
        FacetQuadWrench got = facet_quad_wrench(&model, thrust);
        double roll = 0.25 * got.torque.x / model.lever, pitch = 0.25 * got.torque.y / model.lever;
        double to_yaw = 0.25 / model.params.torque_ratio;
        double yaw = to_yaw * wanted.torque.z, got_yaw = to_yaw * got.torque.z;
        assert_true(got_yaw * yaw >= -1e-12);
        assert_true(fabs(got_yaw) <= fabs(yaw) + 1e-12);

        // No collective nearer to the wanted one fits with any part of the wanted yaw.
        double lost = 0.25 * fabs(got.force - wanted.force),
               side = got.force < wanted.force ? 1 : -1;
        for (int i = 0; lost > 1e-6 && i <= 100; i++)
            assert_false(fits(0.25 * got.force + side * 1e-6, 0.01 * i * yaw, roll, pitch, limit));
        // And no more of the yaw fits with this collective.
        if (fabs(got_yaw) < fabs(yaw) - 1e-6) {
            double more = got_yaw + (yaw > 0.0 ? 1e-6 : -1e-6);
            assert_false(fits(0.25 * got.force, more, roll, pitch, limit));
            yaw_cut++;
        }
        force_cut += lost > 1e-6;
    }
    assert_true(yaw_cut > 200);
    assert_true(force_cut > 200);
}

// A yaw demand far beyond what the rotors can give does not lift the vehicle.
static void yaw_does_not_move_the_collective(void **unused)
{
    (void)unused;
    FacetQuadModel model = make_model();
    double weight = model.params.mass * model.params.gravity, thrust[4];
    for (int side = -1; side <= 1; side += 2) {
        facet_quad_mix(thrust, &model, (FacetQuadWrench){weight, {0.0, 0.0, 5.0 * side}});
        FacetQuadWrench got = facet_quad_wrench(&model, thrust);
        assert_near(got.force, weight, 1e-13);
        assert_near(got.torque.z, side * weight * model.params.torque_ratio, 1e-14);
    }
}

// Full thrust and a roll: the collective gives way and the roll stays, also on the other side.
static void collective_gives_way_to_attitude(void **unused)
{
    (void)unused;
    FacetQuadModel model = make_model();
    double most = 4.0 * model.params.thrust_max, thrust[4];
    FacetVec3 torque = vec3(0.2, -0.1, 0.0);
    double reach = 0.25 * (0.2 + 0.1) / model.lever; // N, of the most and the least loaded motor
    const double wanted[2] = {most, 0.0};
    const double left[2] = {most - 4.0 * reach, 4.0 * reach};
    for (int k = 0; k < 2; k++) {
        facet_quad_mix(thrust, &model, (FacetQuadWrench){wanted[k], torque});
        assert_within_limits(thrust, &model);
        FacetQuadWrench got = facet_quad_wrench(&model, thrust);
        assert_vec3_near(got.torque, torque, 1e-14);
        assert_near(got.force, left[k], 1e-13); // no more than it has to
    }
}

static void collective_alone_is_clamped(void **unused)
{
    (void)unused;
    FacetQuadModel model = make_model();
    double thrust[4];
    facet_quad_mix(thrust, &model, (FacetQuadWrench){.force = 1e6});
    for (int i = 0; i < 4; i++) assert_near(thrust[i], model.params.thrust_max, 0.0);
    facet_quad_mix(thrust, &model, (FacetQuadWrench){.force = -3.0});
    for (int i = 0; i < 4; i++) assert_near(thrust[i], 0.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrench_that_fits_is_reproduced),
        cmocka_unit_test(roll_and_pitch_come_first),
        cmocka_unit_test(yaw_gives_way_first),
        cmocka_unit_test(yaw_does_not_move_the_collective),
        cmocka_unit_test(collective_gives_way_to_attitude),
        cmocka_unit_test(collective_alone_is_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
