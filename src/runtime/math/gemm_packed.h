// Products with a matrix that is used many times: it is packed once, and the other matrix is read
// where it lies.
//
// BLAS packs both matrices at every call. For the small products of one plan that is a tenth of the
// time, and BLAS refuses rows that overlap (lda < k), which make a convolution one product. Here
// every element of c is the sum over k in order, whatever the number of rows: a row's result does
// not depend on the rows computed with it.
//
// Its tile reads rows lda apart. With that of gemm_windows, which takes a pointer a row, products
// of [99][768] and [768][256] take as long built with gcc 12, and 1.2 times as long with clang 14.
#ifndef FACET_MATH_GEMM_PACKED_H
#define FACET_MATH_GEMM_PACKED_H

#include "math/real.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum GemmOp {
    GEMM_PLAIN,
    GEMM_TRANSPOSED,
} GemmOp;

#define gemm_packed        REAL_NAME(gemm_packed)
#define gemm_pack          REAL_NAME(gemm_pack)
#define gemm_packed_size   REAL_NAME(gemm_packed_size)
#define gemm_packed_part   REAL_NAME(gemm_packed_part)
#define gemm_packed_panels REAL_NAME(gemm_packed_panels)
#define gemm_by_transposed REAL_NAME(gemm_by_transposed)

// Numbers that a packed [k][n] matrix takes.
size_t gemm_packed_size(int n, int k);

// Packs op(b) [rows][n] into rows k_first, ... of a packed [k][n] matrix.
void gemm_pack(Real *packed, GemmOp op, const Real *b, int ldb, int rows, int k_first, int n,
               int k);

// c [m][n] = a b, or c += a b with accumulate. a is [m][k] with lda from row to row; lda may be
// smaller than k. c must not overlap a.
void gemm_packed(Real *c, int ldc, const Real *a, int lda, const Real *packed, int m, int n, int k,
                 bool accumulate);

// The same for `count` of the panels of columns that a packed matrix is cut into, from `first` on:
// for those who share a product out.
int gemm_packed_panels(int n);
void gemm_packed_part(Real *c, int ldc, const Real *a, int lda, const Real *packed, int m, int n,
                      int k, int first, int count, bool accumulate);

// c [m][n] = a b^T, or c += a b^T, for a b [n][k] that is used once: a panel at a time is packed on
// the way.
void gemm_by_transposed(Real *c, int ldc, const Real *a, int lda, const Real *b, int ldb, int m,
                        int n, int k, bool accumulate);

#endif
