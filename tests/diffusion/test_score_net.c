// The score network in double: every parameter's gradient, the gradient of x and the tangents
// against central differences, with and without a context, with dilations and without positions;
// what the factors select of the context; the receptive field; the sizes that are refused.
#define FACET_REAL_DOUBLE
#include "certify/score_jacobian.h"
#include "certify/score_tangent.h"
#include "diffusion/score_pass.h"
#include "nn/derivative.h"
#include "nn/layers.h"
#include "train/optim.h"
#include "train/score_backward.h"

#include <stdlib.h>

enum { ROWS = 11, T = 6, D = 3, K = 2, SIZE = T * D, CONTEXT = 4 };

typedef struct Fixture {
    ScoreNet *net;
    ScoreWork *work;
    FacetPool *pool;
    double *params, *grads;
    double x[ROWS * SIZE], t[ROWS], out[ROWS * SIZE], dout[ROWS * SIZE], dx[ROWS * SIZE];
    double context[ROWS * CONTEXT], dcontext[ROWS * CONTEXT];
    int z[ROWS * K];
} Fixture;

static const ScoreNetConfig small = {.horizon = T,
                                     .dim = D,
                                     .blocks = 2,
                                     .channels = 8,
                                     .cond = 5,
                                     .time_width = 4,
                                     .embed = 3,
                                     .factors = K,
                                     .values = {4, 2}};

// The same with blocks that see farther and steps that do not know where they stand.
static const ScoreNetConfig wide = {.horizon = T,
                                    .dim = D,
                                    .blocks = 2,
                                    .channels = 8,
                                    .cond = 5,
                                    .time_width = 4,
                                    .embed = 3,
                                    .factors = K,
                                    .values = {4, 2},
                                    .dilation = {2, 5},
                                    .no_position = true};
static const ScoreNetConfig *const shapes[] = {&small, &wide};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void setup_with(Fixture *f, ScoreNetConfig config, int threads)
{
    assert_ok(score_net_create(&f->net, config));
    assert_ok(score_work_create_train(&f->work, f->net, ROWS, threads));
    assert_ok(facet_pool_create(&f->pool, threads));
    f->params = calloc(f->net->table.size, sizeof *f->params);
    f->grads = calloc(f->net->table.size, sizeof *f->grads);
    assert_true(f->params);
    assert_true(f->grads);
    tensor_init(f->params, &f->net->table, 3);
    // Nothing starts at zero or one, so that every path carries a gradient.
    for (size_t i = 0; i < f->net->table.size; i++) f->params[i] += 0.1 * sin(1.0 + (double)i);
    fill_normal(f->x, ROWS * SIZE, 1);
    fill_normal(f->dout, ROWS * SIZE, 2);
    fill_normal(f->context, ROWS * CONTEXT, 5);
    for (int i = 0; i < ROWS; i++) {
        f->z[2 * i] = i % 5 - 1, f->z[2 * i + 1] = i % 3 - 1; // null tokens among them
        f->t[i] = 3.0 * i + 1.0;
    }
}

static void teardown(Fixture *f)
{
    free(f->params);
    free(f->grads);
    facet_pool_destroy(f->pool);
    score_work_free(f->work);
    score_net_free(f->net);
}

static void forward(void *context)
{
    Fixture *f = context;
    score_load(f->work, f->params, f->pool);
    score_forward(f->out, f->work, f->x, f->t, f->z, f->context, ROWS, f->pool);
}

static double loss(void *context)
{
    Fixture *f = context;
    forward(f);
    return dot(f->dout, f->out, ROWS * SIZE);
}

// Every parameter's gradient, from the last backward pass.
static void check_parameters(Fixture *f)
{
    for (int i = 0; i < f->net->table.count; i++) {
        const Tensor *tensor = &f->net->table.tensors[i];
        size_t stride = tensor->size > 40 ? 7 : 1;
        check_gradient(tensor->name, f->params + tensor->offset, f->grads + tensor->offset,
                       tensor->size, stride, loss, f);
    }
}

static void gradients_are_differences(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) {
        Fixture f;
        setup_with(&f, *shapes[shape], 2);
        forward(&f);
        score_backward(f.grads, f.dx, NULL, f.work, f.dout, f.pool);
        check_gradient("dx", f.x, f.dx, ROWS * SIZE, 1, loss, &f);
        check_parameters(&f);
        teardown(&f);
    }
}

