// The training loss in double: its gradient against central differences, with and without the
// losses of composed predictions, with several draws of a sample in its context, and how often
// factors are dropped.
#define FACET_REAL_DOUBLE
#include "nn/derivative.h"
#include "nn/layers.h"
#include "train/trainer.h"

enum { BATCH = 5, T = 4, D = 2, SIZE = T * D, K = 2, CONTEXT = 3 };

static const ScoreNetConfig small = {.horizon = T,
                                     .dim = D,
                                     .blocks = 1,
                                     .channels = 8,
                                     .cond = 4,
                                     .time_width = 4,
                                     .embed = 3,
                                     .factors = K,
                                     .values = {3, 2}};

typedef struct Fixture {
    ScoreNet *net;
    NoiseSchedule schedule;
    FacetPool *pool;
    Trainer *trainer;
    double x0[BATCH * SIZE];
    int z[BATCH * K];
    double context[BATCH * CONTEXT];
} Fixture;

// Weights of the losses of composed predictions: none, the composed loss, the agreement as well.
static const struct {
    double composed, agreement;
} weights[] = {{0.0, 0.0}, {0.7, 0.0}, {0.7, 0.4}};
enum { WEIGHTS = sizeof weights / sizeof *weights };

static void setup_with(Fixture *f, Prediction prediction, int losses, int draws, int context)
{
    TrainConfig config = trainer_default();
    config.batch = BATCH;
    config.prediction = prediction;
    config.drop[0] = 0.3, config.drop[1] = 0.6;
    config.composed_weight = weights[losses].composed;
    config.agreement_weight = weights[losses].agreement;
    config.draws = draws;
    config.seed = 12;
    ScoreNetConfig net = small;
    net.context = context;
    assert_ok(score_net_create(&f->net, net));
    assert_ok(schedule_cosine(&f->schedule, 30));
    assert_ok(facet_pool_create(&f->pool, 2));
    assert_ok(trainer_create(&f->trainer, f->net, &f->schedule, config, 2));
    fill_normal(f->x0, BATCH * SIZE, 5);
    fill_normal(f->context, BATCH * CONTEXT, 6);
    for (int i = 0; i < BATCH; i++) f->z[2 * i] = i % 3, f->z[2 * i + 1] = i % 2;
    for (size_t i = 0; i < f->net->table.size; i++)
        f->trainer->params[i] += 0.1 * sin(1.0 + (double)i);
}

static void setup(Fixture *f, Prediction prediction, int losses)
{
    setup_with(f, prediction, losses, 1, 0);
}

static void teardown(Fixture *f)
{
    trainer_free(f->trainer);
    facet_pool_destroy(f->pool);
    score_net_free(f->net);
}

static double loss(void *context)
{
    Fixture *f = context;
    return trainer_gradients(f->trainer, f->x0, f->z, f->context, f->pool).loss;
}

static void the_gradient_is_of_the_loss(void **state)
{
    (void)state;
    static double grads[100000];
    for (int kind = 0; kind < 3; kind++)
        for (int losses = 0; losses < WEIGHTS; losses++) {
            Fixture f;
            setup(&f, (Prediction)kind, losses);
            TrainReport report = trainer_gradients(f.trainer, f.x0, f.z, NULL, f.pool);
            assert_near(report.loss,
                        report.denoise + 0.7 * report.composed + 0.4 * report.agreement, 1e-12);
            assert_true((report.composed > 0.0) == (losses > 0));
            assert_true((report.agreement > 0.0) == (losses > 1));
            assert_true(f.net->table.size <= 100000);
            memcpy(grads, f.trainer->grads, f.net->table.size * sizeof *grads);
            for (int i = 0; i < f.net->table.count; i++) {
                const Tensor *tensor = &f.net->table.tensors[i];
                check_gradient(tensor->name, f.trainer->params + tensor->offset,
                               grads + tensor->offset, tensor->size,
                               tensor->size > 20 ? tensor->size / 7 : 2, loss, &f);
            }
            teardown(&f);
        }
}

// A sample's context gets the gradients of all its rows: its draws, and the branches of those with
// the composed loss. 5 x 3 rows, of which 7 are composed, end inside a sample.
static void gradient_of_shared_context(void **state)
{
    (void)state;
    enum { DRAWS = 3 };
    static double grads[100000];
    double dcontext[BATCH * CONTEXT];
    for (int losses = 0; losses < WEIGHTS; losses++) {
        Fixture f;
        setup_with(&f, PREDICT_V, losses, DRAWS, CONTEXT);
        assert_int_equal(f.trainer->rows.noisy, BATCH * DRAWS);
        assert_int_equal(f.trainer->rows.composed, losses ? 7 : 0);
        loss(&f);
        memcpy(grads, f.trainer->grads, f.net->table.size * sizeof *grads);
        memcpy(dcontext, f.trainer->dcontext, sizeof dcontext);
        check_gradient("dcontext", f.context, dcontext, BATCH * CONTEXT, 1, loss, &f);
        for (int i = 0; i < f.net->table.count; i++) {
            const Tensor *tensor = &f.net->table.tensors[i];
            check_gradient(tensor->name, f.trainer->params + tensor->offset, grads + tensor->offset,
                           tensor->size, tensor->size > 20 ? tensor->size / 7 : 2, loss, &f);
        }
        // Each draw has a time and noise of its own, and the sample that it belongs to.
        const Real *x = f.trainer->rows.x;
        assert_true(memcmp(x, x + SIZE, SIZE * sizeof *x) != 0);
        for (int r = 0; r < BATCH * DRAWS; r++) {
            double abar = f.schedule.alpha_bar[(int)f.trainer->rows.t[r]];
            for (int i = 0; i < SIZE; i++)
                assert_near(sqrt(abar) * x[r * SIZE + i] -
                                sqrt(1.0 - abar) * f.trainer->rows.target[r * SIZE + i],
                            f.x0[r / DRAWS * SIZE + i], 1e-10);
            for (int k = 0; k < K; k++) {
                int value = f.trainer->rows.z[r * K + k];
                assert_true(value == EMBEDDING_NULL || value == f.z[r / DRAWS * K + k]);
            }
        }
        teardown(&f);
    }
}

