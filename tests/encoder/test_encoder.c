// The encoder in double: the gradient of every parameter against central differences, frozen parts,
// and the shapes that are refused.
#define FACET_REAL_DOUBLE
#include "encoder/encoder.h"
#include "nn/derivative.h"
#include "train/encoder_backward.h"
#include "train/optim.h"

#include <stdlib.h>

enum { IMAGES = 11, WIDTH = 22, HEIGHT = 18, F = 5, PIXELS = WIDTH * HEIGHT * 3 };

typedef struct Fixture {
    Encoder *encoder;
    EncoderWork *work;
    FacetPool *pool;
    const TensorTable *table;
    double *params, *grads;
    double inputs[IMAGES * PIXELS], features[IMAGES * F], dfeatures[IMAGES * F];
} Fixture;

static const EncoderConfig tiny = {.width = WIDTH,
                                   .height = HEIGHT,
                                   .shrink = 1,
                                   .stem_channels = 4,
                                   .stem_kernel = 5,
                                   .stem_stride = 2,
                                   .stages = 3,
                                   .channels = {8, 12, 12},
                                   .strides = {2, 2, 1},
                                   .blocks = 1,
                                   .groups = 2,
                                   .features = F};

static Fixture *setup(EncoderConfig config, int threads)
{
    Fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    assert_ok(encoder_create(&f->encoder, config));
    assert_ok(encoder_work_create(&f->work, f->encoder, IMAGES, threads, true));
    assert_ok(facet_pool_create(&f->pool, threads));
    f->table = encoder_table(f->encoder);
    f->params = calloc(f->table->size, sizeof *f->params);
    f->grads = calloc(f->table->size, sizeof *f->grads);
    assert_true(f->params);
    assert_true(f->grads);
    tensor_init(f->params, f->table, 3);
    for (size_t i = 0; i < f->table->size; i++) f->params[i] += 0.1 * sin(1.0 + (double)i);
    fill_normal(f->inputs, IMAGES * PIXELS, 1);
    fill_normal(f->dfeatures, IMAGES * F, 2);
    return f;
}

static void teardown(Fixture *f)
{
    free(f->params);
    free(f->grads);
    facet_pool_destroy(f->pool);
    encoder_work_free(f->work);
    encoder_free(f->encoder);
    free(f);
}

static double loss(void *context)
{
    Fixture *f = context;
    encoder_load(f->work, f->params, f->pool);
    encoder_forward(f->features, f->work, f->inputs, IMAGES, f->pool);
    return dot(f->features, f->dfeatures, IMAGES * F);
}

static void backward(Fixture *f)
{
    loss(f);
    for (size_t i = 0; i < f->table->size; i++) f->grads[i] = NAN; // all of it is overwritten
    encoder_backward(f->grads, f->work, f->dfeatures, f->pool);
}

// The step is small, so that none of the activations crosses the kink of its ReLU.
static void check_tensor(Fixture *f, const Tensor *tensor)
{
    size_t stride = tensor->size / 12 + 1;
    for (size_t i = 0; i < tensor->size; i += stride) {
        double *value = f->params + tensor->offset + i, keep = *value, h = 1e-6;
        *value = keep + h;
        double above = loss(f);
        *value = keep - h;
        double below = loss(f);
        *value = keep;
        double expected = (above - below) / (2.0 * h), found = f->grads[tensor->offset + i];
        if (!(fabs(found - expected) <= 1e-6 * (1.0 + fabs(expected))))
            fail_msg("%s[%zu]: gradient %.10g, central difference %.10g", tensor->name, i, found,
                     expected);
    }
}

static void check_all(EncoderConfig config)
{
    Fixture *f = setup(config, 2);
    backward(f);
    for (int i = 0; i < f->table->count; i++)
        if (strcmp(f->table->tensors[i].name, "stem.pad") != 0)
            check_tensor(f, &f->table->tensors[i]);
    teardown(f);
}

static void gradients_are_differences(void **state)
{
    (void)state;
    check_all(tiny);
}

