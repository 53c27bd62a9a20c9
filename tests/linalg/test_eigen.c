// Eigenvalues of symmetric matrices: matrices made from known ones, and graded ones.
#include "base/rng.h"
#include "linalg/eigen.h"
#include "testing.h"

#include <stdlib.h>

enum { N = 12 };

// A random orthogonal matrix, rows by Gram and Schmidt.
static void random_orthogonal(double *q, uint64_t seed)
{
    FacetRng rng = rng_make(seed, 0);
    for (int i = 0; i < N; i++) {
        double norm = 0.0;
        for (int k = 0; k < N; k++) q[i * N + k] = rng_normal(&rng);
        for (int pass = 0; pass < 2; pass++)
            for (int j = 0; j < i; j++) {
                double dot = 0.0;
                for (int k = 0; k < N; k++) dot += q[i * N + k] * q[j * N + k];
                for (int k = 0; k < N; k++) q[i * N + k] -= dot * q[j * N + k];
            }
        for (int k = 0; k < N; k++) norm += q[i * N + k] * q[i * N + k];
        for (int k = 0; k < N; k++) q[i * N + k] /= sqrt(norm);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void known_spectra_come_back(void **state)
{
    (void)state;
    double known[N] = {-7.0, -2.0, -2.0, -1e-3, 0.0, 0.0, 1e-6, 0.5, 0.5, 3.0, 11.0, 40.0};
    double q[N * N], a[N * N] = {0}, kept[N * N], values[N], vectors[N * N];
    random_orthogonal(q, 3);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            for (int k = 0; k < N; k++) a[i * N + j] += known[k] * q[k * N + i] * q[k * N + j];
    memcpy(kept, a, sizeof a);
    eigen_symmetric(values, vectors, a, N);
    // A v = lambda v for every column.
    for (int k = 0; k < N; k++)
        for (int i = 0; i < N; i++) {
            double sum = 0.0;
            for (int j = 0; j < N; j++) sum += kept[i * N + j] * vectors[j * N + k];
            assert_near(sum, values[k] * vectors[i * N + k], 1e-12);
        }
    qsort(values, N, sizeof *values, compare);
    for (int k = 0; k < N; k++) assert_near(values[k], known[k], 1e-12);
}

static void small_cases(void **state)
{
    (void)state;
    double one[] = {-3.0}, value, two[] = {2.0, 1.0, 1.0, 2.0}, values[2];
    eigen_symmetric(&value, NULL, one, 1);
    assert_near(value, -3.0, 0.0);
    eigen_symmetric(values, NULL, two, 2);
    qsort(values, 2, sizeof *values, compare);
    assert_near(values[0], 1.0, 1e-15);
    assert_near(values[1], 3.0, 1e-15);
    double zero[9] = {0}, zeros[3];
    eigen_symmetric(zeros, NULL, zero, 3);
    for (int i = 0; i < 3; i++) assert_near(zeros[i], 0.0, 0.0);
}

// Diag(1, 1e-20) coupled by 1e-11: the small one is 1e-20 - 1e-22.
static void small_eigenvalues_of_a_graded_matrix(void **state)
{
    (void)state;
    double a[] = {1.0, 1e-11, 1e-11, 1e-20}, values[2];
    eigen_symmetric(values, NULL, a, 2);
    assert_near(fmin(values[0], values[1]), 1e-20 - 1e-22, 1e-33);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_spectra_come_back),
        cmocka_unit_test(small_cases),
        cmocka_unit_test(small_eigenvalues_of_a_graded_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
