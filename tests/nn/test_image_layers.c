// Every image layer's backward pass and tangent against central differences in double; products
// over windows against plain loops; the fused norm against the layers one by one.
#define FACET_REAL_DOUBLE
#include "nn/derivative.h"
#include "nn/image_epilogue.h"
#include "nn/image_layers.h"
#include "nn/layers.h"
#include "nn/reference_image_layers.h"
#include "nn/reference_layers.h"
#include "train/image_epilogue_backward.h"
#include "train/image_layers_backward.h"

enum { DIRS = 2, MAX = 4096, G = 2 };

static double x[MAX], y[MAX], w[MAX], bias[MAX], dx[MAX], dy[MAX], dw[MAX], packed[MAX];
static double tx[MAX], ty[MAX], bordered[MAX], dbordered[MAX], p[MAX];

static int reset(void **state)
{
    (void)state;
    double *inputs[] = {x, w, bias, dy, tx};
    for (int i = 0; i < 5; i++) fill_normal(inputs[i], MAX, (uint64_t)i);
    double *zeroed[] = {y, dx, dw, packed, ty, bordered, dbordered, p};
    for (int i = 0; i < 8; i++) memset(zeroed[i], 0, sizeof x);
    return 0;
}

// ---- Convolution --------------------------------------------------------------------------------

typedef struct ConvCase {
    Conv2d conv;
    ImageShape in, out; // dense
} ConvCase;

static void conv(void *context)
{
    const ConvCase *c = context;
    ImageShape in = image_bordered(c->in, c->conv.kernel / 2);
    assert_true(conv2d_packed_size(c->conv, false) <= MAX);
    assert_true(image_size(in) <= MAX);
    image_put(bordered, in, x);
    conv2d_pack(packed, w, c->conv);
    conv2d_forward(y, c->out, bordered, in, packed, bias, c->conv);
}

static double conv_loss(void *context)
{
    const ConvCase *c = context;
    conv(context);
    return dot(dy, y, image_size(c->out));
}

// The equation of the header, term by term.
static double conv_by_hand(const ConvCase *c, int v, int u, int o)
{
    int k = c->conv.kernel, s = c->conv.stride, half = k / 2;
    double sum = bias[o];
    for (int ky = 0; ky < k; ky++)
        for (int kx = 0; kx < k; kx++)
            for (int i = 0; i < c->conv.in; i++) {
                int row = v * s + ky - half, column = u * s + kx - half;
                if (row < 0 || row >= c->in.height || column < 0 || column >= c->in.width) continue;
                sum += x[image_at(c->in, row, column) + i] *
                       w[((ky * k + kx) * c->conv.in + i) * c->conv.out + o];
            }
    return sum;
}

static void conv_case(int kernel, int stride, int height, int width, int in, int out)
{
    reset(NULL);
    ConvCase c = {.conv = {kernel, stride, in, out}, .in = {height, width, in, 0}};
    c.out = conv2d_shape(c.in, c.conv);
    ImageShape above = image_bordered(c.out, kernel / 2), below = image_bordered(c.in, kernel / 2);
    size_t inputs = image_size(c.in), outputs = image_size(c.out);
    conv(&c);
    for (int v = 0; v < c.out.height; v++)
        for (int u = 0; u < c.out.width; u++)
            for (int o = 0; o < out; o++)
                assert_near(y[image_at(c.out, v, u) + o], conv_by_hand(&c, v, u, o), 1e-12);
    image_put(dbordered, above, dy);
    size_t weights = (size_t)(kernel * kernel * in * out);
    memcpy(dw, tx, sizeof dw); // overwritten
    conv2d_backward_weight(dw, bordered, below, dbordered, above, c.conv, false);
    memcpy(ty, tx, sizeof ty); // added to
    conv2d_backward_weight(ty, bordered, below, dbordered, above, c.conv, true);
    for (size_t i = 0; i < weights; i++) assert_near(ty[i] - tx[i], dw[i], 1e-12);
    assert_true(conv2d_packed_size(c.conv, true) <= MAX);
    assert_true(image_size(above) <= MAX);
    conv2d_pack_backward(packed, w, c.conv);
    memcpy(dx, tx, sizeof dx); // overwritten
    conv2d_backward_input(dx, c.in, dbordered, above, packed, c.conv, false);
    memcpy(ty, tx, sizeof ty); // added to
    conv2d_backward_input(ty, c.in, dbordered, above, packed, c.conv, true);
    for (size_t i = 0; i < inputs; i++) assert_near(ty[i] - tx[i], dx[i], 1e-12);
    check_gradient("dx", x, dx, inputs, 1 + inputs / 60, conv_loss, &c);
    check_gradient("dw", w, dw, weights, 7, conv_loss, &c);
    static double directions[2 * MAX], tangents[2 * MAX];
    memset(directions, 0, sizeof directions);
    for (int d = 0; d < DIRS; d++)
        image_put(directions + (size_t)d * image_size(below), below, tx + d);
    conv2d_pack(packed, w, c.conv);
    conv2d_tangent(tangents, c.out, directions, below, packed, c.conv, DIRS);
    for (int d = 0; d < DIRS; d++)
        check_tangent("ty", x, tx + d, inputs, y, tangents + (size_t)d * outputs, outputs, conv,
                      &c);
}

