// Winograd's convolution of images (see nn/winograd_image.h).
#include "nn/winograd_image.h"

#include "math/gemm_packed.h"
#include "math/transpose.h"
#include "math/vector.h"

#include <assert.h>
#include <string.h>

enum { PANEL_MAX = 32, TAPS = 9, SIX = 6 };

// ---- Weights ------------------------------------------------------------------------------------

size_t winograd_image_packed_size(int in, int out)
{
    return WINOGRAD_IMAGE_POINTS * gemm_packed_size(out, in);
}

typedef struct Six {
    Real p0, p1, p2, p3, p4, p5;
} Six;

// G4 g of one column of the kernel.
static inline Six kernel_down(Real g0, Real g1, Real g2)
{
    const Real sixth = R(1) / R(6), twelfth = R(1) / R(12), part = R(1) / R(24);
    Real ends = -sixth * (g0 + g2), far = real_fused(part, g0, sixth * g2);
    return (Six){R(0.25) * g0,
                 real_fused(-sixth, g1, ends),
                 real_fused(sixth, g1, ends),
                 real_fused(twelfth, g1, far),
                 real_fused(-twelfth, g1, far),
                 g2};
}

// G2 g of one row, at four points `stride` apart.
static inline void kernel_along(Real *u, size_t stride, Real g0, Real g1, Real g2)
{
    Real ends = R(0.5) * (g0 + g2), middle = R(0.5) * g1;
    u[0] = g0;
    u[stride] = ends + middle;
    u[2 * stride] = ends - middle;
    u[3 * stride] = g2;
}

// G4 g G2^T of a run of numbers; g has the runs of the nine taps.
static void spread_weights(Real *packed, size_t stride, const Real *const *g, int count)
{
#pragma omp simd
    for (int i = 0; i < count; i++) {
        Six left = kernel_down(g[0][i], g[3][i], g[6][i]);
        Six middle = kernel_down(g[1][i], g[4][i], g[7][i]);
        Six right = kernel_down(g[2][i], g[5][i], g[8][i]);
        Real *u = packed + i;
        kernel_along(u, stride, left.p0, middle.p0, right.p0);
        kernel_along(u + 4 * stride, stride, left.p1, middle.p1, right.p1);
        kernel_along(u + 8 * stride, stride, left.p2, middle.p2, right.p2);
        kernel_along(u + 12 * stride, stride, left.p3, middle.p3, right.p3);
        kernel_along(u + 16 * stride, stride, left.p4, middle.p4, right.p4);
        kernel_along(u + 20 * stride, stride, left.p5, middle.p5, right.p5);
    }
}

// The columns past n of the last panel of a packed [k][n] matrix, at all points, are zero.
static void clear_last_panel(Real *packed, size_t stride, int k, int n, int panel)
{
    size_t size = (size_t)k * panel, last = (size_t)(n / panel) * size;
    for (int point = 0; n % panel && point < WINOGRAD_IMAGE_POINTS; point++)
        memset(packed + point * stride + last, 0, size * sizeof *packed);
}

void winograd_image_pack(Real *packed, const Real *w, int in, int out)
{
    size_t tap = (size_t)in * out, stride = gemm_packed_size(out, in);
    int panel = (int)gemm_packed_size(1, 1);
    clear_last_panel(packed, stride, in, out, panel);
    for (int first = 0; first < out; first += panel) {
        int count = out - first < panel ? out - first : panel;
        Real *to = packed + (size_t)first * in;
        for (int i = 0; i < in; i++, to += panel) {
            const Real *g[TAPS];
            for (int k = 0; k < TAPS; k++) g[k] = w + k * tap + (size_t)i * out + first;
            spread_weights(to, stride, g, count);
        }
    }
}

void winograd_image_pack_backward(Real *packed, const Real *w, int in, int out)
{
    enum { SIDE = 16 };
    size_t tap = (size_t)in * out, stride = gemm_packed_size(in, out);
    int panel = (int)gemm_packed_size(1, 1);
    Real turned[TAPS][SIDE][PANEL_MAX]; // a piece of the taps, transposed
    assert(panel <= PANEL_MAX);
    clear_last_panel(packed, stride, out, in, panel);
    for (int first = 0; first < in; first += panel) {
        int count = in - first < panel ? in - first : panel;
        for (int o = 0; o < out; o += SIDE) {
            int side = out - o < SIDE ? out - o : SIDE;
            for (int k = 0; k < TAPS; k++)
                transpose(turned[k][0], PANEL_MAX, w + k * tap + (size_t)first * out + (size_t)o,
                          (size_t)out, count, side);
            for (int s = 0; s < side; s++) {
                const Real *g[TAPS];
                for (int k = 0; k < TAPS; k++) g[k] = turned[TAPS - 1 - k][s];
                spread_weights(packed + (size_t)first * out + (size_t)(o + s) * panel, stride, g,
                               count);
            }
        }
    }
}