static void gradients_without_factors(void **state)
{
    (void)state;
    Fixture f;
    ScoreNetConfig config = small;
    config.factors = 0;
    setup_with(&f, config, 1);
    forward(&f);
    score_backward(f.grads, NULL, NULL, f.work, f.dout, f.pool);
    const Tensor *tensor = tensor_find(&f.net->table, "cond.0.weight");
    check_gradient(tensor->name, f.params + tensor->offset, f.grads + tensor->offset, tensor->size,
                   1, loss, &f);
    teardown(&f);
}

static void gradients_with_context(void **state)
{
    (void)state;
    Fixture f;
    double first[ROWS * CONTEXT];
    ScoreNetConfig config = small;
    config.context = CONTEXT;
    setup_with(&f, config, 2);
    forward(&f);
    score_backward(f.grads, NULL, f.dcontext, f.work, f.dout, f.pool);
    memcpy(first, f.dcontext, sizeof first);
    assert_non_null(tensor_find(&f.net->table, "select.weight"));
    check_parameters(&f);
    double *grads = malloc(f.net->table.size * sizeof *grads);
    assert_non_null(grads);
    memcpy(grads, f.grads, f.net->table.size * sizeof *grads);
    check_gradient("dcontext", f.context, first, ROWS * CONTEXT, 1, loss, &f);
    // The context's gradient does not need those of the parameters.
    forward(&f);
    score_backward(NULL, f.dx, f.dcontext, f.work, f.dout, f.pool);
    assert_memory_equal(f.dcontext, first, sizeof first);
    check_gradient("dx", f.x, f.dx, ROWS * SIZE, 5, loss, &f);
    // It may take the context's place.
    forward(&f);
    score_backward(f.grads, NULL, f.context, f.work, f.dout, f.pool);
    assert_memory_equal(f.context, first, sizeof first);
    assert_memory_equal(f.grads, grads, f.net->table.size * sizeof *grads);
    free(grads);
    teardown(&f);
}

// Without factors nothing selects.
static void gradients_with_context_alone(void **state)
{
    (void)state;
    Fixture f;
    ScoreNetConfig config = small;
    config.context = CONTEXT;
    config.factors = 0;
    setup_with(&f, config, 1);
    assert_null(tensor_find(&f.net->table, "select.weight"));
    forward(&f);
    score_backward(f.grads, NULL, f.dcontext, f.work, f.dout, f.pool);
    check_parameters(&f);
    check_gradient("dcontext", f.context, f.dcontext, ROWS * CONTEXT, 1, loss, &f);
    teardown(&f);
}

// A new network takes the context as it is. An embedding that the selection turns into -1 hides a
// number of the context, from the rows with that value alone.
static void factors_select_from_the_context(void **state)
{
    (void)state;
    enum { HIDDEN = 2 };
    Fixture f;
    ScoreNetConfig config = small;
    config.context = CONTEXT;
    setup_with(&f, config, 1);
    double *select = f.params + tensor_find(&f.net->table, "select.weight")->offset;
    double *embed = f.params + tensor_find(&f.net->table, "embed.0")->offset;
    double *fresh = calloc(f.net->table.size, sizeof *fresh);
    assert_non_null(fresh);
    tensor_init(fresh, &f.net->table, 3);
    for (int i = 0; i < K * small.embed * CONTEXT; i++)
        assert_true(fresh[select - f.params + i] == 0.0);
    free(fresh);
    memset(select, 0, (size_t)(K * small.embed * CONTEXT) * sizeof *select);
    memset(embed, 0, (size_t)(small.values[0] + 1) * (size_t)small.embed * sizeof *embed);
    embed[1] = 2.0;                  // value 0 of the first factor
    select[CONTEXT + HIDDEN] = -0.5; // 1 - 0.5 * 2 = 0
    double before[ROWS * SIZE];
    forward(&f);
    memcpy(before, f.out, sizeof before);
    for (int r = 0; r < ROWS; r++) f.context[r * CONTEXT + HIDDEN] += 1.0;
    forward(&f);
    for (int r = 0; r < ROWS; r++) {
        bool changed = memcmp(f.out + r * SIZE, before + r * SIZE, SIZE * sizeof *before) != 0;
        assert_int_equal(changed, f.z[r * K] != 0);
    }
    teardown(&f);
}

