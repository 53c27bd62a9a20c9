// The shape of the tiles that products with packed matrices keep in registers (private to the
// room).
//
// A packed [k][n] matrix is cut into panels of PANEL columns, each [k][PANEL], the last one padded
// with zeros. A tile of TILE rows and one panel stays in registers over at most K_BLOCK of k; that
// much of the panel stays in the first cache.
#ifndef FACET_MATH_GEMM_TILE_H
#define FACET_MATH_GEMM_TILE_H

#include "math/vector.h"

// 16 registers of 32 bytes hold six rows of two vectors, 32 of 64 bytes twelve.
#ifdef __AVX512F__
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

// Calls CALL(rows) with the number of rows, 1 to TILE, as a constant, so that a tile stays in
// registers.
#define TILE_CASE(count, CALL)                                                                     \
    case count:                                                                                    \
        CALL(count);                                                                               \
        break;
#define TILE_ROWS(rows, CALL)                                                                      \
    switch (rows) {                                                                                \
        TILE_CASE(1, CALL)                                                                         \
        TILE_CASE(2, CALL)                                                                         \
        TILE_CASE(3, CALL)                                                                         \
        TILE_CASE(4, CALL)                                                                         \
        TILE_CASE(5, CALL)                                                                         \
        TILE_MORE(CALL)                                                                            \
    default:                                                                                       \
        CALL(TILE);                                                                                \
    }
#ifdef __AVX512F__
#define TILE_MORE(CALL)                                                                            \
    TILE_CASE(6, CALL)                                                                             \
    TILE_CASE(7, CALL)                                                                             \
    TILE_CASE(8, CALL)                                                                             \
    TILE_CASE(9, CALL)                                                                             \
    TILE_CASE(10, CALL)                                                                            \
    TILE_CASE(11, CALL)
#else
#define TILE_MORE(CALL)
#endif

#endif
