// The gradient of the weights by Winograd's products (see train/winograd_image_backward.h).
#include "train/winograd_image_backward.h"

#include "math/gemm_windows.h"
#include "math/vector.h"

// A4 d of one column: numbers at six points from four.
static inline void result_down(Vector *p, Vector d0, Vector d1, Vector d2, Vector d3)
{
    Vector even = d0 + d2, odd = d1 + d3, even2 = d0 + R(4) * d2, odd2 = R(2) * d1 + R(8) * d3;
    p[0] = d0;
    p[1] = even + odd;
    p[2] = even - odd;
    p[3] = even2 + odd2;
    p[4] = even2 - odd2;
    p[5] = d3;
}

// A4 d A2^T of one vector of channels of a tile, at 24 points; d has its four rows.
static inline void result_tile(Real *u, size_t stride, const Real *const *d, int at, int next)
{
    Vector left[6], right[6];
    result_down(left, vector_load(d[0] + at), vector_load(d[1] + at), vector_load(d[2] + at),
                vector_load(d[3] + at));
    at += next;
    result_down(right, vector_load(d[0] + at), vector_load(d[1] + at), vector_load(d[2] + at),
                vector_load(d[3] + at));
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++, u += 4 * stride) {
        vector_store(u, left[i]);
        vector_store(u + stride, left[i] + right[i]);
        vector_store(u + 2 * stride, left[i] - right[i]);
        vector_store(u + 3 * stride, -right[i]);
    }
}

// A4 dy A2^T of tiles, as winograd_image_input; dy has a border of zeros, which stands for all that
// lies outside.
static void spread_result(Real *u, size_t stride, const Real *dy, ImageShape ys, WinogradRun run)
{
    int channels = ys.channels;
    const Real *d[WINOGRAD_IMAGE_ROWS];
    for (int i = 0; i < WINOGRAD_IMAGE_ROWS; i++) {
        int row = WINOGRAD_IMAGE_ROWS * run.row + i;
        d[i] = dy + image_at(ys, row < ys.height ? row : ys.height, 0);
    }
    for (int tile = run.first; tile < run.last; tile++, u += channels)
        for (int c = 0; c < channels; c += LANES)
            result_tile(u + c, stride, d, WINOGRAD_IMAGE_COLUMNS * tile * channels + c, channels);
}

typedef struct Taps {
    Real g0, g1, g2;
} Taps;

// G4^T m of one column of points; `point` is from one row of points to the next.
static inline Taps gather_down(const Real *m, size_t point)
{
    const Real sixth = R(1) / R(6), twelfth = R(1) / R(12);
    Real m1 = m[point], m2 = m[2 * point], m3 = m[3 * point], m4 = m[4 * point];
    Real sum1 = sixth * (m1 + m2), sum2 = sixth * (m3 + m4);
    return (Taps){R(0.25) * (m[0] + sum2) - sum1, sixth * (m2 - m1) + twelfth * (m3 - m4),
                  sum2 - sum1 + m[5 * point]};
}

// G2^T m of one row of points: the three taps of a row of the kernel.
static inline void gather_along(Real *dw, size_t tap, Real m0, Real m1, Real m2, Real m3,
                                bool accumulate)
{
    Real half = R(0.5) * (m1 + m2), left = m0 + half, middle = R(0.5) * (m1 - m2);
    Real right = half + m3;
    dw[0] = accumulate ? dw[0] + left : left;
    dw[tap] = accumulate ? dw[tap] + middle : middle;
    dw[2 * tap] = accumulate ? dw[2 * tap] + right : right;
}

// dw (+)= G4^T m G2 of the 24 products of `size` numbers, `stride` apart.
static void gather_weights(Real *dw, const Real *m, size_t stride, size_t size, bool accumulate)
{
#pragma omp simd
    for (size_t i = 0; i < size; i++) {
        const Real *from = m + i;
        Taps a = gather_down(from, 4 * stride), b = gather_down(from + stride, 4 * stride);
        Taps e = gather_down(from + 2 * stride, 4 * stride);
        Taps f = gather_down(from + 3 * stride, 4 * stride);
        gather_along(dw + i, size, a.g0, b.g0, e.g0, f.g0, accumulate);
        gather_along(dw + 3 * size + i, size, a.g1, b.g1, e.g1, f.g1, accumulate);
        gather_along(dw + 6 * size + i, size, a.g2, b.g2, e.g2, f.g2, accumulate);
    }
}

void winograd_image_backward_weight(Real *dw, Real *scratch, const Real *x, WinogradImages xs,
                                    const Real *dy, WinogradImages ys, bool accumulate)
{
    int in = xs.shape.channels, out = ys.shape.channels;
    int tiles = winograd_image_tiles(ys.shape), all = ys.count * tiles;
    size_t size = winograd_image_stride(in, out);
    Real *m = scratch, *v = m + WINOGRAD_IMAGE_POINTS * size;
    for (int first = 0; first < all; first += WINOGRAD_IMAGE_GROUP) {
        int count = all - first < WINOGRAD_IMAGE_GROUP ? all - first : WINOGRAD_IMAGE_GROUP;
        size_t v_stride = winograd_image_stride(count, in);
        size_t u_stride = winograd_image_stride(count, out);
        Real *u = v + WINOGRAD_IMAGE_POINTS * v_stride;
        WinogradRun run;
        for (int i = 0; i < count; i += run.last - run.first) {
            size_t image = (size_t)((first + i) / tiles);
            run = winograd_image_run(ys.shape, (first + i) % tiles, count - i);
            winograd_image_input(v + (size_t)i * in, v_stride, x + image * xs.step, xs.shape, run);
            spread_result(u + (size_t)i * out, u_stride, dy + image * ys.step, ys.shape, run);
        }
        for (int point = 0; point < WINOGRAD_IMAGE_POINTS; point++)
            gemm_windows_gradient(m + point * size, out, v + point * v_stride, (WindowGrid){0, in},
                                  u + point * u_stride, (WindowGrid){0, out}, 1, count, in, out,
                                  first > 0);
    }
    gather_weights(dw, m, size, (size_t)in * out, accumulate);
}