// ---- Input --------------------------------------------------------------------------------------

// Without a product, which could be fused instead of the one beside it.
static inline Vector four_times(Vector x)
{
    Vector twice = x + x;
    return twice + twice;
}

// B4^T d of one column, whose six rows start at d + at.
static inline void input_down(Vector *p, const Real *const *d, int at)
{
    Vector d0 = vector_load(d[0] + at), d1 = vector_load(d[1] + at), d2 = vector_load(d[2] + at);
    Vector d3 = vector_load(d[3] + at), d4 = vector_load(d[4] + at), d5 = vector_load(d[5] + at);
    Vector even = d4 - R(4) * d2, odd = d3 - R(4) * d1, near = d4 - d2, far = R(2) * (d3 - d1);
    p[0] = four_times(d0) - R(5) * d2 + d4;
    p[1] = even + odd;
    p[2] = even - odd;
    p[3] = near + far;
    p[4] = near - far;
    p[5] = four_times(d1) - R(5) * d3 + d5;
}

// The tiles of one vector of channels. Neighbours share two of their four columns.
static void input_run(Real *v, size_t stride, const Real *const *d, ImageShape xs, WinogradRun run)
{
    int channels = xs.channels, at = WINOGRAD_IMAGE_COLUMNS * run.first * channels;
    Vector a[SIX], b[SIX], e[SIX], f[SIX];
    input_down(a, d, at - channels);
    input_down(b, d, at);
    for (int tile = run.first; tile < run.last; tile++, v += channels) {
        bool past =
            WINOGRAD_IMAGE_COLUMNS * (tile + 1) > xs.width; // the last column: as the border
        at += WINOGRAD_IMAGE_COLUMNS * channels;
        input_down(e, d, at - channels);
        input_down(f, d, past ? at - channels : at);
        for (int i = 0; i < SIX; i++) { // of the tile after the next
            __builtin_prefetch(d[i] + at + (2 * WINOGRAD_IMAGE_COLUMNS + 1) * channels);
            __builtin_prefetch(d[i] + at + (2 * WINOGRAD_IMAGE_COLUMNS + 2) * channels);
        }
        Real *out = v;
#pragma GCC unroll 6
        for (int i = 0; i < SIX; i++, out += 4 * stride) {
            vector_store(out, a[i] - e[i]);
            vector_store(out + stride, b[i] + e[i]);
            vector_store(out + 2 * stride, e[i] - b[i]);
            vector_store(out + 3 * stride, b[i] - f[i]);
            a[i] = e[i], b[i] = f[i];
        }
    }
}

void winograd_image_input(Real *v, size_t stride, const Real *x, ImageShape xs, WinogradRun run)
{
    assert(xs.border >= 1 && xs.channels % WINOGRAD_IMAGE_CHANNELS == 0);
    const Real *d[SIX];
    for (int i = 0; i < SIX; i++) {
        int row = WINOGRAD_IMAGE_ROWS * run.row - 1 + i;
        d[i] = x + image_at(xs, row < xs.height ? row : xs.height, 0); // past the border: as it
    }
    for (int c = 0; c < xs.channels; c += LANES) {
        input_run(v + c, stride, d, xs, run);
        for (int i = 0; i < SIX; i++) d[i] += LANES;
    }
}

// ---- Result -------------------------------------------------------------------------------------

// A4^T m of one column of points; `point` is from one row of points to the next.
static inline void output_down(Vector *y, const Real *m, size_t point)
{
    Vector m0 = vector_load(m), m1 = vector_load(m + point), m2 = vector_load(m + 2 * point);
    Vector m3 = vector_load(m + 3 * point), m4 = vector_load(m + 4 * point);
    Vector sum1 = m1 + m2, less1 = m1 - m2, sum2 = m3 + m4, less2 = m3 - m4;
    y[0] = m0 + sum1 + sum2;
    y[1] = less1 + R(2) * less2;
    y[2] = sum1 + R(4) * sum2;
    y[3] = less1 + R(8) * less2 + vector_load(m + 5 * point);
}

