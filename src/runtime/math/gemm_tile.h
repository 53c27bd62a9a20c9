// The shape of the tiles that products with packed matrices keep in registers (private to the
// room).
//
// A packed [k][n] matrix is cut into panels of PANEL columns, each [k][PANEL], the last one padded
// with zeros. A tile of TILE rows and one panel stays in registers over at most K_BLOCK of k; that
// much of the panel stays in the first cache.
#ifndef FACET_MATH_GEMM_TILE_H
#define FACET_MATH_GEMM_TILE_H

#include "math/vector.h"

// 16 registers hold six rows of two vectors, 32 twelve.
#if defined(__AVX512F__) || defined(__aarch64__)
enum { TILE = 12 };
#else
enum { TILE = 6 };
#endif

enum {
    PANEL = 2 * LANES,
    K_BLOCK = 1024 / sizeof(Real),
    PREFETCH = 64, // rows of a panel that are asked for ahead of their use
};

static inline int panels(int n) { return (n + PANEL - 1) / PANEL; }

// Heights for which there is code: what is left after the whole tiles is taken in few of them. A
// row's result does not depend on the rows beside it, so the cut is free.
static inline int tile_height(int rows)
{
    return rows >= TILE ? TILE : rows >= 8 ? 8 : rows >= 4 ? 4 : rows >= 2 ? 2 : 1;
}

// Calls CALL(rows) with the number of rows, a height as above, as a constant, so that a tile stays
// in registers.
#define TILE_CASE(count, CALL)                                                                     \
    case count:                                                                                    \
        CALL(count);                                                                               \
        break;
#define TILE_ROWS(rows, CALL)                                                                      \
    switch (rows) {                                                                                \
        TILE_CASE(1, CALL)                                                                         \
        TILE_CASE(2, CALL)                                                                         \
        TILE_CASE(4, CALL)                                                                         \
        TILE_MORE(CALL)                                                                            \
    default:                                                                                       \
        CALL(TILE);                                                                                \
    }
#if defined(__AVX512F__) || defined(__aarch64__)
#define TILE_MORE(CALL) TILE_CASE(8, CALL)
#else
#define TILE_MORE(CALL)
#endif

#endif
