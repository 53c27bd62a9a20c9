// Winograd's convolutions of images against the direct ones, in double: the same algebra, for
// images of any size, and bits that do not depend on how the work is shared out.
#define FACET_REAL_DOUBLE
#include "nn/derivative.h"
#include "nn/reference_image_layers.h"
#include "train/winograd_image_backward.h"

enum { IMAGES = 3, IN = 16, OUT = 48, LONGEST = 9, MAX = 200000 };

static const Conv2d conv = {3, 1, IN, OUT};
static double x[MAX], w[MAX], dy[MAX], bordered[MAX], bordered_dy[MAX];
static double expected[MAX], found[MAX], packed[MAX], scratch[MAX];

static int reset(void **state)
{
    (void)state;
    fill_normal(x, MAX, 0);
    fill_normal(w, MAX, 1);
    fill_normal(dy, MAX, 2);
    memset(bordered, 0, sizeof bordered);
    memset(bordered_dy, 0, sizeof bordered_dy);
    assert_true(winograd_image_packed_size(IN, OUT) <= MAX);
    assert_true(winograd_image_packed_size(OUT, IN) <= MAX);
    assert_true(winograd_image_gradient_scratch(IN, OUT) <= MAX);
    assert_true(IMAGES * image_size((ImageShape){LONGEST, LONGEST, OUT, 1}) <= MAX);
    return 0;
}

static WinogradImages images(int height, int width, int channels, int border)
{
    ImageShape shape = {height, width, channels, border};
    return (WinogradImages){shape, image_size(shape), IMAGES};
}

// Puts dense images into their borders.
static void fill_images(double *to, WinogradImages s, const double *dense)
{
    for (int i = 0; i < IMAGES; i++) {
        image_clear_border(to + (size_t)i * s.step, s.shape);
        image_put(to + (size_t)i * s.step, s.shape,
                  dense + (size_t)(i * s.shape.height * s.shape.width * s.shape.channels));
    }
}

static void assert_same(size_t count, double tolerance)
{
    for (size_t i = 0; i < count; i++) assert_near(found[i], expected[i], tolerance);
}

static void check_forward(int height, int width)
{
    WinogradImages xs = images(height, width, IN, 1), ys = images(height, width, OUT, 0);
    fill_images(bordered, xs, x);
    conv2d_pack(packed, w, conv);
    for (int i = 0; i < IMAGES; i++)
        conv2d_rows(expected + (size_t)i * ys.step, ys.shape, bordered + (size_t)i * xs.step,
                    xs.shape, packed, conv, 0, height);
    winograd_image_pack(packed, w, IN, OUT);
    winograd_image_conv(found, ys, scratch, bordered, xs, packed, false, NULL);
    assert_same(IMAGES * ys.step, 1e-12);
    for (size_t i = 0; i < IMAGES * ys.step; i++) expected[i] += found[i];
    winograd_image_conv(found, ys, scratch, bordered, xs, packed, true, NULL);
    assert_same(IMAGES * ys.step, 1e-12);
}

static void a_convolution_is_the_direct_one(void **state)
{
    (void)state;
    for (int height = 1; height <= LONGEST; height++)
        for (int width = 1; width <= LONGEST; width++) check_forward(height, width);
}

static void the_border_is_left_alone(void **state)
{
    (void)state;
    WinogradImages xs = images(6, 5, IN, 1), ys = images(6, 5, OUT, 1);
    fill_images(bordered, xs, x);
    winograd_image_pack(packed, w, IN, OUT);
    for (size_t i = 0; i < MAX; i++) expected[i] = found[i] = 7.0;
    winograd_image_conv(found, ys, scratch, bordered, xs, packed, false, NULL);
    for (int i = 0; i < IMAGES; i++)
        for (int v = 0; v < 6; v++)
            memcpy(expected + (size_t)i * ys.step + image_at(ys.shape, v, 0),
                   found + (size_t)i * ys.step + image_at(ys.shape, v, 0),
                   sizeof(double) * 5 * OUT);
    assert_memory_equal(found, expected, sizeof found);
}

