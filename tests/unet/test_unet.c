// The U-Net in double: its table, its derivatives against central differences, and that an output
// sees the whole plan where one of the score network does not.
#define FACET_REAL_DOUBLE
#include "diffusion/score_pass.h"
#include "nn/layers.h"
#include "testing.h"
#include "train/optim.h"
#include "unet/pass.h"
#include "unet/trainer.h"

#include <stdlib.h>

enum { T = 16, D = 2, SIZE = T * D, K = 2, ROWS = 6 };

static UnetConfig small(void)
{
    return (UnetConfig){.horizon = T,
                        .dim = D,
                        .levels = 3,
                        .widths = {16, 24, 16},
                        .cond = 5,
                        .time_width = 4,
                        .embed = 3,
                        .factors = K,
                        .values = {3, 2}};
}

// A network whose weights are all at work, the head's among them.
static Real *begin(Unet **net, UnetConfig config)
{
    assert_ok(unet_create(net, config));
    Real *params = calloc((*net)->table.size, sizeof *params);
    tensor_init(params, &(*net)->table, 3);
    const UnetStep *head = &(*net)->steps[(*net)->step_count - 1];
    for (int i = 0; i < head->in * head->out; i++) params[head->weight + (size_t)i] = sin(2.0 * i);
    return params;
}

// ---- The shape ----------------------------------------------------------------------------------

// Of the study: 4 blocks of 96 channels, and what stands beside it.
static void it_is_near_in_parameters_to_the_score_network(void **state)
{
    (void)state;
    ScoreNetConfig config = score_net_default();
    config.blocks = 4;
    config.channels = config.cond = 96;
    config.embed = 32;
    config.factors = 2;
    config.values[0] = 8;
    config.values[1] = 3;
    ScoreNet *score;
    Unet *net;
    assert_ok(score_net_create(&score, config));
    assert_ok(unet_create(&net, unet_like(&config)));
    print_message("parameters: %zu, and %zu of the score network\n", net->table.parameters,
                  score->table.parameters);
    assert_near((double)net->table.parameters / (double)score->table.parameters, 1.0, 0.06);
    assert_int_equal(unet_blocks(net), 12);
    const int times[] = {32, 16, 8, 16, 32};
    int found = 0, joined[2], joins = 0;
    for (int i = 0; i < net->step_count; i++) {
        const UnetStep *s = &net->steps[i];
        if (s->kind == UNET_DOWN || s->kind == UNET_UP) found++;
        assert_int_equal(s->time_out, times[found]);
        if (s->kind != UNET_JOIN) continue;
        assert_int_equal(net->steps[s->joined].time_out, s->time_out);
        joined[joins++ % 2] = s->joined;
    }
    assert_int_equal(found, 4);
    // Block, block, down, twice, and block, block: what the third level gave, then the second.
    assert_int_equal(joins, 2);
    assert_int_equal(joined[0], 7);
    assert_int_equal(joined[1], 4);
    unet_free(net);
    score_net_free(score);
}

static void sizes_that_make_no_network_are_refused(void **state)
{
    (void)state;
    Unet *net;
    UnetConfig config = small();
    config.horizon = 6;
    assert_refused(unet_create(&net, config), "a horizon that is a multiple of 4, found 6");
    config = small();
    config.widths[1] = 12;
    assert_refused(unet_create(&net, config), "channels that are a multiple of 8, found 12");
    config = small();
    config.levels = 5;
    assert_refused(unet_create(&net, config), "levels from 1 to 4, found 5");
    config = small();
    config.time_width = 5;
    assert_refused(unet_create(&net, config), "even time embedding width");
}

// ---- Derivatives --------------------------------------------------------------------------------

typedef struct Pass {
    Unet *net;
    UnetWork *work;
    Real *params, *grads;
    Real x[ROWS * SIZE], t[ROWS], slope[ROWS * SIZE];
    int z[ROWS * K];
} Pass;

static void pass_begin(Pass *p)
{
    p->params = begin(&p->net, small());
    p->grads = calloc(p->net->table.size, sizeof *p->grads);
    assert_ok(unet_work_create(&p->work, p->net, ROWS, true));
    for (int i = 0; i < ROWS * SIZE; i++) p->x[i] = sin(1.3 * i), p->slope[i] = cos(0.9 * i * i);
    for (int r = 0; r < ROWS; r++) {
        p->t[r] = 11.0 * r;
        p->z[K * r] = r % 4 - 1;
        p->z[K * r + 1] = r % 3 - 1;
    }
}

static void pass_end(Pass *p)
{
    unet_work_free(p->work);
    unet_free(p->net);
    free(p->params);
    free(p->grads);
}

static double value_of(Pass *p)
{
    Real out[ROWS * SIZE];
    double sum = 0.0;
    unet_forward(out, p->work, p->params, p->x, p->t, p->z, ROWS, NULL);
    for (int i = 0; i < ROWS * SIZE; i++) sum += out[i] * p->slope[i];
    return sum;
}

static double difference(Pass *p, Real *at)
{
    const double step = 1e-5;
    double kept = *at;
    *at = kept + step;
    double above = value_of(p);
    *at = kept - step;
    double below = value_of(p);
    *at = kept;
    return (above - below) / (2.0 * step);
}

