// The layers of a network, forward. Their backward passes are in train/layers_backward.h.
//
// Arguments: outputs, inputs, parameters, sizes. Everything is row-major.
//
// Sequences. A batch of sequences of `time` rows of `channels` lies in a padded block: one zero
// row, the rows of sample 0, one zero row, the rows of sample 1, ..., one zero row. Neighbours
// share their zero row. A convolution over the block is then three shifted matrix products over
// all samples at once with no copying; what they leave in the zero rows is cleared afterwards.
#ifndef FACET_NN_LAYERS_H
#define FACET_NN_LAYERS_H

#include "math/gemm_packed.h"
#include "nn/real.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#define embedding_forward REAL_NAME(embedding_forward)
#define seq_clear_gaps    REAL_NAME(seq_clear_gaps)
#define seq_pack          REAL_NAME(seq_pack)
#define seq_unpack        REAL_NAME(seq_unpack)
#define conv1d_pack       REAL_NAME(conv1d_pack)
#define conv1d_rows       REAL_NAME(conv1d_rows)
#define norm_forward      REAL_NAME(norm_forward)
#define mish_forward      REAL_NAME(mish_forward)
#define time_embedding    REAL_NAME(time_embedding)

// ---- Padded sequences -------------------------------------------------------------------------

// Rows of the block of `batch` sequences.
static inline size_t seq_rows(int batch, int time) { return (size_t)batch * (time + 1) + 1; }

// The row of the block where sample b starts.
static inline size_t seq_start(int b, int time) { return (size_t)b * (time + 1) + 1; }

// Whether a row of the block is a zero row, and else the sample it belongs to.
static inline bool seq_is_gap(int row, int time) { return row % (time + 1) == 0; }
static inline int seq_sample(int row, int time) { return (row - 1) / (time + 1); }

// Sets the zero rows between samples, and the two at the ends, to zero.
void seq_clear_gaps(Real *x, int batch, int time, int channels);

// Between the dense [batch][time][channels] and the padded block.
void seq_pack(Real *padded, const Real *dense, int batch, int time, int channels);
void seq_unpack(Real *dense, const Real *padded, int batch, int time, int channels);

// ---- Convolution over time, kernel 3, same padding ----------------------------------------------
//
// y[t][o] = bias[o] + sum_k sum_i x[t + k - 1][i] w[k][i][o], on padded blocks; w is [3][in][out].

// With weights that are used many times: packed once (math/gemm_packed.h, 3 in x out numbers), the
// three products are one over rows that overlap. Computes rows [first, last) of the block, without
// bias; the zero rows among them hold what the product leaves. Layers of many channels take
// nn/winograd.h instead.
void conv1d_pack(Real *packed, const Real *w, int in, int out);
void conv1d_rows(Real *y, const Real *x, const Real *packed, int first, int last, int in, int out);

// The transposed x of a weight gradient has one column a row of the block, and a length that does
// not make all its rows fall into the same cache sets. `scratch` is what the gradient needs.
static inline size_t conv1d_transposed_stride(int rows)
{
    return ((size_t)rows + 31) / 32 * 32 + 16;
}

static inline size_t conv1d_scratch(int rows, int in, int out)
{
    return (size_t)in * conv1d_transposed_stride(rows) + gemm_packed_size(out, rows - 2);
}

// ---- Norm over the channels of each row ---------------------------------------------------------
//
// y = gamma xhat + beta with xhat = (x - mean(x)) rstd, rstd = 1 / sqrt(var(x) + 1e-5), mean and
// variance over the channels of one row: the receptive field stays local in time. The forward pass
// keeps xhat [rows][channels] and rstd [rows] for the others; xhat may be x itself.

void norm_forward(Real *y, Real *xhat, Real *rstd, const Real *x, const Real *gamma,
                  const Real *beta, int rows, int channels);

// ---- Mish, elementwise --------------------------------------------------------------------------

void mish_forward(Real *y, const Real *x, size_t size);

// ---- Embedding with a null row ------------------------------------------------------------------
//
// y[r] = table[index[r]], table [values + 1][width]. The last row is the null token, chosen by the
// index EMBEDDING_NULL. y has `stride` elements from row to row.

enum { EMBEDDING_NULL = -1 };

// The row of an index in a table of so many values and the null token.
static inline size_t embedding_row(int index, int values)
{
    assert(index >= EMBEDDING_NULL && index < values && "a factor value outside the table");
    return (size_t)(index == EMBEDDING_NULL ? values : index);
}

void embedding_forward(Real *y, int stride, const Real *table, const int *index, int index_stride,
                       int rows, int values, int width);

// ---- Time embedding -----------------------------------------------------------------------------
//
// y[r] = (sin(t f_0), ..., sin(t f_{h-1}), cos(t f_0), ..., cos(t f_{h-1})), h = width / 2 >= 2,
// f_i = 10000^(-i / (h - 1)). With `tangent`, the derivative with respect to t instead.

void time_embedding(Real *y, int stride, const Real *t, int rows, int width, bool tangent);

#endif
