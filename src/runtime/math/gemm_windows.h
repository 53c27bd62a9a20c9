// Products whose rows are windows of an image: a convolution without copies.
//
// Row i of the left matrix is `segments` runs of `depth` numbers, the runs a_step apart, the first
// at a + a_at[i]: the window of a pixel in an image whose pixels of one row lie end to end. Every
// element of the result is one sum in a fixed order, whatever is computed with it.
#ifndef FACET_MATH_GEMM_WINDOWS_H
#define FACET_MATH_GEMM_WINDOWS_H

#include "math/gemm_packed.h"

#define gemm_windows          REAL_NAME(gemm_windows)
#define gemm_windows_gradient REAL_NAME(gemm_windows_gradient)

// The n numbers at c + c_at[i] become (or, with accumulate, gain) window i times the packed matrix
// [segments * depth][n], for i in [0, m). c must not overlap a.
void gemm_windows(Real *c, const int *c_at, const Real *a, const int *a_at, int a_step,
                  const Real *packed, int m, int n, int segments, int depth, bool accumulate);

// A grid of `rows` by `columns` places, each with a run of numbers in memory.
typedef struct WindowGrid {
    int row_step, column_step;
} WindowGrid;

// c [depth][n] becomes (or, with accumulate, gains) the sum over the places of the grid of
// a[place][0..depth) b[place][0..n).
void gemm_windows_gradient(Real *c, int ldc, const Real *a, WindowGrid a_grid, const Real *b,
                           WindowGrid b_grid, int rows, int columns, int depth, int n,
                           bool accumulate);

#endif
