// The tensor table, its initial values, the learning rate, and the accuracy of the fast exponential
// and Mish in float.
#include "nn/layers.h"
#include "testing.h"
#include "train/optim.h"

#include <stdlib.h>

static void table_offsets(void **state)
{
    (void)state;
    TensorTable table = {0};
    assert_ok(tensor_add(&table, "a", 2, (int[]){3, 7}, INIT_UNIFORM, 0.5, true));
    assert_ok(tensor_add(&table, "b", 1, (int[]){4}, INIT_CONSTANT, 1.0, false));
    assert_ok(tensor_add(&table, "c", 3, (int[]){5, 20, 20}, INIT_NORMAL, 2.0, true));
    assert_int_equal(table.parameters, 21 + 4 + 2000);
    assert_int_equal(tensor_find(&table, "b")->offset, 32);
    assert_int_equal(tensor_find(&table, "c")->offset, 48);
    assert_int_equal(table.size, 48 + 2000);
    assert_null(tensor_find(&table, "d"));
    static float params[2048];
    tensor_init(params, &table, 5);
    double largest = 0.0, square = 0.0;
    for (int i = 0; i < 21; i++) largest = fmax(largest, fabs((double)params[i]));
    assert_less(largest, 0.5);
    assert_less(0.2, largest);
    for (int i = 21; i < 32; i++) assert_near((double)params[i], 0.0, 0.0);
    for (int i = 32; i < 36; i++) assert_near((double)params[i], 1.0, 0.0);
    for (int i = 48; i < 2048; i++) square += (double)params[i] * (double)params[i];
    assert_near(sqrt(square / 2000.0), 2.0, 0.15);
    tensor_table_free(&table);
}

static void table_refuses(void **state)
{
    (void)state;
    TensorTable table = {0};
    assert_ok(tensor_add(&table, "a", 1, (int[]){3}, INIT_CONSTANT, 0.0, true));
    assert_refused(tensor_add(&table, "a", 1, (int[]){3}, INIT_CONSTANT, 0.0, true), "twice");
    assert_refused(tensor_add(&table, "b", 1, (int[]){0}, INIT_CONSTANT, 0.0, true), "dimension 0");
    assert_refused(tensor_add(&table, "c", 4, (int[]){1, 1, 1, 1}, INIT_CONSTANT, 0.0, true),
                   "dimensions");
    assert_int_equal(table.count, 1);
    tensor_table_free(&table);
}

static void learning_rate(void **state)
{
    (void)state;
    assert_near(optimizer_rate(2.0, 0.0, 10, 110, 1), 0.2, 1e-12);
    assert_near(optimizer_rate(2.0, 0.0, 10, 110, 10), 2.0, 1e-12);
    assert_near(optimizer_rate(2.0, 0.0, 10, 110, 60), 1.0, 1e-12);
    assert_near(optimizer_rate(2.0, 0.1, 10, 110, 110), 0.2, 1e-12);
    assert_near(optimizer_rate(2.0, 0.1, 10, 110, 500), 0.2, 1e-12);
    assert_near(optimizer_rate(2.0, 0.1, 10, 0, 500), 2.0, 1e-12);
    assert_near(optimizer_ema_decay(0.9999, 1), 1.0 - pow(2.0, -0.75), 1e-15);
    assert_near(optimizer_ema_decay(0.99, 1000000), 0.99, 0.0);
}

// What is frozen keeps its weights, against weight decay too; the rest is trained as without it.
static void frozen_weights_stay(void **state)
{
    (void)state;
    enum { SIZE = 40 };
    TensorTable table = {0};
    const char *const names[] = {"first", "second", "third"};
    for (int i = 0; i < 3; i++)
        assert_ok(tensor_add(&table, names[i], 1, (int[]){SIZE}, INIT_UNIFORM, 1.0, true));
    size_t bytes = table.size * sizeof(float);
    float *params[2], *start = calloc(1, bytes), *grads = calloc(1, bytes);
    assert_true(start);
    assert_true(grads);
    tensor_init(start, &table, 1);
    tensor_init(grads, &table, 2);
    OptimizerConfig config = optimizer_default();
    config.clip_norm = 0.0;
    config.weight_decay = 0.1;
    size_t from = table.tensors[1].offset;
    for (int frozen = 0; frozen < 2; frozen++) {
        Optimizer *optimizer;
        params[frozen] = calloc(1, bytes);
        assert_non_null(params[frozen]);
        memcpy(params[frozen], start, bytes);
        assert_ok(optimizer_create(&optimizer, &table, config, start));
        double all = optimizer_norm(optimizer, grads, NULL);
        if (frozen) optimizer_freeze(optimizer, from);
        double norm = optimizer_norm(optimizer, grads, NULL);
        assert_true(frozen ? norm < all : norm == all);
        for (int i = 0; i < 3; i++)
            optimizer_step(optimizer, params[frozen], grads, norm, 0.1, NULL);
        optimizer_free(optimizer);
    }
    assert_memory_equal(params[1], start, SIZE * sizeof(float));
    assert_true(memcmp(params[0], start, SIZE * sizeof(float)) != 0);
    assert_memory_equal(params[1] + from, params[0] + from, 2 * SIZE * sizeof(float));
    free(params[0]);
    free(params[1]);
    free(start);
    free(grads);
    tensor_table_free(&table);
}

static void exp_accuracy(void **state)
{
    (void)state;
    double worst = 0.0;
    for (double x = -87.0; x < 88.0; x += 0.00173) {
        double expected = exp((double)(float)x);
        worst = fmax(worst, fabs((double)real_exp((float)x) - expected) / expected);
    }
    assert_less(worst, 2e-7);
    assert_near((double)real_exp(0.0f), 1.0, 0.0);
    assert_true(isnan(real_exp(NAN)));
    assert_true(real_exp(-1000.0f) < 1e-37f);
}

static void mish_accuracy(void **state)
{
    (void)state;
    double worst = 0.0, worst_slope = 0.0;
    for (double at = -80.0; at < 80.0; at += 0.00123) {
        float xf = (float)at, yf, value, slope;
        double x = (double)xf, sp = log1p(exp(x)), w = tanh(sp);
        double expected = x * w, dexpected = w + x * (1.0 - w * w) / (1.0 + exp(-x));
        mish_forward(&yf, &xf, 1);
        mish_value_slope(&value, &slope, xf);
        double allowed = x < -40.0 ? 1e-9 : fabs(expected); // 1e-15 below -40, relative above
        worst = fmax(worst, fabs((double)yf - expected) / (1e-30 + allowed));
        worst = fmax(worst, fabs((double)value - expected) / (1e-30 + allowed));
        worst_slope = fmax(worst_slope, fabs((double)slope - dexpected));
    }
    assert_less(worst, 1e-6);
    assert_less(worst_slope, 1e-6);
    float nan_in = NAN, big = 3e38f, small = -3e38f, out;
    mish_forward(&out, &nan_in, 1);
    assert_true(isnan(out));
    mish_forward(&out, &big, 1);
    assert_true(out == big);
    mish_forward(&out, &small, 1);
    assert_true(isfinite(out));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_offsets), cmocka_unit_test(table_refuses),
        cmocka_unit_test(learning_rate), cmocka_unit_test(exp_accuracy),
        cmocka_unit_test(mish_accuracy), cmocka_unit_test(frozen_weights_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
