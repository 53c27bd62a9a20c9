// Products over windows of an image (see math/gemm_windows.h).
#include "math/gemm_windows.h"

#include "math/gemm_tile.h"

#include <string.h>

#define TILE_INLINE static inline __attribute__((always_inline))

// Where a sum starts. What will only be written is asked for, so that it is there at the end.
TILE_INLINE Vector start_sum(Real *c, bool accumulate)
{
    if (accumulate) return vector_load(c);
    __builtin_prefetch(c, 1);
    return (Vector){0};
}

// A tile of the product: rows windows times the first vectors of one panel; rows and vectors are
// constants at every call.
TILE_INLINE void window_tile(Real *const *c, const Real *const *a, int a_step, const Real *panel,
                             int segments, int depth, bool accumulate, int rows, int vectors)
{
    Vector sum[TILE][2];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) sum[i][j] = start_sum(c[i] + j * LANES, accumulate);
    const Real *from[TILE];
    for (int i = 0; i < rows; i++) from[i] = a[i];
    for (int s = 0; s < segments; s++) {
        for (int p = 0; p < depth; p++) {
            Vector b0 = *(const Unaligned *)panel, b1 = b0;
            if (vectors > 1) b1 = *(const Unaligned *)(panel + LANES);
            panel += PANEL;
#pragma GCC unroll 12
            for (int i = 0; i < rows; i++) {
                Real x = from[i][p];
                sum[i][0] += x * b0;
                if (vectors > 1) sum[i][1] += x * b1;
            }
        }
        for (int i = 0; i < rows; i++) from[i] += a_step;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++) *(Unaligned *)(c[i] + j * LANES) = sum[i][j];
}

static void window_rows(Real *const *c, const Real *const *a, int a_step, const Real *panel,
                        int segments, int depth, bool accumulate, int rows)
{
#define CALL(count) window_tile(c, a, a_step, panel, segments, depth, accumulate, count, 2)
    TILE_ROWS(rows, CALL)
#undef CALL
}

static void window_half(Real *const *c, const Real *const *a, int a_step, const Real *panel,
                        int segments, int depth, bool accumulate, int rows)
{
#define CALL(count) window_tile(c, a, a_step, panel, segments, depth, accumulate, count, 1)
    TILE_ROWS(rows, CALL)
#undef CALL
}

// A tile whose panel is wider than the result goes through a buffer.
static void window_narrow(Real *const *c, const Real *const *a, int a_step, const Real *panel,
                          int segments, int depth, bool accumulate, int rows, int width)
{
    Real buffer[TILE][PANEL], *to[TILE];
    size_t bytes = (size_t)width * sizeof(Real);
    if (accumulate) memset(buffer, 0, sizeof buffer);
    for (int i = 0; i < rows; i++) {
        to[i] = buffer[i];
        if (accumulate) memcpy(to[i], c[i], bytes);
    }
    if (width > LANES)
        window_rows(to, a, a_step, panel, segments, depth, accumulate, rows);
    else
        window_half(to, a, a_step, panel, segments, depth, accumulate, rows);
    for (int i = 0; i < rows; i++) memcpy(c[i], to[i], bytes);
}

void gemm_windows(Real *c, const int *c_at, const Real *a, const int *a_at, int a_step,
                  const Real *packed, int m, int n, int segments, int depth, bool accumulate)
{
    // As many whole segments at a time as keep a panel's block in the first cache.
    int block = depth < K_BLOCK ? K_BLOCK / depth : 1;
    for (int s = 0; s < segments; s += block) {
        int count = segments - s < block ? segments - s : block;
        bool add = accumulate || s > 0;
        for (int j = 0; j < panels(n); j++) {
            const Real *panel = packed + ((size_t)j * segments + (size_t)s) * depth * PANEL;
            int width = n - j * PANEL;
            for (int i = 0, rows; i < m; i += rows) {
                rows = tile_height(m - i);
                Real *to[TILE];
                const Real *from[TILE];
                for (int r = 0; r < rows; r++) {
                    to[r] = c + c_at[i + r] + j * PANEL;
                    from[r] = a + a_at[i + r] + (ptrdiff_t)s * a_step;
                }
                if (width >= PANEL)
                    window_rows(to, from, a_step, panel, count, depth, add, rows);
                else if (width == LANES)
                    window_half(to, from, a_step, panel, count, depth, add, rows);
                else
                    window_narrow(to, from, a_step, panel, count, depth, add, rows, width);
            }
        }
    }
}

