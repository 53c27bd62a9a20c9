// Stands in for linalg/gemm.c where there is no BLAS: plain loops, summed in double.
#include "linalg/gemm.h"

#define PLAIN(name, Number)                                                                        \
    void name(Number *c, int ldc, GemmOp op_a, const Number *a, int lda, GemmOp op_b,              \
              const Number *b, int ldb, int m, int n, int k, Number beta)                          \
    {                                                                                              \
        for (int i = 0; i < m; i++)                                                                \
            for (int j = 0; j < n; j++) {                                                          \
                double sum = beta != 0 ? (double)beta * (double)c[(size_t)i * ldc + j] : 0.0;      \
                for (int p = 0; p < k; p++) {                                                      \
                    Number x =                                                                     \
                        op_a == GEMM_PLAIN ? a[(size_t)i * lda + p] : a[(size_t)p * lda + i];      \
                    Number y =                                                                     \
                        op_b == GEMM_PLAIN ? b[(size_t)p * ldb + j] : b[(size_t)j * ldb + p];      \
                    sum += (double)x * (double)y;                                                  \
                }                                                                                  \
                c[(size_t)i * ldc + j] = (Number)sum;                                              \
            }                                                                                      \
    }

PLAIN(linalg_gemm_f32, float)
PLAIN(linalg_gemm_f64, double)
PLAIN(linalg_gemm_reference_f32, float)
PLAIN(linalg_gemm_reference_f64, double)