static void check_tangents(ScoreNetConfig config)
{
    enum { DIRECTIONS = 11 };
    Fixture f;
    setup_with(&f, config, 2);
    static double tx[DIRECTIONS * SIZE], tout[DIRECTIONS * SIZE];
    int row_of[DIRECTIONS];
    fill_normal(tx, DIRECTIONS * SIZE, 9);
    for (int d = 0; d < DIRECTIONS; d++) row_of[d] = (d * 3) % ROWS;
    ScoreTangent *tangent;
    assert_ok(score_tangent_create(&tangent, f.net, ROWS, DIRECTIONS));
    forward(&f);
    score_tangent(tout, tangent, f.work, tx, row_of, DIRECTIONS, f.pool);
    for (int d = 0; d < DIRECTIONS; d++)
        check_tangent("tout", f.x + row_of[d] * SIZE, tx + d * SIZE, SIZE, f.out + row_of[d] * SIZE,
                      tout + d * SIZE, SIZE, forward, &f);
    // A workspace that only evaluates serves tangents as well.
    static double again[DIRECTIONS * SIZE];
    ScoreWork *work;
    assert_ok(score_work_create(&work, f.net, ROWS, 8));
    score_load(work, f.params, f.pool);
    score_forward(again, work, f.x, f.t, f.z, NULL, ROWS, f.pool);
    score_tangent(again, tangent, work, tx, row_of, DIRECTIONS, f.pool);
    assert_memory_equal(again, tout, sizeof tout);
    score_work_free(work);
    // <dout, J tx> = <J^T dout, tx>.
    score_backward(NULL, f.dx, NULL, f.work, f.dout, f.pool);
    for (int d = 0; d < DIRECTIONS; d++)
        assert_near(dot(f.dout + row_of[d] * SIZE, tout + d * SIZE, SIZE),
                    dot(f.dx + row_of[d] * SIZE, tx + d * SIZE, SIZE), 1e-10);
    score_tangent_free(tangent);
    teardown(&f);
}

static void tangents_are_differences(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) check_tangents(*shapes[shape]);
}

// The whole Jacobian against central differences and against tangents along every axis, on a
// sequence that is longer than the network sees, at several threads.
static void check_jacobians(ScoreNetConfig config)
{
    enum { LONG = 17, BIG = LONG * D, AT = 3 };
    static double first[AT * BIG * BIG], again[AT * BIG * BIG], x[AT * BIG];
    static double tx[BIG * BIG], tout[BIG * BIG], above[AT * BIG], below[AT * BIG];
    config.horizon = LONG;
    for (int threads = 1; threads <= 3; threads++) {
        Fixture f;
        ScoreWork *work;
        ScoreJacobian *jacobian;
        ScoreTangent *tangent;
        setup_with(&f, config, threads);
        fill_normal(x, AT * BIG, 6);
        assert_ok(score_work_create(&work, f.net, AT, 8));
        assert_ok(score_jacobian_create(&jacobian, f.net, AT, threads));
        assert_ok(score_tangent_create(&tangent, f.net, AT, BIG));
        score_load(work, f.params, f.pool);
        for (int j = 0; j < BIG && threads == 1; j += 5) {
            for (int side = 0; side < 2; side++) {
                for (int r = 0; r < AT; r++) x[r * BIG + j] += side ? -2e-5 : 1e-5;
                score_forward(side ? below : above, work, x, f.t, f.z, NULL, AT, f.pool);
            }
            for (int r = 0; r < AT; r++) x[r * BIG + j] += 1e-5;
            score_forward(tout, work, x, f.t, f.z, NULL, AT, f.pool);
            assert_ok(score_jacobian(first, jacobian, work, f.pool, NULL));
            for (int r = 0; r < AT; r++)
                for (int i = 0; i < BIG; i++)
                    assert_near(first[((size_t)r * BIG + i) * BIG + j],
                                (above[r * BIG + i] - below[r * BIG + i]) / 2e-5, 1e-7);
        }
        fill_normal(x, AT * BIG, 6); // without what adding and subtracting left
        score_forward(tout, work, x, f.t, f.z, NULL, AT, f.pool);
        assert_ok(score_jacobian(again, jacobian, work, f.pool, NULL));
        if (threads == 1) memcpy(first, again, sizeof first);
        assert_memory_equal(again, first, sizeof first);
        int row_of[BIG];
        memset(tx, 0, sizeof tx);
        for (int d = 0; d < BIG; d++) row_of[d] = 1, tx[d * BIG + d] = 1.0;
        score_tangent(tout, tangent, work, tx, row_of, BIG, f.pool);
        for (int i = 0; i < BIG; i++)
            for (int j = 0; j < BIG; j++)
                assert_near(first[((size_t)BIG + i) * BIG + j], tout[j * BIG + i], 1e-14);
        score_tangent_free(tangent);
        score_jacobian_free(jacobian);
        score_work_free(work);
        teardown(&f);
    }
}

