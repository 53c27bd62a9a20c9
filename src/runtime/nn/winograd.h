// Convolutions over time with kernel 3 in half the multiplications: Winograd's F(4, 3).
//
// Four neighbouring results of y[t] = x[t-1] g0 + x[t] g1 + x[t+1] g2 take six inputs d0..d5 and,
// instead of twelve products, six (Lavin and Gray 2016, with the points 0, 1, -1, 2, -2, infinity):
//
//   y = A^T [(G g) * (B^T d)]
//
// A sequence is cut into tiles of four steps. B^T d of all tiles and channels is six matrices
// [tiles][in], each is multiplied by one of six matrices [in][out] that are made of the weights
// once, and A^T turns the six results into four rows. A sequence whose length is no multiple of
// four ends in a tile that has fewer steps; what lies outside a sequence is zero.
//
// With a dilation d the convolution reads x[t-d], x[t] and x[t+d]: it is the plain one on each of d
// interleaved sequences, every d-th step from step 0, 1, ..., d - 1 on. Their tiles stand one
// sequence after the other. Only which rows a tile reads and writes is another matter.
//
// The gradient of the input is the convolution of dy with the kernel turned round: the same with
// other weights. That of the weights is in train/layers_backward.h.
//
// Sequences lie in padded blocks (nn/layers.h), whose zero rows are not touched. The results of one
// tile do not depend on what is computed with it: not by one bit.
#ifndef FACET_NN_WINOGRAD_H
#define FACET_NN_WINOGRAD_H

#include "nn/layers.h"

enum {
    WINOGRAD_STEPS = 4,  // of a tile
    WINOGRAD_POINTS = 6, // products a tile
    WINOGRAD_GROUP = 64, // tiles that are multiplied together, for which scratch is kept
    WINOGRAD_PAD = 16,   // numbers between the rows, and the matrices, of tiles
};

#define winograd_pack                REAL_NAME(winograd_pack)
#define winograd_pack_backward       REAL_NAME(winograd_pack_backward)
#define winograd_pack_panel          REAL_NAME(winograd_pack_panel)
#define winograd_pack_backward_panel REAL_NAME(winograd_pack_backward_panel)
#define winograd_packed_size         REAL_NAME(winograd_packed_size)
#define winograd_input               REAL_NAME(winograd_input)
#define winograd_result              REAL_NAME(winograd_result)
#define winograd_product             REAL_NAME(winograd_product)
#define winograd_output              REAL_NAME(winograd_output)
#define winograd_conv                REAL_NAME(winograd_conv)

// Tiles of a sequence with a dilation: as many for each interleaved one, those of the longest.
static inline int winograd_tiles(int time, int dilation)
{
    int longest = (time + dilation - 1) / dilation;
    return dilation * ((longest + WINOGRAD_STEPS - 1) / WINOGRAD_STEPS);
}

// The first step of tile number `tile`, and how many it has, each a dilation behind the one before.
// It has none when the first lies behind the sequence's end.
static inline int winograd_first(int tile, int time, int dilation)
{
    int each = winograd_tiles(time, dilation) / dilation;
    return tile / each + tile % each * WINOGRAD_STEPS * dilation;
}

static inline int winograd_steps(int tile, int time, int dilation)
{
    int rest = time - winograd_first(tile, time, dilation);
    int left = rest > 0 ? (rest + dilation - 1) / dilation : 0;
    return left < WINOGRAD_STEPS ? left : WINOGRAD_STEPS;
}

// Numbers from row to row of a matrix of tiles, and from one of the six such matrices to the next.
// Neither is a power of two: else rows would compete for the same places of the first cache.
static inline int winograd_row(int channels) { return channels + WINOGRAD_PAD; }

static inline size_t winograd_matrix(int rows, int channels)
{
    return (size_t)rows * (size_t)winograd_row(channels) + WINOGRAD_PAD;
}

// Numbers of the packed weights of a layer, and the weights w [3][in][out] as they are multiplied:
// forwards, and turned round for the gradient of the input.
size_t winograd_packed_size(int in, int out);
void winograd_pack(Real *packed, const Real *w, int in, int out);
void winograd_pack_backward(Real *packed, const Real *w, int in, int out);

// One panel of that, of gemm_packed_panels(out), and of gemm_packed_panels(in) backwards.
void winograd_pack_panel(Real *packed, const Real *w, int index, int in, int out);
void winograd_pack_backward_panel(Real *packed, const Real *w, int index, int in, int out);

// ---- The three parts, for those who share them out ----------------------------------------------

// B^T d of one tile of the sequence whose first row is x, into its row of six matrices of tiles,
// which are `matrix` numbers apart; v points at its row in the first.
void winograd_input(Real *v, size_t matrix, const Real *x, int tile, int time, int dilation,
                    int channels);

// The same of a gradient dy of the result, A dy of one tile: what the gradient of the weights
// multiplies with B^T d.
void winograd_result(Real *v, size_t matrix, const Real *dy, int tile, int time, int dilation,
                     int channels);

// The six matrices m of `rows` tiles are those of v times the packed weights: part `part` of
// `parts` equal ones.
void winograd_product(Real *m, const Real *v, const Real *packed, int rows, int in, int out,
                      int part, int parts);

// The steps of one tile of the sequence whose first row is y, from its row of m as in
// winograd_input; with accumulate they are added.
void winograd_output(Real *y, const Real *m, size_t matrix, int tile, int time, int dilation,
                     int channels, bool accumulate);

// ---- All at once --------------------------------------------------------------------------------

// Scratch, in numbers, of winograd_conv and of anyone who takes WINOGRAD_GROUP tiles at a time.
static inline size_t winograd_scratch(int in, int out)
{
    return WINOGRAD_POINTS *
           (winograd_matrix(WINOGRAD_GROUP, in) + winograd_matrix(WINOGRAD_GROUP, out));
}

// The same for the gradient of the weights (train/layers_backward.h): the tiles of input and
// result, and the six products.
static inline size_t winograd_gradient_scratch(int in, int out)
{
    return winograd_scratch(in, out) + (size_t)WINOGRAD_POINTS * (size_t)in * (size_t)out;
}

// y = x * w, or y += x * w, for the sequences of a padded block, without bias.
void winograd_conv(Real *y, Real *scratch, const Real *x, const Real *packed, int batch, int time,
                   int dilation, int in, int out, bool accumulate);

#endif
