// The whole score network against PyTorch: output, gradient of x and every parameter's gradient
// (reference.txt, made by reference.py). test_reference_f64.c is this file in double.
#include "diffusion/score_pass.h"
#include "nn/layers.h"
#include "reference.h"

#include <stdlib.h>

enum { T = 5, D = 2, ROWS = 3, SIZE = T * D };

static void test_network(void **state)
{
    (void)state;
    const ScoreNetConfig config = {.horizon = T,
                                   .dim = D,
                                   .blocks = 2,
                                   .channels = 6,
                                   .cond = 5,
                                   .time_width = 4,
                                   .embed = 3,
                                   .factors = 2,
                                   .values = {3, 2}};
    const Real t[ROWS] = {0, 17, 93};
    const int z[ROWS * 2] = {0, 1, 2, EMBEDDING_NULL, EMBEDDING_NULL, 0};
    Real x[ROWS * SIZE], dout[ROWS * SIZE], out[ROWS * SIZE], dx[ROWS * SIZE];
    ScoreNet *net;
    ScoreWork *work;
    ThreadPool *pool;
    assert_ok(score_net_create(&net, config));
    assert_ok(score_work_create_train(&work, net, ROWS, 1));
    assert_ok(pool_create(&pool, 1));
    Real *params = calloc(net->table.size, sizeof *params);
    Real *grads = calloc(net->table.size, sizeof *grads);
    assert_true(params && grads);
    for (int i = 0; i < net->table.count; i++)
        wave(params + net->table.tensors[i].offset, net->table.tensors[i].size, 0.5, 1.3, 0.7 * i);
    wave(x, ROWS * SIZE, 1.0, 0.9, 0.2);
    wave(dout, ROWS * SIZE, 1.0, 1.7, 0.4);
    score_load(work, params, pool);
    score_forward(out, work, x, t, z, NULL, ROWS, pool);
    score_backward(grads, dx, NULL, work, dout, pool);
    same(out, "out", ROWS * SIZE);
    same(dx, "dx", ROWS * SIZE);
    for (int i = 0; i < net->table.count; i++)
        same(grads + net->table.tensors[i].offset, net->table.tensors[i].name,
             net->table.tensors[i].size);
    free(params);
    free(grads);
    pool_destroy(pool);
    score_work_free(work);
    score_net_free(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_network)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
