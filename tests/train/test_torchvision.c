// torchvision's weights: the last stage's activations against PyTorch (torchvision.safetensors,
// made by make_torchvision_reference.py), and the files that are refused.
#include "base/safetensors.h"
#include "encoder/frame.h"
#include "encoder/parts.h"
#include "testing.h"
#include "train/torchvision.h"

#include <stdlib.h>

#define WEIGHTS TEST_DATA "/torchvision.safetensors"

enum { HEIGHT = 70, WIDTH = 90 };

static EncoderConfig narrow(void)
{
    EncoderConfig config;
    assert_ok(encoder_config_find(&config, "resnet18-torchvision"));
    config.width = WIDTH, config.height = HEIGHT;
    config.stem_channels /= 16;
    for (int i = 0; i < 4; i++) config.channels[i] /= 16;
    return config;
}

static float *block_of(const Encoder *encoder)
{
    float *params = calloc(encoder_table(encoder)->size, sizeof *params);
    assert_non_null(params);
    return params;
}

static void last_stage(void **state)
{
    (void)state;
    static uint8_t rgb[HEIGHT * WIDTH * 3];
    static float input[HEIGHT * WIDTH * 3];
    float features[128];
    Encoder *encoder;
    EncoderWork *work;
    FacetPool *pool;
    Safetensors *file;
    assert_ok(encoder_create(&encoder, narrow()));
    assert_ok(encoder_work_create(&work, encoder, 1, 2, false));
    assert_ok(facet_pool_create(&pool, 2));
    float *params = block_of(encoder);
    assert_ok(encoder_read_torchvision(params, encoder, WEIGHTS));
    for (int i = 0; i < HEIGHT * WIDTH * 3; i++) rgb[i] = (uint8_t)((37 * i + i / 7) % 256);
    frame_input(input, rgb, HEIGHT * WIDTH, frame_jitter_none());
    encoder_load(work, params, pool);
    encoder_forward(features, work, input, 1, pool);
    ImageShape s = encoder_last(encoder);
    size_t size = image_size(image_bordered(s, 0));
    float *expected = malloc(size * sizeof *expected), *found = malloc(size * sizeof *found);
    assert_true(expected);
    assert_true(found);
    assert_ok(safetensors_read(&file, WEIGHTS));
    assert_ok(safetensors_floats(expected, file, "reference.layer4", 3,
                                 (int[]){s.height, s.width, s.channels}));
    image_take(found, h_of(work, encoder->blocks[encoder->block_count - 1].second, 0, 0), s);
    double sum = 0.0;
    for (size_t i = 0; i < size; i++) {
        sum += (double)expected[i];
        assert_near((double)found[i], (double)expected[i], 1e-5 * (1.0 + (double)expected[i]));
    }
    assert_true(sum > 0.1 * (double)size); // not all dead
    safetensors_free(file);
    free(expected);
    free(found);
    free(params);
    encoder_work_free(work);
    encoder_free(encoder);
    facet_pool_destroy(pool);
}

static void refuse(EncoderConfig config, const char *path, const char *words)
{
    Encoder *encoder;
    assert_ok(encoder_create(&encoder, config));
    float *params = block_of(encoder);
    assert_refused(encoder_read_torchvision(params, encoder, path), words);
    free(params);
    encoder_free(encoder);
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    EncoderConfig config = narrow();
    config.stem_channels = 8;
    refuse(config, WEIGHTS,
           "torchvision.safetensors: tensor conv1.weight: expected the shape [8, 3, 7, 7], found "
           "[4, 3, 7, 7]");
    config = narrow(), config.channels[3] = 48;
    refuse(config, WEIGHTS,
           "tensor layer4.0.conv1.weight: expected the shape [48, 16, 3, 3], found [32, 16, 3, 3]");
    config = narrow(), config.blocks = 3;
    refuse(config, WEIGHTS, "expected a tensor layer1.2.conv1.weight, found none");
    config = narrow(), config.blocks = 1;
    refuse(config, WEIGHTS,
           "expected weights of 4 stages of 1 blocks, found a tensor layer1.1.conv1.weight too");
    config = narrow(), config.stages = 3;
    refuse(config, WEIGHTS, "found a tensor layer4.0.conv1.weight too");
    config = narrow(), config.groups = 4;
    refuse(config, WEIGHTS, "expected an encoder without a norm");
    refuse(narrow(), TEST_DATA "/nowhere.safetensors", "nowhere.safetensors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_stage),
        cmocka_unit_test(bad_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
