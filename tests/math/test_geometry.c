// Tests of the small geometry: quaternions against matrices, exponential and logarithm.
#include "flying.h"

static FacetVec3 rotate(FacetQuat q, FacetVec3 v)
{
    FacetQuat out = quat_mul(quat_mul(q, (FacetQuat){0.0, v.x, v.y, v.z}), quat_conj(q));
    return vec3(out.x, out.y, out.z);
}

static void matrix_is_the_rotation_of_the_quaternion(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(1, 0);
    for (int i = 0; i < 200; i++) {
        FacetQuat q = random_attitude(&rng);
        FacetVec3 v = random_vec3(&rng, 3.0);
        Mat3 r = quat_to_mat3(q);
        assert_vec3_near(mat3_mul_vec3(r, v), rotate(q, v), 1e-14);
        assert_vec3_near(mat3_tmul_vec3(r, mat3_mul_vec3(r, v)), v, 1e-14);
        assert_vec3_near(vec3_cross(mat3_column(r, 0), mat3_column(r, 1)), mat3_column(r, 2),
                         1e-14);
        Mat3 back = mat3_from_columns(mat3_column(r, 0), mat3_column(r, 1), mat3_column(r, 2));
        assert_memory_equal(&back, &r, sizeof r);
    }
}

static void products_compose_in_order(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(2, 0);
    for (int i = 0; i < 100; i++) {
        FacetQuat a = random_attitude(&rng), b = random_attitude(&rng);
        FacetVec3 v = random_vec3(&rng, 3.0);
        assert_vec3_near(rotate(quat_mul(a, b), v), rotate(a, rotate(b, v)), 1e-13);
        // Their relative rotation, as matrices and as quaternions.
        Mat3 relative = mat3_tmul(quat_to_mat3(a), quat_to_mat3(b));
        assert_vec3_near(mat3_mul_vec3(relative, v), rotate(quat_mul(quat_conj(a), b), v), 1e-13);
    }
}

static void known_rotations(void **unused)
{
    (void)unused;
    FacetVec3 x = vec3(1.0, 0.0, 0.0), y = vec3(0.0, 1.0, 0.0), z = vec3(0.0, 0.0, 1.0);
    assert_vec3_near(rotate(quat_from_yaw(0.5 * FACET_PI), x), y, 1e-15);
    assert_vec3_near(rotate(quat_from_axis_angle(x, 0.5 * FACET_PI), y), z, 1e-15);
    assert_vec3_near(rotate(quat_exp(vec3(0.0, FACET_PI, 0.0)), z), vec3_scale(z, -1.0), 1e-15);
    assert_vec3_near(rotate(quat_identity(), x), x, 0.0);
}

static void exponential_and_logarithm_are_inverse(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(3, 0);
    // Angles from far below the switch to the series up to almost a half turn.
    const double angles[] = {0.0, 1e-12, 1e-9, 1e-6, 0.99e-4, 1.01e-4, 1e-2, 1.0, 2.0, 3.0, 3.14};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        for (int k = 0; k < 20; k++) {
            FacetVec3 v = vec3_scale(random_direction(&rng), angles[i]);
            FacetQuat q = quat_exp(v);
            assert_near(quat_norm(q), 1.0, 1e-15);
            assert_vec3_near(quat_log(q), v, 1e-15 + 1e-14 * angles[i]);
            // The same rotation with the other sign has the same shortest rotation vector.
            assert_vec3_near(quat_log((FacetQuat){-q.w, -q.x, -q.y, -q.z}), v,
                             1e-15 + 1e-14 * angles[i]);
        }
    }
    // Past a half turn the logarithm goes the shorter way round.
    assert_vec3_near(quat_log(quat_exp(vec3(0.0, 0.0, 4.0))), vec3(0.0, 0.0, 4.0 - 2.0 * FACET_PI),
                     1e-14);
}

static void vee_takes_the_skew_part(void **unused)
{
    (void)unused;
    FacetRng rng = rng_make(4, 0);
    for (int i = 0; i < 20; i++) {
        FacetVec3 w = random_vec3(&rng, 2.0), v = random_vec3(&rng, 2.0);
        Mat3 hat = {{{5.0, -w.z, w.y}, {w.z, -7.0, -w.x}, {-w.y, w.x, 2.0}}};
        hat.m[0][1] += 0.25, hat.m[1][0] += 0.25; // a symmetric part, which must not show
        assert_vec3_near(mat3_vee(hat), w, 1e-15);
        // For a pure rotation about an axis, vee is the axis times the sine.
        Mat3 r = quat_to_mat3(quat_exp(v));
        double angle = vec3_norm(v);
        assert_vec3_near(mat3_vee(r), vec3_scale(v, sin(angle) / angle), 1e-14);
    }
}

static void degenerate_vectors(void **unused)
{
    (void)unused;
    FacetVec3 fallback = vec3(0.0, 0.0, 1.0);
    assert_vec3_near(vec3_unit(vec3(0.0, 0.0, 0.0), fallback), fallback, 0.0);
    assert_vec3_near(vec3_unit(vec3(0.0, 3e-5, 0.0), fallback), vec3(0.0, 1.0, 0.0), 1e-15);
    assert_int_equal(vec3_finite(vec3(0.0, NAN, 0.0)), 0);
    assert_int_equal(vec3_finite(vec3(INFINITY, 0.0, 0.0)), 0);
    assert_true(vec3_finite(vec3(1e300, 1e300, 1e300)));
    assert_near(clamp(-1.0, 0.0, 2.0), 0.0, 0.0);
    assert_near(clamp(3.0, 0.0, 2.0), 2.0, 0.0);
    assert_near(clamp(1.0, 0.0, 2.0), 1.0, 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_is_the_rotation_of_the_quaternion),
        cmocka_unit_test(products_compose_in_order),
        cmocka_unit_test(known_rotations),
        cmocka_unit_test(exponential_and_logarithm_are_inverse),
        cmocka_unit_test(vee_takes_the_skew_part),
        cmocka_unit_test(degenerate_vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
