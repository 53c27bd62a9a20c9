// The layers of a network (see nn/layers.h for shapes and equations).
#include "nn/layers.h"

#include "math/gemm_packed.h"
#include "nn/rows.h"

#include <assert.h>

// ---- Padded sequences -------------------------------------------------------------------------

void seq_clear_gaps(Real *x, int batch, int time, int channels)
{
    for (int b = 0; b <= batch; b++)
        memset(x + (size_t)b * (time + 1) * channels, 0, (size_t)channels * sizeof *x);
}

void seq_pack(Real *padded, const Real *dense, int batch, int time, int channels)
{
    size_t size = (size_t)time * channels;
    for (int b = 0; b < batch; b++)
        memcpy(padded + seq_start(b, time) * channels, dense + b * size, size * sizeof *dense);
    seq_clear_gaps(padded, batch, time, channels);
}

void seq_unpack(Real *dense, const Real *padded, int batch, int time, int channels)
{
    size_t size = (size_t)time * channels;
    for (int b = 0; b < batch; b++)
        memcpy(dense + b * size, padded + seq_start(b, time) * channels, size * sizeof *dense);
}

// ---- Convolution --------------------------------------------------------------------------------

void conv1d_pack(Real *packed, const Real *w, int in, int out)
{
    gemm_pack(packed, GEMM_PLAIN, w, out, 3 * in, 0, out, 3 * in);
}

void conv1d_rows(Real *y, const Real *x, const Real *packed, int first, int last, int in, int out)
{
    assert(first >= 1);
    gemm_packed(y + (size_t)first * out, out, x + (size_t)(first - 1) * in, in, packed,
                last - first, out, 3 * in, false);
}

// ---- Norm ---------------------------------------------------------------------------------------

void norm_forward(Real *y, Real *xhat, Real *rstd, const Real *x, const Real *gamma,
                  const Real *beta, int rows, int channels)
{
    for (int r = 0; r < rows; r++) {
        Real *hat = xhat + (size_t)r * channels, *out = y + (size_t)r * channels;
        rstd[r] = row_normalise(hat, x + (size_t)r * channels, channels);
        for (int c = 0; c < channels; c++) out[c] = gamma[c] * hat[c] + beta[c];
    }
}

// ---- Mish ---------------------------------------------------------------------------------------

void mish_forward(Real *y, const Real *x, size_t size)
{
#pragma omp simd
    for (size_t i = 0; i < size; i++) y[i] = mish_value(x[i]);
}

// ---- Embeddings ---------------------------------------------------------------------------------

void embedding_forward(Real *y, int stride, const Real *table, const int *index, int index_stride,
                       int rows, int values, int width)
{
    for (int r = 0; r < rows; r++)
        memcpy(y + (size_t)r * stride,
               table + embedding_row(index[(size_t)r * index_stride], values) * width,
               (size_t)width * sizeof *y);
}

void time_embedding(Real *y, int stride, const Real *t, int rows, int width, bool tangent)
{
    assert(width >= 4 && width % 2 == 0);
    int half = width / 2;
    for (int i = 0; i < half; i++) {
        double frequency = exp(-log(10000.0) * i / (half - 1));
        for (int r = 0; r < rows; r++) {
            double s = sin((double)t[r] * frequency), c = cos((double)t[r] * frequency);
            y[(size_t)r * stride + i] = (Real)(tangent ? c * frequency : s);
            y[(size_t)r * stride + half + i] = (Real)(tangent ? -s * frequency : c);
        }
    }
}
