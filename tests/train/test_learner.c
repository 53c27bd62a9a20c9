// Updates of a policy that sees: it learns where things are, the same bits on any number of
// threads, frozen parts that stay, and wrong settings. Whole trainings are in test_train_images.c.
#include "base/rng.h"
#include "policy/policies.h"
#include "train/learner.h"

enum {
    BATCH = 16,
    FEATURES = 8,
    T = 4,
    D = 2,
    SIZE = T * D,
    WIDTH = 16,
    HEIGHT = 12,
    IMAGE = WIDTH * HEIGHT * 3
};

typedef struct Fixture {
    FacetPolicy *policy;
    Learner *trainer;
    FacetPool *pool;
    uint8_t images[BATCH * IMAGE];
    float x0[BATCH * SIZE];
    int z[BATCH];
} Fixture;

static FacetPolicy *seeing_policy(int frozen_parts)
{
    FacetPolicy *policy = calloc(1, sizeof *policy);
    assert_non_null(policy);
    policy->method = FACET_POLICY_FACTORED;
    assert_ok(factor_space_from_json(&policy->space, "{\"way\":[\"there\",\"away\"]}", "test"));
    assert_ok(factor_split_create(&policy->training, policy->space));
    assert_ok(factor_split_create(&policy->held_out, policy->space));
    for (int i = 0; i < 2; i++)
        assert_ok(factor_split_add(policy->training, factor_task_at(policy->space, i)));
    assert_ok(
        normalizer_create(&policy->normalizer, (double[]){-1.0, -1.0}, (double[]){1.0, 1.0}, D));
    assert_ok(schedule_cosine(&policy->schedule, 50));
    policy->prediction = PREDICT_V;
    policy->spacing = SPACING_TRAILING;
    policy->clip = 1.5;
    policy->default_steps = 10;
    policy->temperature = 0.5;
    policy->record = (PolicyRecord){.epochs = 1, .batch = BATCH, .draws = 4, .jitter = 0.5};
    EncoderConfig config = tiny_encoder(FEATURES);
    config.frozen = frozen_parts;
    assert_ok(encoder_create(&policy->encoder, config));
    assert_ok(policy_observe_frame(policy));
    assert_ok(policy_build(policy, (ScoreNetConfig){.horizon = T,
                                                    .dim = D,
                                                    .blocks = 1,
                                                    .channels = 32,
                                                    .cond = 32,
                                                    .time_width = 16,
                                                    .embed = 8}));
    assert_ok(policy_allocate(policy));
    return policy;
}

// A bright square on a dark, noisy ground; the action is its place, or the opposite one.
static void draw_sample(uint8_t image[IMAGE], float x0[SIZE], int *z, uint64_t number)
{
    FacetRng rng = rng_make(17, number);
    int side = 4, left = (int)(rng_uniform(&rng) * (WIDTH - side + 1));
    int top = (int)(rng_uniform(&rng) * (HEIGHT - side + 1));
    *z = rng_uniform(&rng) < 0.5;
    for (int i = 0; i < IMAGE; i++) {
        int column = i / 3 % WIDTH - left, row = i / 3 / WIDTH - top;
        bool inside = column >= 0 && column < side && row >= 0 && row < side;
        image[i] = (uint8_t)((inside ? 200.0 : 60.0) + 20.0 * rng_uniform(&rng));
    }
    float sign = *z ? -1.0f : 1.0f;
    for (int i = 0; i < SIZE; i++)
        x0[i] = sign * (i % 2 ? 2.0f * (float)top / (float)(HEIGHT - side) - 1.0f
                              : 2.0f * (float)left / (float)(WIDTH - side) - 1.0f);
}

static TrainConfig tiny_config(void)
{
    TrainConfig config = trainer_default();
    config.batch = BATCH;
    config.draws = 4;
    config.rate = 4e-3;
    config.warmup = 20;
    config.seed = 3;
    config.optimizer.ema_decay = 0.98;
    return config;
}

static void setup(Fixture *f, int threads, double jitter, bool frozen, int frozen_parts)
{
    f->policy = seeing_policy(frozen_parts);
    assert_ok(facet_pool_create(&f->pool, threads));
    assert_ok(learner_create(&f->trainer, learner_shape(f->policy), f->policy->net,
                             &f->policy->schedule, tiny_config(), jitter, frozen, threads));
}

static void teardown(Fixture *f)
{
    learner_free(f->trainer);
    facet_pool_destroy(f->pool);
    facet_policy_destroy(f->policy);
}

static TrainReport steps(Fixture *f, int count)
{
    TrainReport report = {0};
    for (int i = 0; i < count; i++) {
        uint64_t update = (uint64_t)learner_updates(f->trainer);
        for (int r = 0; r < BATCH; r++)
            draw_sample(f->images + r * IMAGE, f->x0 + r * SIZE, &f->z[r],
                        update * BATCH + (uint64_t)r);
        report = learner_step(f->trainer, &(LearnerBatch){f->x0, f->z, NULL, f->images}, f->pool);
        assert_true(report.finite);
    }
    return report;
}

static void assert_same_state(const Learner *a, const Learner *b)
{
    size_t net = a->trainer->net->table.size * sizeof(float);
    size_t encoder = encoder_table(a->shape.encoder)->size * sizeof(float);
    assert_memory_equal(a->trainer->params, b->trainer->params, net);
    assert_memory_equal(a->trainer->optimizer->ema, b->trainer->optimizer->ema, net);
    assert_memory_equal(a->params, b->params, encoder);
    assert_memory_equal(a->optimizer->m, b->optimizer->m, encoder);
    assert_memory_equal(a->optimizer->v, b->optimizer->v, encoder);
    assert_memory_equal(a->optimizer->ema, b->optimizer->ema, encoder);
}

