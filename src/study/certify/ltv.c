// Bounds from the linear maps along a path (see certify/ltv.h).
#include "certify/ltv.h"

#include "linalg/gemm.h"
#include "linalg/spectrum.h"

#include <assert.h>
#include <math.h>
#include <string.h>

size_t ltv_scratch(int size) { return 2 * (size_t)size * size + spectrum_scratch(size); }

void ltv_log_norms(double *log_norm, const double *transition, double *scratch, int steps, int size)
{
    size_t square = (size_t)size * size;
    double *p = scratch, *pm = p + square, *work = pm + square, scale = 0.0;
    memset(p, 0, square * sizeof *p);
    for (int i = 0; i < size; i++) p[(size_t)i * size + i] = 1.0;
    log_norm[steps] = 0.0;
    // p is P_k / exp(2 scale), with norm 1.
    for (int k = steps - 1; k >= 0; k--) {
        const double *m = transition + (size_t)k * square;
        linalg_gemm_f64(pm, size, GEMM_PLAIN, p, size, GEMM_PLAIN, m, size, size, size, size, 0.0);
        linalg_gemm_f64(p, size, GEMM_TRANSPOSED, m, size, GEMM_PLAIN, pm, size, size, size, size,
                        0.0);
        double largest = symmetric_largest(p, work, size);
        scale += 0.5 * log(largest);
        log_norm[k] = scale;
        if (!isfinite(largest) || largest <= 0.0) {
            double rest = largest <= 0.0 ? log(0.0) : nan("");
            for (int j = k; j >= 0; j--) log_norm[j] = rest;
            return;
        }
        for (size_t i = 0; i < square; i++) p[i] /= largest;
    }
}

// Adds |c2| exp(log) e to the bound, and notes the step where the sum stops being finite.
static void add(FacetCertifyBound *bound, int k, double c2, double log_norm, double e)
{
    if (bound->step >= 0) return;
    if (e != 0.0) bound->value += fabs(c2) * exp(log_norm) * e;
    if (!isfinite(bound->value)) *bound = (FacetCertifyBound){nan(""), k};
}

FacetCertifyBound ltv_bound(const PathStep *step, const double *log_norm, int steps)
{
    FacetCertifyBound bound = {0.0, -1};
    for (int k = steps - 1; k >= 0; k--) add(&bound, k, step[k].c2, log_norm[k + 1], 1.0);
    return bound;
}

FacetCertifyBound ltv_path_bound(const PathStep *step, const double *log_norm, int steps)
{
    FacetCertifyBound bound = {0.0, -1};
    for (int k = steps - 1; k >= 0; k--)
        add(&bound, k, step[k].c2, log_norm[k + 1], step[k].mismatch);
    return bound;
}

FacetCertifyBound ltv_rows_bound(const DenoisingPath *path, double *scratch, int first, int rows)
{
    assert(first >= 0 && rows > 0 && first + rows <= path->size);
    int n = path->size;
    size_t square = (size_t)n * n, size = (size_t)rows * n;
    double *s = scratch, *next = s + square, *work = next + square, scale = 0.0;
    FacetCertifyBound bound = {0.0, -1};
    memset(s, 0, size * sizeof *s);
    for (int i = 0; i < rows; i++) s[(size_t)i * n + first + i] = 1.0;
    // s is E Phi_{k+1,K} / exp(scale), with norm 1.
    for (int k = path->steps - 1; k >= 0; k--) {
        add(&bound, k, path->step[k].c2, scale, path->step[k].mismatch);
        const double *m = path->transition + (size_t)k * square;
        linalg_gemm_f64(next, n, GEMM_PLAIN, s, n, GEMM_PLAIN, m, n, rows, n, n, 0.0);
        double norm = spectral_norm(next, work, rows, n);
        if (norm <= 0.0) return bound; // nothing before this step matters
        for (size_t i = 0; i < size; i++) s[i] = next[i] / norm;
        scale += log(norm);
    }
    return bound;
}

double ltv_linear(const DenoisingPath *path, double *scratch)
{
    int n = path->size;
    double *e = scratch, *next = scratch + n, sum = 0.0;
    memset(e, 0, (size_t)n * sizeof *e);
    for (int k = 0; k < path->steps; k++) {
        const double *m = path->transition + (size_t)k * n * n;
        const double *d = path->mismatch + (size_t)k * n;
        linalg_gemm_f64(next, 1, GEMM_PLAIN, m, n, GEMM_PLAIN, e, 1, n, 1, n, 0.0);
        for (int i = 0; i < n; i++) e[i] = next[i] + path->step[k].c2 * d[i];
    }
    for (int i = 0; i < n; i++) sum += e[i] * e[i];
    return sqrt(sum);
}

FacetCertifyBound gronwall_product(const PathStep *step, int steps)
{
    FacetCertifyBound bound = {0.0, -1};
    double log_product = 0.0;
    for (int k = steps - 1; k >= 0; k--) {
        add(&bound, k, step[k].c2, log_product, 1.0);
        log_product += log(fabs(step[k].c1) + fabs(step[k].c2) * step[k].lipschitz);
    }
    return bound;
}

// The integral of exp(r u) over [0, h], divided by exp(r h) to stay finite.
static double exponential_integral(double r, double h)
{
    return fabs(r * h) < 1e-8 ? h * (1.0 - 0.5 * r * h) : -expm1(-r * h) / r;
}

FacetCertifyBound gronwall_integral(const PathStep *step, int steps)
{
    FacetCertifyBound bound = {0.0, -1};
    double u = 0.0, log_growth = 0.0; // the inner integral up to u
    for (int k = steps - 1; k >= 0; k--) {
        double next = atanh(step[k].sigma), h = next - u, l = step[k].lipschitz;
        // cosh(u + v) exp(l v) = (exp(u) exp((l + 1) v) + exp(-u) exp((l - 1) v)) / 2.
        double rise = log(exponential_integral(l + 1.0, h)) + (l + 1.0) * h + u;
        double fall = log(exponential_integral(l - 1.0, h)) + (l - 1.0) * h - u;
        add(&bound, k, 0.5, log_growth + rise, 1.0);
        add(&bound, k, 0.5, log_growth + fall, 1.0);
        log_growth += l * h;
        u = next;
    }
    return bound;
}
