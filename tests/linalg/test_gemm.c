// BLAS behind linalg/gemm.h against the plain loops: every transposition, strides larger than the
// rows, accumulation, and old content that must not leak when beta is zero.
#include "base/rng.h"
#include "linalg/gemm.h"
#include "testing.h"

#include <stdlib.h>

enum { MAX = 64 * 64 };

static float fa[MAX], fb[MAX], fc[MAX], fr[MAX];
static double da[MAX], db[MAX], dc[MAX], dr[MAX];

static void fill(uint64_t stream)
{
    FacetRng rng = rng_make(7, stream);
    for (int i = 0; i < MAX; i++) {
        da[i] = rng_normal(&rng), db[i] = rng_normal(&rng), dc[i] = dr[i] = rng_normal(&rng);
        fa[i] = (float)da[i], fb[i] = (float)db[i], fc[i] = fr[i] = (float)dc[i];
    }
}

static void matches_reference(void **state)
{
    (void)state;
    const int shapes[][3] = {{1, 1, 1}, {7, 5, 3}, {31, 16, 40}, {2, 33, 17}, {48, 4, 12}};
    for (int shape = 0; shape < 5; shape++)
        for (int variant = 0; variant < 8; variant++) {
            int m = shapes[shape][0], n = shapes[shape][1], k = shapes[shape][2];
            GemmOp op_a = variant & 1 ? GEMM_TRANSPOSED : GEMM_PLAIN;
            GemmOp op_b = variant & 2 ? GEMM_TRANSPOSED : GEMM_PLAIN;
            int accumulate = variant >> 2;
            int lda = (op_a == GEMM_PLAIN ? k : m) + 3, ldb = (op_b == GEMM_PLAIN ? n : k) + 2;
            int ldc = n + 1;
            fill((uint64_t)(8 * shape + variant));
            if (!accumulate) fc[0] = NAN, dc[0] = (double)NAN;
            linalg_gemm_f32(fc, ldc, op_a, fa, lda, op_b, fb, ldb, m, n, k,
                            accumulate ? 1.0f : 0.0f);
            linalg_gemm_f64(dc, ldc, op_a, da, lda, op_b, db, ldb, m, n, k, accumulate ? 0.5 : 0.0);
            linalg_gemm_reference_f32(fr, ldc, op_a, fa, lda, op_b, fb, ldb, m, n, k,
                                      accumulate ? 1.0f : 0.0f);
            linalg_gemm_reference_f64(dr, ldc, op_a, da, lda, op_b, db, ldb, m, n, k,
                                      accumulate ? 0.5 : 0.0);
            for (int i = 0; i < m * ldc; i++) {
                assert_near((double)fc[i], (double)fr[i], 2e-5);
                assert_near(dc[i], dr[i], 1e-13 * 40);
            }
        }
}

// Gaps between rows of c stay as they are.
static void leaves_gaps(void **state)
{
    (void)state;
    fill(99);
    float before = fc[5];
    linalg_gemm_f32(fc, 6, GEMM_PLAIN, fa, 4, GEMM_PLAIN, fb, 5, 3, 5, 4, 0.0f);
    assert_true(fc[5] == before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_reference),
        cmocka_unit_test(leaves_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
