// The backward pass of the encoder's head (see train/encoder_head_backward.h).
//
// Of y = W x + b for all images: dW = x dy^T and dx^T = W dy^T. W and x^T are read where they lie,
// row by row, and only dy, which is small, is packed.
#include "train/encoder_head_backward.h"

#include "encoder/parts.h"
#include "math/gemm_packed.h"
#include "math/transpose.h"
#include "train/layers_backward.h"

typedef struct HeadBackward {
    EncoderWork *work;
    Real *dweight;
} HeadBackward;

// Some rows of W: their gradient, and that of the numbers that they multiply.
static void rows_task(void *context, int chunk, int worker)
{
    (void)worker;
    const HeadBackward *b = context;
    EncoderWork *w = b->work;
    const Encoder *e = w->encoder;
    int width = encoder_pooled_width(e), features = e->config.features, images = w->images;
    int first = chunk * ENCODER_HEAD_ROWS;
    int rows = width - first < ENCODER_HEAD_ROWS ? width - first : ENCODER_HEAD_ROWS;
    size_t at = (size_t)first * (size_t)features;
    Real *x = w->turned + (size_t)first * (size_t)images, *dx = x; // x has been used by then
    gemm_packed(b->dweight + at, features, x, images, w->dhead_rows, rows, features, images, false);
    gemm_packed(dx, images, w->params + e->head_weight + at, features, w->dhead_columns, rows,
                images, features, false);
    transpose(w->dpooled + first, (size_t)width, dx, (size_t)images, rows, images);
}

void encoder_head_backward(Real *dparams, EncoderWork *w, const Real *dfeatures, FacetPool *pool)
{
    const Encoder *e = w->encoder;
    int features = e->config.features, images = w->images;
    size_t vectors = e->head_weight + (size_t)encoder_pooled_width(e) * (size_t)features;
    memset(dparams + vectors, 0, (e->table.size - vectors) * sizeof *dparams);
    const Real *dy = dfeatures;
    if (e->config.norm_features) {
        norm_backward(w->dhead, dparams + e->head_gamma, dparams + e->head_beta, dfeatures,
                      w->head_hat, w->head_rstd, w->params + e->head_gamma, images, features);
        dy = w->dhead;
    }
    column_sums(dparams + e->head_bias, dy, images, features);
    gemm_pack(w->dhead_rows, GEMM_PLAIN, dy, features, images, 0, features, images);
    gemm_pack(w->dhead_columns, GEMM_TRANSPOSED, dy, features, features, 0, images, features);
    HeadBackward b = {w, dparams + e->head_weight};
    pool_for(pool, encoder_head_chunks(e), rows_task, &b);
}
