// Normalisation to [-1, 1] and back.
#include "base/rng.h"
#include "policy/normalizer.h"
#include "testing.h"

#include <float.h>

static void the_ends_map_to_the_ends_exactly(void **state)
{
    (void)state;
    const double min[] = {-1.7, 0.1, -1e9, 1e-300}, max[] = {0.3, 0.7, 3.3, 7e-300};
    Normalizer *normalizer;
    assert_ok(normalizer_create(&normalizer, min, max, 4));
    double y[8], x[8], in[8];
    memcpy(in, min, sizeof min);
    memcpy(in + 4, max, sizeof max);
    normalizer_apply(y, normalizer, in, 2);
    normalizer_invert(x, normalizer, y, 2);
    for (int i = 0; i < 8; i++) {
        assert_true(y[i] == (i < 4 ? -1.0 : 1.0));
        assert_true(x[i] == in[i]);
    }
    normalizer_destroy(normalizer);
}

static void values_follow_the_formula(void **state)
{
    (void)state;
    const double min[] = {-2.0, 10.0}, max[] = {6.0, 20.0};
    const double in[] = {2.0, 15.0, 0.0, 12.5, 10.0, 5.0};
    const double expected[] = {0.0, 0.0, -0.5, -0.5, 2.0, -2.0}; // not clipped
    Normalizer *normalizer;
    assert_ok(normalizer_create(&normalizer, min, max, 2));
    assert_int_equal(normalizer->dim, 2);
    double y[6];
    normalizer_apply(y, normalizer, in, 3);
    for (int i = 0; i < 6; i++) assert_near(y[i], expected[i], 1e-15);
    normalizer_invert(y, normalizer, y, 3); // in place
    for (int i = 0; i < 6; i++) assert_near(y[i], in[i], 1e-14);
    normalizer_apply(y, normalizer, in, 0); // no rows change nothing
    assert_near(y[0], in[0], 1e-14);
    normalizer_destroy(normalizer);
}

static void values_come_back(void **state)
{
    (void)state;
    FacetRng rng = rng_make(7, 0);
    double min[5], max[5], x[500], y[500], back[500];
    for (int i = 0; i < 5; i++) {
        min[i] = rng_range(&rng, -100.0, 100.0);
        max[i] = min[i] + rng_range(&rng, 0.01, 100.0);
    }
    for (int i = 0; i < 500; i++) x[i] = rng_range(&rng, min[i % 5], max[i % 5]);
    Normalizer *normalizer;
    assert_ok(normalizer_create(&normalizer, min, max, 5));
    normalizer_apply(y, normalizer, x, 100);
    normalizer_invert(back, normalizer, y, 100);
    for (int i = 0; i < 500; i++) {
        assert_true(y[i] >= -1.0);
        assert_true(y[i] <= 1.0);
        assert_near(back[i], x[i], 1e-13);
    }
    normalizer_destroy(normalizer);
}

static void a_constant_channel_is_zero_and_comes_back(void **state)
{
    (void)state;
    // The third channel differs from a constant by the rounding of its last bit.
    const double min[] = {0.0, 1.5, 1.2, 0.0}, max[] = {1.0, 1.5, 1.2 * (1.0 + DBL_EPSILON), 0.0};
    Normalizer *normalizer;
    assert_ok(normalizer_create(&normalizer, min, max, 4));
    assert_int_equal(normalizer_constants(normalizer), 3);
    const double in[] = {0.25, 1.5, max[2], 0.0, 1.0, 99.0, 1.2, 3.0};
    const double expected[] = {-0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    double y[8], x[8];
    normalizer_apply(y, normalizer, in, 2);
    for (int i = 0; i < 8; i++) assert_true(y[i] == expected[i]);
    y[1] = 0.8; // whatever a network says of a constant channel
    normalizer_invert(x, normalizer, y, 2);
    assert_true(x[0] == 0.25);
    assert_true(x[1] == 1.5);
    assert_true(x[2] == 1.2);
    assert_true(x[3] == 0.0);
    normalizer_destroy(normalizer);
    normalizer_destroy(NULL);
}

static void a_small_range_far_from_constant_is_kept(void **state)
{
    (void)state;
    const double min = 1.0, max = 1.0 + 1e-9;
    Normalizer *normalizer;
    assert_ok(normalizer_create(&normalizer, &min, &max, 1));
    normalizer_destroy(normalizer);
}

static void ranges_that_are_none_are_refused(void **state)
{
    (void)state;
    const double cases[][2] = {{1.0, 0.0},       {nan(""), 1.0},  {0.0, nan("")},
                               {-HUGE_VAL, 0.0}, {0.0, HUGE_VAL}, {-DBL_MAX, DBL_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Normalizer *normalizer;
        assert_refused(normalizer_create(&normalizer, &cases[i][0], &cases[i][1], 1),
                       "channel 0: expected a finite range, found");
        assert_null(normalizer);
    }
}

// Near 0 a step of x is a step of y, far from it a factor is; and there and back is the same.
static void knee_bends_the_range(void **state)
{
    (void)state;
    const double min = -100.0, max = 1000.0;
    Normalizer *normalizer;
    assert_ok(normalizer_create(&normalizer, &min, &max, 1));
    normalizer->knee = 0.5;
    const double x[] = {-100.0, -0.02, -0.01, 0.0, 0.01, 0.02, 10.0, 100.0, 1000.0, 2000.0};
    double y[10], back[10];
    normalizer_apply(y, normalizer, x, 10);
    assert_near(y[0], -1.0, 1e-12);
    assert_near(y[8], 1.0, 1e-12);
    assert_near(y[5] - y[4], y[4] - y[3], 1e-5);
    assert_near(y[7] - y[6], y[8] - y[7], 1e-3);
    for (int i = 1; i < 10; i++) assert_true(y[i] > y[i - 1]);
    normalizer_invert(back, normalizer, y, 10);
    for (int i = 0; i < 10; i++) assert_near(back[i], x[i], 1e-10 * (1.0 + fabs(x[i])));
    normalizer_destroy(normalizer);
}

static void the_slope_is_that_of_the_way_back(void **state)
{
    (void)state;
    const double min[] = {-100.0, 2.0, 3.0}, max[] = {1000.0, 2.5, 3.0}, h = 1e-5;
    static const double knees[] = {0.0, 0.5};
    Normalizer *normalizer;
    assert_ok(normalizer_create(&normalizer, min, max, 3));
    for (int k = 0; k < 2; k++) {
        normalizer->knee = knees[k];
        for (double at = -1.3; at < 1.4; at += 0.2) {
            double above[3] = {at + h, at + h, at + h}, below[3] = {at - h, at - h, at - h};
            normalizer_invert(above, normalizer, above, 1);
            normalizer_invert(below, normalizer, below, 1);
            for (int i = 0; i < 3; i++) {
                double slope = normalizer_slope(normalizer, i, at);
                assert_near(slope, (above[i] - below[i]) / (2.0 * h), 1e-6 * (1.0 + slope));
            }
        }
    }
    normalizer_destroy(normalizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ends_map_to_the_ends_exactly),
        cmocka_unit_test(values_follow_the_formula),
        cmocka_unit_test(values_come_back),
        cmocka_unit_test(a_constant_channel_is_zero_and_comes_back),
        cmocka_unit_test(a_small_range_far_from_constant_is_kept),
        cmocka_unit_test(ranges_that_are_none_are_refused),
        cmocka_unit_test(knee_bends_the_range),
        cmocka_unit_test(the_slope_is_that_of_the_way_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