// Every tensor, at some of its numbers; all rows, a shard that is not whole among them.
static void every_gradient_is_the_central_difference(void **state)
{
    (void)state;
    Pass p;
    Real dx[ROWS * SIZE];
    pass_begin(&p);
    value_of(&p);
    unet_backward(p.grads, dx, p.work, p.slope, NULL);
    for (int i = 0; i < p.net->table.count; i++) {
        const Tensor *tensor = &p.net->table.tensors[i];
        double largest = 0.0;
        for (size_t k = 0; k < tensor->size; k += 1 + tensor->size / 10) {
            double found = p.grads[tensor->offset + k];
            double expected = difference(&p, &p.params[tensor->offset + k]);
            if (!(fabs(found - expected) < 1e-6 * (1.0 + fabs(expected))))
                print_error("%s[%zu]\n", tensor->name, k);
            assert_near(found, expected, 1e-6 * (1.0 + fabs(expected)));
            largest = fmax(largest, fabs(found));
        }
        assert_less(1e-6, largest); // every tensor does something
    }
    for (int i = 0; i < ROWS * SIZE; i++)
        assert_near(dx[i], difference(&p, &p.x[i]), 1e-6 * (1.0 + fabs(dx[i])));
    pass_end(&p);
}

static void the_losses_have_their_gradients(void **state)
{
    (void)state;
    enum { BATCH = 5 };
    NoiseSchedule schedule;
    TrainConfig config = {.batch = BATCH,
                          .draws = 1,
                          .prediction = PREDICT_V,
                          .drop = {0.4, 0.4},
                          .composed_weight = 2.0,
                          .rate = 1e-3,
                          .seed = 5};
    Unet *net;
    UnetTrainer *trainer;
    Real x0[BATCH * SIZE];
    int z[BATCH * K];
    for (int i = 0; i < BATCH * SIZE; i++) x0[i] = sin(0.3 * i);
    for (int r = 0; r < BATCH; r++) z[K * r] = r % 3, z[K * r + 1] = r % 2;
    assert_ok(schedule_cosine(&schedule, 100));
    Real *params = begin(&net, small());
    assert_ok(unet_trainer_create(&trainer, net, &schedule, &config));
    memcpy(trainer->params, params, net->table.size * sizeof *params);
    assert_true(unet_trainer_gradients(trainer, x0, z, NULL).composed > 0.0);
    memcpy(params, trainer->grads, net->table.size * sizeof *params);
    for (size_t at = 0; at < net->table.size; at += 397) {
        const double step = 1e-5;
        Real kept = trainer->params[at];
        trainer->params[at] = kept + step;
        double above = unet_trainer_gradients(trainer, x0, z, NULL).loss;
        trainer->params[at] = kept - step;
        double below = unet_trainer_gradients(trainer, x0, z, NULL).loss;
        trainer->params[at] = kept;
        assert_near(params[at], (above - below) / (2.0 * step), 1e-6 * (1.0 + fabs(params[at])));
    }
    unet_trainer_free(trainer);
    unet_free(net);
    free(params);
}

// ---- What an output sees ------------------------------------------------------------------------

enum { LONG = 32, LONG_SIZE = LONG * D };

// How many steps of the plan the first step of the output depends on: those that change it.
static int seen_by_unet(void)
{
    UnetConfig config = small();
    Unet *net;
    UnetWork *work;
    Real x[LONG_SIZE], out[LONG_SIZE], t = 40.0;
    const int z[K] = {1, 0};
    int seen = 0;
    config.horizon = LONG;
    Real *params = begin(&net, config);
    assert_ok(unet_work_create(&work, net, 1, false));
    for (int i = 0; i < LONG_SIZE; i++) x[i] = sin(0.8 * i);
    unet_forward(out, work, params, x, &t, z, 1, NULL);
    double before = out[0];
    for (int s = 0; s < LONG; s++) {
        x[s * D] += 0.1;
        unet_forward(out, work, params, x, &t, z, 1, NULL);
        x[s * D] -= 0.1;
        seen += fabs(out[0] - before) > 1e-9;
    }
    unet_work_free(work);
    unet_free(net);
    free(params);
    return seen;
}

static int seen_by_score_net(void)
{
    const ScoreNetConfig config = {.horizon = LONG,
                                   .dim = D,
                                   .blocks = 4,
                                   .channels = 8,
                                   .cond = 5,
                                   .time_width = 4,
                                   .embed = 3,
                                   .factors = K,
                                   .values = {3, 2}};
    ScoreNet *net;
    ScoreWork *work;
    Real x[LONG_SIZE], out[LONG_SIZE], t = 40.0;
    const int z[K] = {1, 0};
    int seen = 0;
    assert_ok(score_net_create(&net, config));
    Real *params = calloc(net->table.size, sizeof *params);
    tensor_init(params, &net->table, 3);
    for (int i = 0; i < 3 * 8 * D; i++) params[net->out_weight + (size_t)i] = sin(2.0 * i);
    assert_ok(score_work_create(&work, net, 1, 1));
    score_load(work, params, NULL);
    for (int i = 0; i < LONG_SIZE; i++) x[i] = sin(0.8 * i);
    score_forward(out, work, x, &t, z, NULL, 1, NULL);
    double before = out[0];
    for (int s = 0; s < LONG; s++) {
        x[s * D] += 0.1;
        score_forward(out, work, x, &t, z, NULL, 1, NULL);
        x[s * D] -= 0.1;
        seen += fabs(out[0] - before) > 1e-9;
    }
    score_work_free(work);
    score_net_free(net);
    free(params);
    return seen;
}

// From the first step the score network's 21 steps are 11: its own and ten behind it.
static void an_output_sees_the_whole_plan(void **state)
{
    (void)state;
    assert_int_equal(seen_by_unet(), LONG);
    assert_int_equal(seen_by_score_net(), 11);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_near_in_parameters_to_the_score_network),
        cmocka_unit_test(sizes_that_make_no_network_are_refused),
        cmocka_unit_test(every_gradient_is_the_central_difference),
        cmocka_unit_test(the_losses_have_their_gradients),
        cmocka_unit_test(an_output_sees_the_whole_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