// One vector of channels of a tile at y, whose rows are `row` numbers apart: the `rows` and
// `columns` of it that are inside the image.
static inline void output_tile(Real *y, int row, int channels, const Real *m, size_t stride,
                               int rows, int columns, bool accumulate)
{
    Vector a[WINOGRAD_IMAGE_ROWS], b[WINOGRAD_IMAGE_ROWS];
    Vector e[WINOGRAD_IMAGE_ROWS], f[WINOGRAD_IMAGE_ROWS];
    for (int i = 0; i < WINOGRAD_IMAGE_ROWS && i < rows; i++) { // to be there when it is written
        __builtin_prefetch(y + i * row, 1);
        __builtin_prefetch(y + i * row + channels, 1);
    }
    output_down(a, m, 4 * stride);
    output_down(b, m + stride, 4 * stride);
    output_down(e, m + 2 * stride, 4 * stride);
    output_down(f, m + 3 * stride, 4 * stride);
#pragma GCC unroll 4
    for (int i = 0; i < WINOGRAD_IMAGE_ROWS; i++, y += row) {
        if (i >= rows) break;
        Vector left = a[i] + b[i] + e[i], right = b[i] - e[i] - f[i];
        vector_store(y, accumulate ? vector_load(y) + left : left);
        if (columns < WINOGRAD_IMAGE_COLUMNS) continue;
        vector_store(y + channels, accumulate ? vector_load(y + channels) + right : right);
    }
}

// Tiles of y from their rows of m.
static void output(Real *y, ImageShape ys, const Real *m, size_t stride, WinogradRun run,
                   bool accumulate)
{
    int channels = ys.channels, row = WINOGRAD_IMAGE_ROWS * run.row;
    for (int tile = run.first; tile < run.last; tile++, m += channels) {
        int column = WINOGRAD_IMAGE_COLUMNS * tile;
        Real *to = y + image_at(ys, row, column);
        for (int c = 0; c < channels; c += LANES)
            output_tile(to + c, image_stride(ys), channels, m + c, stride, ys.height - row,
                        ys.width - column, accumulate);
    }
}

// ---- All at once --------------------------------------------------------------------------------

typedef struct Product {
    Real *m;
    const Real *v, *packed;
    int rows, in, out;
} Product;

static void point_task(void *context, int point, int worker)
{
    (void)worker;
    const Product *p = context;
    gemm_packed(p->m + point * winograd_image_stride(p->rows, p->out), p->out,
                p->v + point * winograd_image_stride(p->rows, p->in), p->in,
                p->packed + point * gemm_packed_size(p->out, p->in), p->rows, p->out, p->in, false);
}

void winograd_image_conv(Real *y, WinogradImages ys, Real *scratch, const Real *x,
                         WinogradImages xs, const Real *packed, bool accumulate, FacetPool *pool)
{
    int in = xs.shape.channels, out = ys.shape.channels;
    int tiles = winograd_image_tiles(ys.shape), all = ys.count * tiles;
    Real *v = scratch;
    Real *m = v + WINOGRAD_IMAGE_POINTS * winograd_image_stride(WINOGRAD_IMAGE_GROUP, in);
    for (int first = 0; first < all; first += WINOGRAD_IMAGE_GROUP) {
        int count = all - first < WINOGRAD_IMAGE_GROUP ? all - first : WINOGRAD_IMAGE_GROUP;
        size_t v_stride = winograd_image_stride(count, in);
        size_t m_stride = winograd_image_stride(count, out);
        WinogradRun run;
        for (int i = 0; i < count; i += run.last - run.first) {
            int image = (first + i) / tiles, tile = (first + i) % tiles;
            run = winograd_image_run(xs.shape, tile, count - i);
            winograd_image_input(v + (size_t)i * in, v_stride, x + (size_t)image * xs.step,
                                 xs.shape, run);
        }
        Product product = {m, v, packed, count, in, out};
        pool_for(pool, WINOGRAD_IMAGE_POINTS, point_task, &product);
        for (int i = 0; i < count; i += run.last - run.first) {
            int image = (first + i) / tiles, tile = (first + i) % tiles;
            run = winograd_image_run(ys.shape, tile, count - i);
            output(y + (size_t)image * ys.step, ys.shape, m + (size_t)i * out, m_stride, run,
                   accumulate);
        }
    }
}
