// The shape of the tiles that products with packed matrices keep in registers (private to the
// room).
//
// A packed [k][n] matrix is cut into panels of PANEL columns, each [k][PANEL], the last one padded
// with zeros. A tile of TILE rows and one panel stays in registers over at most K_BLOCK of k; that
// much of the panel stays in the first cache.
#ifndef FACET_MATH_GEMM_TILE_H
#define FACET_MATH_GEMM_TILE_H

#include "math/real.h"

typedef Real Vector __attribute__((vector_size(32)));
typedef Real Unaligned __attribute__((vector_size(32), aligned(sizeof(Real)), may_alias));

enum { LANES = 32 / sizeof(Real), PANEL = 2 * LANES, TILE = 6, K_BLOCK = 1024 / sizeof(Real) };

static inline int panels(int n) { return (n + PANEL - 1) / PANEL; }

// Calls CALL(rows) with the number of rows, 1 to TILE, as a constant, so that a tile stays in
// registers.
#define TILE_ROWS(rows, CALL)                                                                      \
    switch (rows) {                                                                                \
    case 1:                                                                                        \
        CALL(1);                                                                                   \
        break;                                                                                     \
    case 2:                                                                                        \
        CALL(2);                                                                                   \
        break;                                                                                     \
    case 3:                                                                                        \
        CALL(3);                                                                                   \
        break;                                                                                     \
    case 4:                                                                                        \
        CALL(4);                                                                                   \
        break;                                                                                     \
    case 5:                                                                                        \
        CALL(5);                                                                                   \
        break;                                                                                     \
    default:                                                                                       \
        CALL(TILE);                                                                                \
    }

#endif
