// Winograd's convolution over time (see nn/winograd.h).
#include "nn/winograd.h"

#include "math/gemm_packed.h"
#include "math/transpose.h"

#include <assert.h>
#include <string.h>

enum { CHANNELS_MAX = 4096, PANEL_MAX = 32 };

// What lies outside a sequence. It is never written; as a constant it would take place in the file.
static Real zeros[CHANNELS_MAX];

// ---- Weights ------------------------------------------------------------------------------------

size_t winograd_packed_size(int in, int out) { return WINOGRAD_POINTS * gemm_packed_size(out, in); }

// G g of a run of numbers, into the six matrices, `stride` apart.
static void spread_weights(Real *packed, size_t stride, const Real *g0, const Real *g1,
                           const Real *g2, int count)
{
    const Real sixth = R(1) / R(6), twelfth = R(1) / R(12), part = R(1) / R(24);
    Real *restrict u = packed;
#pragma omp simd
    for (int i = 0; i < count; i++) {
        Real ends = -sixth * (g0[i] + g2[i]);
        Real far = real_fused(part, g0[i], sixth * g2[i]);
        u[i] = R(0.25) * g0[i];
        u[stride + i] = real_fused(-sixth, g1[i], ends);
        u[2 * stride + i] = real_fused(sixth, g1[i], ends);
        u[3 * stride + i] = real_fused(twelfth, g1[i], far);
        u[4 * stride + i] = real_fused(-twelfth, g1[i], far);
        u[5 * stride + i] = g2[i];
    }
}

// The columns of panel `index` of a packed [k][n] matrix. Those past n are zero, at all points.
static int panel_columns(Real *packed, size_t stride, int index, int k, int n)
{
    int panel = (int)gemm_packed_size(1, 1), count = n - index * panel;
    if (count >= panel) return panel;
    size_t size = (size_t)k * panel;
    for (int point = 0; point < WINOGRAD_POINTS; point++)
        memset(packed + point * stride + index * size, 0, size * sizeof *packed);
    return count;
}

void winograd_pack_panel(Real *packed, const Real *w, int index, int in, int out)
{
    size_t tap = (size_t)in * out, stride = gemm_packed_size(out, in);
    int panel = (int)gemm_packed_size(1, 1), first = index * panel;
    int count = panel_columns(packed, stride, index, in, out);
    Real *to = packed + (size_t)first * in;
    for (int i = 0; i < in; i++, to += panel) {
        const Real *g = w + (size_t)i * out + first;
        spread_weights(to, stride, g, g + tap, g + 2 * tap, count);
    }
}

void winograd_pack_backward_panel(Real *packed, const Real *w, int index, int in, int out)
{
    enum { SIDE = 16 };
    size_t tap = (size_t)in * out, stride = gemm_packed_size(in, out);
    int panel = (int)gemm_packed_size(1, 1), first = index * panel;
    int count = panel_columns(packed, stride, index, out, in);
    Real turned[3][SIDE][PANEL_MAX]; // a piece of the taps, transposed
    assert(panel <= PANEL_MAX);
    for (int o = 0; o < out; o += SIDE) {
        int side = out - o < SIDE ? out - o : SIDE;
        for (int k = 0; k < 3; k++)
            transpose(turned[k][0], PANEL_MAX, w + k * tap + (size_t)first * out + o, (size_t)out,
                      count, side);
        for (int s = 0; s < side; s++)
            spread_weights(packed + (size_t)first * out + (size_t)(o + s) * panel, stride,
                           turned[2][s], turned[1][s], turned[0][s], count);
    }
}

void winograd_pack(Real *packed, const Real *w, int in, int out)
{
    for (int i = 0; i < gemm_packed_panels(out); i++) winograd_pack_panel(packed, w, i, in, out);
}

void winograd_pack_backward(Real *packed, const Real *w, int in, int out)
{
    for (int i = 0; i < gemm_packed_panels(in); i++)
        winograd_pack_backward_panel(packed, w, i, in, out);
}

// ---- The parts ----------------------------------------------------------------------------------

// The row of a step, or zeros outside the sequence.
static inline const Real *step_row(const Real *x, int step, int time, int channels)
{
    return step >= 0 && step < time ? x + (size_t)step * (size_t)channels : zeros;
}

void winograd_input(Real *v, size_t matrix, const Real *x, int tile, int time, int dilation,
                    int channels)
{
    assert(channels <= CHANNELS_MAX);
    int first = winograd_first(tile, time, dilation);
    const Real *d[WINOGRAD_POINTS];
    for (int i = 0; i < WINOGRAD_POINTS; i++)
        d[i] = step_row(x, first + (i - 1) * dilation, time, channels);
    Real *restrict out = v;
#pragma omp simd
    for (int c = 0; c < channels; c++) {
        Real d0 = d[0][c], d1 = d[1][c], d2 = d[2][c], d3 = d[3][c], d4 = d[4][c], d5 = d[5][c];
        Real even = d4 - R(4) * d2, odd = d3 - R(4) * d1;
        Real near = d4 - d2, far = R(2) * (d3 - d1);
        out[c] = real_fused(R(-5), d2, R(4) * d0) + d4;
        out[matrix + c] = even + odd;
        out[2 * matrix + c] = even - odd;
        out[3 * matrix + c] = near + far;
        out[4 * matrix + c] = near - far;
        out[5 * matrix + c] = real_fused(R(-5), d3, R(4) * d1) + d5;
    }
}

