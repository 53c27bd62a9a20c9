// The layers of a network, each with its forward pass, its backward pass and its tangent.
//
// Arguments: outputs, inputs, parameters, sizes. The gradient of x is dx and its tangent
// (directional derivative) is tx. Backward passes overwrite dx and the dw of products, and add to
// the gradients of vectors, which are summed over rows. Everything is row-major.
//
// Sequences. A batch of sequences of `time` rows of `channels` lies in a padded block: one zero
// row, the rows of sample 0, one zero row, the rows of sample 1, ..., one zero row. Neighbours
// share their zero row. A convolution over the block is then three shifted matrix products over
// all samples at once with no copying; what they leave in the zero rows is cleared afterwards.
#ifndef FACET_NN_LAYERS_H
#define FACET_NN_LAYERS_H

#include "nn/real.h"

#include <stdbool.h>
#include <stddef.h>

#define embedding_backward     REAL_NAME(embedding_backward)
#define embedding_forward      REAL_NAME(embedding_forward)
#define seq_clear_gaps         REAL_NAME(seq_clear_gaps)
#define seq_pack               REAL_NAME(seq_pack)
#define seq_unpack             REAL_NAME(seq_unpack)
#define conv1d_forward         REAL_NAME(conv1d_forward)
#define conv1d_backward_input  REAL_NAME(conv1d_backward_input)
#define conv1d_backward_weight REAL_NAME(conv1d_backward_weight)
#define conv1d_tangent         REAL_NAME(conv1d_tangent)
#define conv1d_pack            REAL_NAME(conv1d_pack)
#define conv1d_pack_backward   REAL_NAME(conv1d_pack_backward)
#define conv1d_scratch         REAL_NAME(conv1d_scratch)
#define conv1d_rows            REAL_NAME(conv1d_rows)
#define linear_forward         REAL_NAME(linear_forward)
#define linear_backward_input  REAL_NAME(linear_backward_input)
#define linear_backward_weight REAL_NAME(linear_backward_weight)
#define linear_tangent         REAL_NAME(linear_tangent)
#define column_sums            REAL_NAME(column_sums)
#define norm_forward           REAL_NAME(norm_forward)
#define norm_backward          REAL_NAME(norm_backward)
#define norm_tangent           REAL_NAME(norm_tangent)
#define group_norm_forward     REAL_NAME(group_norm_forward)
#define group_norm_backward    REAL_NAME(group_norm_backward)
#define group_norm_tangent     REAL_NAME(group_norm_tangent)
#define mish_forward           REAL_NAME(mish_forward)
#define mish_backward          REAL_NAME(mish_backward)
#define mish_tangent           REAL_NAME(mish_tangent)
#define film_forward           REAL_NAME(film_forward)
#define film_backward          REAL_NAME(film_backward)
#define film_tangent           REAL_NAME(film_tangent)
#define residual_forward       REAL_NAME(residual_forward)
#define time_embedding         REAL_NAME(time_embedding)

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

void conv1d_forward(Real *y, const Real *x, const Real *w, const Real *bias, int batch, int time,
                    int in, int out);

// With weights that are used many times: packed once (math/gemm_packed.h, 3 in x out numbers, for
// the backward pass 3 out x in), the three products are one over rows that overlap. Computes rows
// [first, last) of the block, without bias, or adds to them; the zero rows among them hold what the
// product leaves. For the gradient of the input, pass dy, the backward packing and swapped sizes.
void conv1d_pack(Real *packed, const Real *w, int in, int out);
void conv1d_pack_backward(Real *packed, const Real *w, int in, int out);
void conv1d_rows(Real *y, const Real *x, const Real *packed, int first, int last, int in, int out,
                 bool accumulate);

// The zero rows of dx hold what the products leave.
void conv1d_backward_input(Real *dx, const Real *dy, const Real *w, int batch, int time, int in,
                           int out);

// Overwrites dw [3][in][out]. `rows` counts all rows of the block, so that several blocks that lie
// end to end are one. scratch has conv1d_scratch(rows, in, out) numbers.
size_t conv1d_scratch(int rows, int in, int out);
void conv1d_backward_weight(Real *dw, Real *scratch, const Real *x, const Real *dy, int rows,
                            int in, int out);

void conv1d_tangent(Real *ty, const Real *tx, const Real *w, int batch, int time, int in, int out);

// ---- Linear: y = x w + bias, x [rows][in], w [in][out] ------------------------------------------

