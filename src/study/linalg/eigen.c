// Cyclic Jacobi rotations (see eigen.h).
//
// A rotation in the plane (p, q) with cot 2 theta = (a_qq - a_pp) / 2 a_pq makes a_pq zero and
// takes 2 a_pq^2 from the square sum of what is off the diagonal. Each sweep visits every pair; the
// sweeps end with one that finds nothing left above the rounding of the diagonal.
#include "eigen.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

enum { SWEEPS_MAX = 60 };

// (p, q) <- (c p - s q, s p + c q) for n pairs of numbers `stride` apart.
static void rotate_pairs(double *p, double *q, double c, double s, int n, int stride)
{
    for (int i = 0; i < n; i++, p += stride, q += stride) {
        double x = *p, y = *q;
        *p = c * x - s * y;
        *q = s * x + c * y;
    }
}

// Makes a[p][q] zero. False when it already counts as zero beside the diagonal.
static bool rotate(double *a, double *vectors, int p, int q, int n)
{
    double off = a[p * n + q], first = a[p * n + p], second = a[q * n + q];
    if (off == 0.0 || fabs(off) <= 1e-17 * (fabs(first) + fabs(second))) return false;
    double cot = (second - first) / (2.0 * off); // of the doubled angle
    double t = 1.0 / (fabs(cot) + hypot(cot, 1.0));
    if (cot < 0.0) t = -t;
    double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
    rotate_pairs(a + p * n, a + q * n, c, s, n, 1);
    rotate_pairs(a + p, a + q, c, s, n, n);
    if (vectors) rotate_pairs(vectors + p, vectors + q, c, s, n, n);
    a[p * n + q] = a[q * n + p] = 0.0;
    return true;
}

void eigen_symmetric(double *values, double *vectors, double *a, int n)
{
    assert(n >= 0);
    if (vectors)
        for (int i = 0; i < n * n; i++) vectors[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    bool turned = true;
    for (int sweep = 0; sweep < SWEEPS_MAX && turned; sweep++) {
        turned = false;
        for (int p = 0; p < n - 1; p++)
            for (int q = p + 1; q < n; q++) turned |= rotate(a, vectors, p, q, n);
    }
    for (int i = 0; i < n; i++) values[i] = a[i * n + i];
}
