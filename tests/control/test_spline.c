// Tests of the spline: through its points, C^2, natural ends, arc length, chunks, refusals.
#include "control/control.h"
#include "flying.h"

#include <stdlib.h>

static const FacetVec3 POINTS[] = {
    {0.0, 0.0, 1.0},  {2.0, 1.0, 1.5},  {2.5, 4.0, 2.0},
    {-1.0, 5.0, 0.5}, {-3.0, 1.0, 1.0}, {0.0, -2.0, 3.0},
};
enum { COUNT = sizeof POINTS / sizeof *POINTS };

static Spline *make(const FacetVec3 *points, int count)
{
    Spline *spline;
    assert_ok(spline_create(&spline, points, count));
    return spline;
}

static void goes_through_its_points(void **unused)
{
    (void)unused;
    Spline *spline = make(POINTS, COUNT);
    for (int i = 0; i < COUNT; i++) {
        assert_vec3_near(spline_derivative(spline, spline_parameter(spline, i), 0), POINTS[i],
                         1e-14);
        assert_vec3_near(spline_position(spline, spline_knot(spline, i)), POINTS[i], 1e-12);
    }
    assert_near(spline_knot(spline, 0), 0.0, 0.0);
    assert_near(spline_knot(spline, COUNT - 1), spline_length(spline), 0.0);
    // Arc lengths outside of the curve are held to its ends.
    assert_vec3_near(spline_position(spline, -1.0), POINTS[0], 1e-12);
    assert_vec3_near(spline_position(spline, 1e9), POINTS[COUNT - 1], 1e-12);
    spline_destroy(spline);
}

static void twice_continuously_differentiable(void **unused)
{
    (void)unused;
    Spline *spline = make(POINTS, COUNT);
    const double h = 1e-7;
    for (int i = 1; i < COUNT - 1; i++) {
        double u = spline_parameter(spline, i);
        for (int order = 0; order <= 2; order++) {
            // Each side's limit, by a line through two points on that side.
            FacetVec3 left = vec3_sub(vec3_scale(spline_derivative(spline, u - h, order), 2.0),
                                      spline_derivative(spline, u - 2.0 * h, order));
            FacetVec3 right = vec3_sub(vec3_scale(spline_derivative(spline, u + h, order), 2.0),
                                       spline_derivative(spline, u + 2.0 * h, order));
            assert_vec3_near(left, right, 1e-12);
            assert_vec3_near(left, spline_derivative(spline, u, order), 1e-12);
        }
    }
    spline_destroy(spline);
}

// Each order is the derivative of the one before it, at places between the points too.
static void derivatives_against_differences(void **unused)
{
    (void)unused;
    Spline *spline = make(POINTS, COUNT);
    double end = spline_parameter(spline, COUNT - 1), h = 1e-4;
    for (int k = 0; k < 200; k++) {
        double u = h + (end - 2.0 * h) * k / 199.0;
        for (int order = 1; order <= 2; order++) {
            FacetVec3 change = vec3_sub(spline_derivative(spline, u + h, order - 1),
                                        spline_derivative(spline, u - h, order - 1));
            assert_vec3_near(spline_derivative(spline, u, order), vec3_scale(change, 0.5 / h),
                             order == 1 ? 1e-7 : 1e-3);
        }
    }
    spline_destroy(spline);
}

static void ends_are_natural(void **unused)
{
    (void)unused;
    Spline *spline = make(POINTS, COUNT);
    assert_vec3_near(spline_derivative(spline, 0.0, 2), vec3(0, 0, 0), 1e-14);
    assert_vec3_near(spline_derivative(spline, spline_parameter(spline, COUNT - 1), 2),
                     vec3(0, 0, 0), 1e-13);
    spline_destroy(spline);
}

static void line_has_its_own_length(void **unused)
{
    (void)unused;
    FacetVec3 from = vec3(1.0, 2.0, 3.0), along = vec3(2.0, -1.0, 0.5), points[6];
    const double places[6] = {0.0, 0.3, 1.0, 1.1, 2.7, 4.0}; // unevenly spread
    double unit = vec3_norm(along);
    for (int i = 0; i < 6; i++) points[i] = vec3_axpy(from, places[i], along);
    for (int count = 2; count <= 6; count++) {
        Spline *spline = make(points, count);
        double length = places[count - 1] * unit;
        assert_near(spline_length(spline), length, 1e-12);
        for (int i = 0; i < count; i++)
            assert_near(spline_knot(spline, i), places[i] * unit, 1e-12);
        for (int k = 0; k <= 20; k++)
            assert_vec3_near(spline_position(spline, length * k / 20.0),
                             vec3_axpy(from, places[count - 1] * k / 20.0, along), 1e-12);
        spline_destroy(spline);
    }
}

