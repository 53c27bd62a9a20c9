// A matrix turned round.
#ifndef FACET_MATH_TRANSPOSE_H
#define FACET_MATH_TRANSPOSE_H

#include "math/real.h"

#include <stddef.h>

// out [columns][rows] = x [rows][columns]; rows of out are out_stride apart, those of x x_stride.
// Goes by squares, so that what a square touches stays in cache.
static inline void transpose(Real *out, size_t out_stride, const Real *x, size_t x_stride, int rows,
                             int columns)
{
    enum { SIDE = 16 };
    for (int r0 = 0; r0 < rows; r0 += SIDE)
        for (int c0 = 0; c0 < columns; c0 += SIDE) {
            int r1 = r0 + SIDE < rows ? r0 + SIDE : rows;
            int c1 = c0 + SIDE < columns ? c0 + SIDE : columns;
            for (int c = c0; c < c1; c++)
                for (int r = r0; r < r1; r++) out[c * out_stride + r] = x[r * x_stride + c];
        }
}

#endif
