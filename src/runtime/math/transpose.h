// Transposing a block of a matrix in registers.
#ifndef FACET_MATH_TRANSPOSE_H
#define FACET_MATH_TRANSPOSE_H

#include "math/real.h"

#include <stddef.h>

enum { TRANSPOSE_SIDE = 8 };

typedef Real TransposeRow __attribute__((vector_size(TRANSPOSE_SIDE * sizeof(Real))));
typedef Real TransposeUnaligned
    __attribute__((vector_size(TRANSPOSE_SIDE * sizeof(Real)), aligned(sizeof(Real)), may_alias));

// out [8][8] = in^T, with rows so many numbers apart. Round by round, rows exchange halves of 1, 2
// and 4 numbers with the row as many places further down.
static inline void transpose_block(Real *out, size_t out_stride, const Real *in, size_t in_stride)
{
    TransposeRow row[TRANSPOSE_SIDE];
    for (int i = 0; i < TRANSPOSE_SIDE; i++)
        row[i] = *(const TransposeUnaligned *)(in + (size_t)i * in_stride);
#define EXCHANGE(step, first, ...)                                                                 \
    for (int i = 0; i < TRANSPOSE_SIDE; i++)                                                       \
        if (!(i & (step))) {                                                                       \
            TransposeRow low =                                                                     \
                __builtin_shufflevector(row[i], row[i + (step)], TRANSPOSE_LIST first);            \
            row[i + (step)] = __builtin_shufflevector(row[i], row[i + (step)], __VA_ARGS__);       \
            row[i] = low;                                                                          \
        }
#define TRANSPOSE_LIST(...) __VA_ARGS__
    EXCHANGE(1, (0, 8, 2, 10, 4, 12, 6, 14), 1, 9, 3, 11, 5, 13, 7, 15)
    EXCHANGE(2, (0, 1, 8, 9, 4, 5, 12, 13), 2, 3, 10, 11, 6, 7, 14, 15)
    EXCHANGE(4, (0, 1, 2, 3, 8, 9, 10, 11), 4, 5, 6, 7, 12, 13, 14, 15)
#undef TRANSPOSE_LIST
#undef EXCHANGE
    for (int i = 0; i < TRANSPOSE_SIDE; i++) {
        Real *to = out + (size_t)i * out_stride;
        *(TransposeUnaligned *)to = row[i];
    }
}

// out [columns][rows] = in^T, of any size.
static inline void transpose(Real *out, size_t out_stride, const Real *in, size_t in_stride,
                             int rows, int columns)
{
    for (int r = 0; r < rows; r += TRANSPOSE_SIDE)
        for (int c = 0; c < columns; c += TRANSPOSE_SIDE) {
            const Real *from = in + (size_t)r * in_stride + c;
            Real *to = out + (size_t)c * out_stride + r;
            int height = rows - r, width = columns - c;
            if (height >= TRANSPOSE_SIDE && width >= TRANSPOSE_SIDE) {
                transpose_block(to, out_stride, from, in_stride);
                continue;
            }
            for (int i = 0; i < width && i < TRANSPOSE_SIDE; i++)
                for (int j = 0; j < height && j < TRANSPOSE_SIDE; j++)
                    to[(size_t)i * out_stride + j] = from[(size_t)j * in_stride + i];
        }
}

#endif
