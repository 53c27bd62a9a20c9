// Largest eigenvalues against closed forms, and norms against a power iteration that converged.
#include "base/rng.h"
#include "linalg/spectrum.h"
#include "testing.h"

enum { N = 24 };

static double scratch[(2 * 128 + 4) * 128];

static void known_spectra(void **state)
{
    (void)state;
    // 2 on the diagonal, -1 beside it: 2 - 2 cos(k pi / (n + 1)).
    static double a[N * N];
    for (int i = 0; i < N; i++) {
        a[i * N + i] = 2.0;
        if (i > 0) a[i * N + i - 1] = -1.0;
    }
    assert_near(symmetric_largest(a, scratch, N), 2.0 + 2.0 * cos(acos(-1.0) / (N + 1)), 1e-14);
    // Only the lower triangle counts, and the largest is not the largest by magnitude.
    const double small[4] = {-5.0, 77.0, 2.0, 1.0};
    assert_near(symmetric_largest(small, scratch, 2), -2.0 + sqrt(13.0), 1e-14);
    assert_near(symmetric_largest((double[]){-3.0}, scratch, 1), -3.0, 0.0);
    // Equal eigenvalues, and a matrix that is already tridiagonal and diagonal.
    const double equal[9] = {4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 1.0};
    assert_near(symmetric_largest(equal, scratch, 3), 4.0, 1e-15);
    const double zero[4] = {0.0};
    assert_near(symmetric_largest(zero, scratch, 2), 0.0, 0.0);
}

// Householder's reflections in 128 dimensions hide a spectrum that is known.
static void a_hidden_spectrum(void **state)
{
    (void)state;
    enum { M = 128 };
    static double a[M * M], v[M];
    FacetRng rng = rng_make(3, 1);
    for (int i = 0; i < M; i++) a[i * M + i] = i + 1.0;
    for (int turn = 0; turn < 4; turn++) {
        double norm2 = 0.0;
        for (int i = 0; i < M; i++) v[i] = rng_normal(&rng), norm2 += v[i] * v[i];
        for (int side = 0; side < 2; side++) // a <- H a, then the same on the other side
            for (int j = 0; j < M; j++) {
                double along = 0.0;
                for (int i = 0; i < M; i++) along += v[i] * a[side ? j * M + i : i * M + j];
                for (int i = 0; i < M; i++)
                    a[side ? j * M + i : i * M + j] -= 2.0 * along / norm2 * v[i];
            }
    }
    assert_near(symmetric_largest(a, scratch, M) / M, 1.0, 1e-13);
    assert_near(spectral_norm(a, scratch, M, M) / M, 1.0, 1e-13);
}

static void norms_of_oblong_matrices(void **state)
{
    (void)state;
    enum { ROWS = 3 };
    double a[ROWS * N], x[N], y[ROWS], norm = 0.0;
    FacetRng rng = rng_make(5, 2);
    for (int i = 0; i < ROWS * N; i++) a[i] = rng_normal(&rng);
    for (int i = 0; i < N; i++) x[i] = rng_normal(&rng);
    for (int turn = 0; turn < 2000; turn++) {
        double sum = 0.0;
        for (int r = 0; r < ROWS; r++) {
            y[r] = 0.0;
            for (int i = 0; i < N; i++) y[r] += a[r * N + i] * x[i];
        }
        for (int i = 0; i < N; i++) {
            x[i] = 0.0;
            for (int r = 0; r < ROWS; r++) x[i] += a[r * N + i] * y[r];
            sum += x[i] * x[i];
        }
        norm = sqrt(sqrt(sum));
        for (int i = 0; i < N; i++) x[i] /= sqrt(sum);
    }
    assert_near(spectral_norm(a, scratch, ROWS, N) / norm, 1.0, 1e-13);
}

static void what_is_not_finite_stays_so(void **state)
{
    (void)state;
    double a[4] = {1.0, 0.0, NAN, 1.0};
    assert_true(isnan(symmetric_largest(a, scratch, 2)));
    assert_true(isnan(spectral_norm(a, scratch, 2, 2)));
    a[2] = INFINITY;
    assert_true(isnan(symmetric_largest(a, scratch, 2)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_spectra),
        cmocka_unit_test(a_hidden_spectrum),
        cmocka_unit_test(norms_of_oblong_matrices),
        cmocka_unit_test(what_is_not_finite_stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