void linear_forward(Real *y, const Real *x, const Real *w, const Real *bias, int rows, int in,
                    int out);
void linear_backward_input(Real *dx, const Real *dy, const Real *w, int rows, int in, int out);
void linear_backward_weight(Real *dw, const Real *x, const Real *dy, int rows, int in, int out);
void linear_tangent(Real *ty, const Real *tx, const Real *w, int rows, int in, int out);

// Adds the sum over rows of dy [rows][columns] to sums [columns]: the gradient of a bias.
void column_sums(Real *sums, const Real *dy, int rows, int columns);

// ---- Norm over the channels of each row ---------------------------------------------------------
//
// y = gamma xhat + beta with xhat = (x - mean(x)) rstd, rstd = 1 / sqrt(var(x) + 1e-5), mean and
// variance over the channels of one row: the receptive field stays local in time. The forward pass
// keeps xhat [rows][channels] and rstd [rows] for the others; xhat may be x itself.

void norm_forward(Real *y, Real *xhat, Real *rstd, const Real *x, const Real *gamma,
                  const Real *beta, int rows, int channels);
void norm_backward(Real *dx, Real *dgamma, Real *dbeta, const Real *dy, const Real *xhat,
                   const Real *rstd, const Real *gamma, int rows, int channels);
// tx and ty are [directions][rows][channels].
void norm_tangent(Real *ty, const Real *tx, const Real *xhat, const Real *rstd, const Real *gamma,
                  int directions, int rows, int channels);

// ---- GroupNorm: the same with mean and variance over all rows of one sample and channels/groups
// neighbouring channels. x is dense [batch][time][channels], rstd [batch][groups].

void group_norm_forward(Real *y, Real *xhat, Real *rstd, const Real *x, const Real *gamma,
                        const Real *beta, int batch, int time, int channels, int groups);
void group_norm_backward(Real *dx, Real *dgamma, Real *dbeta, const Real *dy, const Real *xhat,
                         const Real *rstd, const Real *gamma, int batch, int time, int channels,
                         int groups);
// tx and ty are [directions][batch][time][channels].
void group_norm_tangent(Real *ty, const Real *tx, const Real *xhat, const Real *rstd,
                        const Real *gamma, int directions, int batch, int time, int channels,
                        int groups);

// ---- Mish, elementwise --------------------------------------------------------------------------

void mish_forward(Real *y, const Real *x, size_t size);
void mish_backward(Real *dx, const Real *dy, const Real *x, size_t size);
void mish_tangent(Real *ty, const Real *tx, const Real *x, int directions, size_t size);

// ---- FiLM: y[b][t] = x[b][t] (1 + scale[b]) + shift[b]; film [batch][2][channels] is both
// --------

void film_forward(Real *y, const Real *x, const Real *film, int batch, int time, int channels);
// Overwrites dx and dfilm.
void film_backward(Real *dx, Real *dfilm, const Real *dy, const Real *x, const Real *film,
                   int batch, int time, int channels);
// tfilm [directions][batch][2][channels] is NULL when the directions leave the condition alone.
void film_tangent(Real *ty, const Real *tx, const Real *tfilm, const Real *x, const Real *film,
                  int directions, int batch, int time, int channels);

// ---- Residual: y = x + f; its gradients are dy for both, its tangent tx + tf --------------------

void residual_forward(Real *y, const Real *x, const Real *f, size_t size);

// ---- Embedding with a null row ------------------------------------------------------------------
//
// y[r] = table[index[r]], table [values + 1][width]. The last row is the null token, chosen by the
// index EMBEDDING_NULL. y has `stride` elements from row to row.

enum { EMBEDDING_NULL = -1 };

void embedding_forward(Real *y, int stride, const Real *table, const int *index, int index_stride,
                       int rows, int values, int width);
// Adds to dtable, in the order of the rows.
void embedding_backward(Real *dtable, const Real *dy, int stride, const int *index,
                        int index_stride, int rows, int values, int width);

// ---- Time embedding
// ------------------------------------------------------------------------------
//
// y[r] = (sin(t f_0), ..., sin(t f_{h-1}), cos(t f_0), ..., cos(t f_{h-1})), h = width / 2 >= 2,
// f_i = 10000^(-i / (h - 1)). With `tangent`, the derivative with respect to t instead.

void time_embedding(Real *y, int stride, const Real *t, int rows, int width, bool tangent);

#endif
