// The gyro's statistics against its figures, and its integration against exact rotations.
#include "flying.h"
#include "gate/gyro.h"

// ADIS16448 without the parts that a test leaves out.
static FacetGyroParams only(bool noise, bool walk, bool start)
{
    FacetGyroParams params = gyro_params_default();
    if (!noise) params.noise_density = 0.0;
    if (!walk) params.bias_walk = 0.0;
    if (!start) params.bias_start = 0.0;
    return params;
}

static void the_parts_have_their_figures(void **unused)
{
    (void)unused;
    FacetGyroParams params;
    assert_ok(gyro_params_find(&params, "ADIS16448"));
    assert_near(params.noise_density, 3.4e-4, 0.0);
    assert_near(params.bias_walk, 3.9e-5, 0.0);
    assert_ok(gyro_params_find(&params, "BMI088"));
    assert_near(params.noise_density, 2.4e-4, 0.0);
    assert_near(params.bias_walk, 1.4e-5, 0.0);
    assert_refused(gyro_params_find(&params, "BMI08"),
                   "no gyro 'BMI08', did you mean 'BMI088'? known: ADIS16448, BMI088");
}

// A reading's standard deviation is density/sqrt(dt), whatever dt is.
static void white_noise(void **unused)
{
    (void)unused;
    const double steps[] = {1.0 / 600.0, 1.0 / 100.0};
    FacetGyroParams params = only(true, false, false);
    for (int i = 0; i < 2; i++) {
        Gyro gyro = gyro_make(&params, quat_identity(), 5, 0);
        enum { COUNT = 40000 };
        double sum[3] = {0}, square[3] = {0}, product = 0.0, before = 0.0;
        for (int k = 0; k < COUNT; k++) {
            FacetVec3 r = gyro_step(&gyro, vec3(1.0, -2.0, 0.5), steps[i]);
            double e[3] = {r.x - 1.0, r.y + 2.0, r.z - 0.5};
            for (int a = 0; a < 3; a++) sum[a] += e[a], square[a] += e[a] * e[a];
            product += e[0] * before;
            before = e[0];
        }
        double sigma = 3.4e-4 / sqrt(steps[i]);
        for (int a = 0; a < 3; a++) {
            assert_near(sum[a] / COUNT, 0.0, 4.0 * sigma / sqrt(COUNT));
            assert_near(sqrt(square[a] / COUNT), sigma, 0.02 * sigma);
        }
        assert_near(product / COUNT, 0.0, 4.0 * sigma * sigma / sqrt(COUNT)); // white
    }
}

// The bias of many gyros after a time T has the variance start^2 + walk^2 T.
static void the_bias_walks(void **unused)
{
    (void)unused;
    enum { GYROS = 3000, STEPS = 200 };
    FacetGyroParams params = only(false, true, true);
    params.bias_walk = 3.9e-3; // so that it stands out of the start after these ten seconds
    const double step = 0.05;
    double square = 0.0, start = 0.0;
    for (int i = 0; i < GYROS; i++) {
        Gyro gyro = gyro_make(&params, quat_identity(), 6, (uint64_t)i);
        start += vec3_dot(gyro.bias, gyro.bias);
        for (int k = 0; k < STEPS; k++) gyro_step(&gyro, vec3(0.0, 0.0, 0.0), step);
        square += vec3_dot(gyro.bias, gyro.bias);
    }
    double expected =
        params.bias_start * params.bias_start + params.bias_walk * params.bias_walk * STEPS * step;
    assert_near(start / (3.0 * GYROS), 3.4e-4 * 3.4e-4, 0.06 * 3.4e-4 * 3.4e-4);
    assert_near(square / (3.0 * GYROS), expected, 0.06 * expected);
}

// The attitude of many gyros at rest strays by density sqrt(T) on each axis.
static void attitude_strays_as_a_random_walk(void **unused)
{
    (void)unused;
    enum { GYROS = 1500, STEPS = 300 };
    FacetGyroParams params = only(true, false, false);
    double square = 0.0;
    for (int i = 0; i < GYROS; i++) {
        Gyro gyro = gyro_make(&params, quat_identity(), 7, (uint64_t)i);
        for (int k = 0; k < STEPS; k++) gyro_step(&gyro, vec3(0.0, 0.0, 0.0), 0.01);
        FacetVec3 angle = quat_log(gyro.attitude);
        square += vec3_dot(angle, angle);
    }
    double expected = 3.4e-4 * 3.4e-4 * STEPS * 0.01;
    assert_near(square / (3.0 * GYROS), expected, 0.06 * expected);
}

static void without_noise_it_integrates_exactly(void **unused)
{
    (void)unused;
    FacetGyroParams params = only(false, false, false);
    FacetRng rng = rng_make(8, 0);
    FacetQuat start = random_attitude(&rng), truth = start;
    Gyro gyro = gyro_make(&params, start, 0, 0);
    for (int k = 0; k < 600; k++) {
        FacetVec3 omega = random_vec3(&rng, 4.0);
        assert_vec3_near(gyro_step(&gyro, omega, 1.0 / FACET_QUAD_RATE), omega, 0.0);
        truth = quat_mul(truth, quat_exp(vec3_scale(omega, 1.0 / FACET_QUAD_RATE)));
    }
    assert_near(vec3_norm(quat_log(quat_mul(quat_conj(truth), gyro.attitude))), 0.0, 1e-12);
}

static void same_seed_same_bits(void **unused)
{
    (void)unused;
    FacetGyroParams params = gyro_params_default();
    Gyro a = gyro_make(&params, quat_identity(), 9, 4),
         b = gyro_make(&params, quat_identity(), 9, 4);
    Gyro other = gyro_make(&params, quat_identity(), 9, 5);
    for (int k = 0; k < 100; k++) {
        FacetVec3 omega = vec3(0.1 * k, 0.0, -0.2);
        FacetVec3 ra = gyro_step(&a, omega, 0.01), rb = gyro_step(&b, omega, 0.01);
        FacetVec3 rc = gyro_step(&other, omega, 0.01);
        assert_memory_equal(&ra, &rb, sizeof ra);
        assert_memory_not_equal(&ra, &rc, sizeof ra);
    }
    assert_memory_equal(&a.attitude, &b.attitude, sizeof a.attitude);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_parts_have_their_figures),
        cmocka_unit_test(white_noise),
        cmocka_unit_test(the_bias_walks),
        cmocka_unit_test(attitude_strays_as_a_random_walk),
        cmocka_unit_test(without_noise_it_integrates_exactly),
        cmocka_unit_test(same_seed_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