void winograd_result(Real *v, size_t matrix, const Real *dy, int tile, int time, int dilation,
                     int channels)
{
    assert(channels <= CHANNELS_MAX);
    int first = winograd_first(tile, time, dilation);
    const Real *d[WINOGRAD_STEPS];
    for (int i = 0; i < WINOGRAD_STEPS; i++)
        d[i] = step_row(dy, first + i * dilation, time, channels);
    Real *restrict out = v;
#pragma omp simd
    for (int c = 0; c < channels; c++) {
        Real d0 = d[0][c], d1 = d[1][c], d2 = d[2][c], d3 = d[3][c];
        Real even = d0 + d2, odd = d1 + d3, even2 = d0 + R(4) * d2, odd2 = R(2) * d1 + R(8) * d3;
        out[c] = d0;
        out[matrix + c] = even + odd;
        out[2 * matrix + c] = even - odd;
        out[3 * matrix + c] = even2 + odd2;
        out[4 * matrix + c] = even2 - odd2;
        out[5 * matrix + c] = d3;
    }
}

void winograd_product(Real *m, const Real *v, const Real *packed, int rows, int in, int out,
                      int part, int parts)
{
    size_t size = gemm_packed_size(out, in);
    int panels = gemm_packed_panels(out), items = WINOGRAD_POINTS * panels;
    int item = (int)((long)items * part / parts), end = (int)((long)items * (part + 1) / parts);
    while (item < end) {
        int point = item / panels, panel = item % panels;
        int count = panels - panel < end - item ? panels - panel : end - item;
        gemm_packed_part(m + (size_t)point * winograd_matrix(rows, out), winograd_row(out),
                         v + (size_t)point * winograd_matrix(rows, in), winograd_row(in),
                         packed + point * size, rows, out, in, panel, count, false);
        item += count;
    }
}

static inline void put(Real *out, Real value, bool accumulate)
{
    *out = accumulate ? *out + value : value;
}

// The rows of a whole tile, `row` numbers apart. `accumulate` is a constant at every call.
static inline __attribute__((always_inline)) void output_tile(Real *restrict out, size_t row,
                                                              const Real *restrict in,
                                                              size_t matrix, int channels,
                                                              bool accumulate)
{
#pragma omp simd
    for (int c = 0; c < channels; c++) {
        Real m0 = in[c], m1 = in[matrix + c], m2 = in[2 * matrix + c], m3 = in[3 * matrix + c];
        Real m4 = in[4 * matrix + c], m5 = in[5 * matrix + c];
        Real sum1 = m1 + m2, less1 = m1 - m2, sum2 = m3 + m4, less2 = m3 - m4;
        put(out + c, m0 + sum1 + sum2, accumulate);
        put(out + row + c, less1 + R(2) * less2, accumulate);
        put(out + 2 * row + c, sum1 + R(4) * sum2, accumulate);
        put(out + 3 * row + c, less1 + R(8) * less2 + m5, accumulate);
    }
}

// The first `steps` rows of a tile, by way of a whole one.
static void output_part(Real *out, size_t row, const Real *m, size_t matrix, int steps,
                        int channels, bool accumulate)
{
    enum { RUN = 64 };
    Real tile[WINOGRAD_STEPS * RUN];
    for (int first = 0; first < channels; first += RUN) {
        int count = channels - first < RUN ? channels - first : RUN;
        output_tile(tile, (size_t)count, m + first, matrix, count, false);
        for (int s = 0; s < steps; s++)
            for (int c = 0; c < count; c++)
                put(out + (size_t)s * row + first + c, tile[s * count + c], accumulate);
    }
}

void winograd_output(Real *y, const Real *m, size_t matrix, int tile, int time, int dilation,
                     int channels, bool accumulate)
{
    int steps = winograd_steps(tile, time, dilation);
    if (steps == 0) return;
    size_t row = (size_t)dilation * (size_t)channels;
    Real *out = y + (size_t)winograd_first(tile, time, dilation) * (size_t)channels;
    if (steps < WINOGRAD_STEPS)
        output_part(out, row, m, matrix, steps, channels, accumulate);
    else if (accumulate)
        output_tile(out, row, m, matrix, channels, true);
    else
        output_tile(out, row, m, matrix, channels, false);
}

// ---- All at once --------------------------------------------------------------------------------

void winograd_conv(Real *y, Real *scratch, const Real *x, const Real *packed, int batch, int time,
                   int dilation, int in, int out, bool accumulate)
{
    int tiles = winograd_tiles(time, dilation), all = batch * tiles;
    for (int first = 0; first < all; first += WINOGRAD_GROUP) {
        int count = all - first < WINOGRAD_GROUP ? all - first : WINOGRAD_GROUP;
        size_t v_matrix = winograd_matrix(count, in), m_matrix = winograd_matrix(count, out);
        Real *v = scratch, *m = v + WINOGRAD_POINTS * v_matrix;
        for (int i = 0; i < count; i++) {
            int sample = (first + i) / tiles, tile = (first + i) % tiles;
            winograd_input(v + (size_t)i * winograd_row(in), v_matrix,
                           x + seq_start(sample, time) * in, tile, time, dilation, in);
        }
        winograd_product(m, v, packed, count, in, out, 0, 1);
        for (int i = 0; i < count; i++) {
            int sample = (first + i) / tiles, tile = (first + i) % tiles;
            winograd_output(y + seq_start(sample, time) * out, m + (size_t)i * winograd_row(out),
                            m_matrix, tile, time, dilation, out, accumulate);
        }
    }
}