static void check_gradients(int height, int width)
{
    WinogradImages xs = images(height, width, IN, 1), ys = images(height, width, OUT, 1);
    WinogradImages dxs = images(height, width, IN, 0);
    fill_images(bordered, xs, x);
    fill_images(bordered_dy, ys, dy);
    conv2d_pack_backward(packed, w, conv);
    for (int i = 0; i < IMAGES; i++)
        conv2d_backward_input(expected + (size_t)i * dxs.step, dxs.shape,
                              bordered_dy + (size_t)i * ys.step, ys.shape, packed, conv, false);
    winograd_image_pack_backward(packed, w, IN, OUT);
    winograd_image_conv(found, dxs, scratch, bordered_dy, ys, packed, false, NULL);
    assert_same(IMAGES * dxs.step, 1e-11);
    for (int i = 0; i < IMAGES; i++)
        conv2d_backward_weight(expected, bordered + (size_t)i * xs.step, xs.shape,
                               bordered_dy + (size_t)i * ys.step, ys.shape, conv, i > 0);
    winograd_image_backward_weight(found, scratch, bordered, xs, bordered_dy, ys, false);
    assert_same(9 * IN * OUT, 1e-10);
    for (int i = 0; i < 9 * IN * OUT; i++) expected[i] += found[i];
    winograd_image_backward_weight(found, scratch, bordered, xs, bordered_dy, ys, true);
    assert_same(9 * IN * OUT, 1e-10);
}

static void gradients_are_the_direct_ones(void **state)
{
    (void)state;
    for (int height = 1; height <= LONGEST; height++)
        for (int width = 1; width <= LONGEST; width++) check_gradients(height, width);
}

// Images with room between them, and the numbers there.
static WinogradImages apart(double *to, WinogradImages s, const double *dense)
{
    enum { GAP = 2 * (LONGEST + 2) * OUT };
    s.step += GAP;
    assert_true(IMAGES * s.step + GAP <= MAX);
    for (size_t i = 0; i < MAX; i++) to[i] = (double)NAN;
    fill_images(to, s, dense);
    return s;
}

static void assert_finite(size_t count)
{
    for (size_t i = 0; i < count; i++) assert_true(isfinite(found[i]));
}

// A tile that reaches past the border takes nothing from there: what is not a number would show.
static void what_lies_outside_is_not_read(void **state)
{
    (void)state;
    for (int height = 1; height <= LONGEST; height++)
        for (int width = 1; width <= LONGEST; width++) {
            WinogradImages dxs = images(height, width, IN, 0);
            WinogradImages result = images(height, width, OUT, 0);
            WinogradImages xs = apart(bordered, images(height, width, IN, 1), x);
            WinogradImages ys = apart(bordered_dy, images(height, width, OUT, 1), dy);
            winograd_image_pack(packed, w, IN, OUT);
            winograd_image_conv(found, result, scratch, bordered, xs, packed, false, NULL);
            assert_finite(IMAGES * result.step);
            winograd_image_pack_backward(packed, w, IN, OUT);
            winograd_image_conv(found, dxs, scratch, bordered_dy, ys, packed, false, NULL);
            assert_finite(IMAGES * dxs.step);
            winograd_image_backward_weight(found, scratch, bordered, xs, bordered_dy, ys, false);
            assert_finite(9 * IN * OUT);
        }
}

// Images alone or in company, on one thread or several: the same bits.
static void sharing_out_changes_no_bit(void **state)
{
    (void)state;
    FacetPool *pool;
    WinogradImages xs = images(9, 7, IN, 1), ys = images(9, 7, OUT, 0);
    WinogradImages one = xs, result = ys;
    assert_ok(facet_pool_create(&pool, 3));
    fill_images(bordered, xs, x);
    winograd_image_pack(packed, w, IN, OUT);
    winograd_image_conv(expected, ys, scratch, bordered, xs, packed, false, NULL);
    winograd_image_conv(found, ys, scratch, bordered, xs, packed, false, pool);
    assert_memory_equal(found, expected, sizeof(double) * IMAGES * ys.step);
    one.count = result.count = 1;
    winograd_image_conv(found, result, scratch, bordered + xs.step, one, packed, false, NULL);
    assert_memory_equal(found, expected + ys.step, sizeof(double) * ys.step);
    facet_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_convolution_is_the_direct_one, reset),
        cmocka_unit_test_setup(the_border_is_left_alone, reset),
        cmocka_unit_test_setup(gradients_are_the_direct_ones, reset),
        cmocka_unit_test_setup(what_lies_outside_is_not_read, reset),
        cmocka_unit_test_setup(sharing_out_changes_no_bit, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
