// Cholesky's factors against the systems that they solve.
#include "base/rng.h"
#include "math/cholesky.h"
#include "testing.h"

#include <math.h>
#include <string.h>

enum { N = 9, STRIDE = 12 };

static void a_solved_system_gives_its_right_side_back(void **state)
{
    (void)state;
    FacetRng rng = rng_make(4, 0);
    double b[N][N], a[N][STRIDE] = {{0.0}}, l[N][STRIDE], x[N], right[N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) b[i][j] = rng_normal(&rng);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i == j ? 0.1 : 0.0;
            for (int k = 0; k < N; k++) a[i][j] += b[i][k] * b[j][k];
        }
    for (int i = 0; i < N; i++) x[i] = right[i] = rng_normal(&rng);
    memcpy(l, a, sizeof l);
    assert_true(cholesky_factor(l[0], N, STRIDE));
    cholesky_solve(x, l[0], N, STRIDE);
    for (int i = 0; i < N; i++) {
        double sum = 0.0;
        for (int j = 0; j < N; j++) sum += a[i][j] * x[j];
        assert_near(sum, right[i], 1e-10);
    }
}

static void what_is_not_positive_definite_is_refused(void **state)
{
    (void)state;
    double flat[2][2] = {{1.0, 1.0}, {1.0, 1.0}}, none[1] = {NAN}, negative[1] = {-1.0};
    assert_false(cholesky_factor(flat[0], 2, 2));
    assert_false(cholesky_factor(none, 1, 1));
    assert_false(cholesky_factor(negative, 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solved_system_gives_its_right_side_back),
        cmocka_unit_test(what_is_not_positive_definite_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
