// The whole encoder against PyTorch: features and every parameter's gradient. test_reference_f64.c
// is this file in double.
#define REFERENCE_TOLERANCE 5e-4 // without a norm, floats cancel
#include "encoder/encoder.h"
#include "reference.h"
#include "train/encoder_backward.h"

#include <stdlib.h>

enum { IMAGES = 2, HEIGHT = 18, WIDTH = 22, F = 3 };

static void compare(const char *name, EncoderConfig config)
{
    static Real inputs[IMAGES * HEIGHT * WIDTH * 3];
    Real features[IMAGES * F], dfeatures[IMAGES * F];
    char entry[128];
    Encoder *encoder;
    EncoderWork *work;
    FacetPool *pool;
    assert_ok(encoder_create(&encoder, config));
    assert_ok(encoder_work_create(&work, encoder, IMAGES, 1, true));
    assert_ok(facet_pool_create(&pool, 1));
    const TensorTable *table = encoder_table(encoder);
    Real *params = calloc(table->size, sizeof *params);
    Real *grads = calloc(table->size, sizeof *grads);
    assert_true(params);
    assert_true(grads);
    for (int i = 0; i < table->count; i++)
        wave(params + table->tensors[i].offset, table->tensors[i].size, 0.5, 1.3, 0.7 * i);
    wave(inputs, IMAGES * HEIGHT * WIDTH * 3, 1.0, 0.9, 0.2);
    wave(dfeatures, IMAGES * F, 1.0, 1.7, 0.4);
    encoder_load(work, params, pool);
    encoder_forward(features, work, inputs, IMAGES, pool);
    encoder_backward(grads, work, dfeatures, pool);
    snprintf(entry, sizeof entry, "%s.features", name);
    same(features, entry, IMAGES * F);
    for (int i = 0; i < table->count; i++) {
        const Tensor *tensor = &table->tensors[i];
        if (strcmp(tensor->name, "stem.pad") == 0) continue; // not trained
        snprintf(entry, sizeof entry, "%s.%s", name, tensor->name);
        same(grads + tensor->offset, entry, tensor->size);
    }
    free(params);
    free(grads);
    encoder_work_free(work);
    encoder_free(encoder);
    facet_pool_destroy(pool);
}

static const EncoderConfig plain = {.width = WIDTH,
                                    .height = HEIGHT,
                                    .shrink = 1,
                                    .stem_channels = 4,
                                    .stem_kernel = 5,
                                    .stem_stride = 2,
                                    .stages = 3,
                                    .channels = {6, 8, 8},
                                    .strides = {2, 2, 1},
                                    .blocks = 1,
                                    .groups = 2,
                                    .features = F};

static void plain_encoders_are_pytorchs(void **state)
{
    (void)state;
    compare("plain", plain);
}

static void pooled_encoders_are_pytorchs(void **state)
{
    (void)state;
    compare("pooled", (EncoderConfig){.width = WIDTH,
                                      .height = HEIGHT,
                                      .shrink = 1,
                                      .stem_channels = 4,
                                      .stem_kernel = 7,
                                      .stem_stride = 2,
                                      .stem_pool = true,
                                      .stages = 2,
                                      .channels = {4, 6},
                                      .strides = {1, 2},
                                      .blocks = 2,
                                      .features = F});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_encoders_are_pytorchs),
        cmocka_unit_test(pooled_encoders_are_pytorchs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
