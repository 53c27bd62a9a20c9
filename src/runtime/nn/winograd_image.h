// Convolutions of images with kernel 3 and stride 1 in a third of the multiplications: Winograd's
// F(4, 3) down the columns and F(2, 3) along the rows.
//
// A tile is four rows and two columns of the result y = x * g. It takes 6 x 4 pixels d of x and,
// instead of 72 products, 24 (Lavin and Gray 2016; nn/winograd.h has the same over time):
//
//   y = A4^T [(G4 g G2^T) * (B4^T d B2)] A2
//
// with the points 0, 1, -1, 2, -2, infinity for rows and 0, 1, -1, infinity for columns. The tiles
// of several images are multiplied together: 24 matrices [tiles][in], each by one of 24 matrices
// [in][out] that are made of the weights once.
//
// F(4, 3) both ways would save another tenth of the products where sides are short, at three times
// the rounding error (1.1e-6 of the result's deviation with 64 channels; this has 4e-7, F(2, 3)
// both ways 1.4e-7 and the direct product 0.8e-7).
//
// The gradient of the input is the convolution of dy with the kernel turned round: the same with
// other weights. That of the weights is in train/winograd_image_backward.h.
//
// Images are those of nn/image_layers.h. The results of one tile do not depend on what is computed
// with it: not by one bit.
#ifndef FACET_NN_WINOGRAD_IMAGE_H
#define FACET_NN_WINOGRAD_IMAGE_H

#include "base/pool.h"
#include "nn/image_layers.h"

enum {
    WINOGRAD_IMAGE_ROWS = 4,      // of a tile
    WINOGRAD_IMAGE_COLUMNS = 2,   // of a tile
    WINOGRAD_IMAGE_POINTS = 24,   // products a tile
    WINOGRAD_IMAGE_GROUP = 48,    // tiles that are multiplied together, for which scratch is kept
    WINOGRAD_IMAGE_CHANNELS = 16, // which all numbers of channels are multiples of
};

#define winograd_image_packed_size   REAL_NAME(winograd_image_packed_size)
#define winograd_image_pack          REAL_NAME(winograd_image_pack)
#define winograd_image_pack_backward REAL_NAME(winograd_image_pack_backward)
#define winograd_image_input         REAL_NAME(winograd_image_input)
#define winograd_image_conv          REAL_NAME(winograd_image_conv)

// Whether this convolution of images of shape x is computed so, or directly. The transforms take
// whole vectors of channels and cost as much as products over a few of them, and tiles that reach
// past the image are multiplied whole.
static inline bool winograd_image_takes(Conv2d c, ImageShape x)
{
    enum { SIDE_FROM = 6 };
    return c.kernel == 3 && c.stride == 1 && c.in % WINOGRAD_IMAGE_CHANNELS == 0 &&
           c.out % WINOGRAD_IMAGE_CHANNELS == 0 && x.height >= SIDE_FROM && x.width >= SIDE_FROM;
}

// ---- Tiles, row by row --------------------------------------------------------------------------

static inline int winograd_image_across(ImageShape s)
{
    return (s.width + WINOGRAD_IMAGE_COLUMNS - 1) / WINOGRAD_IMAGE_COLUMNS;
}

static inline int winograd_image_tiles(ImageShape s)
{
    return (s.height + WINOGRAD_IMAGE_ROWS - 1) / WINOGRAD_IMAGE_ROWS * winograd_image_across(s);
}

// Tiles of one row of tiles: those at [first, last) from the left.
typedef struct WinogradRun {
    int row, first, last;
} WinogradRun;

// The tiles from `tile` on that stand in one row of tiles, at most `count`.
static inline WinogradRun winograd_image_run(ImageShape s, int tile, int count)
{
    int across = winograd_image_across(s), first = tile % across;
    return (WinogradRun){tile / across, first, first + count < across ? first + count : across};
}

// v [24][..][channels] = B4^T d B2 of tiles of x, an image with a border of zeros. The matrices are
// `stride` numbers apart, and v points at the first tile's row in the first one.
void winograd_image_input(Real *v, size_t stride, const Real *x, ImageShape xs, WinogradRun run);

// ---- Weights ------------------------------------------------------------------------------------

// Numbers of the packed weights of a layer, and the weights w [9][in][out] as they are multiplied:
// forwards, and turned round for the gradient of the input.
size_t winograd_image_packed_size(int in, int out);
void winograd_image_pack(Real *packed, const Real *w, int in, int out);
void winograd_image_pack_backward(Real *packed, const Real *w, int in, int out);

// ---- All at once --------------------------------------------------------------------------------

// Images of one shape, `step` numbers from one to the next.
typedef struct WinogradImages {
    ImageShape shape;
    size_t step;
    int count;
} WinogradImages;

// From one of the 24 matrices [rows][columns] to the next: a line of cache more than it needs, so
// that an element's 24 places are not all in one set of the cache.
static inline size_t winograd_image_stride(int rows, int columns)
{
    return (size_t)rows * (size_t)columns + 64 / sizeof(Real);
}

// Scratch, in numbers, of winograd_image_conv.
static inline size_t winograd_image_scratch(int in, int out)
{
    return WINOGRAD_IMAGE_POINTS * (winograd_image_stride(WINOGRAD_IMAGE_GROUP, in) +
                                    winograd_image_stride(WINOGRAD_IMAGE_GROUP, out));
}

// The same for the gradient of the weights: the tiles of input and result, and the 24 products.
static inline size_t winograd_image_gradient_scratch(int in, int out)
{
    return winograd_image_scratch(in, out) + WINOGRAD_IMAGE_POINTS * winograd_image_stride(in, out);
}

// y = x * w, or y += x * w, without bias. The products are shared out over the pool.
void winograd_image_conv(Real *y, WinogradImages ys, Real *scratch, const Real *x,
                         WinogradImages xs, const Real *packed, bool accumulate, FacetPool *pool);

#endif
