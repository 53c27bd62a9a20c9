// The backward passes of the layers of nn/layers.h, for training.
//
// The gradient of x is dx. Backward passes overwrite dx and the dw of products, and add to the
// gradients of vectors, which are summed over rows.
#ifndef FACET_TRAIN_LAYERS_BACKWARD_H
#define FACET_TRAIN_LAYERS_BACKWARD_H

#include "nn/layers.h"
#include "nn/winograd.h"

#define embedding_backward       REAL_NAME(embedding_backward)
#define conv1d_backward_input    REAL_NAME(conv1d_backward_input)
#define conv1d_backward_weight   REAL_NAME(conv1d_backward_weight)
#define winograd_backward_weight REAL_NAME(winograd_backward_weight)
#define linear_backward_input    REAL_NAME(linear_backward_input)
#define linear_backward_weight   REAL_NAME(linear_backward_weight)
#define column_sums              REAL_NAME(column_sums)
#define norm_backward            REAL_NAME(norm_backward)
#define mish_backward            REAL_NAME(mish_backward)

// The zero rows of dx hold what the products leave.
void conv1d_backward_input(Real *dx, const Real *dy, const Real *w, int batch, int time, int in,
                           int out);

// Overwrites dw [3][in][out]. `rows` counts all rows of the block, so that several blocks that lie
// end to end are one. scratch has conv1d_scratch(rows, in, out) numbers.
void conv1d_backward_weight(Real *dw, Real *scratch, const Real *x, const Real *dy, int rows,
                            int in, int out);

// Where the samples of several padded blocks lie, `shard` to a block, the blocks `block` rows
// apart, and the dilation of what is convolved with them.
typedef struct SeqLayout {
    int samples, shard;
    size_t block;
    int time, dilation;
} SeqLayout;

// The same by Winograd's products (nn/winograd.h): the transpose of y = A^T [(G w) * (B^T x)] is
//   dw = G^T sum over tiles of (B^T x) (A dy)^T,
// six products over the tiles instead of twelve over the steps. scratch has
// winograd_gradient_scratch(in, out) numbers.
void winograd_backward_weight(Real *dw, Real *scratch, const Real *x, const Real *dy,
                              SeqLayout layout, int in, int out);

// Of y = x w + bias, x [rows][in], w [in][out]; a stride is that from row to row.
void linear_backward_input(Real *dx, const Real *dy, const Real *w, int rows, int in, int out);
void linear_backward_weight(Real *dw, int dw_stride, const Real *x, int x_stride, const Real *dy,
                            int dy_stride, int rows, int in, int out);

// Adds the sum over rows of dy [rows][columns] to sums [columns]: the gradient of a bias.
void column_sums(Real *sums, const Real *dy, int rows, int columns);

void norm_backward(Real *dx, Real *dgamma, Real *dbeta, const Real *dy, const Real *xhat,
                   const Real *rstd, const Real *gamma, int rows, int channels);

void mish_backward(Real *dx, const Real *dy, const Real *x, size_t size);

// Adds to dtable, in the order of the rows.
void embedding_backward(Real *dtable, const Real *dy, int stride, const int *index,
                        int index_stride, int rows, int values, int width);

#endif