// The noisy row, the target and the dropout of a row follow from (seed, update, row) alone.
static void draws_follow_from_seed_update_and_row(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, PREDICT_V, 1);
    int dropped[K] = {0}, both = 0;
    enum { UPDATES = 600 };
    for (int u = 0; u < UPDATES; u++) {
        f.trainer->optimizer->updates = u;
        trainer_gradients(f.trainer, f.x0, f.z, NULL, f.pool);
        for (int r = 0; r < BATCH; r++) {
            bool first = f.trainer->rows.z[2 * r] == EMBEDDING_NULL;
            bool second = f.trainer->rows.z[2 * r + 1] == EMBEDDING_NULL;
            dropped[0] += first, dropped[1] += second, both += first && second;
            double abar = f.schedule.alpha_bar[(int)f.trainer->rows.t[r]];
            for (int i = r * SIZE; i < (r + 1) * SIZE; i++) // x = sqrt(abar) x0 + ..., v as well
                assert_near(sqrt(abar) * f.trainer->rows.x[i] -
                                sqrt(1.0 - abar) * f.trainer->rows.target[i],
                            f.x0[i], 1e-10);
        }
        // The branches of the composed loss show nothing, the first factor, the second factor.
        const int *branch = f.trainer->rows.z + BATCH * K;
        assert_int_equal(branch[0], -1), assert_int_equal(branch[1], -1);
        assert_int_equal(branch[2], f.z[0]), assert_int_equal(branch[3], -1);
        assert_int_equal(branch[4], -1), assert_int_equal(branch[5], f.z[1]);
    }
    double rows = UPDATES * BATCH;
    assert_near(dropped[0] / rows, 0.3, 0.03);
    assert_near(dropped[1] / rows, 0.6, 0.03);
    assert_near(both / rows, 0.18, 0.03);
    teardown(&f);
}

// Behind the branches stand that of the next sample's value of one factor, drawn at random, and the
// joint prediction of the task with it.
static void a_factor_takes_the_value_of_the_next_sample(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, PREDICT_V, 2);
    int taken[K] = {0};
    enum { UPDATES = 300, GROUP = 3 + K };
    for (int u = 0; u < UPDATES; u++) {
        f.trainer->optimizer->updates = u;
        trainer_gradients(f.trainer, f.x0, f.z, NULL, f.pool);
        for (int r = 0; r < f.trainer->rows.composed; r++) {
            const int *own = f.z + r * K, *next = f.z + (r + 1) % BATCH * K;
            const int *other = f.trainer->rows.z + (BATCH + r * GROUP + 1 + K) * K,
                      *joint = other + K;
            int factor = other[0] == EMBEDDING_NULL ? 1 : 0;
            taken[factor]++;
            assert_int_equal(other[factor], next[factor]);
            assert_int_equal(other[1 - factor], EMBEDDING_NULL);
            assert_int_equal(joint[factor], next[factor]);
            assert_int_equal(joint[1 - factor], own[1 - factor]);
        }
    }
    assert_near((double)taken[0] / (taken[0] + taken[1]), 0.5, 0.06);
    teardown(&f);
}

static void bad_sizes_are_refused(void **state)
{
    (void)state;
    Fixture f;
    setup(&f, PREDICT_V, 0);
    Trainer *trainer;
    TrainConfig config = trainer_default();
    config.drop[1] = 1.5;
    assert_refused(trainer_create(&trainer, f.net, &f.schedule, config, 2), "drop probability");
    config = trainer_default(), config.batch = 0;
    assert_refused(trainer_create(&trainer, f.net, &f.schedule, config, 2), "batch");
    config = trainer_default(), config.draws = 0;
    assert_refused(trainer_create(&trainer, f.net, &f.schedule, config, 2), "draws a sample");
    config = trainer_default(), config.draws = 1 << 18;
    assert_refused(trainer_create(&trainer, f.net, &f.schedule, config, 2),
                   "expected 1 to 32767 draws a sample, found 262144");
    config = trainer_default(), config.composed_weight = -1.0;
    assert_refused(trainer_create(&trainer, f.net, &f.schedule, config, 2), "composed loss");
    config = trainer_default(), config.agreement_weight = 1.0;
    assert_refused(trainer_create(&trainer, f.net, &f.schedule, config, 2), "agreement loss");
    ScoreNetConfig none = small;
    none.factors = 0;
    ScoreNet *plain;
    assert_ok(score_net_create(&plain, none));
    config = trainer_default(), config.composed_weight = 1.0;
    assert_refused(trainer_create(&trainer, plain, &f.schedule, config, 2), "needs a factor");
    score_net_free(plain);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_of_the_loss),
        cmocka_unit_test(gradient_of_shared_context),
        cmocka_unit_test(draws_follow_from_seed_update_and_row),
        cmocka_unit_test(a_factor_takes_the_value_of_the_next_sample),
        cmocka_unit_test(bad_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
