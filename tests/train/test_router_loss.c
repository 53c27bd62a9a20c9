// The loss of a router in double: its value, and its gradient against central differences.
#define FACET_REAL_DOUBLE
#include "train/router_backward.h"

#include "nn/derivative.h"

enum { ROWS = 4, T = 3, D = 2, SIZE = T * D, K = 2, BRANCHES = 1 + K };

typedef struct Fixture {
    Router *router;
    RouterWork *work;
    double params[1000], grads[1000];
    double x[ROWS * SIZE], t[ROWS], branches[ROWS * BRANCHES * SIZE], target[ROWS * SIZE];
    int z[ROWS * K];
    RouterBatch batch;
} Fixture;

static void setup(Fixture *f)
{
    const RouterConfig config = {
        .horizon = T, .dim = D, .time_width = 4, .hidden = 6, .factors = K, .values = {3, 2}};
    assert_ok(router_create(&f->router, config));
    assert_true(f->router->table.size <= 1000);
    assert_ok(router_work_create(&f->work, f->router, ROWS));
    fill_normal(f->params, 1000, 1);
    fill_normal(f->x, ROWS * SIZE, 2);
    fill_normal(f->branches, ROWS * BRANCHES * SIZE, 3);
    fill_normal(f->target, ROWS * SIZE, 4);
    for (int r = 0; r < ROWS; r++) f->t[r] = 3.0 * r, f->z[r * K] = r % 3, f->z[r * K + 1] = r % 2;
    f->batch = (RouterBatch){f->x, f->t, f->z, f->branches, f->target};
}

static void teardown(Fixture *f)
{
    router_work_free(f->work);
    router_free(f->router);
}

static double loss(void *context)
{
    Fixture *f = context;
    double unused[1000];
    return router_gradients(unused, f->work, f->params, &f->batch, ROWS);
}

static void the_gradient_is_of_the_loss(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    router_gradients(f.grads, f.work, f.params, &f.batch, ROWS);
    for (int i = 0; i < f.router->table.count; i++) {
        const Tensor *tensor = &f.router->table.tensors[i];
        check_gradient(tensor->name, f.params + tensor->offset, f.grads + tensor->offset,
                       tensor->size, 1, loss, &f);
    }
    teardown(&f);
}

// A router without a preference mixes the branches equally, and its loss is that of the mean.
static void the_loss_is_that_of_the_mixed_branches(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    const Router *router = f.router;
    for (int i = 0; i < 6 * BRANCHES; i++) f.params[router->out_weight + (size_t)i] = 0.0;
    for (int b = 0; b < BRANCHES; b++) f.params[router->out_bias + (size_t)b] = 0.5;
    double expected = 0.0;
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < SIZE; i++) {
            double mean = 0.0;
            for (int b = 0; b < BRANCHES; b++)
                mean += f.branches[(r * BRANCHES + b) * SIZE + i] / BRANCHES;
            expected += pow(mean - f.target[r * SIZE + i], 2.0) / (ROWS * SIZE);
        }
    assert_near(loss(&f), expected, 1e-12);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_of_the_loss),
        cmocka_unit_test(the_loss_is_that_of_the_mixed_branches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
