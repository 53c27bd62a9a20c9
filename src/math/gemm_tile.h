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

#endif
