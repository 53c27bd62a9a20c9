// Training in float: the same bits on any number of threads and after a resume, a loss that falls,
// numbers that are not finite, gradients part by part, and no allocation inside a step or a sample.
#include "allocations.h"
#include "diffusion/sampler.h"
#include "testing.h"
#include "train/score_backward.h"
#include "train/trainer.h"

#include <stdlib.h>

enum { BATCH = 12, T = 8, D = 2, SIZE = T * D, K = 2, CONTEXT = 3 };

typedef struct Fixture {
    ScoreNet *net;
    NoiseSchedule schedule;
    FacetPool *pool;
    Trainer *trainer;
    float x0[BATCH * SIZE];
    int z[BATCH * K];
    float context[BATCH * CONTEXT];
} Fixture;

static void setup_with(Fixture *f, int threads, double composed, int draws, int context)
{
    const ScoreNetConfig config = {.horizon = T,
                                   .dim = D,
                                   .blocks = 2,
                                   .channels = 32,
                                   .cond = 16,
                                   .time_width = 8,
                                   .embed = 8,
                                   .factors = K,
                                   .values = {3, 2},
                                   .context = context};
    TrainConfig train = trainer_default();
    train.batch = BATCH;
    train.draws = draws;
    train.composed_weight = composed;
    train.rate = 3e-3;
    train.warmup = 10;
    train.seed = 1;
    assert_ok(score_net_create(&f->net, config));
    assert_ok(schedule_cosine(&f->schedule, 100));
    assert_ok(facet_pool_create(&f->pool, threads));
    assert_ok(trainer_create(&f->trainer, f->net, &f->schedule, train, threads));
    // Waves whose phase is the first factor and whose height is the second.
    for (int r = 0; r < BATCH; r++) {
        int *z = f->z + r * K;
        z[0] = r % 3, z[1] = r % 2;
        for (int i = 0; i < CONTEXT; i++) f->context[r * CONTEXT + i] = cosf((float)(r + 3 * i));
        for (int i = 0; i < SIZE; i++)
            f->x0[r * SIZE + i] = (z[1] ? 0.4f : 0.8f) * sinf(0.4f * (float)i + (float)(2 * z[0]));
    }
}

static void setup(Fixture *f, int threads, double composed)
{
    setup_with(f, threads, composed, 1, 0);
}

static void teardown(Fixture *f)
{
    trainer_free(f->trainer);
    facet_pool_destroy(f->pool);
    score_net_free(f->net);
}

static TrainReport steps(Fixture *f, int count)
{
    TrainReport report = {0};
    for (int i = 0; i < count; i++)
        report = trainer_step(f->trainer, f->x0, f->z, f->context, f->pool);
    return report;
}

static void same_bits_on_any_thread_count(void **state)
{
    (void)state;
    for (int composed = 0; composed < 3; composed++) {
        int draws = composed < 2 ? 1 : 3, context = composed < 2 ? 0 : CONTEXT;
        Fixture one;
        setup_with(&one, 1, composed, draws, context);
        TrainReport expected = steps(&one, 5);
        for (int threads = 2; threads <= 4; threads++) {
            Fixture many;
            setup_with(&many, threads, composed, draws, context);
            TrainReport report = steps(&many, 5);
            assert_true(report.loss == expected.loss);
            assert_true(report.grad_norm == expected.grad_norm);
            size_t bytes = one.net->table.size * sizeof(float);
            assert_memory_equal(many.trainer->params, one.trainer->params, bytes);
            assert_memory_equal(many.trainer->optimizer->ema, one.trainer->optimizer->ema, bytes);
            assert_memory_equal(many.trainer->dcontext, one.trainer->dcontext,
                                (size_t)(BATCH * context) * sizeof(float));
            teardown(&many);
        }
        teardown(&one);
    }
}

// Blocks and the number of updates are all there is to a checkpoint.
static void resume_continues(void **state)
{
    (void)state;
    Fixture whole, part;
    setup(&whole, 2, 1.0);
    setup(&part, 2, 1.0);
    steps(&whole, 3);
    size_t bytes = whole.net->table.size * sizeof(float);
    Trainer *from = whole.trainer, *to = part.trainer;
    memcpy(to->params, from->params, bytes);
    memcpy(to->optimizer->m, from->optimizer->m, bytes);
    memcpy(to->optimizer->v, from->optimizer->v, bytes);
    memcpy(to->optimizer->ema, from->optimizer->ema, bytes);
    to->optimizer->updates = from->optimizer->updates;
    steps(&whole, 4);
    steps(&part, 4);
    assert_memory_equal(to->params, from->params, bytes);
    assert_memory_equal(to->optimizer->ema, from->optimizer->ema, bytes);
    teardown(&whole);
    teardown(&part);
}