// The mean squared error of the policy's plans for images it has not seen.
static double error_of(const FacetPolicy *policy)
{
    enum { TRIALS = 60, FIRST = 1000000 };
    FacetPolicyRunner *runner;
    double sum = 0.0;
    assert_ok(facet_policy_runner_create(&runner, policy, 1, 1, NULL));
    for (int i = 0; i < TRIALS; i++) {
        static uint8_t image[IMAGE], frame[4 * IMAGE];
        float x0[SIZE];
        double actions[SIZE];
        FacetFactorTask task = facet_factor_task_null();
        draw_sample(image, x0, &task.value[0], (uint64_t)(FIRST + i));
        for (int p = 0; p < 4 * IMAGE; p++) { // every pixel four times
            int column = p / 3 % (2 * WIDTH) / 2, row = p / 3 / (2 * WIDTH) / 2;
            frame[p] = image[(row * WIDTH + column) * 3 + p % 3];
        }
        const FacetPolicySampling how = {.seed = (uint64_t)i};
        const FacetPolicyObserved observed = {.frames = frame};
        assert_ok(facet_policy_runner_sample(actions, runner, &task, &observed, 1, &how, NULL));
        for (int k = 0; k < SIZE; k++)
            sum += (actions[k] - (double)x0[k]) * (actions[k] - (double)x0[k]) / (TRIALS * SIZE);
    }
    facet_policy_runner_destroy(runner);
    return sum;
}

// The mean of all actions is 0, and its error is their variance: 0.4.
static void a_policy_learns_where_to_look(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, 2, 0.5, false, 0);
    steps(&f, 700);
    learner_store(f.policy, 0, f.trainer);
    double error = error_of(f.policy);
    assert_less(error, 0.04);
    // What it learned is in the file.
    FacetPolicy *back;
    assert_ok(policy_save(f.policy, "policy", TENSOR_F32));
    assert_ok(facet_policy_load(&back, "policy"));
    assert_near(error_of(back), error, 0.0);
    facet_policy_destroy(back);
    teardown(&f);
}

static void same_bits_on_any_thread_count(void **state)
{
    (void)state;
    Fixture one;
    setup(&one, 1, 1.0, false, 0);
    TrainReport expected = steps(&one, 4);
    for (int threads = 2; threads <= 3; threads++) {
        Fixture many;
        setup(&many, threads, 1.0, false, 0);
        TrainReport report = steps(&many, 4);
        assert_true(report.loss == expected.loss);
        assert_true(report.grad_norm == expected.grad_norm);
        assert_same_state(many.trainer, one.trainer);
        teardown(&many);
    }
    Fixture plain; // without jitter the images are others
    setup(&plain, 1, 0.0, false, 0);
    assert_true(steps(&plain, 4).loss != expected.loss);
    teardown(&plain);
    teardown(&one);
}

static void frozen_parts_stay(void **state)
{
    (void)state;
    Fixture whole, part;
    setup(&whole, 2, 1.0, true, 0);
    setup(&part, 2, 1.0, false, 1);
    const TensorTable *table = encoder_table(part.policy->encoder);
    size_t bytes = table->size * sizeof(float), from = encoder_trained_from(part.policy->encoder);
    assert_true(from > 0);
    assert_true(from < table->size);
    float *other = policy_block(table);
    fill_weights(other, table, 123);
    for (int i = 0; i < 2; i++) {
        Fixture *f = i ? &part : &whole;
        learner_set_encoder(f->trainer, other);
        steps(f, 5);
        size_t stays = i ? from * sizeof(float) : bytes;
        assert_memory_equal(f->trainer->params, other, stays);
        learner_store(f->policy, 0, f->trainer);
        assert_memory_equal(f->policy->encoder_params[0], other, stays);
    }
    assert_true(memcmp(part.trainer->params + from, other + from, bytes - from * sizeof(float)) !=
                0);
    free(other);
    teardown(&whole);
    teardown(&part);
}

static void not_finite_updates_nothing(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, 1, 1.0, false, 0);
    steps(&f, 2);
    float net = f.trainer->trainer->params[0], encoder = f.trainer->params[0];
    f.x0[3] = NAN;
    TrainReport report =
        learner_step(f.trainer, &(LearnerBatch){f.x0, f.z, NULL, f.images}, f.pool);
    assert_false(report.finite);
    assert_int_equal(learner_updates(f.trainer), 2);
    assert_true(f.trainer->trainer->params[0] == net);
    assert_true(f.trainer->params[0] == encoder);
    teardown(&f);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    FacetPolicy *blind = tiny_policy(FACET_POLICY_FACTORED), *policy = seeing_policy(0);
    Learner *trainer;
    assert_refused(learner_create(&trainer, learner_shape(policy), blind->net, &policy->schedule,
                                  tiny_config(), 1.0, false, 1),
                   "expected a network with a context of 8, found 0");
    assert_refused(learner_create(&trainer, learner_shape(policy), policy->net, &policy->schedule,
                                  tiny_config(), 2.0, false, 1),
                   "expected a jitter from 0 to 1, found 2");
    assert_null(trainer);
    facet_policy_destroy(blind);
    facet_policy_destroy(policy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_policy_learns_where_to_look, scratch_clean),
        cmocka_unit_test(same_bits_on_any_thread_count),
        cmocka_unit_test(frozen_parts_stay),
        cmocka_unit_test(not_finite_updates_nothing),
        cmocka_unit_test(wrong_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
