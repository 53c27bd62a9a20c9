// The encoder's head (see encoder/encoder.h): y = W x + b, and its norm, for all images at once.
//
// W [width][features] is read where it lies: a training step would spend as long on packing it as
// on the product. With x turned round, [width][images], the product is a sum over the rows of W.
#include "encoder/parts.h"
#include "math/gemm_windows.h"
#include "math/transpose.h"
#include "nn/layers.h"

typedef struct Head {
    EncoderWork *work;
    Real *linear; // [images][features]: W x + b
} Head;

static void turn_task(void *context, int chunk, int worker)
{
    (void)worker;
    EncoderWork *w = ((Head *)context)->work;
    int width = encoder_pooled_width(w->encoder), first = chunk * ENCODER_HEAD_ROWS;
    int rows = width - first < ENCODER_HEAD_ROWS ? width - first : ENCODER_HEAD_ROWS;
    transpose(w->turned + (size_t)first * w->images, (size_t)w->images, w->pooled + first,
              (size_t)width, w->images, rows);
}

enum { HEAD_COLUMNS = 64 }; // of W, that one task takes

static void product_task(void *context, int part, int worker)
{
    (void)worker;
    const Head *head = context;
    const EncoderWork *w = head->work;
    const Encoder *e = w->encoder;
    int width = encoder_pooled_width(e), features = e->config.features, at = part * HEAD_COLUMNS;
    int columns = features - at < HEAD_COLUMNS ? features - at : HEAD_COLUMNS;
    const WindowGrid inputs = {0, w->images}, weights = {0, features};
    for (int first = 0; first < width; first += ENCODER_HEAD_ROWS) {
        int rows = width - first < ENCODER_HEAD_ROWS ? width - first : ENCODER_HEAD_ROWS;
        gemm_windows_gradient(head->linear + at, features, w->turned + (size_t)first * w->images,
                              inputs,
                              w->params + e->head_weight + (size_t)first * features + (size_t)at,
                              weights, 1, rows, w->images, columns, true);
    }
}

void encoder_head_forward(Real *features, EncoderWork *w, FacetPool *pool)
{
    const Encoder *e = w->encoder;
    int count = e->config.features;
    Head head = {w, e->config.norm_features ? w->head_hat : features};
    for (int i = 0; i < w->images; i++)
        memcpy(head.linear + (size_t)i * count, w->params + e->head_bias,
               (size_t)count * sizeof(Real));
    pool_for(pool, encoder_head_chunks(e), turn_task, &head);
    pool_for(pool, (count + HEAD_COLUMNS - 1) / HEAD_COLUMNS, product_task, &head);
    if (e->config.norm_features)
        norm_forward(features, w->head_hat, w->head_rstd, w->head_hat, w->params + e->head_gamma,
                     w->params + e->head_beta, w->images, count);
}