static void loss_falls(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, 2, 1.0);
    double first = 0.0, last = 0.0, composed = 0.0;
    for (int i = 0; i < 300; i++) {
        TrainReport report = trainer_step(f.trainer, f.x0, f.z, NULL, f.pool);
        assert_true(report.finite);
        if (i < 20) first += report.loss / 20.0;
        if (i >= 280) last += report.loss / 20.0, composed += report.composed / 20.0;
    }
    assert_less(last, 0.35 * first);
    assert_less(composed, 0.2 * first);
    teardown(&f);
}

static void not_finite_updates_nothing(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, 1, 0.0);
    steps(&f, 2);
    float before = f.trainer->params[0];
    f.x0[3] = NAN;
    TrainReport report = trainer_step(f.trainer, f.x0, f.z, NULL, f.pool);
    assert_false(report.finite);
    assert_int_equal(report.update, 3);
    assert_int_equal(f.trainer->optimizer->updates, 2);
    assert_true(f.trainer->params[0] == before);
    teardown(&f);
}

// How many of these numbers were written: the others are left as NAN.
static size_t count_written(const float *numbers, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) found += isfinite(numbers[i]);
    return found;
}

// A rank sums the gradients of some parts and hands over the block from where they start to where
// the next ones do: every tensor of a part lies there, and no other is written.
static void the_gradients_of_a_part_lie_where_it_starts(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, 2, 1.0);
    steps(&f, 1); // the workspace keeps what the gradients are summed from
    size_t size = f.net->table.size;
    int parts = score_parts(f.net);
    float *grads = malloc(size * sizeof *grads);
    assert_non_null(grads);
    assert_int_equal(score_part_start(f.net, 0), 0);
    assert_int_equal(score_part_start(f.net, parts), size);
    for (int part = 0; part < parts; part++) {
        size_t start = score_part_start(f.net, part), end = score_part_start(f.net, part + 1);
        for (size_t i = 0; i < size; i++) grads[i] = NAN;
        score_backward_weights(grads, NULL, f.trainer->work, part, part + 1, f.pool);
        for (int i = 0; i < f.net->table.count; i++) {
            const Tensor *tensor = &f.net->table.tensors[i];
            bool inside = tensor->offset >= start && tensor->offset < end;
            assert_int_equal(count_written(grads + tensor->offset, tensor->size),
                             inside ? tensor->size : 0);
        }
    }
    free(grads);
    teardown(&f);
}

static void nothing_is_allocated(void **state)
{
    (void)state;
    Fixture f;
    static SamplerPlan plan;
    Sampler *sampler;
#ifdef FACET_SHARED
    skip(); // the linker does not see into a shared library
#endif
    setup_with(&f, 2, 1.0, 3, CONTEXT);
    assert_true(allocations > 0);
    assert_ok(sampler_create(&sampler, f.net, 2, 8));
    assert_ok(
        sampler_plan(&plan, &f.schedule, (SamplerConfig){.steps = 5, .prediction = PREDICT_V}));
    float x[2 * SIZE];
    for (int n = 0; n < 2; n++) sampler_noise(x + n * SIZE, 3, (uint64_t)n, SIZE);
    long before = allocations;
    steps(&f, 3);
    sampler_load(sampler, f.trainer->params, f.pool);
    assert_ok(
        sampler_run(x, NULL, sampler, &plan, COMPOSE_FACTORS, NULL, f.z, f.context, 2, f.pool));
    assert_int_equal(allocations, before);
    sampler_free(sampler);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_on_any_thread_count),
        cmocka_unit_test(resume_continues),
        cmocka_unit_test(loss_falls),
        cmocka_unit_test(not_finite_updates_nothing),
        cmocka_unit_test(the_gradients_of_a_part_lie_where_it_starts),
        cmocka_unit_test(nothing_is_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