static void jacobians_are_tangents(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) check_jacobians(*shapes[shape]);
}

// Rows do not see each other, nor how they are sharded, not by one bit.
static void rows_are_independent(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * SHAPES; i++) {
        Fixture f;
        ScoreNetConfig config = *shapes[i % SHAPES];
        int context = i < SHAPES ? 0 : CONTEXT;
        config.context = context;
        setup_with(&f, config, 1);
        forward(&f);
        for (int r = 0; r < ROWS; r++) {
            double alone[SIZE];
            score_forward(alone, f.work, f.x + r * SIZE, f.t + r, f.z + r * K,
                          f.context + r * context, 1, f.pool);
            for (int k = 0; k < SIZE; k++) assert_true(alone[k] == f.out[r * SIZE + k]);
        }
        teardown(&f);
    }
}

// A workspace that only evaluates runs stage by stage, and gives the same.
static void evaluation_equals_training_pass(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * SHAPES; i++) {
        int threads = 1 + i / SHAPES;
        Fixture f;
        ScoreWork *work;
        double out[ROWS * SIZE];
        ScoreNetConfig config = *shapes[i % SHAPES];
        config.context = threads > 1 ? CONTEXT : 0;
        setup_with(&f, config, threads);
        forward(&f);
        assert_ok(score_work_create(&work, f.net, ROWS, 8));
        score_load(work, f.params, f.pool);
        for (int rows = ROWS; rows > 0; rows -= 3) { // fewer rows than before leave nothing behind
            score_forward(out, work, f.x, f.t, f.z, f.context, rows, f.pool);
            for (int k = 0; k < rows * SIZE; k++) assert_true(out[k] == f.out[k]);
        }
        score_forward(out, work, f.x, f.t, f.z, f.context, ROWS, f.pool);
        for (int k = 0; k < ROWS * SIZE; k++) assert_true(out[k] == f.out[k]);
        score_work_free(work);
        teardown(&f);
    }
}

static void check_long_plans(ScoreNetConfig config)
{
    enum { LONG = 300, FEW = 9, PLAN = LONG * D };
    config.horizon = LONG;
    ScoreNet *net;
    assert_ok(score_net_create(&net, config));
    double *params = calloc(net->table.size, sizeof *params);
    double *x = calloc((size_t)3 * FEW * PLAN, sizeof *x), *one = x + FEW * PLAN;
    double *many = one + FEW * PLAN, t[FEW];
    int z[FEW * K] = {0};
    assert_non_null(params);
    assert_non_null(x);
    tensor_init(params, &net->table, 3);
    for (int i = 0; i < FEW * PLAN; i++) x[i] = sin(i);
    for (int i = 0; i < FEW; i++) t[i] = 10 * i;
    for (int threads = 1; threads <= 4; threads += 3) {
        FacetPool *pool;
        ScoreWork *work;
        assert_ok(facet_pool_create(&pool, threads));
        assert_ok(score_work_create(&work, net, FEW, threads));
        score_load(work, params, pool);
        score_forward(threads == 1 ? one : many, work, x, t, z, NULL, FEW, pool);
        score_work_free(work);
        facet_pool_destroy(pool);
    }
    assert_memory_equal(one, many, sizeof *one * FEW * PLAN);
    free(x);
    free(params);
    score_net_free(net);
}

// Few rows of many steps have more tiles than the threads' scratch, and go another way.
static void long_plans_need_no_more_scratch_than_there_is(void **state)
{
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++) check_long_plans(*shapes[shape]);
}