// c [height][vectors] (+)= sum over the grid; height and vectors are constants at every call.
TILE_INLINE void gradient_tile(Real *c, int ldc, const Real *a, WindowGrid a_grid, const Real *b,
                               WindowGrid b_grid, int rows, int columns, bool accumulate,
                               int height, int vectors)
{
    Vector sum[TILE][2];
    for (int i = 0; i < height; i++)
        for (int j = 0; j < vectors; j++)
            sum[i][j] = start_sum(c + (size_t)i * ldc + j * LANES, accumulate);
    for (int y = 0; y < rows; y++) {
        const Real *x = a + (ptrdiff_t)y * a_grid.row_step, *d = b + (ptrdiff_t)y * b_grid.row_step;
        for (int p = 0; p < columns; p++) {
            Vector b0 = *(const Unaligned *)d, b1 = b0;
            if (vectors > 1) b1 = *(const Unaligned *)(d + LANES);
#pragma GCC unroll 12
            for (int i = 0; i < height; i++) {
                sum[i][0] += x[i] * b0;
                if (vectors > 1) sum[i][1] += x[i] * b1;
            }
            x += a_grid.column_step;
            d += b_grid.column_step;
        }
    }
    for (int i = 0; i < height; i++)
        for (int j = 0; j < vectors; j++)
            *(Unaligned *)(c + (size_t)i * ldc + j * LANES) = sum[i][j];
}

static void gradient_rows(Real *c, int ldc, const Real *a, WindowGrid a_grid, const Real *b,
                          WindowGrid b_grid, int rows, int columns, bool accumulate, int height)
{
#define CALL(count) gradient_tile(c, ldc, a, a_grid, b, b_grid, rows, columns, accumulate, count, 2)
    TILE_ROWS(height, CALL)
#undef CALL
}

static void gradient_half(Real *c, int ldc, const Real *a, WindowGrid a_grid, const Real *b,
                          WindowGrid b_grid, int rows, int columns, bool accumulate, int height)
{
#define CALL(count) gradient_tile(c, ldc, a, a_grid, b, b_grid, rows, columns, accumulate, count, 1)
    TILE_ROWS(height, CALL)
#undef CALL
}

// A panel wider than b, whose rows end before it does.
static void gradient_narrow(Real *c, int ldc, const Real *a, WindowGrid a_grid, const Real *b,
                            WindowGrid b_grid, int rows, int columns, bool accumulate, int height,
                            int width)
{
    if (width >= LANES) {
        gradient_half(c, ldc, a, a_grid, b, b_grid, rows, columns, accumulate, height);
        c += LANES, b += LANES, width -= LANES;
    }
    for (int i = 0; !accumulate && i < height; i++)
        memset(c + (size_t)i * ldc, 0, (size_t)width * sizeof *c);
    for (int y = 0; y < rows; y++)
        for (int p = 0; p < columns; p++) {
            const Real *x = a + (ptrdiff_t)y * a_grid.row_step + (ptrdiff_t)p * a_grid.column_step;
            const Real *d = b + (ptrdiff_t)y * b_grid.row_step + (ptrdiff_t)p * b_grid.column_step;
            for (int i = 0; i < height; i++)
                for (int j = 0; j < width; j++) c[(size_t)i * ldc + j] += x[i] * d[j];
        }
}

void gemm_windows_gradient(Real *c, int ldc, const Real *a, WindowGrid a_grid, const Real *b,
                           WindowGrid b_grid, int rows, int columns, int depth, int n,
                           bool accumulate)
{
    // Places a tile goes over before the next: more of them amortise its loads and stores, fewer
    // keep a and b in the first cache.
    enum { PLACES = 64 };
    int block = columns < PLACES ? (PLACES + columns - 1) / columns : 1;
    for (int j = 0; j < panels(n); j++) {
        int width = n - j * PANEL;
        for (int y = 0; y < rows; y += block) {
            int count = rows - y < block ? rows - y : block;
            bool add = accumulate || y > 0;
            const Real *x = a + (ptrdiff_t)y * a_grid.row_step;
            const Real *d = b + (ptrdiff_t)y * b_grid.row_step + j * PANEL;
            for (int i = 0, height; i < depth; i += height) {
                height = tile_height(depth - i);
                Real *to = c + (size_t)i * ldc + j * PANEL;
                if (width >= PANEL)
                    gradient_rows(to, ldc, x + i, a_grid, d, b_grid, count, columns, add, height);
                else
                    gradient_narrow(to, ldc, x + i, a_grid, d, b_grid, count, columns, add, height,
                                    width);
            }
        }
    }
}