static void conv2d_matches(void **state)
{
    (void)state;
    const int kernels[] = {1, 3, 4, 5, 7}, strides[] = {1, 2, 4};
    for (int k = 0; k < 5; k++)
        for (int s = 0; s < 3; s++) conv_case(kernels[k], strides[s], 9, 7, 3, 5);
    conv_case(3, 2, 8, 10, 4, 16); // whole panels, even sides
    conv_case(3, 1, 6, 5, 8, 11);
    conv_case(1, 2, 8, 6, 17, 16);
    conv_case(3, 4, 8, 8, 2, 8);
}

// ---- Pools --------------------------------------------------------------------------------------

static const ImageShape plane = {7, 6, 5, 0}, framed = {7, 6, 5, 1};
static uint8_t chosen[MAX];

static void max_pool(void *context)
{
    (void)context;
    image_put(bordered, framed, x);
    ImageShape out = max_pool_shape(plane);
    max_pool_rows(y, out, chosen, bordered, framed, 0, 2);
    max_pool_rows(y, out, chosen, bordered, framed, 2, out.height);
}

static double max_pool_loss(void *context)
{
    max_pool(context);
    return dot(dy, y, image_size(max_pool_shape(plane)));
}

static void max_pool_matches(void **state)
{
    (void)state;
    for (size_t i = 0; i < image_size(plane); i++) x[i] -= 3.0; // zeros outside do not count
    max_pool(NULL);
    ImageShape out = max_pool_shape(plane);
    assert_int_equal(out.height, 4);
    assert_int_equal(out.width, 3);
    max_pool_backward(dx, plane, dy, out, chosen);
    max_pool_tangent(ty, out, tx, plane, chosen, DIRS);
    check_gradient("dx", x, dx, image_size(plane), 1, max_pool_loss, NULL);
    for (int d = 0; d < DIRS; d++)
        check_tangent("ty", x, tx + (size_t)d * image_size(plane), image_size(plane), y,
                      ty + (size_t)d * image_size(out), image_size(out), max_pool, NULL);
}

static void mean_pool(void *context)
{
    (void)context;
    mean_pool_forward(y, x, plane);
}

static double mean_pool_loss(void *context)
{
    mean_pool(context);
    return dot(dy, y, (size_t)plane.channels);
}

static void mean_pool_matches(void **state)
{
    (void)state;
    mean_pool_backward(dx, plane, dy);
    mean_pool_tangent(ty, tx, plane, DIRS);
    check_gradient("dx", x, dx, image_size(plane), 1, mean_pool_loss, NULL);
    for (int d = 0; d < DIRS; d++)
        check_tangent("ty", x, tx + (size_t)d * image_size(plane), image_size(plane), y,
                      ty + d * plane.channels, (size_t)plane.channels, mean_pool, NULL);
}

static void keypoints(void *context)
{
    (void)context;
    image_put(bordered, framed, x);
    keypoints_forward(y, p, bordered, framed);
}

static double keypoints_loss(void *context)
{
    keypoints(context);
    return dot(dy, y, 2 * (size_t)plane.channels);
}

static void keypoints_match(void **state)
{
    (void)state;
    keypoints(NULL);
    keypoints_backward(dx, plane, dy, p, y);
    keypoints_tangent(ty, tx, plane, p, y, DIRS);
    check_gradient("dx", x, dx, image_size(plane), 1, keypoints_loss, NULL);
    for (int d = 0; d < DIRS; d++)
        check_tangent("ty", x, tx + (size_t)d * image_size(plane), image_size(plane), y,
                      ty + 2 * d * plane.channels, 2 * (size_t)plane.channels, keypoints, NULL);
    // A channel with one bright pixel points at it: column 5 of 6 and row 3 of 7.
    for (size_t i = 0; i < image_size(plane); i++) x[i] = 0.0;
    x[image_at(plane, 3, 5) + 2] = 60.0;
    keypoints(NULL);
    assert_near(y[2], 1.0, 1e-12);
    assert_near(y[plane.channels + 2], 0.0, 1e-12);
}

static void relu(void *context)
{
    (void)context;
    relu_forward(y, x, 40);
}

static double relu_loss(void *context)
{
    relu(context);
    return dot(dy, y, 40);
}

static void relu_matches(void **state)
{
    (void)state;
    relu_backward(dx, dy, x, 40);
    relu_tangent(ty, tx, x, DIRS, 40);
    check_gradient("dx", x, dx, 40, 1, relu_loss, NULL);
    for (int d = 0; d < DIRS; d++)
        check_tangent("ty", x, tx + 40 * d, 40, y, ty + 40 * d, 40, relu, NULL);
}

