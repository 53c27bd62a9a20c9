// Image layers against numbers from PyTorch. test_image_reference_f64.c is this file in double.
#include "nn/image_layers.h"
#include "nn/reference_image_layers.h"
#include "reference.h"
#include "train/image_layers_backward.h"

enum { H = 7, W = 6, MAX = 8192 };

static Real x[MAX], dx[MAX], y[MAX], dy[MAX], w[MAX], dw[MAX], bordered[MAX], packed[MAX];

static void entry(char *out, const char *layer, const char *part)
{
    snprintf(out, 64, "%s.%s", layer, part);
}

static void inputs(size_t in, size_t out)
{
    assert_true(in <= MAX);
    assert_true(out <= MAX);
    wave(x, in, 1.0, 0.9, 0.2);
    wave(dy, out, 1.0, 1.7, 0.4);
    memset(bordered, 0, sizeof bordered);
}

static void conv_case(int kernel, int stride)
{
    Conv2d c = {kernel, stride, 2, 3};
    ImageShape in = {H, W, 2, 0}, out = conv2d_shape(in, c);
    ImageShape in_framed = image_bordered(in, kernel / 2), framed = image_bordered(out, kernel / 2);
    size_t weights = (size_t)(kernel * kernel * 6);
    char layer[32], name[64];
    Real bias[3];
    snprintf(layer, sizeof layer, "conv2d.%d.%d", kernel, stride);
    inputs(image_size(in), image_size(out));
    wave(w, weights, 0.5, 1.3, 0.7);
    wave(bias, 3, 0.5, 1.1, 0.3);
    assert_true(conv2d_packed_size(c, false) <= MAX);
    assert_true(conv2d_packed_size(c, true) <= MAX);
    conv2d_pack(packed, w, c);
    image_put(bordered, in_framed, x);
    conv2d_forward(y, out, bordered, in_framed, packed, bias, c);
    entry(name, layer, "y");
    same(y, name, image_size(out));
    static Real gradient[MAX];
    memset(gradient, 0, sizeof gradient);
    image_put(gradient, framed, dy);
    conv2d_backward_weight(dw, bordered, in_framed, gradient, framed, c, false);
    entry(name, layer, "dw");
    same(dw, name, weights);
    conv2d_pack_backward(packed, w, c);
    conv2d_backward_input(dx, in, gradient, framed, packed, c, false);
    entry(name, layer, "dx");
    same(dx, name, image_size(in));
}

static void conv2d_is_pytorchs(void **state)
{
    (void)state;
    conv_case(1, 2);
    conv_case(3, 1);
    conv_case(3, 2);
    conv_case(4, 4);
    conv_case(5, 2);
    conv_case(7, 2);
}

static const ImageShape plane = {H, W, 3, 0};

static void max_pool(void **state)
{
    (void)state;
    uint8_t chosen[MAX];
    ImageShape out = max_pool_shape(plane);
    inputs(image_size(plane), image_size(out));
    max_pool_rows(y, out, chosen, x, plane, 0, out.height);
    max_pool_backward(dx, plane, dy, out, chosen);
    same(y, "max_pool.y", image_size(out));
    same(dx, "max_pool.dx", image_size(plane));
}

static void mean_pool(void **state)
{
    (void)state;
    inputs(image_size(plane), 3);
    memset(dx, 0, sizeof dx);
    mean_pool_forward(y, x, plane);
    mean_pool_backward(dx, plane, dy);
    same(y, "mean_pool.y", 3);
    same(dx, "mean_pool.dx", image_size(plane));
}

static void keypoints_are_pytorchs(void **state)
{
    (void)state;
    static Real p[MAX];
    inputs(image_size(plane), 6);
    keypoints_forward(y, p, x, plane);
    keypoints_backward(dx, plane, dy, p, y);
    same(y, "keypoints.y", 6);
    same(dx, "keypoints.dx", image_size(plane));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conv2d_is_pytorchs),
        cmocka_unit_test(max_pool),
        cmocka_unit_test(mean_pool),
        cmocka_unit_test(keypoints_are_pytorchs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
