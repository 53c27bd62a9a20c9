// Plans changed in normalised units: with a knee, without one, and without a normalizer.
#include "certify/small_course.h"
#include "certify/task_flight.h"

enum { KEYPOINTS = FACET_CHUNK_KEYPOINTS, CHANNELS = FACET_CHUNK_CHANNELS };

static void rows_of(double rows[PLAN_SIZE], const FacetKeypoint chunk[KEYPOINTS])
{
    for (int i = 0; i < KEYPOINTS; i++) {
        const double row[CHANNELS] = {chunk[i].pos.x, chunk[i].pos.y, chunk[i].pos.z,
                                      chunk[i].speed};
        memcpy(rows + (size_t)i * CHANNELS, row, sizeof row);
    }
}

// A plan that visits all of the units' ranges, and changes of up to 0.3 both ways.
static void plan_and_change(FacetKeypoint chunk[KEYPOINTS], double change[PLAN_SIZE])
{
    for (int i = 0; i < KEYPOINTS; i++) {
        double along = (double)i / (KEYPOINTS - 1);
        chunk[i] = (FacetKeypoint){{-7.0 + 14.0 * along, 2.0 - 4.0 * along, 3.0 * along},
                                   2.0 + 2.0 * along};
    }
    for (int i = 0; i < PLAN_SIZE; i++) change[i] = 0.3 * cos(1.7 * i);
}

static void a_changed_plan_is_the_normalizers(void **state)
{
    (void)state;
    Normalizer *units = small_units();
    FacetKeypoint chunk[KEYPOINTS], moved[KEYPOINTS];
    double change[PLAN_SIZE], plan[PLAN_SIZE], out[PLAN_SIZE], expected[PLAN_SIZE];
    plan_and_change(chunk, change);
    rows_of(plan, chunk);
    const double knees[] = {0.0, 0.2, 5.0};
    for (int k = 0; k < 3; k++) {
        units->knee = knees[k];
        plan_change(moved, chunk, units, change);
        rows_of(out, moved);
        normalizer_apply(expected, units, plan, KEYPOINTS);
        for (int i = 0; i < PLAN_SIZE; i++) expected[i] += change[i];
        normalizer_invert(expected, units, expected, KEYPOINTS);
        for (int i = 0; i < PLAN_SIZE; i++)
            assert_near(out[i], expected[i], 1e-13 * (1.0 + fabs(expected[i])));
    }
    normalizer_destroy(units);
}

// Central differences of the changed plan have the slope that the normalizer has there.
static void small_changes_follow_the_slope(void **state)
{
    (void)state;
    Normalizer *units = small_units();
    units->knee = 0.5;
    FacetKeypoint chunk[KEYPOINTS], moved[KEYPOINTS];
    double change[PLAN_SIZE], y[PLAN_SIZE], ahead[PLAN_SIZE], behind[PLAN_SIZE];
    const double step = 1e-5;
    plan_and_change(chunk, change);
    for (int i = 0; i < PLAN_SIZE; i++) change[i] = step;
    plan_change(moved, chunk, units, change);
    rows_of(ahead, moved);
    for (int i = 0; i < PLAN_SIZE; i++) change[i] = -step;
    plan_change(moved, chunk, units, change);
    rows_of(behind, moved);
    rows_of(y, chunk);
    normalizer_apply(y, units, y, KEYPOINTS);
    double least = INFINITY, most = 0.0;
    for (int i = 0; i < PLAN_SIZE; i++) {
        double slope = (ahead[i] - behind[i]) / (2.0 * step);
        assert_near(slope, normalizer_slope(units, i % CHANNELS, y[i]), 1e-8);
        if (i % CHANNELS == 0) least = fmin(least, slope), most = fmax(most, slope);
    }
    assert_less(5.0 * least, most); // a unit of the x at 7 m is not that of the x at 0
    normalizer_destroy(units);
}

static void without_a_knee_a_unit_is_half_the_range(void **state)
{
    (void)state;
    Normalizer *units = small_units();
    FacetKeypoint chunk[KEYPOINTS], moved[KEYPOINTS];
    double change[PLAN_SIZE], plan[PLAN_SIZE], out[PLAN_SIZE];
    plan_and_change(chunk, change);
    rows_of(plan, chunk);
    for (int k = 0; k < 2; k++) {
        plan_change(moved, chunk, k ? NULL : units, change);
        rows_of(out, moved);
        for (int i = 0; i < PLAN_SIZE; i++) {
            int c = i % CHANNELS;
            double unit = k ? 1.0 : 0.5 * (units->max[c] - units->min[c]);
            assert_true(out[i] == plan[i] + unit * change[i]); // the same bits
        }
    }
    normalizer_destroy(units);
}

static void no_change_leaves_the_plan(void **state)
{
    (void)state;
    Normalizer *units = small_units();
    units->knee = 0.2;
    FacetKeypoint chunk[KEYPOINTS], moved[KEYPOINTS];
    double change[PLAN_SIZE] = {0.0}, plan[PLAN_SIZE], out[PLAN_SIZE], unused[PLAN_SIZE];
    plan_and_change(chunk, unused);
    plan_change(moved, chunk, units, change);
    rows_of(plan, chunk);
    rows_of(out, moved);
    assert_memory_equal(out, plan, sizeof plan);
    normalizer_destroy(units);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_plan_is_the_normalizers),
        cmocka_unit_test(small_changes_follow_the_slope),
        cmocka_unit_test(without_a_knee_a_unit_is_half_the_range),
        cmocka_unit_test(no_change_leaves_the_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
