// The image encoder's training: packing the weights, forward and back (see side.h).
#include "../bench.h"
#include "side.h"
#include "train/encoder_backward.h"

enum { IMAGES = 32 };

typedef struct Encoding {
    EncoderWork *work;
    const float *params;
    float *images, *features, *direction, *gradients;
} Encoding;

static void run_encoding(void *self, FacetPool *pool)
{
    Encoding *e = self;
    encoder_load(e->work, e->params, pool);
    encoder_forward(e->features, e->work, e->images, IMAGES, pool);
    encoder_backward(e->gradients, e->work, e->direction, pool);
}

void side_add_encoder(Works *works, Case *to, const FacetPolicy *policy, FacetPool *pool)
{
    const EncoderConfig *c = encoder_config(policy->encoder);
    const TensorTable *table = encoder_table(policy->encoder);
    Encoding *e = side_room(1, sizeof *e);
    e->params = policy->encoder_params[0];
    e->images = side_normal((size_t)(IMAGES * c->height * c->width * 3), 7);
    e->direction = side_normal((size_t)(IMAGES * c->features), 8);
    e->features = side_room((size_t)(IMAGES * c->features), sizeof *e->features);
    e->gradients = side_room(table->size, sizeof *e->gradients);
    must(encoder_work_create(&e->work, policy->encoder, IMAGES, facet_pool_threads(pool), true));
    run_encoding(e, pool);
    const int64_t features[] = {IMAGES, c->features};
    case_add(to, "image", TENSOR_F32, e->images, 4, (int64_t[]){IMAGES, c->height, c->width, 3});
    case_add(to, "features", TENSOR_F32, e->features, 2, features);
    case_add(to, "direction", TENSOR_F32, e->direction, 2, features);
    case_add_block(to, "gradient.encoder.", table, e->gradients);
    works_add(works, "encoder-train",
              IMAGES *
                  (encoder_flops(policy->encoder) + 2.0 * encoder_flops_trained(policy->encoder)),
              run_encoding, e);
}
