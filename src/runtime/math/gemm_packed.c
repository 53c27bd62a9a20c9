// Products with a packed matrix (see math/gemm_packed.h).
//
// A tile of some rows and one panel (math/gemm_tile.h) stays in registers over a block of k; the
// block of the panel stays in the first cache for all rows.
#include "math/gemm_packed.h"

#include "math/gemm_tile.h"
#include "math/transpose.h"

#include <string.h>

size_t gemm_packed_size(int n, int k) { return (size_t)panels(n) * PANEL * (size_t)k; }

void gemm_pack(Real *packed, GemmOp op, const Real *b, int ldb, int rows, int k_first, int n, int k)
{
    for (int j = 0; j < panels(n); j++) {
        Real *out = packed + ((size_t)j * k + k_first) * PANEL;
        int width = n - j * PANEL < PANEL ? n - j * PANEL : PANEL;
        if (width < PANEL) memset(out, 0, (size_t)rows * PANEL * sizeof *out);
        if (op == GEMM_PLAIN)
            for (int p = 0; p < rows; p++)
                memcpy(out + (size_t)p * PANEL, b + (size_t)p * ldb + (size_t)j * PANEL,
                       (size_t)width * sizeof *out);
        else
            transpose(out, PANEL, b + (size_t)j * PANEL * ldb, (size_t)ldb, width, rows);
    }
}

// c [rows][PANEL] (+)= a [rows][k] panel [k][PANEL]; rows is a constant at every call.
static inline __attribute__((always_inline)) void
tile(Real *c, int ldc, const Real *a, int lda, const Real *panel, int k, bool accumulate, int rows)
{
    Vector sum[TILE][2];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 2; j++)
            sum[i][j] = accumulate ? (Vector) * (const Unaligned *)(c + (size_t)i * ldc + j * LANES)
                                   : (Vector){0};
    for (int p = 0; p < k; p++) {
        Vector b0 = *(const Unaligned *)(panel + (size_t)p * PANEL);
        Vector b1 = *(const Unaligned *)(panel + (size_t)p * PANEL + LANES);
        __builtin_prefetch(panel + ((size_t)p + PREFETCH) * PANEL, 0, 2);
        __builtin_prefetch(panel + ((size_t)p + PREFETCH) * PANEL + LANES, 0, 2);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            Real x = a[(size_t)i * lda + p];
            sum[i][0] += x * b0;
            sum[i][1] += x * b1;
        }
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < 2; j++) *(Unaligned *)(c + (size_t)i * ldc + j * LANES) = sum[i][j];
}

static void tile_rows(Real *c, int ldc, const Real *a, int lda, const Real *panel, int k,
                      bool accumulate, int rows)
{
#define CALL(count) tile(c, ldc, a, lda, panel, k, accumulate, count)
    TILE_ROWS(rows, CALL)
#undef CALL
}

// A tile whose panel is wider than c goes through a buffer.
static void tile_narrow(Real *c, int ldc, const Real *a, int lda, const Real *panel, int k,
                        bool accumulate, int rows, int width)
{
    Real buffer[TILE * PANEL] = {0};
    size_t bytes = (size_t)width * sizeof *c;
    for (int i = 0; accumulate && i < rows; i++)
        memcpy(buffer + (size_t)i * PANEL, c + (size_t)i * ldc, bytes);
    tile_rows(buffer, PANEL, a, lda, panel, k, accumulate, rows);
    for (int i = 0; i < rows; i++) memcpy(c + (size_t)i * ldc, buffer + (size_t)i * PANEL, bytes);
}

// c [m][width] (+)= a [m][k] panel [k][PANEL], of which only the first columns count.
static void panel_product(Real *c, int ldc, const Real *a, int lda, const Real *panel, int m,
                          int width, int k, bool accumulate)
{
    for (int i = 0, rows; i < m; i += rows) {
        rows = tile_height(m - i);
        Real *out = c + (size_t)i * ldc;
        const Real *in = a + (size_t)i * lda;
        if (width >= PANEL)
            tile_rows(out, ldc, in, lda, panel, k, accumulate, rows);
        else
            tile_narrow(out, ldc, in, lda, panel, k, accumulate, rows, width);
    }
}

int gemm_packed_panels(int n) { return panels(n); }

void gemm_packed_part(Real *c, int ldc, const Real *a, int lda, const Real *packed, int m, int n,
                      int k, int first, int count, bool accumulate)
{
    for (int p = 0; p < k; p += K_BLOCK) {
        int depth = k - p < K_BLOCK ? k - p : K_BLOCK;
        for (int j = first; j < first + count; j++)
            panel_product(c + (size_t)j * PANEL, ldc, a + p, lda,
                          packed + ((size_t)j * k + p) * PANEL, m, n - j * PANEL, depth,
                          accumulate || p > 0);
    }
}

void gemm_packed(Real *c, int ldc, const Real *a, int lda, const Real *packed, int m, int n, int k,
                 bool accumulate)
{
    gemm_packed_part(c, ldc, a, lda, packed, m, n, k, 0, panels(n), accumulate);
}

void gemm_by_transposed(Real *c, int ldc, const Real *a, int lda, const Real *b, int ldb, int m,
                        int n, int k, bool accumulate)
{
    Real panel[K_BLOCK * PANEL];
    for (int p = 0; p < k; p += K_BLOCK) {
        int depth = k - p < K_BLOCK ? k - p : K_BLOCK;
        for (int j = 0; j < n; j += PANEL) {
            int width = n - j < PANEL ? n - j : PANEL;
            gemm_pack(panel, GEMM_TRANSPOSED, b + (size_t)j * ldb + p, ldb, depth, 0, width, depth);
            panel_product(c + j, ldc, a + p, lda, panel, m, width, depth, accumulate || p > 0);
        }
    }
}
