// The whole score network against PyTorch, without and with a context: output, gradients of x and
// of the context, and every parameter's gradient (reference.txt, made by reference.py).
// test_reference_f64.c is this file in double.
#include "diffusion/score_pass.h"
#include "nn/layers.h"
#include "reference.h"
#include "train/score_backward.h"

#include <stdlib.h>

enum { T = 5, D = 2, ROWS = 3, SIZE = T * D, CONTEXT = 4 };

// Compares with the entry of this name among those of the network.
static void same_in(const Real *actual, const char *prefix, const char *entry, size_t size)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s", prefix, entry);
    same(actual, name, size);
}

static void compare(const char *prefix, int width)
{
    const ScoreNetConfig config = {.horizon = T,
                                   .dim = D,
                                   .blocks = 2,
                                   .channels = 6,
                                   .cond = 5,
                                   .time_width = 4,
                                   .embed = 3,
                                   .factors = 2,
                                   .values = {3, 2},
                                   .context = width};
    const Real t[ROWS] = {0, 17, 93};
    const int z[ROWS * 2] = {0, 1, 2, EMBEDDING_NULL, EMBEDDING_NULL, 0};
    Real context[ROWS * CONTEXT], dcontext[ROWS * CONTEXT];
    Real x[ROWS * SIZE], dout[ROWS * SIZE], out[ROWS * SIZE], dx[ROWS * SIZE];
    ScoreNet *net;
    ScoreWork *work;
    FacetPool *pool;
    assert_ok(score_net_create(&net, config));
    assert_ok(score_work_create_train(&work, net, ROWS, 1));
    assert_ok(facet_pool_create(&pool, 1));
    Real *params = calloc(net->table.size, sizeof *params);
    Real *grads = calloc(net->table.size, sizeof *grads);
    assert_true(params);
    assert_true(grads);
    for (int i = 0; i < net->table.count; i++)
        wave(params + net->table.tensors[i].offset, net->table.tensors[i].size, 0.5, 1.3, 0.7 * i);
    wave(x, ROWS * SIZE, 1.0, 0.9, 0.2);
    wave(dout, ROWS * SIZE, 1.0, 1.7, 0.4);
    wave(context, ROWS * CONTEXT, 1.0, 1.1, 0.3);
    score_load(work, params, pool);
    score_forward(out, work, x, t, z, width ? context : NULL, ROWS, pool);
    score_backward(grads, dx, width ? dcontext : NULL, work, dout, pool);
    same_in(out, prefix, "out", ROWS * SIZE);
    same_in(dx, prefix, "dx", ROWS * SIZE);
    if (width) same_in(dcontext, prefix, "dcontext", ROWS * CONTEXT);
    for (int i = 0; i < net->table.count; i++)
        same_in(grads + net->table.tensors[i].offset, prefix, net->table.tensors[i].name,
                net->table.tensors[i].size);
    free(params);
    free(grads);
    facet_pool_destroy(pool);
    score_work_free(work);
    score_net_free(net);
}

static void networks_are_pytorchs(void **state)
{
    (void)state;
    compare("", 0);
}

static void network_with_context(void **state)
{
    (void)state;
    compare("context.", CONTEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(networks_are_pytorchs),
                                       cmocka_unit_test(network_with_context)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
