// The encoder's passes give the same bits on any number of threads, evaluating as in training, and
// allocate nothing.
#include "allocations.h"
#include "base/rng.h"
#include "encoder/encoder.h"
#include "testing.h"
#include "train/encoder_backward.h"
#include "train/optim.h"

#include <stdlib.h>

enum { IMAGES = 10, THREADS = 4 };

typedef struct Fixture {
    Encoder *encoder;
    const EncoderConfig *config;
    size_t block, pixels, features;
    float *params, *inputs, *dfeatures;
} Fixture;

static float *numbers(size_t count, uint64_t stream)
{
    float *out = malloc(count * sizeof *out);
    assert_non_null(out);
    FacetRng rng = rng_make(5, stream);
    for (size_t i = 0; i < count; i++) out[i] = (float)rng_range(&rng, -1.0, 1.0);
    return out;
}

static Fixture setup(EncoderConfig config)
{
    Fixture f;
    assert_ok(encoder_create(&f.encoder, config));
    f.config = encoder_config(f.encoder);
    f.block = encoder_table(f.encoder)->size;
    f.pixels = (size_t)config.width * (size_t)config.height * 3;
    f.features = (size_t)config.features;
    f.params = numbers(f.block, 0);
    tensor_init(f.params, encoder_table(f.encoder), 9);
    f.inputs = numbers(IMAGES * f.pixels, 1);
    f.dfeatures = numbers(IMAGES * f.features, 2);
    return f;
}

static void teardown(Fixture *f)
{
    encoder_free(f->encoder);
    free(f->params);
    free(f->inputs);
    free(f->dfeatures);
}

static EncoderConfig small(void)
{
    EncoderConfig config;
    assert_ok(encoder_config_find(&config, "small"));
    return config;
}

// The shape of ResNet-18 at a fraction of its width and size.
static EncoderConfig narrow_resnet(void)
{
    EncoderConfig config;
    assert_ok(encoder_config_find(&config, "resnet18"));
    config.width = 64, config.height = 48, config.stem_channels = 8, config.groups = 4;
    for (int i = 0; i < 4; i++) config.channels[i] /= 8;
    config.frozen = 0;
    return config;
}

static void train(const Fixture *f, float *features, float *grads, int threads)
{
    FacetPool *pool;
    EncoderWork *work;
    assert_ok(facet_pool_create(&pool, threads));
    assert_ok(encoder_work_create(&work, f->encoder, IMAGES, THREADS, true));
    for (int repeat = 0; repeat < 2; repeat++) { // what a pass leaves behind does not matter
        long before = allocations;
        encoder_load(work, f->params, pool);
        encoder_forward(features, work, f->inputs, IMAGES, pool);
        encoder_backward(grads, work, f->dfeatures, pool);
        if (repeat) assert_int_equal(allocations, before);
    }
    encoder_work_free(work);
    facet_pool_destroy(pool);
}

// One image at a time and all at once.
static void evaluate(const Fixture *f, const float *expected, int threads)
{
    FacetPool *pool;
    EncoderWork *work;
    float *features = numbers(IMAGES * f->features, 3);
    assert_ok(facet_pool_create(&pool, threads));
    assert_ok(encoder_work_create(&work, f->encoder, IMAGES, THREADS, false));
    encoder_load(work, f->params, pool);
    long before = allocations;
    for (size_t i = 0; i < IMAGES; i++)
        encoder_forward(features + i * f->features, work, f->inputs + i * f->pixels, 1, pool);
    assert_memory_equal(features, expected, IMAGES * f->features * sizeof *features);
    memset(features, 0, IMAGES * f->features * sizeof *features);
    encoder_forward(features, work, f->inputs, IMAGES, pool);
    assert_memory_equal(features, expected, IMAGES * f->features * sizeof *features);
    assert_int_equal(allocations, before);
    encoder_work_free(work);
    facet_pool_destroy(pool);
    free(features);
}

static void check(EncoderConfig config)
{
    Fixture f = setup(config);
    float *features = numbers(IMAGES * f.features, 4), *grads = numbers(f.block, 5);
    float *features2 = numbers(IMAGES * f.features, 6), *grads2 = numbers(f.block, 7);
    train(&f, features, grads, 1);
    for (size_t i = 0; i < IMAGES * f.features; i++) assert_true(isfinite(features[i]));
    for (int threads = 2; threads <= THREADS; threads += 2) {
        train(&f, features2, grads2, threads);
        assert_memory_equal(features, features2, IMAGES * f.features * sizeof *features);
        assert_memory_equal(grads, grads2, f.block * sizeof *grads);
    }
    for (int threads = 1; threads <= THREADS; threads *= 2) evaluate(&f, features, threads);
    free(features);
    free(grads);
    free(features2);
    free(grads2);
    teardown(&f);
}

static void the_small_encoder_is_the_same_on_any_threads(void **state)
{
    (void)state;
    check(small());
}

static void small_partly_frozen(void **state)
{
    (void)state;
    EncoderConfig config = small();
    config.frozen = 2;
    check(config);
}

static void resnet18_is_the_same_on_any_threads(void **state)
{
    (void)state;
    check(narrow_resnet());
}

static void known_sizes(void **state)
{
    (void)state;
    EncoderConfig config;
    Encoder *encoder;
    assert_ok(encoder_config_find(&config, "resnet18"));
    assert_ok(encoder_create(&encoder, config));
    // 11.2 million parameters without the classifier, and a head of 1536 x 128.
    size_t parameters = encoder_table(encoder)->parameters;
    assert_true(parameters > 11300000);
    assert_true(parameters < 11400000);
    assert_near(encoder_flops(encoder) * 1e-9, 5.6, 0.3);
    assert_true(encoder_flops_trained(encoder) < encoder_flops(encoder));
    encoder_free(encoder);
    assert_ok(encoder_create(&encoder, small()));
    assert_near(encoder_flops(encoder) * 1e-6, 35.2, 0.5);
    encoder_free(encoder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_encoder_is_the_same_on_any_threads),
        cmocka_unit_test(small_partly_frozen),
        cmocka_unit_test(resnet18_is_the_same_on_any_threads),
        cmocka_unit_test(known_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
