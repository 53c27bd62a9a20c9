// Winograd's convolutions of images in float, for the shape of the small encoder's layers, against
// plain sums in double: within 1e-5 of the largest result.
#include "base/rng.h"
#include "testing.h"
#include "train/winograd_image_backward.h"

#include <math.h>

enum { IMAGES = 2, HEIGHT = 8, WIDTH = 10, C = 64, TAPS = 9 };

static const ImageShape dense = {HEIGHT, WIDTH, C, 0}, bordered = {HEIGHT, WIDTH, C, 1};
static float x[IMAGES * (HEIGHT + 2) * (WIDTH + 2) * C],
    dy[IMAGES * (HEIGHT + 2) * (WIDTH + 2) * C];
static float w[TAPS * C * C], packed[30 * C * C], found[TAPS * C * C + IMAGES * HEIGHT * WIDTH * C];
static float scratch[24 * (2 * 48 + C + 3) * C];
static double expected[TAPS * C * C + IMAGES * HEIGHT * WIDTH * C];

// As after a ReLU: half of the numbers are zero.
static void fill_images(float *images, uint64_t stream, bool positive)
{
    FacetRng rng = rng_make(4, stream);
    for (int i = 0; i < IMAGES; i++)
        for (int v = 0; v < HEIGHT; v++)
            for (int u = 0; u < WIDTH; u++)
                for (int c = 0; c < C; c++) {
                    double value = rng_normal(&rng);
                    images[(size_t)i * image_size(bordered) +
                           (size_t)(image_at(bordered, v, u) + c)] =
                        (float)(positive && value < 0.0 ? 0.0 : value);
                }
}

static int reset(void **state)
{
    (void)state;
    FacetRng rng = rng_make(4, 2);
    fill_images(x, 0, true);
    fill_images(dy, 1, false);
    for (int i = 0; i < TAPS * C * C; i++)
        w[i] = (float)(rng_normal(&rng) * sqrt(2.0 / (TAPS * C)));
    memset(expected, 0, sizeof expected);
    assert_true(winograd_image_packed_size(C, C) <= sizeof packed / sizeof *packed);
    assert_true(winograd_image_gradient_scratch(C, C) <= sizeof scratch / sizeof *scratch);
    return 0;
}

static void assert_close(size_t count)
{
    double largest = 0.0, error = 0.0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(expected[i]));
        error = fmax(error, fabs((double)found[i] - expected[i]));
    }
    assert_true(largest > 0.0);
    assert_less(error, 1e-5 * largest);
}

// expected += the part of one tap: with `turned` that of the gradient of the input, from dy.
static void add_tap(int tap, bool turned)
{
    int down = turned ? 1 - tap / 3 : tap / 3 - 1, right = turned ? 1 - tap % 3 : tap % 3 - 1;
    for (int p = 0; p < IMAGES * HEIGHT * WIDTH; p++) {
        int image = p / (HEIGHT * WIDTH), v = p / WIDTH % HEIGHT + down, u = p % WIDTH + right;
        const float *in =
            (turned ? dy : x) + (size_t)image * image_size(bordered) + image_at(bordered, v, u);
        for (int i = 0; i < C; i++)
            for (int o = 0; o < C; o++)
                expected[p * C + (turned ? i : o)] +=
                    (double)in[turned ? o : i] * (double)w[(tap * C + i) * C + o];
    }
}

static void check_product(bool turned)
{
    WinogradImages from = {bordered, image_size(bordered), IMAGES};
    WinogradImages to = {dense, image_size(dense), IMAGES};
    for (int tap = 0; tap < TAPS; tap++) add_tap(tap, turned);
    if (turned)
        winograd_image_pack_backward(packed, w, C, C);
    else
        winograd_image_pack(packed, w, C, C);
    winograd_image_conv(found, to, scratch, turned ? dy : x, from, packed, false, NULL);
    assert_close((size_t)IMAGES * HEIGHT * WIDTH * C);
}

static void a_convolution_is_within_rounding(void **state)
{
    (void)state;
    check_product(false);
}

static void the_gradient_of_the_input_is_within_rounding(void **state)
{
    (void)state;
    check_product(true);
}

static void the_gradient_of_the_weights_is_within_rounding(void **state)
{
    (void)state;
    WinogradImages all = {bordered, image_size(bordered), IMAGES};
    for (int image = 0; image < IMAGES; image++)
        for (int tap = 0; tap < TAPS; tap++)
            for (int p = 0; p < HEIGHT * WIDTH; p++) {
                size_t at = (size_t)image * image_size(bordered);
                const float *in =
                    x + at + image_at(bordered, p / WIDTH + tap / 3 - 1, p % WIDTH + tap % 3 - 1);
                const float *out = dy + at + image_at(bordered, p / WIDTH, p % WIDTH);
                for (int i = 0; i < C; i++)
                    for (int o = 0; o < C; o++)
                        expected[(tap * C + i) * C + o] += (double)in[i] * (double)out[o];
            }
    winograd_image_backward_weight(found, scratch, x, all, dy, all, false);
    assert_close((size_t)TAPS * C * C);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_convolution_is_within_rounding, reset),
        cmocka_unit_test_setup(the_gradient_of_the_input_is_within_rounding, reset),
        cmocka_unit_test_setup(the_gradient_of_the_weights_is_within_rounding, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
