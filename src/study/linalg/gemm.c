// Matrix products through OpenBLAS, and the plain loops that check them (see linalg/gemm.h).
#include "linalg/gemm.h"

#include <cblas.h>
#include <stddef.h>

void gemm_set_threads(int threads) { openblas_set_num_threads(threads); }

static CBLAS_TRANSPOSE blas_op(GemmOp op) { return op == GEMM_PLAIN ? CblasNoTrans : CblasTrans; }

void linalg_gemm_f32(float *c, int ldc, GemmOp op_a, const float *a, int lda, GemmOp op_b,
                     const float *b, int ldb, int m, int n, int k, float beta)
{
    cblas_sgemm(CblasRowMajor, blas_op(op_a), blas_op(op_b), m, n, k, 1.0f, a, lda, b, ldb, beta, c,
                ldc);
}

void linalg_gemm_f64(double *c, int ldc, GemmOp op_a, const double *a, int lda, GemmOp op_b,
                     const double *b, int ldb, int m, int n, int k, double beta)
{
    cblas_dgemm(CblasRowMajor, blas_op(op_a), blas_op(op_b), m, n, k, 1.0, a, lda, b, ldb, beta, c,
                ldc);
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
