// The layers of an image network (see nn/image_layers.h for shapes and equations).
#include "nn/image_layers.h"

#include "math/gemm_windows.h"

#include <assert.h>

// ---- Images -------------------------------------------------------------------------------------

void image_clear_border(Real *x, ImageShape s)
{
    size_t stride = (size_t)image_stride(s), side = (size_t)s.border * s.channels;
    size_t lines = (size_t)s.border * stride;
    memset(x, 0, lines * sizeof *x);
    memset(x + image_size(s) - lines, 0, lines * sizeof *x);
    for (int y = 0; y < s.height; y++) {
        Real *row = x + (size_t)(y + s.border) * stride;
        memset(row, 0, side * sizeof *x);
        memset(row + stride - side, 0, side * sizeof *x);
    }
}

void image_put(Real *x, ImageShape s, const Real *dense)
{
    size_t run = (size_t)s.width * s.channels;
    for (int y = 0; y < s.height; y++)
        memcpy(x + image_at(s, y, 0), dense + (size_t)y * run, run * sizeof *x);
}

void image_take(Real *dense, const Real *x, ImageShape s)
{
    size_t run = (size_t)s.width * s.channels;
    for (int y = 0; y < s.height; y++)
        memcpy(dense + (size_t)y * run, x + image_at(s, y, 0), run * sizeof *x);
}

// ---- Convolution --------------------------------------------------------------------------------

// The pixels of one product: their windows and their results.
enum { CHUNK = 96 };

// Along one axis, the pixels v of dx with v = residue (mod stride) are reached by `count` taps: the
// window over dy starts at v / stride + start, and its taps are last, last - stride, ...
typedef struct Reach {
    int count, start, last;
} Reach;

static Reach reach_of(int residue, Conv2d c)
{
    int padding = c.kernel / 2, first = (residue + padding) % c.stride;
    if (first >= c.kernel) return (Reach){0, 0, 0};
    int count = (c.kernel - 1 - first) / c.stride + 1;
    return (Reach){.count = count,
                   .start = (residue + padding - first) / c.stride - (count - 1),
                   .last = first + (count - 1) * c.stride};
}

size_t conv2d_packed_size(Conv2d c, bool backward)
{
    int taps = c.kernel * c.kernel;
    return backward ? gemm_packed_size(c.in, taps * c.out) : gemm_packed_size(c.out, taps * c.in);
}

void conv2d_pack(Real *packed, const Real *w, Conv2d c)
{
    int depth = c.kernel * c.kernel * c.in;
    gemm_pack(packed, GEMM_PLAIN, w, c.out, depth, 0, c.out, depth);
}

void conv2d_pack_backward(Real *packed, const Real *w, Conv2d c)
{
    for (int ry = 0; ry < c.stride; ry++)
        for (int rx = 0; rx < c.stride; rx++) {
            Reach ty = reach_of(ry, c), tx = reach_of(rx, c);
            int depth = ty.count * tx.count * c.out;
            for (int j = 0; j < ty.count; j++)
                for (int i = 0; i < tx.count; i++) {
                    int tap = (ty.last - j * c.stride) * c.kernel + tx.last - i * c.stride;
                    gemm_pack(packed, GEMM_TRANSPOSED, w + (size_t)tap * c.in * c.out, c.out, c.out,
                              (j * tx.count + i) * c.out, c.in, depth);
                }
            packed += gemm_packed_size(c.in, depth);
        }
}

void conv2d_rows(Real *y, ImageShape ys, const Real *x, ImageShape xs, const Real *packed, Conv2d c,
                 int first, int last)
{
    int padding = c.kernel / 2, from[CHUNK], to[CHUNK];
    assert(xs.border >= padding && xs.channels == c.in && ys.channels == c.out);
    int end = last * ys.width;
    for (int start = first * ys.width; start < end; start += CHUNK) {
        int m = end - start < CHUNK ? end - start : CHUNK;
        for (int i = 0; i < m; i++) {
            int v = (start + i) / ys.width, u = (start + i) % ys.width;
            from[i] = image_at(xs, v * c.stride - padding, u * c.stride - padding);
            to[i] = image_at(ys, v, u);
        }
        gemm_windows(y, to, x, from, image_stride(xs), packed, m, c.out, c.kernel, c.kernel * c.in,
                     false);
    }
}

