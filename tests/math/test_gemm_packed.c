// Packed products against the plain loops, in both precisions (test_gemm_packed_f64.c is this file
// in double): every remainder of rows and columns, overlapping rows, accumulation, and rows that do
// not depend on their neighbours.
#include "base/rng.h"
#include "linalg/gemm.h"
#include "math/gemm_packed.h"
#include "testing.h"

#ifdef FACET_REAL_DOUBLE
#define reference linalg_gemm_reference_f64
#define TOLERANCE 1e-12
#else
#define reference linalg_gemm_reference_f32
#define TOLERANCE 2e-4
#endif

enum { MAX = 32000 };

static Real a[MAX], b[MAX], c[MAX], r[MAX], packed[MAX];

static void fill(uint64_t stream)
{
    FacetRng rng = rng_make(3, stream);
    for (int i = 0; i < MAX; i++)
        a[i] = (Real)rng_range(&rng, -1.0, 1.0), b[i] = (Real)rng_range(&rng, -1.0, 1.0),
        c[i] = r[i] = (Real)rng_range(&rng, -1.0, 1.0);
}

static void matches_reference(void **state)
{
    (void)state;
    fill(0);
    const int ns[] = {1, 4, 8, 15, 16, 17, 40}, ks[] = {1, 7, 300};
    for (int m = 1; m <= 13; m++)
        for (int n = 0; n < 7; n++)
            for (int k = 0; k < 3; k++)
                for (int variant = 0; variant < 4; variant++) {
                    int cols = ns[n], depth = ks[k], ldc = cols + 3, lda = depth + 1;
                    bool add = variant & 1;
                    GemmOp op = variant & 2 ? GEMM_TRANSPOSED : GEMM_PLAIN;
                    int ldb = op == GEMM_PLAIN ? cols + 2 : depth;
                    memcpy(r, c, (size_t)(m * ldc) * sizeof *r);
                    assert_true(gemm_packed_size(cols, depth) <= MAX);
                    gemm_pack(packed, op, b, ldb, depth, 0, cols, depth);
                    gemm_packed(c, ldc, a, lda, packed, m, cols, depth, add);
                    reference(r, ldc, GEMM_PLAIN, a, lda, op, b, ldb, m, cols, depth, R(add));
                    for (int i = 0; i < m * ldc; i++)
                        assert_near((double)c[i], (double)r[i], TOLERANCE);
                }
}

// b^T used once, packed on the way: the same bits as packed before.
static void a_transposed_matrix_needs_no_packing_before(void **state)
{
    (void)state;
    fill(3);
    const int ns[] = {1, 15, 33, 70}, ks[] = {1, 9, 300};
    for (int m = 1; m <= 26; m += 5)
        for (int n = 0; n < 4; n++)
            for (int k = 0; k < 3; k++)
                for (int add = 0; add < 2; add++) {
                    int cols = ns[n], depth = ks[k], ldc = cols + 3, ldb = depth + 2;
                    memcpy(r, c, (size_t)(m * ldc) * sizeof *r);
                    gemm_pack(packed, GEMM_TRANSPOSED, b, ldb, depth, 0, cols, depth);
                    gemm_packed(r, ldc, a, depth, packed, m, cols, depth, add);
                    gemm_by_transposed(c, ldc, a, depth, b, ldb, m, cols, depth, add);
                    assert_memory_equal(c, r, (size_t)(m * ldc) * sizeof *r);
                }
}

// Rows of a that overlap: three stacked matrices and lda = k / 3 are a convolution.
static void overlapping_rows(void **state)
{
    (void)state;
    enum { M = 20, N = 24, C = 9 };
    fill(1);
    for (int slice = 0; slice < 3; slice++) {
        gemm_pack(packed, GEMM_PLAIN, b + slice * C * N, N, C, slice * C, N, 3 * C);
        reference(r, N, GEMM_PLAIN, a + slice * C, C, GEMM_PLAIN, b + slice * C * N, N, M, N, C,
                  R(slice > 0));
    }
    gemm_packed(c, N, a, C, packed, M, N, 3 * C, false);
    for (int i = 0; i < M * N; i++) assert_near((double)c[i], (double)r[i], TOLERANCE);
}

static void rows_are_independent(void **state)
{
    (void)state;
    enum { M = 17, N = 20, K = 290 };
    fill(2);
    gemm_pack(packed, GEMM_PLAIN, b, N, K, 0, N, K);
    gemm_packed(c, N, a, K, packed, M, N, K, false);
    for (int i = 0; i < M; i++) {
        gemm_packed(r, N, a + i * K, K, packed, 1, N, K, false);
        assert_memory_equal(r, c + i * N, N * sizeof *r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matches_reference),
        cmocka_unit_test(a_transposed_matrix_needs_no_packing_before),
        cmocka_unit_test(overlapping_rows),
        cmocka_unit_test(rows_are_independent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
