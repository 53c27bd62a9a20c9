// Training the U-Net in float: the same bits on any number of threads, a loss that falls, and
// numbers that are not finite.
#include "pools.h"
#include "testing.h"
#include "train/trainer.h"
#include "unet/trainer.h"

#include <stdlib.h>

enum { BATCH = 10, T = 16, D = 2, SIZE = T * D, K = 2 };

typedef struct Fixture {
    Unet *net;
    NoiseSchedule schedule;
    UnetTrainer *trainer;
    float x0[BATCH * SIZE];
    int z[BATCH * K];
} Fixture;

static void setup(Fixture *f, double composed)
{
    const UnetConfig config = {.horizon = T,
                               .dim = D,
                               .levels = 2,
                               .widths = {16, 24},
                               .cond = 16,
                               .time_width = 8,
                               .embed = 8,
                               .factors = K,
                               .values = {3, 2}};
    TrainConfig train = trainer_default();
    train.batch = BATCH;
    train.composed_weight = composed;
    train.rate = 3e-3;
    train.warmup = 10;
    train.seed = 1;
    assert_ok(unet_create(&f->net, config));
    assert_ok(schedule_cosine(&f->schedule, 100));
    assert_ok(unet_trainer_create(&f->trainer, f->net, &f->schedule, &train));
    // Waves whose phase is the first factor and whose height is the second.
    for (int r = 0; r < BATCH; r++) {
        int *z = f->z + r * K;
        z[0] = r % 3, z[1] = r % 2;
        for (int i = 0; i < SIZE; i++)
            f->x0[r * SIZE + i] = (z[1] ? 0.4f : 0.8f) * sinf(0.4f * (float)i + (float)(2 * z[0]));
    }
}

static void teardown(Fixture *f)
{
    unet_trainer_free(f->trainer);
    unet_free(f->net);
}

static TrainReport steps(Fixture *f, int count, FacetPool *pool)
{
    TrainReport report = {0};
    for (int i = 0; i < count; i++) report = unet_trainer_step(f->trainer, f->x0, f->z, pool);
    return report;
}

static void same_bits_on_any_thread_count(void **state)
{
    (void)state;
    for (int composed = 0; composed < 2; composed++) {
        Fixture one;
        setup(&one, composed);
        TrainReport expected = steps(&one, 5, NULL);
        for (int threads = 2; threads <= 4; threads++) {
            Fixture many;
            setup(&many, composed);
            TrainReport report = steps(&many, 5, test_pool(threads));
            assert_true(report.loss == expected.loss);
            assert_true(report.grad_norm == expected.grad_norm);
            size_t bytes = one.net->table.size * sizeof(float);
            assert_memory_equal(many.trainer->params, one.trainer->params, bytes);
            assert_memory_equal(many.trainer->optimizer->ema, one.trainer->optimizer->ema, bytes);
            teardown(&many);
        }
        teardown(&one);
    }
}

// The same noise, times and dropout as the score network is given.
static void the_draws_are_those_of_the_score_network(void **state)
{
    (void)state;
    const ScoreNetConfig config = {.horizon = T,
                                   .dim = D,
                                   .blocks = 1,
                                   .channels = 8,
                                   .cond = 8,
                                   .time_width = 8,
                                   .embed = 8,
                                   .factors = K,
                                   .values = {3, 2}};
    Fixture f;
    ScoreNet *net;
    Trainer *other;
    setup(&f, 1.0);
    assert_ok(score_net_create(&net, config));
    assert_ok(trainer_create(&other, net, &f.schedule, f.trainer->config, 1));
    for (int i = 0; i < 3; i++) {
        unet_trainer_step(f.trainer, f.x0, f.z, NULL);
        trainer_step(other, f.x0, f.z, NULL, NULL);
        const TrainRows *a = &f.trainer->rows, *b = &other->rows;
        assert_int_equal(a->count, b->count);
        assert_memory_equal(a->x, b->x, (size_t)a->count * SIZE * sizeof *a->x);
        assert_memory_equal(a->t, b->t, (size_t)a->count * sizeof *a->t);
        assert_memory_equal(a->z, b->z, (size_t)a->count * K * sizeof *a->z);
        assert_memory_equal(a->target, b->target, BATCH * SIZE * sizeof *a->target);
    }
    trainer_free(other);
    score_net_free(net);
    teardown(&f);
}

static void loss_falls(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, 1.0);
    double first = 0.0, last = 0.0, composed = 0.0;
    for (int i = 0; i < 300; i++) {
        TrainReport report = unet_trainer_step(f.trainer, f.x0, f.z, test_pool(2));
        assert_true(report.finite);
        if (i < 20) first += report.loss / 20.0;
        if (i >= 280) last += report.loss / 20.0, composed += report.composed / 20.0;
    }
    assert_less(last, 0.4 * first);
    assert_less(composed, 0.25 * first);
    teardown(&f);
}

static void numbers_that_are_not_finite_update_nothing(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, 0.0);
    steps(&f, 2, NULL);
    size_t bytes = f.net->table.size * sizeof(float);
    float *before = malloc(bytes);
    memcpy(before, f.trainer->params, bytes);
    f.x0[3] = NAN;
    TrainReport report = steps(&f, 1, NULL);
    assert_false(report.finite);
    assert_int_equal(f.trainer->optimizer->updates, 2);
    assert_memory_equal(f.trainer->params, before, bytes);
    free(before);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_on_any_thread_count),
        cmocka_unit_test(the_draws_are_those_of_the_score_network),
        cmocka_unit_test(loss_falls),
        cmocka_unit_test(numbers_that_are_not_finite_update_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
