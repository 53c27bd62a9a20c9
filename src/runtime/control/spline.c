// A C^2 cubic spline through points, with natural ends, read by arc length.
//
// The parameter between neighbours is their distance (chord length), which keeps the curve from
// looping between unevenly spaced gates. The second derivatives at the points solve the usual
// tridiagonal system. Arc length is tabulated by Gauss-Legendre quadrature over short pieces.
#include "base/status.h"
#include "control/control.h"
#include "math/geometry.h"

#include <stdlib.h>

enum { PIECES = 32 }; // arc-length table entries between two points

struct Spline {
    int count;
    FacetVec3 *points; // [count]
    FacetVec3 *second; // [count] second derivatives
    double *param;     // [count] chord length from the first point
    double *arc;       // [(count - 1) * PIECES + 1] arc length at equal steps of the parameter
};

static int segment_of(const Spline *spline, double u)
{
    int segment = 0;
    while (segment < spline->count - 2 && u > spline->param[segment + 1]) segment++;
    return segment;
}

FacetVec3 spline_derivative(const Spline *spline, double u, int order)
{
    int i = segment_of(spline, u);
    double h = spline->param[i + 1] - spline->param[i];
    double b = (u - spline->param[i]) / h, a = 1.0 - b;
    FacetVec3 p0 = spline->points[i], p1 = spline->points[i + 1];
    FacetVec3 m0 = spline->second[i], m1 = spline->second[i + 1];
    if (order == 0) {
        FacetVec3 line = vec3_lerp(p0, p1, b);
        FacetVec3 bend = vec3_add(vec3_scale(m0, a * a * a - a), vec3_scale(m1, b * b * b - b));
        return vec3_axpy(line, h * h / 6.0, bend);
    }
    if (order == 1) {
        FacetVec3 slope = vec3_scale(vec3_sub(p1, p0), 1.0 / h);
        FacetVec3 bend =
            vec3_sub(vec3_scale(m1, 3.0 * b * b - 1.0), vec3_scale(m0, 3.0 * a * a - 1.0));
        return vec3_axpy(slope, h / 6.0, bend);
    }
    return vec3_lerp(m0, m1, b);
}

// Solves for the second derivatives: h0 m0 + 2 (h0 + h1) m1 + h1 m2 = 6 (slope1 - slope0) at
// every inner point, zero at the ends (Thomas algorithm; `pivot` is scratch).
static void solve_second_derivatives(Spline *spline, double *pivot)
{
    int last = spline->count - 1;
    FacetVec3 *m = spline->second;
    m[0] = m[last] = vec3(0.0, 0.0, 0.0);
    double factor = 0.0;
    for (int i = 1; i < last; i++) {
        double h0 = spline->param[i] - spline->param[i - 1];
        double h1 = spline->param[i + 1] - spline->param[i];
        FacetVec3 slope0 = vec3_scale(vec3_sub(spline->points[i], spline->points[i - 1]), 1.0 / h0);
        FacetVec3 slope1 = vec3_scale(vec3_sub(spline->points[i + 1], spline->points[i]), 1.0 / h1);
        double diagonal = 2.0 * (h0 + h1) - h0 * factor;
        FacetVec3 right = vec3_scale(vec3_sub(slope1, slope0), 6.0);
        m[i] = vec3_scale(vec3_axpy(right, -h0, m[i - 1]), 1.0 / diagonal);
        factor = pivot[i] = h1 / diagonal;
    }
    for (int i = last - 2; i >= 1; i--) m[i] = vec3_axpy(m[i], -pivot[i], m[i + 1]);
}

// Length of the curve between two parameters, by five-point Gauss-Legendre quadrature.
static double quadrature(const Spline *spline, double u0, double u1)
{
    static const double node[5] = {-0.9061798459386640, -0.5384693101056831, 0.0,
                                   0.5384693101056831, 0.9061798459386640};
    static const double weight[5] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                     0.4786286704993665, 0.2369268850561891};
    double middle = 0.5 * (u0 + u1), half = 0.5 * (u1 - u0), sum = 0.0;
    for (int i = 0; i < 5; i++)
        sum += weight[i] * vec3_norm(spline_derivative(spline, middle + half * node[i], 1));
    return half * sum;
}

// The parameter of entry k of the arc-length table.
static double table_parameter(const Spline *spline, int k)
{
    int segment = k / PIECES, piece = k % PIECES;
    if (piece == 0) return spline->param[segment];
    double h = spline->param[segment + 1] - spline->param[segment];
    return spline->param[segment] + h * piece / PIECES;
}

FacetStatus spline_create(Spline **out, const FacetVec3 *points, int count)
{
    *out = NULL;
    if (count < 2)
        return status_fail(FACET_BAD_ARGUMENT, "a spline needs at least 2 points, found %d", count);
    for (int i = 0; i < count; i++) {
        if (!vec3_finite(points[i]))
            return status_fail(FACET_NOT_FINITE, "point %d of a spline is not finite", i);
        if (i > 0 && vec3_distance(points[i], points[i - 1]) < 1e-6)
            return status_fail(FACET_BAD_ARGUMENT, "points %d and %d of a spline coincide", i - 1,
                               i);
    }
    size_t n = (size_t)count, entries = (n - 1) * PIECES + 1;
    Spline *spline = calloc(1, sizeof *spline);
    FacetVec3 *vectors = calloc(2 * n, sizeof *vectors);
    double *numbers = calloc(n + entries + n, sizeof *numbers);
    if (!spline || !vectors || !numbers) {
        free(spline);
        free(vectors);
        free(numbers);
        return status_fail(FACET_NO_MEMORY, "out of memory for a spline of %d points", count);
    }
    *spline = (Spline){count, vectors, vectors + n, numbers, numbers + n};
    for (int i = 0; i < count; i++) {
        spline->points[i] = points[i];
        if (i > 0)
            spline->param[i] = spline->param[i - 1] + vec3_distance(points[i], points[i - 1]);
    }
    solve_second_derivatives(spline, numbers + n + entries);
    for (int k = 1; k < (int)entries; k++)
        spline->arc[k] = spline->arc[k - 1] + quadrature(spline, table_parameter(spline, k - 1),
                                                         table_parameter(spline, k));
    *out = spline;
    return status_ok();
}

void spline_destroy(Spline *spline)
{
    if (!spline) return;
    free(spline->points);
    free(spline->param);
    free(spline);
}

double spline_length(const Spline *spline) { return spline->arc[(spline->count - 1) * PIECES]; }
double spline_knot(const Spline *spline, int point) { return spline->arc[point * PIECES]; }
double spline_parameter(const Spline *spline, int point) { return spline->param[point]; }

FacetVec3 spline_position(const Spline *spline, double arc)
{
    int low = 0, high = (spline->count - 1) * PIECES;
    arc = clamp(arc, 0.0, spline->arc[high]);
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (spline->arc[middle] <= arc)
            low = middle;
        else
            high = middle;
    }
    double u0 = table_parameter(spline, low), u1 = table_parameter(spline, high);
    double u = u0 + (u1 - u0) * (arc - spline->arc[low]) / (spline->arc[high] - spline->arc[low]);
    // One Newton step on arc(u) = arc makes the linear guess exact to about 1e-9 m. Where the curve
    // turns back on itself its derivative vanishes, and the guess stays.
    double slope = vec3_norm(spline_derivative(spline, u, 1));
    if (slope > 1e-9) u -= (spline->arc[low] + quadrature(spline, u0, u) - arc) / slope;
    return spline_derivative(spline, clamp(u, u0, u1), 0);
}
