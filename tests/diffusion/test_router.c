// The router in double: the weights that its formula says, row by row, and sizes that make none.
#define FACET_REAL_DOUBLE
#include "diffusion/router.h"
#include "nn/derivative.h"
#include "nn/layers.h"

enum { ROWS = 3, T = 4, D = 2, K = 2, HIDDEN = 5, TIME = 4, INPUTS = 2 * D + TIME + 3 + 2 };

static const RouterConfig small = {
    .horizon = T, .dim = D, .time_width = TIME, .hidden = HIDDEN, .factors = K, .values = {3, 2}};

typedef struct Fixture {
    Router *router;
    RouterWork *work;
    double params[1000], x[ROWS * T * D], t[ROWS];
    int z[ROWS * K];
} Fixture;

static void setup(Fixture *f)
{
    assert_ok(router_create(&f->router, small));
    assert_true(f->router->table.size <= 1000);
    assert_ok(router_work_create(&f->work, f->router, ROWS));
    fill_normal(f->params, 1000, 1);
    fill_normal(f->x, ROWS * T * D, 2);
    for (int r = 0; r < ROWS; r++) {
        f->t[r] = 7.0 * r;
        f->z[r * K] = r % 3;
        f->z[r * K + 1] = r == 1 ? EMBEDDING_NULL : r % 2;
    }
}

static void teardown(Fixture *f)
{
    router_work_free(f->work);
    router_free(f->router);
}

// The inputs of a row, plainly.
static void inputs_of(double *u, const Fixture *f, int row)
{
    for (int d = 0; d < D; d++) {
        u[d] = u[D + d] = 0.0;
        for (int k = 0; k < T; k++) {
            double value = f->x[(row * T + k) * D + d];
            u[d] += value / T;
            u[D + d] += value * value / T;
        }
    }
    // Frequencies 1 and 1/10000.
    double *time = u + 2 * D, t = f->t[row];
    time[0] = sin(t), time[1] = sin(1e-4 * t), time[2] = cos(t), time[3] = cos(1e-4 * t);
    for (int i = 2 * D + TIME; i < INPUTS; i++) u[i] = 0.0;
    u[2 * D + TIME + f->z[row * K]] = 1.0;
    if (f->z[row * K + 1] >= 0) u[2 * D + TIME + 3 + f->z[row * K + 1]] = 1.0;
}

static void weights_are_what_the_formula_says(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    const Router *router = f.router;
    assert_int_equal(router_inputs(&small), INPUTS);
    router_forward(f.work, f.params, f.x, f.t, f.z, ROWS);
    for (int r = 0; r < ROWS; r++) {
        double u[INPUTS], y[1 + K], sum = 0.0;
        inputs_of(u, &f, r);
        for (int b = 0; b <= K; b++) y[b] = f.params[router->out_bias + (size_t)b];
        for (int h = 0; h < HIDDEN; h++) {
            double a = f.params[router->in_bias + (size_t)h];
            for (int i = 0; i < INPUTS; i++)
                a += u[i] * f.params[router->in_weight + (size_t)(i * HIDDEN + h)];
            a *= tanh(log1p(exp(a)));
            for (int b = 0; b <= K; b++)
                y[b] += a * f.params[router->out_weight + (size_t)(h * (1 + K) + b)];
        }
        for (int b = 0; b <= K; b++) sum += exp(y[b]);
        for (int b = 0; b <= K; b++)
            assert_near(f.work->weights[r * (1 + K) + b], exp(y[b]) / sum, 1e-12);
    }
    teardown(&f);
}

static void rows_do_not_depend_on_their_neighbours(void **state)
{
    (void)state;
    Fixture f;
    double together[ROWS * (1 + K)];
    setup(&f);
    router_forward(f.work, f.params, f.x, f.t, f.z, ROWS);
    memcpy(together, f.work->weights, sizeof together);
    for (int r = 0; r < ROWS; r++) {
        router_forward(f.work, f.params, f.x + r * T * D, f.t + r, f.z + r * K, 1);
        assert_memory_equal(f.work->weights, together + r * (1 + K), (1 + K) * sizeof *together);
    }
    teardown(&f);
}

static void large_outputs_stay_weights(void **state)
{
    (void)state;
    Fixture f;
    setup(&f);
    f.params[f.router->out_bias] = 1e6;
    router_forward(f.work, f.params, f.x, f.t, f.z, 1);
    assert_near(f.work->weights[0], 1.0, 1e-12);
    assert_near(f.work->weights[1], 0.0, 1e-12);
    teardown(&f);
}

static void bad_sizes_are_refused(void **state)
{
    (void)state;
    Router *router;
    RouterConfig config = small;
    config.hidden = 0;
    assert_refused(router_create(&router, config), "router: expected a width from 1 to 4096");
    config = small, config.factors = 0;
    assert_refused(router_create(&router, config), "router: expected factors from 1 to 8, found 0");
    config = small, config.time_width = 5;
    assert_refused(router_create(&router, config), "an even time embedding width, found 5");
    config = small, config.values[1] = 0;
    assert_refused(router_create(&router, config), "values of a factor from 1 to 4096, found 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_what_the_formula_says),
        cmocka_unit_test(rows_do_not_depend_on_their_neighbours),
        cmocka_unit_test(large_outputs_stay_weights),
        cmocka_unit_test(bad_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