static void gradients_flat(void **state)
{
    (void)state;
    EncoderConfig config = tiny;
    config.flat = config.norm_features = true;
    assert_false(encoder_config_equal(&config, &tiny));
    check_all(config);
}

// The other shape: a pooled stem, two blocks a stage, one of them with an identity skip.
static EncoderConfig deep(void)
{
    EncoderConfig config = tiny;
    config.stem_pool = true;
    config.stages = 2;
    config.strides[0] = 1;
    config.channels[0] = 4;
    config.blocks = 2;
    return config;
}

static void gradients_deep(void **state)
{
    (void)state;
    check_all(deep());
}

// Layers that take Winograd's products, of sides that tiles do not divide, with and without a skip
// of its own.
static void gradients_winograd(void **state)
{
    (void)state;
    EncoderConfig config = tiny;
    for (int s = 0; s < 3; s++) config.channels[s] = 16, config.strides[s] = 1;
    config.groups = 4;
    check_all(config);
}

static void gradients_without_norm(void **state)
{
    (void)state;
    EncoderConfig config = deep();
    config.groups = 0;
    check_all(config);
}

// The border of the input has no gradient: it belongs to imported weights.
static void input_pad_is_constant(void **state)
{
    (void)state;
    EncoderConfig config = tiny;
    config.groups = 0;
    Fixture *f = setup(config, 1);
    const Tensor *pad = tensor_find(f->table, "stem.pad");
    assert_non_null(pad);
    backward(f);
    double before = f->features[0];
    for (int i = 0; i < 3; i++) assert_true(f->grads[pad->offset + (size_t)i] == 0.0);
    f->params[pad->offset] += 1.0;
    loss(f);
    assert_true(f->features[0] != before);
    teardown(f);
}

static void frozen_parts_stay(void **state)
{
    (void)state;
    for (int frozen = 1; frozen <= 4; frozen++) {
        EncoderConfig config = tiny;
        Fixture *f = setup(config, 2);
        backward(f);
        config.frozen = frozen;
        Fixture *g = setup(config, 2);
        backward(g);
        size_t from = encoder_trained_from(g->encoder);
        assert_true(from > 0);
        assert_true(from < g->table->size);
        assert_memory_equal(f->features, g->features, sizeof f->features);
        for (size_t i = 0; i < from; i++) assert_true(g->grads[i] == 0.0);
        for (size_t i = from; i < g->table->size; i++) assert_true(g->grads[i] == f->grads[i]);
        teardown(f);
        teardown(g);
    }
    Fixture *f = setup(tiny, 1);
    assert_int_equal(encoder_trained_from(f->encoder), 0);
    teardown(f);
}

static void refuse(EncoderConfig config, const char *words)
{
    Encoder *encoder;
    FacetStatus status = encoder_create(&encoder, config);
    assert_false(status.ok);
    assert_null(encoder);
    if (!strstr(status.text, words)) fail_msg("expected '%s' in: %s", words, status.text);
}

static void refused_shapes(void **state)
{
    (void)state;
    EncoderConfig config = tiny;
    config.groups = 5;
    refuse(config, "that 5 groups divide, found 4");
    config = tiny, config.stages = 5;
    refuse(config, "stages from 1 to 4, found 5");
    config = tiny, config.strides[1] = 3;
    refuse(config, "a stride of a stage of 1, 2 or 4, found 3");
    config = tiny, config.frozen = 5;
    refuse(config, "frozen parts from 0 to 4, found 5");
    config = tiny, config.width = 0;
    refuse(config, "a width from 8 to 2048, found 0");
    FacetStatus status = encoder_config_find(&config, "smal");
    assert_false(status.ok);
    assert_string_equal(status.text,
                        "no encoder 'smal': small, small160, resnet18, resnet18-torchvision");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(gradients_flat),
        cmocka_unit_test(gradients_deep),
        cmocka_unit_test(gradients_winograd),
        cmocka_unit_test(gradients_without_norm),
        cmocka_unit_test(input_pad_is_constant),
        cmocka_unit_test(frozen_parts_stay),
        cmocka_unit_test(refused_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
