// Every layer of the U-Net in double: its derivatives against central differences, and its
// convolutions against plain loops.
#define FACET_REAL_DOUBLE
#include "testing.h"
#include "unet/layers.h"
#include "unet/unet.h"

#include <stdlib.h>

enum { ROOM = 4096 };
static const double STEP = 1e-5, NEAR = 1e-8;

static double input[ROOM], weights[ROOM], output[ROOM], slope[ROOM], scratch[4 * ROOM];
static double bias[64], gamma_[64], beta[64], film[256], xhat[ROOM], rstd[64];
static double dinput[ROOM], dweights[ROOM], dbias[64], dgamma[64], dbeta[64], dfilm[256];

static void fill(double *out, int count, double phase)
{
    for (int i = 0; i < count; i++) out[i] = sin(1.7 * i + phase) + 0.3 * cos(0.6 * i * i + phase);
}

// A layer as it stands: from the inputs above to the output.
typedef struct Layer {
    void (*forward)(UnetConv c);
    UnetConv c;
    int inputs, outputs;
} Layer;

// What the slopes say of the output, as one number.
static double value_of(const Layer *layer)
{
    double sum = 0.0;
    layer->forward(layer->c);
    for (int i = 0; i < layer->outputs; i++) sum += slope[i] * output[i];
    return sum;
}

static void compare(const Layer *layer, double *at, const double *gradient, int count)
{
    for (int i = 0; i < count; i++) {
        double kept = at[i];
        at[i] = kept + STEP;
        double above = value_of(layer);
        at[i] = kept - STEP;
        double below = value_of(layer);
        at[i] = kept;
        assert_near(gradient[i], (above - below) / (2.0 * STEP), NEAR * (1.0 + fabs(gradient[i])));
    }
}

static void begin(const Layer *layer)
{
    fill(input, layer->inputs, 0.2);
    fill(weights, layer->c.kernel * layer->c.in * layer->c.out, 1.1);
    fill(slope, layer->outputs, 2.3);
    fill(bias, layer->c.out, 0.7);
    fill(gamma_, layer->c.out, 0.4);
    fill(beta, layer->c.out, 1.9);
    fill(film, 4 * layer->c.out * layer->c.rows, 2.9);
    memset(dinput, 0, sizeof dinput);
}

// ---- Convolutions -------------------------------------------------------------------------------

static void conv(UnetConv c) { unet_conv_forward(output, scratch, input, weights, bias, c); }
static void up(UnetConv c) { unet_up_forward(output, scratch, input, weights, bias, c); }

static const UnetConv shapes[] = {{3, 6, 2, 5, 3, 1}, {2, 8, 3, 4, 3, 2}, {2, 5, 4, 3, 1, 1}};
static const UnetConv up_shapes[] = {{3, 6, 2, 5, 4, 2}, {2, 2, 3, 3, 4, 2}};

static void convolutions_are_what_plain_loops_give(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        UnetConv c = shapes[n];
        int time = c.time / c.stride, pad = (c.kernel - 1) / 2;
        const Layer layer = {conv, c, c.rows * c.time * c.in, c.rows * time * c.out};
        begin(&layer);
        conv(c);
        for (int i = 0; i < layer.outputs; i++) {
            int o = i % c.out, t = i / c.out % time, r = i / c.out / time;
            double sum = bias[o];
            for (int k = 0; k < c.kernel; k++)
                for (int j = 0, s = c.stride * t + k - pad; j < c.in && s >= 0 && s < c.time; j++)
                    sum += input[(r * c.time + s) * c.in + j] * weights[(k * c.in + j) * c.out + o];
            assert_near(output[i], sum, 1e-12);
        }
    }
}

static void transposed_convolutions_are_what_plain_loops_give(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof up_shapes / sizeof *up_shapes; n++) {
        UnetConv c = up_shapes[n];
        int time = c.time / c.stride;
        const Layer layer = {up, c, c.rows * time * c.in, c.rows * c.time * c.out};
        begin(&layer);
        up(c);
        for (int i = 0; i < layer.outputs; i++) {
            int o = i % c.out, s = i / c.out % c.time, r = i / c.out / c.time;
            double sum = bias[o];
            for (int t = 0; t < time; t++)
                for (int k = 0; k < c.kernel; k++)
                    for (int j = 0; j < c.in && 2 * t + k - 1 == s; j++)
                        sum += input[(r * time + t) * c.in + j] *
                               weights[(j * c.kernel + k) * c.out + o];
            assert_near(output[i], sum, 1e-12);
        }
    }
}

