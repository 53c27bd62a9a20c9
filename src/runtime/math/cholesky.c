// Cholesky's factors (see math/cholesky.h).
#include "math/cholesky.h"

#include <math.h>
#include <stddef.h>

bool cholesky_factor(double *a, int n, int stride)
{
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double *row = a + (ptrdiff_t)i * stride, *pivot = a + (ptrdiff_t)j * stride;
            double sum = row[j];
            for (int k = 0; k < j; k++) sum -= row[k] * pivot[k];
            if (i == j && !(sum > 0.0)) return false;
            row[j] = i == j ? sqrt(sum) : sum / pivot[j];
        }
    return true;
}

void cholesky_solve(double *x, const double *l, int n, int stride)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= l[(ptrdiff_t)i * stride + k] * x[k];
        x[i] /= l[(ptrdiff_t)i * stride + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= l[(ptrdiff_t)k * stride + i] * x[k];
        x[i] /= l[(ptrdiff_t)i * stride + i];
    }
}