// Points on a circle: the spline's length is the arc's, the better the more points there are.
static void circle_has_the_length_of_its_arc(void **unused)
{
    (void)unused;
    enum { MOST = 65 };
    FacetVec3 points[MOST];
    for (int count = 17; count <= MOST; count += 48) {
        for (int i = 0; i < count; i++) {
            double angle = 2.0 * FACET_PI * i / (count - 1);
            points[i] = vec3(3.0 * cos(angle), 3.0 * sin(angle), 1.0);
        }
        Spline *spline = make(points, count);
        // The natural ends straighten the curve there; the middle half has no such ends.
        double middle =
            spline_knot(spline, 3 * (count - 1) / 4) - spline_knot(spline, (count - 1) / 4);
        assert_near(middle, 3.0 * FACET_PI, count > 20 ? 2e-5 : 6e-3);
        spline_destroy(spline);
    }
}

// Arc length and position against a polyline so dense that its own error does not count.
static void arc_length_against_a_dense_polyline(void **unused)
{
    (void)unused;
    enum { DENSE = 200000 };
    Spline *spline = make(POINTS, COUNT);
    double end = spline_parameter(spline, COUNT - 1), length = 0.0, worst = 0.0;
    FacetVec3 last = POINTS[0];
    for (int k = 1; k <= DENSE; k++) {
        FacetVec3 p = spline_derivative(spline, end * k / DENSE, 0);
        length += vec3_distance(p, last);
        last = p;
        if (k % 997 == 0) worst = fmax(worst, vec3_distance(spline_position(spline, length), p));
    }
    assert_near(spline_length(spline), length, 1e-7);
    assert_less(worst, 1e-6);
    spline_destroy(spline);
}

static void chunk_is_equally_spaced(void **unused)
{
    (void)unused;
    enum { DENSE = 100000 };
    Spline *spline = make(POINTS, COUNT);
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    chunk_from_spline(chunk, spline, 3.5);
    assert_vec3_near(chunk[0].pos, POINTS[0], 1e-12);
    assert_vec3_near(chunk[FACET_CHUNK_KEYPOINTS - 1].pos, POINTS[COUNT - 1], 1e-12);
    // Walk along the curve: keypoint i must be met when i/31 of the length is covered.
    double end = spline_parameter(spline, COUNT - 1), walked = 0.0, total = spline_length(spline);
    FacetVec3 last = POINTS[0];
    int next = 1;
    for (int k = 1; k <= DENSE && next < FACET_CHUNK_KEYPOINTS; k++) {
        FacetVec3 p = spline_derivative(spline, end * k / DENSE, 0);
        walked += vec3_distance(p, last);
        last = p;
        if (walked < total * next / (FACET_CHUNK_KEYPOINTS - 1)) continue;
        assert_vec3_near(chunk[next].pos, p, 5e-4); // within one short stretch of the walk
        next++;
    }
    assert_true(next >= FACET_CHUNK_KEYPOINTS - 1);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) assert_near(chunk[i].speed, 3.5, 0.0);
    spline_destroy(spline);
}

// There and back on one line: the curve stops at the turning point, and still is a curve.
static void reversal_stays_finite(void **unused)
{
    (void)unused;
    const FacetVec3 points[3] = {{0.0, 0.0, 1.0}, {4.0, 0.0, 1.0}, {0.0, 0.0, 1.0}};
    Spline *spline = make(points, 3);
    for (int k = 0; k <= 200; k++)
        assert_true(vec3_finite(spline_position(spline, spline_length(spline) * k / 200.0)));
    assert_vec3_near(spline_position(spline, spline_knot(spline, 1)), points[1], 1e-9);
    assert_near(spline_length(spline), 8.0, 1e-6);
    spline_destroy(spline);
}

static void bad_values_are_refused(void **unused)
{
    (void)unused;
    FacetVec3 points[4] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}};
    Spline *spline = (Spline *)&points;
    assert_refused(spline_create(&spline, points, 1), "at least 2 points, found 1");
    assert_null(spline);
    assert_refused(spline_create(&spline, points, 0), "at least 2 points, found 0");
    points[2].y = NAN;
    assert_refused(spline_create(&spline, points, 4), "point 2 of a spline is not finite");
    points[2].y = INFINITY;
    assert_refused(spline_create(&spline, points, 4), "point 2 of a spline is not finite");
    points[2] = points[1];
    assert_refused(spline_create(&spline, points, 4), "points 1 and 2 of a spline coincide");
    assert_null(spline);
    spline_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(goes_through_its_points),
        cmocka_unit_test(twice_continuously_differentiable),
        cmocka_unit_test(derivatives_against_differences),
        cmocka_unit_test(ends_are_natural),
        cmocka_unit_test(line_has_its_own_length),
        cmocka_unit_test(circle_has_the_length_of_its_arc),
        cmocka_unit_test(arc_length_against_a_dense_polyline),
        cmocka_unit_test(chunk_is_equally_spaced),
        cmocka_unit_test(reversal_stays_finite),
        cmocka_unit_test(bad_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
