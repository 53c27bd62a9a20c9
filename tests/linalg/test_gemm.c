// BLAS behind linalg/gemm.h against the plain loops: every transposition, strides larger than the
// rows, accumulation, and old content that must not leak when beta is zero. And BLAS in little
// memory, where it must not be asked for a product.
#include "base/rng.h"
#include "linalg/gemm.h"
#include "testing.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

// ---- Little memory ------------------------------------------------------------------------------

static size_t pages_in_use(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%zu", &pages) != 1) _exit(5);
    fclose(file);
    return pages;
}

// What a process that may take so many MB more says: 0 after a product, 2 for a refusal.
static int outcome_within(size_t megabytes)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20);
        rlim_t bytes = pages_in_use() * (rlim_t)sysconf(_SC_PAGESIZE) + (megabytes << 20);
        if (setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}) != 0) _exit(4);
        FacetStatus prepared = gemm_prepare();
        if (!prepared.ok) _exit(strstr(prepared.text, "the limit (ulimit -v)") ? 2 : 3);
        linalg_gemm_f64(dc, 64, GEMM_PLAIN, da, 64, GEMM_PLAIN, db, 64, 64, 64, 64, 0.0);
        _exit(gemm_prepare().ok ? 0 : 3); // again: it has what it needs
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Before any other product: a child has the buffers of this process.
static void little_memory_is_told(void **state)
{
    (void)state;
#ifdef TEST_SANITIZED
    skip(); // they reserve more than any limit
#endif
    assert_ok(gemm_prepare()); // without a limit there is nothing to do
    for (size_t megabytes = 8; megabytes < 256; megabytes *= 2)
        assert_int_equal(outcome_within(megabytes), 2);
    assert_int_equal(outcome_within(272), 0);
    assert_int_equal(outcome_within(1024), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_memory_is_told),
        cmocka_unit_test(matches_reference),
        cmocka_unit_test(leaves_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