// Six convolutions see at most six steps away, and dilated ones farther: a far change leaves the
// output as it is, which a norm over time would not. A tile's rows share their sums, so it does so
// up to rounding.
static void receptive_field_is_local(void **state)
{
    (void)state;
    enum { LONG = 20 };
    static const int reach[SHAPES] = {6, 16};
    for (int shape = 0; shape < SHAPES; shape++) {
        Fixture f;
        ScoreNetConfig config = *shapes[shape];
        int far = reach[shape];
        config.horizon = LONG;
        assert_int_equal(score_reach(&config), far);
        setup_with(&f, config, 1);
        static double x[LONG * D], before[LONG * D], after[LONG * D];
        fill_normal(x, LONG * D, 4);
        score_load(f.work, f.params, f.pool);
        score_forward(before, f.work, x, f.t, f.z, NULL, 1, f.pool);
        x[0] += 1.0;
        score_forward(after, f.work, x, f.t, f.z, NULL, 1, f.pool);
        assert_less(1e-9, fabs(after[far * D] - before[far * D]));
        for (int i = (far + 1) * D; i < LONG * D; i++) assert_near(after[i], before[i], 1e-13);
        teardown(&f);
    }
}

// Without the position embedding a plan that comes a step later is denoised alike, but for what the
// ends reach; with it not.
static void without_positions_steps_are_alike(void **state)
{
    (void)state;
    enum { LONG = 20, REACH = 6 };
    for (int blind = 0; blind < 2; blind++) {
        Fixture f;
        ScoreNetConfig config = small;
        config.horizon = LONG;
        config.no_position = blind;
        setup_with(&f, config, 1);
        static double x[(LONG + 1) * D], early[LONG * D], late[LONG * D];
        double most = 0.0;
        fill_normal(x, (LONG + 1) * D, 4);
        score_load(f.work, f.params, f.pool);
        score_forward(late, f.work, x, f.t, f.z, NULL, 1, f.pool);
        score_forward(early, f.work, x + D, f.t, f.z, NULL, 1, f.pool);
        for (int i = REACH * D; i < (LONG - REACH - 1) * D; i++)
            most = fmax(most, fabs(early[i] - late[i + D]));
        if (blind)
            assert_less(most, 1e-12);
        else
            assert_less(1e-6, most);
        teardown(&f);
    }
}

static void default_size(void **state)
{
    (void)state;
    ScoreNetConfig config = score_net_default();
    config.factors = 2, config.values[0] = 8, config.values[1] = 3;
    ScoreNet *net;
    assert_ok(score_net_create(&net, config));
    assert_near((double)net->table.parameters, 4.34e6, 0.01e6);
    assert_near(score_net_flops(net), 0.2e9, 0.01e9);
    score_net_free(net);
}

static void bad_sizes_are_refused(void **state)
{
    (void)state;
    ScoreNet *net;
    ScoreNetConfig config = small;
    config.values[1] = 0;
    assert_refused(score_net_create(&net, config), "values of a factor");
    config = small, config.time_width = 7;
    assert_refused(score_net_create(&net, config), "even");
    config = small, config.factors = 9;
    assert_refused(score_net_create(&net, config), "factors");
    config = small, config.context = -1;
    assert_refused(score_net_create(&net, config), "a context width");
    config = small, config.dilation[1] = T + 1;
    assert_refused(score_net_create(&net, config), "expected a dilation from 1 to 6, found 7");
    config = small, config.blocks = 0;
    assert_refused(score_net_create(&net, config), "blocks");
    assert_null(net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(gradients_without_factors),
        cmocka_unit_test(gradients_with_context),
        cmocka_unit_test(gradients_with_context_alone),
        cmocka_unit_test(factors_select_from_the_context),
        cmocka_unit_test(tangents_are_differences),
        cmocka_unit_test(jacobians_are_tangents),
        cmocka_unit_test(rows_are_independent),
        cmocka_unit_test(evaluation_equals_training_pass),
        cmocka_unit_test(long_plans_need_no_more_scratch_than_there_is),
        cmocka_unit_test(receptive_field_is_local),
        cmocka_unit_test(without_positions_steps_are_alike),
        cmocka_unit_test(default_size),
        cmocka_unit_test(bad_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
