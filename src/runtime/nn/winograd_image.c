// Winograd's convolution of images (see nn/winograd_image.h).
#include "nn/winograd_image.h"

#include "math/gemm_packed.h"
#include "math/transpose.h"
#include "nn/winograd_points.h"

#include <assert.h>
#include <string.h>

enum { PANEL_MAX = 32, TAPS = 9 };

// What lies outside an image and its border.
static const Real zeros[IMAGE_CHANNELS_MAX];

// ---- Weights ------------------------------------------------------------------------------------

size_t winograd_image_packed_size(int in, int out)
{
    return WINOGRAD_IMAGE_POINTS * gemm_packed_size(out, in);
}

// G4 g of one column of the kernel.
static inline WinogradSix kernel_down(Real g0, Real g1, Real g2)
{
    const Real sixth = R(1) / R(6), twelfth = R(1) / R(12), part = R(1) / R(24);
    Real ends = -sixth * (g0 + g2), middle = -sixth * g1;
    Real far = part * g0 + sixth * g2, half = twelfth * g1;
    return (WinogradSix){R(0.25) * g0, ends + middle, ends - middle, far + half, far - half, g2};
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
        WinogradSix left = kernel_down(g[0][i], g[3][i], g[6][i]);
        WinogradSix middle = kernel_down(g[1][i], g[4][i], g[7][i]);
        WinogradSix right = kernel_down(g[2][i], g[5][i], g[8][i]);
#define ROW(n) kernel_along(packed + 4 * n * stride + i, stride, left.p##n, middle.p##n, right.p##n)
        WINOGRAD_SIX(ROW)
#undef ROW
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

// B4^T d of one column.
static inline WinogradSix input_down(const Real *const *d, int c)
{
    Real d0 = d[0][c], d1 = d[1][c], d2 = d[2][c], d3 = d[3][c], d4 = d[4][c], d5 = d[5][c];
    Real even = d4 - R(4) * d2, odd = d3 - R(4) * d1;
    Real near = d4 - d2, far = R(2) * (d3 - d1);
    return (WinogradSix){R(4) * d0 - R(5) * d2 + d4, even + odd, even - odd, near + far, near - far,
                         R(4) * d1 - R(5) * d3 + d5};
}

// B2^T d of one row, at four points `stride` apart.
static inline void input_along(Real *v, size_t stride, Real d0, Real d1, Real d2, Real d3)
{
    v[0] = d0 - d2;
    v[stride] = d1 + d2;
    v[2 * stride] = d2 - d1;
    v[3 * stride] = d1 - d3;
}

void winograd_image_input(Real *v, size_t stride, const Real *x, ImageShape xs, int tile)
{
    enum { HIGH = WINOGRAD_IMAGE_ROWS + 2, WIDE = WINOGRAD_IMAGE_COLUMNS + 2 };
    assert(xs.border >= 1 && xs.channels <= IMAGE_CHANNELS_MAX);
    int row = tile / winograd_image_across(xs) * WINOGRAD_IMAGE_ROWS - 1;
    int column = tile % winograd_image_across(xs) * WINOGRAD_IMAGE_COLUMNS - 1;
    const Real *d[WIDE][HIGH];
    for (int i = 0; i < WIDE; i++)
        for (int j = 0; j < HIGH; j++) {
            bool inside = row + j <= xs.height && column + i <= xs.width;
            d[i][j] = inside ? x + image_at(xs, row + j, column + i) : zeros;
        }
#pragma omp simd
    for (int c = 0; c < xs.channels; c++) {
        WinogradSix a = input_down(d[0], c), b = input_down(d[1], c);
        WinogradSix e = input_down(d[2], c), f = input_down(d[3], c);
#define ROW(n) input_along(v + 4 * n * stride + c, stride, a.p##n, b.p##n, e.p##n, f.p##n)
        WINOGRAD_SIX(ROW)
#undef ROW
    }
}

// ---- Result -------------------------------------------------------------------------------------

typedef struct Column {
    Real y0, y1, y2, y3;
} Column;

// A4^T m of one column of points; `point` is from one row of points to the next.
static inline Column output_down(const Real *m, size_t point)
{
    Real m0 = m[0], m1 = m[point], m2 = m[2 * point], m3 = m[3 * point], m4 = m[4 * point];
    Real sum1 = m1 + m2, less1 = m1 - m2, sum2 = m3 + m4, less2 = m3 - m4;
    return (Column){m0 + sum1 + sum2, less1 + R(2) * less2, sum1 + R(4) * sum2,
                    less1 + R(8) * less2 + m[5 * point]};
}

// A2^T m of one row, into two pixels.
static inline void output_along(Real *left, Real *right, Real m0, Real m1, Real m2, Real m3,
                                bool accumulate)
{
    Real y0 = m0 + m1 + m2, y1 = m1 - m2 - m3;
    *left = accumulate ? *left + y0 : y0;
    *right = accumulate ? *right + y1 : y1;
}

// A whole tile at y, whose rows are `row` numbers apart; accumulate is a constant at every call.
static inline __attribute__((always_inline)) void
output_tile(Real *y, size_t row, const Real *m, size_t stride, int channels, bool accumulate)
{
#pragma omp simd
    for (int c = 0; c < channels; c++) {
        const Real *from = m + c;
        Column a = output_down(from, 4 * stride), b = output_down(from + stride, 4 * stride);
        Column e = output_down(from + 2 * stride, 4 * stride);
        Column f = output_down(from + 3 * stride, 4 * stride);
        Real *left = y + c, *right = left + channels;
        output_along(left, right, a.y0, b.y0, e.y0, f.y0, accumulate);
        output_along(left + row, right + row, a.y1, b.y1, e.y1, f.y1, accumulate);
        output_along(left + 2 * row, right + 2 * row, a.y2, b.y2, e.y2, f.y2, accumulate);
        output_along(left + 3 * row, right + 3 * row, a.y3, b.y3, e.y3, f.y3, accumulate);
    }
}

static void add_or_copy(Real *y, const Real *x, size_t count, bool accumulate)
{
    if (accumulate)
        for (size_t i = 0; i < count; i++) y[i] += x[i];
    else
        memcpy(y, x, count * sizeof *y);
}

// A tile of y from its row of m. A tile that reaches past the image is made in `whole`, eight
// pixels of scratch, and what is inside is taken from there.
static void output(Real *y, ImageShape ys, Real *whole, const Real *m, size_t stride, int tile,
                   bool accumulate)
{
    size_t channels = (size_t)ys.channels;
    int row = tile / winograd_image_across(ys) * WINOGRAD_IMAGE_ROWS;
    int column = tile % winograd_image_across(ys) * WINOGRAD_IMAGE_COLUMNS;
    int rows = ys.height - row, columns = ys.width - column;
    if (rows >= WINOGRAD_IMAGE_ROWS && columns >= WINOGRAD_IMAGE_COLUMNS) {
        Real *to = y + image_at(ys, row, column);
        if (accumulate)
            output_tile(to, (size_t)image_stride(ys), m, stride, ys.channels, true);
        else
            output_tile(to, (size_t)image_stride(ys), m, stride, ys.channels, false);
        return;
    }
    if (columns > WINOGRAD_IMAGE_COLUMNS) columns = WINOGRAD_IMAGE_COLUMNS;
    output_tile(whole, WINOGRAD_IMAGE_COLUMNS * channels, m, stride, ys.channels, false);
    for (int i = 0; i < rows && i < WINOGRAD_IMAGE_ROWS; i++)
        add_or_copy(y + image_at(ys, row + i, column),
                    whole + (size_t)(i * WINOGRAD_IMAGE_COLUMNS) * channels,
                    (size_t)columns * channels, accumulate);
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
    assert(m - v >= WINOGRAD_IMAGE_ROWS * WINOGRAD_IMAGE_COLUMNS * out);
    for (int first = 0; first < all; first += WINOGRAD_IMAGE_GROUP) {
        int count = all - first < WINOGRAD_IMAGE_GROUP ? all - first : WINOGRAD_IMAGE_GROUP;
        size_t v_stride = winograd_image_stride(count, in);
        size_t m_stride = winograd_image_stride(count, out);
        for (int i = 0; i < count; i++) {
            int image = (first + i) / tiles, tile = (first + i) % tiles;
            winograd_image_input(v + (size_t)i * in, v_stride, x + (size_t)image * xs.step,
                                 xs.shape, tile);
        }
        Product product = {m, v, packed, count, in, out};
        pool_for(pool, WINOGRAD_IMAGE_POINTS, point_task, &product);
        for (int i = 0; i < count; i++) {
            int image = (first + i) / tiles, tile = (first + i) % tiles;
            output(y + (size_t)image * ys.step, ys.shape, v, m + (size_t)i * out, m_stride, tile,
                   accumulate);
        }
    }
}
