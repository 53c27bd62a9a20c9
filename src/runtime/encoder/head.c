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
    int columns;  // of W, that one task takes
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

// Columns that tasks take are multiples of this, and rows that are multiplied at a time.
enum { COLUMNS_UNIT = 32, ROWS_BLOCK = 32 };

// The product's columns of part `part`.
static void product_task(void *context, int part, int worker)
{
    (void)worker;
    const Head *head = context;
    const EncoderWork *w = head->work;
    const Encoder *e = w->encoder;
    int width = encoder_pooled_width(e), features = e->config.features;
    int at = part * head->columns;
    int columns = features - at < head->columns ? features - at : head->columns;
    const Real *weights = w->params + e->head_weight + at;
    for (int first = 0; first < width; first += ROWS_BLOCK) {
        int rows = width - first < ROWS_BLOCK ? width - first : ROWS_BLOCK;
        gemm_windows_gradient(head->linear + at, features, w->turned + (size_t)first * w->images,
                              (WindowGrid){0, w->images}, weights + (size_t)first * features,
                              (WindowGrid){0, features}, 1, rows, w->images, columns, true);
    }
}

void encoder_head_forward(Real *features, EncoderWork *w, FacetPool *pool)
{
    const Encoder *e = w->encoder;
    int count = e->config.features;
    int units = (count + COLUMNS_UNIT - 1) / COLUMNS_UNIT, threads = facet_pool_threads(pool);
    Head head = {w, e->config.norm_features ? w->head_hat : features,
                 (units + threads - 1) / threads * COLUMNS_UNIT};
    for (int i = 0; i < w->images; i++)
        memcpy(head.linear + (size_t)i * count, w->params + e->head_bias,
               (size_t)count * sizeof(Real));
    pool_for(pool, encoder_head_chunks(e), turn_task, &head);
    pool_for(pool, (count + head.columns - 1) / head.columns, product_task, &head);
    if (e->config.norm_features)
        norm_forward(features, w->head_hat, w->head_rstd, w->head_hat, w->params + e->head_gamma,
                     w->params + e->head_beta, w->images, count);
}
