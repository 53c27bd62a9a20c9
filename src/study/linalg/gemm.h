// Dense matrix products, the one door to BLAS.
//
// Matrices are row-major. How many threads BLAS takes for a product is a setting of the whole
// process, and the host's to choose: nothing here changes it unasked. Parallel work is split by the
// caller over the pool, so one is enough, and only with one are results promised bit for bit.
#ifndef FACET_LINALG_GEMM_H
#define FACET_LINALG_GEMM_H

#include "math/gemm_packed.h"

#include <facet/status.h>

#ifdef FACET_REAL_DOUBLE
#define real_gemm linalg_gemm_f64
#else
#define real_gemm linalg_gemm_f32
#endif

// Sets the threads of a product, for a host that uses BLAS for nothing else.
void gemm_set_threads(int threads);

// Makes sure of the memory that BLAS works in, before the first product: where a limit of the
// address space (ulimit -v) keeps it away, OpenBLAS would wait for it without an end.
FacetStatus gemm_prepare(void);

// c [m][n] = beta c + op(a) op(b), where op(a) is [m][k] and op(b) is [k][n]. A leading dimension
// is the distance between stored rows. With beta = 0 the old content of c is not read.
void linalg_gemm_f32(float *c, int ldc, GemmOp op_a, const float *a, int lda, GemmOp op_b,
                     const float *b, int ldb, int m, int n, int k, float beta);
void linalg_gemm_f64(double *c, int ldc, GemmOp op_a, const double *a, int lda, GemmOp op_b,
                     const double *b, int ldb, int m, int n, int k, double beta);

// The same in plain loops, summed in double. Tests compare against it.
void linalg_gemm_reference_f32(float *c, int ldc, GemmOp op_a, const float *a, int lda, GemmOp op_b,
                               const float *b, int ldb, int m, int n, int k, float beta);
void linalg_gemm_reference_f64(double *c, int ldc, GemmOp op_a, const double *a, int lda,
                               GemmOp op_b, const double *b, int ldb, int m, int n, int k,
                               double beta);

#endif