void conv2d_forward(Real *y, ImageShape ys, const Real *x, ImageShape xs, const Real *packed,
                    const Real *bias, Conv2d c)
{
    conv2d_rows(y, ys, x, xs, packed, c, 0, ys.height);
    for (int v = 0; bias && v < ys.height; v++)
        for (int u = 0; u < ys.width; u++) {
            Real *pixel = y + image_at(ys, v, u);
            for (int o = 0; o < c.out; o++) pixel[o] += bias[o];
        }
}

static void clear_pixel(Real *x, int channels) { memset(x, 0, (size_t)channels * sizeof *x); }

void conv2d_backward_input(Real *dx, ImageShape xs, const Real *dy, ImageShape ys,
                           const Real *packed, Conv2d c, bool accumulate)
{
    assert(ys.border >= c.kernel / 2 && xs.channels == c.in && ys.channels == c.out);
    int from[CHUNK], to[CHUNK];
    for (int ry = 0; ry < c.stride; ry++)
        for (int rx = 0; rx < c.stride; rx++) {
            Reach ty = reach_of(ry, c), tx = reach_of(rx, c);
            int height = (xs.height - ry + c.stride - 1) / c.stride;
            int width = (xs.width - rx + c.stride - 1) / c.stride;
            int depth = ty.count * tx.count * c.out;
            for (int start = 0; start < height * width; start += CHUNK) {
                int m = height * width - start < CHUNK ? height * width - start : CHUNK;
                for (int i = 0; i < m; i++) {
                    int v = (start + i) / width, u = (start + i) % width;
                    from[i] = image_at(ys, v + ty.start, u + tx.start);
                    to[i] = image_at(xs, v * c.stride + ry, u * c.stride + rx);
                }
                if (depth > 0)
                    gemm_windows(dx, to, dy, from, image_stride(ys), packed, m, c.in, ty.count,
                                 tx.count * c.out, accumulate);
                else if (!accumulate)
                    for (int i = 0; i < m; i++) clear_pixel(dx + to[i], c.in);
            }
            packed += gemm_packed_size(c.in, depth);
        }
}

void conv2d_backward_weight(Real *dw, const Real *x, ImageShape xs, const Real *dy, ImageShape ys,
                            Conv2d c)
{
    int padding = c.kernel / 2, run = c.kernel * c.in;
    assert(xs.border >= padding && xs.channels == c.in && ys.channels == c.out);
    WindowGrid windows = {c.stride * image_stride(xs), c.stride * c.in};
    WindowGrid results = {image_stride(ys), c.out};
    for (int k = 0; k < c.kernel; k++)
        gemm_windows_gradient(dw + (size_t)k * run * c.out, c.out,
                              x + image_at(xs, k - padding, -padding), windows,
                              dy + image_at(ys, 0, 0), results, ys.height, ys.width, run, c.out);
}

void conv2d_tangent(Real *ty, ImageShape ys, const Real *tx, ImageShape xs, const Real *packed,
                    Conv2d c, int directions)
{
    for (int d = 0; d < directions; d++)
        conv2d_rows(ty + (size_t)d * image_size(ys), ys, tx + (size_t)d * image_size(xs), xs,
                    packed, c, 0, ys.height);
}

// ---- Max pool -----------------------------------------------------------------------------------

// y = max(y, x) over the channels of one pixel, noting where x won.
static void take_larger(Real *y, uint8_t *chosen, const Real *x, uint8_t place, int channels)
{
    for (int c = 0; c < channels; c++) {
        bool larger = x[c] > y[c];
        y[c] = larger ? x[c] : y[c];
        chosen[c] = larger ? place : chosen[c];
    }
}