static void convolutions_have_their_derivatives(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        UnetConv c = shapes[n];
        const Layer layer = {conv, c, c.rows * c.time * c.in, c.rows * (c.time / c.stride) * c.out};
        begin(&layer);
        unet_conv_backward(dinput, dweights, dbias, scratch, slope, input, weights, c);
        compare(&layer, input, dinput, layer.inputs);
        compare(&layer, weights, dweights, c.kernel * c.in * c.out);
        compare(&layer, bias, dbias, c.out);
    }
    for (size_t n = 0; n < sizeof up_shapes / sizeof *up_shapes; n++) {
        UnetConv c = up_shapes[n];
        const Layer layer = {up, c, c.rows * (c.time / c.stride) * c.in, c.rows * c.time * c.out};
        begin(&layer);
        unet_up_backward(dinput, dweights, dbias, scratch, slope, input, weights, c);
        compare(&layer, input, dinput, layer.inputs);
        compare(&layer, weights, dweights, c.kernel * c.in * c.out);
        compare(&layer, bias, dbias, c.out);
    }
}

// ---- The norm -----------------------------------------------------------------------------------

static void norm(UnetConv c) { unet_norm_forward(output, rstd, input, c.rows, c.time, c.out); }

static void groups_have_mean_zero_and_variance_one(void **state)
{
    (void)state;
    UnetConv c = {2, 5, 16, 16, 1, 1};
    const Layer layer = {norm, c, c.rows * c.time * c.out, c.rows * c.time * c.out};
    begin(&layer);
    norm(c);
    for (int r = 0; r < c.rows; r++)
        for (int g = 0; g < UNET_GROUPS; g++) {
            double sum = 0.0, squares = 0.0;
            for (int t = 0; t < c.time; t++)
                for (int i = 0; i < 2; i++) {
                    double y = output[(r * c.time + t) * c.out + 2 * g + i];
                    sum += y;
                    squares += y * y;
                }
            assert_near(sum, 0.0, 1e-12);
            assert_near(squares / (2 * c.time), 1.0, 1e-3);
        }
}

static void the_norm_has_its_derivative(void **state)
{
    (void)state;
    UnetConv c = {2, 5, 16, 16, 1, 1};
    const Layer layer = {norm, c, c.rows * c.time * c.out, c.rows * c.time * c.out};
    begin(&layer);
    norm(c);
    memcpy(xhat, output, sizeof xhat);
    unet_norm_backward(dinput, slope, xhat, rstd, c.rows, c.time, c.out);
    compare(&layer, input, dinput, layer.inputs);
}

// ---- A unit -------------------------------------------------------------------------------------

static UnetUnitParams params(void) { return (UnetUnitParams){weights, bias, gamma_, beta}; }

static void unit(UnetConv c)
{
    unet_unit_forward(output, xhat, rstd, scratch, input, params(), (UnetFilm){0}, c);
}

static UnetFilm film_of(UnetConv c) { return (UnetFilm){film, dfilm, 3 * c.out}; }

static void unit_with_film(UnetConv c)
{
    unet_unit_forward(output, xhat, rstd, scratch, input, params(), film_of(c), c);
}

static void units_have_their_derivatives(void **state)
{
    (void)state;
    UnetConv c = {2, 4, 3, 16, 3, 1};
    for (int with = 0; with < 2; with++) {
        const Layer layer = {with ? unit_with_film : unit, c, c.rows * c.time * c.in,
                             c.rows * c.time * c.out};
        begin(&layer);
        layer.forward(c);
        unet_unit_backward(dinput, (UnetUnitGrads){dweights, dbias, dgamma, dbeta}, scratch, slope,
                           input, xhat, rstd, params(), with ? film_of(c) : (UnetFilm){0}, c);
        compare(&layer, input, dinput, layer.inputs);
        compare(&layer, weights, dweights, c.kernel * c.in * c.out);
        compare(&layer, bias, dbias, c.out);
        compare(&layer, gamma_, dgamma, c.out);
        compare(&layer, beta, dbeta, c.out);
        for (int r = 0; with && r < c.rows; r++)
            compare(&layer, film + 3 * c.out * r, dfilm + 3 * c.out * r, 2 * c.out);
    }
}

// What a step gave may be used twice.
static void gradients_of_inputs_are_added(void **state)
{
    (void)state;
    UnetConv c = shapes[0], larger = up_shapes[0];
    const Layer layer = {conv, c, c.rows * c.time * c.in, c.rows * c.time * c.out};
    begin(&layer);
    unet_conv_backward(dinput, dweights, dbias, scratch, slope, input, weights, c);
    double once = dinput[3];
    unet_conv_backward(dinput, dweights, dbias, scratch, slope, input, weights, c);
    assert_near(dinput[3], 2.0 * once, 1e-12);
    memset(dinput, 0, sizeof dinput);
    unet_up_backward(dinput, dweights, dbias, scratch, slope, input, weights, larger);
    once = dinput[3];
    unet_up_backward(dinput, dweights, dbias, scratch, slope, input, weights, larger);
    assert_near(dinput[3], 2.0 * once, 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions_are_what_plain_loops_give),
        cmocka_unit_test(transposed_convolutions_are_what_plain_loops_give),
        cmocka_unit_test(convolutions_have_their_derivatives),
        cmocka_unit_test(groups_have_mean_zero_and_variance_one),
        cmocka_unit_test(the_norm_has_its_derivative),
        cmocka_unit_test(units_have_their_derivatives),
        cmocka_unit_test(gradients_of_inputs_are_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
