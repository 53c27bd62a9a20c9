// Largest eigenvalues and singular values (see linalg/spectrum.h).
#include "linalg/spectrum.h"

#include "linalg/gemm.h"

#include <math.h>
#include <stdbool.h>

// A matrix and four vectors for the reduction, and a matrix for a^T a.
size_t spectrum_scratch(int n) { return (size_t)(2 * n + 4) * (size_t)n; }

// The largest absolute value, or NaN.
static double magnitude(const double *a, size_t count)
{
    double largest = 0.0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(a[i])) return nan("");
        largest = fmax(largest, fabs(a[i]));
    }
    return largest;
}

// H a H = T with reflections H = I - beta v v^T, one a column: T has the diagonal d [n] and the
// squares of the numbers beside it in e2 [n - 1]. a is overwritten; v and p are [n].
static void tridiagonalise(double *d, double *e2, double *a, double *v, double *p, int n)
{
    for (int k = 0; k + 1 < n; k++) {
        double norm2 = 0.0;
        for (int i = k + 1; i < n; i++) {
            v[i] = a[(size_t)i * n + k];
            norm2 += v[i] * v[i];
        }
        d[k] = a[(size_t)k * n + k];
        e2[k] = norm2;
        double below = norm2 - v[k + 1] * v[k + 1];
        if (k + 2 == n || below <= 0.0) continue;
        double norm = sqrt(norm2);
        v[k + 1] += v[k + 1] < 0.0 ? -norm : norm;
        double beta = 2.0 / (below + v[k + 1] * v[k + 1]);
        for (int i = k + 1; i < n; i++) p[i] = 0.0;
        for (int i = k + 1; i < n; i++) {
            const double *row = a + (size_t)i * n;
            double scale = beta * v[i];
            for (int j = k + 1; j < n; j++) p[j] += scale * row[j];
        }
        double along = 0.0;
        for (int i = k + 1; i < n; i++) along += p[i] * v[i];
        for (int i = k + 1; i < n; i++) p[i] -= 0.5 * beta * along * v[i];
        for (int i = k + 1; i < n; i++) {
            double *row = a + (size_t)i * n, vi = v[i], pi = p[i];
            for (int j = k + 1; j < n; j++) row[j] -= vi * p[j] + pi * v[j];
        }
    }
    d[n - 1] = a[(size_t)n * n - 1];
}

// Whether T has an eigenvalue above x: a pivot of x I - T = L D L^T is not positive.
static bool any_above(const double *d, const double *e2, double x, int n)
{
    double pivot = x - d[0];
    for (int i = 1; i < n && pivot > 0.0; i++) pivot = x - d[i] - e2[i - 1] / pivot;
    return !(pivot > 0.0);
}

double symmetric_largest(const double *a, double *scratch, int n)
{
    double *work = scratch, *d = scratch + (size_t)n * n, *e2 = d + n, *v = e2 + n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++)
            work[(size_t)i * n + j] = work[(size_t)j * n + i] = a[(size_t)i * n + j];
    double scale = magnitude(work, (size_t)n * n);
    if (!(scale > 0.0)) return scale;
    for (size_t i = 0; i < (size_t)n * n; i++) work[i] /= scale;
    tridiagonalise(d, e2, work, v, v + n, n);
    double low = d[0], high = d[0];
    for (int i = 0; i < n; i++) {
        double before = i > 0 ? sqrt(e2[i - 1]) : 0.0, after = i + 1 < n ? sqrt(e2[i]) : 0.0;
        low = fmax(low, d[i]);
        high = fmax(high, d[i] + before + after);
    }
    for (;;) {
        double middle = low + 0.5 * (high - low);
        if (!(middle > low && middle < high)) break;
        if (any_above(d, e2, middle, n))
            low = middle;
        else
            high = middle;
    }
    return scale * high;
}

double spectral_norm(const double *a, double *scratch, int rows, int columns)
{
    double scale = magnitude(a, (size_t)rows * columns);
    if (!(scale > 0.0)) return scale;
    double *gram = scratch + (size_t)(columns + 4) * columns;
    linalg_gemm_f64(gram, columns, GEMM_TRANSPOSED, a, columns, GEMM_PLAIN, a, columns, columns,
                    columns, rows, 0.0);
    return sqrt(symmetric_largest(gram, scratch, columns));
}
