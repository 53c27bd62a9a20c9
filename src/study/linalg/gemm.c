// Matrix products through OpenBLAS, and the plain loops that check them (see linalg/gemm.h).
#define _GNU_SOURCE // MAP_ANONYMOUS
#include "linalg/gemm.h"

#include "base/status.h"

#include <cblas.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

void gemm_set_threads(int threads) { openblas_set_num_threads(threads); }

// ---- Memory -------------------------------------------------------------------------------------

// OpenBLAS maps a buffer for every product that runs at a time and keeps it for those that follow.
// Where the mapping fails it tries again without an end. Under a limit of the address space the
// first buffer is taken in gemm_prepare, after a trial, and products take turns, so that no other
// is needed.
enum { ROOM = 256 << 20 }; // bytes, twice what OpenBLAS maps on x86-64

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool limited; // products take turns

static bool room_is_there(void)
{
    void *trial = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return trial != MAP_FAILED && munmap(trial, ROOM) == 0;
}

// A product that is large enough for OpenBLAS to take its buffer.
static bool first_product(void)
{
    enum { N = 128 };
    double *a = calloc(2 * N * N, sizeof *a);
    if (!a) return false;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1.0, a, N, a, N, 0.0, a + N * N,
                N);
    free(a);
    return true;
}

FacetStatus gemm_prepare(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return status_ok();
    pthread_mutex_lock(&turn);
    if (!limited && room_is_there()) limited = first_product();
    bool prepared = limited;
    pthread_mutex_unlock(&turn);
    if (prepared) return status_ok();
    return status_fail(FACET_NO_MEMORY,
                       "out of memory for matrix products: expected %d MB of address space, the "
                       "limit (ulimit -v) leaves less",
                       ROOM >> 20);
}

static bool turn_begin(void)
{
    bool takes = limited;
    if (takes) pthread_mutex_lock(&turn);
    return takes;
}

static void turn_end(bool taken)
{
    if (taken) pthread_mutex_unlock(&turn);
}

// ---- Products -----------------------------------------------------------------------------------

static CBLAS_TRANSPOSE blas_op(GemmOp op) { return op == GEMM_PLAIN ? CblasNoTrans : CblasTrans; }

void linalg_gemm_f32(float *c, int ldc, GemmOp op_a, const float *a, int lda, GemmOp op_b,
                     const float *b, int ldb, int m, int n, int k, float beta)
{
    bool taken = turn_begin();
    cblas_sgemm(CblasRowMajor, blas_op(op_a), blas_op(op_b), m, n, k, 1.0f, a, lda, b, ldb, beta, c,
                ldc);
    turn_end(taken);
}

void linalg_gemm_f64(double *c, int ldc, GemmOp op_a, const double *a, int lda, GemmOp op_b,
                     const double *b, int ldb, int m, int n, int k, double beta)
{
    bool taken = turn_begin();
    cblas_dgemm(CblasRowMajor, blas_op(op_a), blas_op(op_b), m, n, k, 1.0, a, lda, b, ldb, beta, c,
                ldc);
    turn_end(taken);
}

static size_t element(GemmOp op, int row, int column, int ld)
{
    return op == GEMM_PLAIN ? (size_t)row * ld + column : (size_t)column * ld + row;
}

void linalg_gemm_reference_f32(float *c, int ldc, GemmOp op_a, const float *a, int lda, GemmOp op_b,
                               const float *b, int ldb, int m, int n, int k, float beta)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++)
                sum += (double)a[element(op_a, i, p, lda)] * (double)b[element(op_b, p, j, ldb)];
            float *out = &c[(size_t)i * ldc + j];
            *out = (float)(sum + (beta != 0.0f ? (double)beta * (double)*out : 0.0));
        }
}

void linalg_gemm_reference_f64(double *c, int ldc, GemmOp op_a, const double *a, int lda,
                               GemmOp op_b, const double *b, int ldb, int m, int n, int k,
                               double beta)
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int p = 0; p < k; p++)
                sum += a[element(op_a, i, p, lda)] * b[element(op_b, p, j, ldb)];
            double *out = &c[(size_t)i * ldc + j];
            *out = sum + (beta != 0.0 ? beta * *out : 0.0);
        }
}
