// Layers, Mish and AdamW against numbers from PyTorch (reference.txt, made by reference.py). The
// file is compiled in both precisions: test_reference_f64.c is this one in double.
#include "nn/layers.h"
#include "nn/reference_layers.h"
#include "testing.h"
#include "train/layers_backward.h"
#include "train/optim.h"

#include <stdlib.h>

enum { B = 2, T = 5, I = 3, O = 4, G = 2, MAX = 64 };

#ifdef FACET_REAL_DOUBLE
#define TOLERANCE 1e-8
#else
#define TOLERANCE 2e-5
#endif

// The numbers of one entry of reference.txt.
static const Real *reference(const char *entry)
{
    static Real store[64][MAX];
    static int used;
    FILE *file = fopen(TEST_DATA "/reference.txt", "r");
    assert_non_null(file);
    Real *out = NULL;
    char name[64];
    int count;
    while (!out && fscanf(file, "%63s %d", name, &count) == 2) {
        bool found = strcmp(name, entry) == 0;
        if (found) out = store[used++ % 64];
        for (int i = 0; i < count; i++) {
            double value;
            assert_int_equal(fscanf(file, "%lf", &value), 1);
            if (found) out[i] = (Real)value;
        }
    }
    fclose(file);
    if (!out) fail_msg("no entry %s in reference.txt", entry);
    return out;
}

static void same(const Real *actual, const char *entry, int size)
{
    const Real *expected = reference(entry);
    for (int i = 0; i < size; i++)
        if (!(fabs((double)actual[i] - (double)expected[i]) <=
              TOLERANCE * (1.0 + fabs((double)expected[i]))))
            fail_msg("%s[%d] = %.9g, PyTorch has %.9g", entry, i, (double)actual[i],
                     (double)expected[i]);
}

static Real x[MAX * 4], y[MAX * 4], dx[MAX * 4], dy[MAX * 4], dw[MAX], db[MAX], hat[MAX], rstd[MAX];

static int reset(void **state)
{
    (void)state;
    memset(dw, 0, sizeof dw);
    memset(db, 0, sizeof db);
    return 0;
}

static void conv1d_is_pytorchs(void **state)
{
    (void)state;
    static Real dense[MAX], scratch[16 * MAX];
    const Real *w = reference("conv.w");
    seq_pack(x, reference("conv.x"), B, T, I);
    seq_pack(dy, reference("conv.dy"), B, T, O);
    conv1d_forward(y, x, w, reference("conv.b"), B, T, I, O);
    seq_unpack(dense, y, B, T, O);
    same(dense, "conv.y", B * T * O);
    conv1d_backward_input(dx, dy, w, B, T, I, O);
    seq_unpack(dense, dx, B, T, I);
    same(dense, "conv.dx", B * T * I);
    assert_true(conv1d_scratch((int)seq_rows(B, T), I, O) <= 16 * MAX);
    conv1d_backward_weight(dw, scratch, x, dy, (int)seq_rows(B, T), I, O);
    same(dw, "conv.dw", 3 * I * O);
    column_sums(db, reference("conv.dy"), B * T, O);
    same(db, "conv.db", O);
}

static void norm_is_pytorchs(void **state)
{
    (void)state;
    const Real *gamma = reference("norm.g");
    norm_forward(y, hat, rstd, reference("norm.x"), gamma, reference("norm.b"), T, O);
    same(y, "norm.y", T * O);
    norm_backward(dx, dw, db, reference("norm.dy"), hat, rstd, gamma, T, O);
    same(dx, "norm.dx", T * O);
    same(dw, "norm.dg", O);
    same(db, "norm.db", O);
}

static void group_norm(void **state)
{
    (void)state;
    const Real *gamma = reference("group.g");
    group_norm_forward(y, hat, rstd, reference("group.x"), gamma, reference("group.b"), B, T, O, G);
    same(y, "group.y", B * T * O);
    group_norm_backward(dx, dw, db, reference("group.dy"), hat, rstd, gamma, B, T, O, G);
    same(dx, "group.dx", B * T * O);
    same(dw, "group.dg", O);
    same(db, "group.db", O);
}

static void mish_is_pytorchs(void **state)
{
    (void)state;
    Real ones[12];
    for (int i = 0; i < 12; i++) ones[i] = 1;
    mish_forward(y, reference("mish.x"), 12);
    same(y, "mish.y", 12);
    mish_backward(dx, ones, reference("mish.x"), 12);
    same(dx, "mish.dx", 12);
}

static void linear_is_pytorchs(void **state)
{
    (void)state;
    const Real *w = reference("linear.w");
    linear_forward(y, reference("linear.x"), w, reference("linear.b"), T, I, O);
    same(y, "linear.y", T * O);
    linear_backward_input(dx, reference("linear.dy"), w, T, I, O);
    same(dx, "linear.dx", T * I);
    linear_backward_weight(dw, O, reference("linear.x"), I, reference("linear.dy"), O, T, I, O);
    same(dw, "linear.dw", I * O);
}

static void adamw_is_pytorchs(void **state)
{
    (void)state;
    TensorTable table = {0};
    assert_ok(tensor_add(&table, "w", 2, (int[]){2, 3}, INIT_CONSTANT, 0.0, true));
    assert_ok(tensor_add(&table, "b", 1, (int[]){3}, INIT_CONSTANT, 0.0, false));
    Real params[2 * TENSOR_ALIGN] = {0}, grads[2 * TENSOR_ALIGN] = {0};
    memcpy(params, reference("adamw.w"), 6 * sizeof *params);
    memcpy(params + TENSOR_ALIGN, reference("adamw.b"), 3 * sizeof *params);
    OptimizerConfig config = optimizer_default();
    config.weight_decay = 0.1;
    config.clip_norm = 2.0;
    Optimizer *optimizer;
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 1));
    assert_ok(optimizer_create(&optimizer, &table, config, params));
    Real average = params[0];
    for (int step = 0; step < 3; step++) {
        char name[32];
        snprintf(name, sizeof name, "adamw.dw%d", step);
        memcpy(grads, reference(name), 6 * sizeof *grads);
        snprintf(name, sizeof name, "adamw.db%d", step);
        memcpy(grads + TENSOR_ALIGN, reference(name), 3 * sizeof *grads);
        double norm = optimizer_norm(optimizer, grads, pool);
        snprintf(name, sizeof name, "adamw.norm%d", step);
        assert_near(norm, (double)reference(name)[0], 1e-6);
        optimizer_step(optimizer, params, grads, norm, 0.01, pool);
        Real keep = R(1.0 - pow(2.0 + step, -0.75));
        average = keep * average + (R(1) - keep) * params[0];
    }
    same(params, "adamw.w3", 6);
    same(params + TENSOR_ALIGN, "adamw.b3", 3);
    assert_near((double)optimizer->ema[0], (double)average, 1e-6);
    optimizer_free(optimizer);
    facet_pool_destroy(pool);
    tensor_table_free(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(conv1d_is_pytorchs, reset),
        cmocka_unit_test_setup(norm_is_pytorchs, reset),
        cmocka_unit_test_setup(group_norm, reset),
        cmocka_unit_test_setup(mish_is_pytorchs, reset),
        cmocka_unit_test_setup(linear_is_pytorchs, reset),
        cmocka_unit_test(adamw_is_pytorchs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