// ---- The fused norm equals the layers one by one ------------------------------------------------

enum { H = 5, W = 4, C = 6, SIZE = H * W * C };
static const ImageShape dense = {H, W, C, 0}, with_border = {H, W, C, 1};

// The norm's scale and shift of u over strips that end after these rows.
static void fused_norm(double *scale, double *shift, double *mean, double *rstd, const double *u,
                       const double *gamma, const double *beta)
{
    const int ends[] = {2, 3, H};
    double moments[2 * G], strip[2 * G];
    moments_strip(moments, u, ends[0] * W, C, G);
    for (int i = 1; i < 3; i++) {
        moments_strip(strip, u + ends[i - 1] * W * C, (ends[i] - ends[i - 1]) * W, C, G);
        moments_merge(moments, strip, ends[i - 1] * W * C / G, (ends[i] - ends[i - 1]) * W * C / G,
                      G);
    }
    norm_affine(scale, shift, mean, rstd, moments, SIZE / G, gamma, beta, C, G);
}

static void epilogue_case(bool identity, bool conv_skip)
{
    double scale[C], shift[C], mean[C], rstd[C], scale2[C], shift2[C], sums[2 * C];
    double hat[SIZE], r[G], pre[SIZE], skip[SIZE], h[SIZE], g[SIZE], expected[SIZE];
    double dgamma[C] = {0}, dbeta[C] = {0}, dgamma2[C] = {0}, dbeta2[C] = {0};
    const double *gamma = w, *beta = bias, *u = x, *other = tx;
    double *fused = bordered, *du = dbordered;
    fused_norm(scale, shift, mean, rstd, u, gamma, beta);
    group_norm_forward(pre, hat, r, u, gamma, beta, 1, H * W, C, G);
    AffineSkip add = {0};
    if (identity) add = (AffineSkip){.x = other, .shape = dense};
    if (conv_skip) {
        for (int c = 0; c < C; c++) scale2[c] = w[C + c], shift2[c] = bias[C + c];
        add = (AffineSkip){other, dense, scale2, shift2};
    }
    for (int i = 0; i < SIZE; i++)
        skip[i] = conv_skip ? scale2[i % C] * other[i] + shift2[i % C] : identity ? other[i] : 0.0;
    residual_forward(pre, pre, skip, SIZE);
    relu_forward(h, pre, SIZE);
    affine_relu_rows(fused, with_border, u, scale, shift, add, 0, 2);
    affine_relu_rows(fused, with_border, u, scale, shift, add, 2, H);
    image_take(y, fused, with_border);
    for (int i = 0; i < SIZE; i++) assert_near(y[i], h[i], 1e-12);
    // Backward.
    memcpy(g, dy, sizeof g);
    norm_sums(sums, g, fused, with_border, u, mean);
    norm_input(du, with_border, dgamma, dbeta, g, u, sums, mean, rstd, gamma, G);
    relu_backward(p, dy, pre, SIZE);
    for (int i = 0; i < SIZE; i++) assert_near(g[i], p[i], 0.0); // also the skip's gradient
    group_norm_backward(expected, dgamma2, dbeta2, p, hat, r, gamma, 1, H * W, C, G);
    image_take(y, du, with_border);
    for (int i = 0; i < SIZE; i++) assert_near(y[i], expected[i], 1e-12);
    for (int c = 0; c < C; c++) {
        assert_near(dgamma[c], dgamma2[c], 1e-12);
        assert_near(dbeta[c], dbeta2[c], 1e-12);
    }
    assert_near(du[0], 0.0, 0.0);
}

static void epilogue_matches(void **state)
{
    epilogue_case(false, false);
    reset(state);
    epilogue_case(true, false);
    reset(state);
    epilogue_case(false, true);
}

// A mean far from zero does not eat the variance.
static void moments_far_from_zero(void **state)
{
    (void)state;
    double scale[C], shift[C], mean[C], rstd[C], far[SIZE], near_scale[C];
    for (int c = 0; c < C; c++) w[c] = 1.0;
    fused_norm(near_scale, shift, mean, rstd, x, w, bias);
    for (int i = 0; i < SIZE; i++) far[i] = x[i] + 1e6;
    fused_norm(scale, shift, mean, rstd, far, w, bias);
    for (int c = 0; c < C; c++) assert_near(scale[c], near_scale[c], 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(conv2d_matches, reset),
        cmocka_unit_test_setup(max_pool_matches, reset),
        cmocka_unit_test_setup(mean_pool_matches, reset),
        cmocka_unit_test_setup(keypoints_match, reset),
        cmocka_unit_test_setup(relu_matches, reset),
        cmocka_unit_test_setup(epilogue_matches, reset),
        cmocka_unit_test_setup(moments_far_from_zero, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