void max_pool_rows(Real *y, ImageShape ys, uint8_t *chosen, const Real *x, ImageShape xs, int first,
                   int last)
{
    for (int v = first; v < last; v++)
        for (int u = 0; u < ys.width; u++) {
            Real *out = y + image_at(ys, v, u);
            uint8_t *which = chosen + ((size_t)v * ys.width + (size_t)u) * (size_t)ys.channels;
            bool any = false;
            for (int k = 0; k < 9; k++) {
                int row = 2 * v + k / 3 - 1, column = 2 * u + k % 3 - 1;
                if (row < 0 || row >= xs.height || column < 0 || column >= xs.width) continue;
                const Real *in = x + image_at(xs, row, column);
                if (any) {
                    take_larger(out, which, in, (uint8_t)k, ys.channels);
                } else {
                    memcpy(out, in, (size_t)ys.channels * sizeof *out);
                    memset(which, k, (size_t)ys.channels);
                }
                any = true;
            }
        }
}

// Where channel c of the pixel that (v, u) has chosen lies in x.
static int chosen_at(ImageShape xs, int v, int u, int c, uint8_t which)
{
    return image_at(xs, 2 * v + which / 3 - 1, 2 * u + which % 3 - 1) + c;
}

void max_pool_backward(Real *dx, ImageShape xs, const Real *dy, ImageShape ys,
                       const uint8_t *chosen)
{
    for (int v = 0; v < xs.height; v++)
        memset(dx + image_at(xs, v, 0), 0, (size_t)xs.width * (size_t)xs.channels * sizeof *dx);
    for (int v = 0; v < ys.height; v++)
        for (int u = 0; u < ys.width; u++)
            for (int c = 0; c < ys.channels; c++)
                dx[chosen_at(xs, v, u, c, *chosen++)] += dy[image_at(ys, v, u) + c];
}

void max_pool_tangent(Real *ty, ImageShape ys, const Real *tx, ImageShape xs, const uint8_t *chosen,
                      int directions)
{
    for (int d = 0; d < directions; d++) {
        const uint8_t *which = chosen;
        for (int v = 0; v < ys.height; v++)
            for (int u = 0; u < ys.width; u++)
                for (int c = 0; c < ys.channels; c++)
                    ty[image_at(ys, v, u) + c] = tx[chosen_at(xs, v, u, c, *which++)];
        ty += image_size(ys);
        tx += image_size(xs);
    }
}

// ---- Mean pool ----------------------------------------------------------------------------------

void mean_pool_forward(Real *y, const Real *x, ImageShape s)
{
    memset(y, 0, (size_t)s.channels * sizeof *y);
    for (int v = 0; v < s.height; v++)
        for (int u = 0; u < s.width; u++) {
            const Real *pixel = x + image_at(s, v, u);
#pragma omp simd
            for (int c = 0; c < s.channels; c++) y[c] += pixel[c];
        }
    for (int c = 0; c < s.channels; c++) y[c] /= (Real)(s.height * s.width);
}

void mean_pool_backward(Real *dx, ImageShape s, const Real *dy)
{
    Real share = R(1) / (Real)(s.height * s.width);
    for (int v = 0; v < s.height; v++)
        for (int u = 0; u < s.width; u++) {
            Real *pixel = dx + image_at(s, v, u);
#pragma omp simd
            for (int c = 0; c < s.channels; c++) pixel[c] += share * dy[c];
        }
}

void mean_pool_tangent(Real *ty, const Real *tx, ImageShape s, int directions)
{
    for (int d = 0; d < directions; d++)
        mean_pool_forward(ty + (size_t)d * s.channels, tx + (size_t)d * image_size(s), s);
}

// ---- Keypoints ----------------------------------------------------------------------------------

// The place of pixel i of n in [-1, 1].
static Real place(int i, int n) { return n > 1 ? (Real)(2 * i) / (Real)(n - 1) - R(1) : R(0); }

static void channel_maxima(Real *top, const Real *x, ImageShape s)
{
    memcpy(top, x + image_at(s, 0, 0), (size_t)s.channels * sizeof *top);
    for (int v = 0; v < s.height; v++)
        for (int u = 0; u < s.width; u++) {
            const Real *pixel = x + image_at(s, v, u);
#pragma omp simd
            for (int c = 0; c < s.channels; c++) top[c] = pixel[c] > top[c] ? pixel[c] : top[c];
        }
}

void keypoints_forward(Real *y, Real *p, const Real *x, ImageShape s)
{
    assert(s.channels <= IMAGE_CHANNELS_MAX);
    Real top[IMAGE_CHANNELS_MAX], sum[IMAGE_CHANNELS_MAX];
    size_t channels = (size_t)s.channels;
    Real *along_u = y, *along_v = y + channels;
    channel_maxima(top, x, s);
    memset(sum, 0, channels * sizeof *sum);
    memset(y, 0, 2 * channels * sizeof *y);
    for (int v = 0; v < s.height; v++)
        for (int u = 0; u < s.width; u++) {
            const Real *pixel = x + image_at(s, v, u);
            Real *e = p + ((size_t)v * s.width + (size_t)u) * channels;
            Real at_u = place(u, s.width), at_v = place(v, s.height);
#pragma omp simd
            for (int c = 0; c < s.channels; c++) {
                e[c] = real_exp(pixel[c] - top[c]);
                sum[c] += e[c];
                along_u[c] += e[c] * at_u;
                along_v[c] += e[c] * at_v;
            }
        }
    for (int c = 0; c < s.channels; c++) {
        sum[c] = R(1) / sum[c];
        along_u[c] *= sum[c];
        along_v[c] *= sum[c];
    }
    for (int i = 0; i < s.height * s.width; i++)
#pragma omp simd
        for (int c = 0; c < s.channels; c++) p[(size_t)i * channels + (size_t)c] *= sum[c];
}

void keypoints_backward(Real *dx, ImageShape s, const Real *dy, const Real *p, const Real *y)
{
    size_t channels = (size_t)s.channels;
    const Real *mean_u = y, *mean_v = y + channels, *du = dy, *dv = dy + channels;
    for (int v = 0; v < s.height; v++)
        for (int u = 0; u < s.width; u++) {
            Real *pixel = dx + image_at(s, v, u);
            const Real *weight = p + ((size_t)v * s.width + (size_t)u) * channels;
            Real at_u = place(u, s.width), at_v = place(v, s.height);
#pragma omp simd
            for (int c = 0; c < s.channels; c++)
                pixel[c] = weight[c] * (du[c] * (at_u - mean_u[c]) + dv[c] * (at_v - mean_v[c]));
        }
}

void keypoints_tangent(Real *ty, const Real *tx, ImageShape s, const Real *p, const Real *y,
                       int directions)
{
    size_t channels = (size_t)s.channels;
    for (int d = 0; d < directions; d++) {
        const Real *in = tx + (size_t)d * image_size(s);
        Real *out_u = ty + (size_t)d * 2 * channels, *out_v = out_u + channels;
        memset(out_u, 0, 2 * channels * sizeof *out_u);
        for (int v = 0; v < s.height; v++)
            for (int u = 0; u < s.width; u++) {
                const Real *pixel = in + image_at(s, v, u);
                const Real *weight = p + ((size_t)v * s.width + (size_t)u) * channels;
                Real at_u = place(u, s.width), at_v = place(v, s.height);
                for (int c = 0; c < s.channels; c++) {
                    out_u[c] += weight[c] * pixel[c] * (at_u - y[c]);
                    out_v[c] += weight[c] * pixel[c] * (at_v - y[channels + (size_t)c]);
                }
            }
    }
}

// ---- ReLU ---------------------------------------------------------------------------------------

void relu_forward(Real *y, const Real *x, size_t size)
{
#pragma omp simd
    for (size_t i = 0; i < size; i++) y[i] = x[i] > R(0) ? x[i] : R(0);
}

void relu_backward(Real *dx, const Real *dy, const Real *x, size_t size)
{
#pragma omp simd
    for (size_t i = 0; i < size; i++) dx[i] = x[i] > R(0) ? dy[i] : R(0);
}

void relu_tangent(Real *ty, const Real *tx, const Real *x, int directions, size_t size)
{
    for (int d = 0; d < directions; d++)
        relu_backward(ty + (size_t)d * size, tx + (size_t)d * size, x, size);
}
