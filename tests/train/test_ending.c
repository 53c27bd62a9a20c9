// What a training leaves at its end: the moving average of its weights, and the loss of its last
// updates, also when it was stopped among them; and what it draws on the way.
#include "base/safetensors.h"
#include "policy/parts.h"
#include "policy/waves.h"
#include "pools.h"
#include "train/trainer.h"
#include "train/training.h"

// ---- Draws --------------------------------------------------------------------------------------

// Every level of noise is trained, the first and the last as often as those between.
static void every_level_of_noise_is_drawn(void **state)
{
    (void)state;
    enum { LEVELS = 100, BATCH = 50, UPDATES = 60 };
    const ScoreNetConfig net_config = {
        .horizon = 2, .dim = 1, .blocks = 1, .channels = 8, .cond = 8, .time_width = 8, .embed = 4};
    ScoreNet *net;
    NoiseSchedule schedule;
    Trainer *trainer;
    TrainConfig config = trainer_default();
    config.batch = BATCH;
    assert_ok(score_net_create(&net, net_config));
    assert_ok(schedule_cosine(&schedule, LEVELS));
    assert_ok(trainer_create(&trainer, net, &schedule, config, 1));
    float x0[BATCH * 2];
    for (int i = 0; i < BATCH * 2; i++) x0[i] = sinf((float)i);
    int drawn[LEVELS] = {0};
    for (int u = 0; u < UPDATES; u++) {
        trainer_step(trainer, x0, NULL, NULL, NULL);
        for (int r = 0; r < BATCH; r++) drawn[(int)trainer->rows.t[r]]++;
    }
    for (int t = 0; t < LEVELS; t++) { // 30 times each on average
        if (drawn[t] < 10 || drawn[t] > 60) fail_msg("level %d was drawn %d times", t, drawn[t]);
    }
    trainer_free(trainer);
    score_net_free(net);
}

static void every_epoch_has_its_own_order(void **state)
{
    (void)state;
    enum { COUNT = 40, EPOCHS = 4 };
    int members[COUNT], order[EPOCHS][COUNT];
    for (int i = 0; i < COUNT; i++) members[i] = 100 + i;
    for (int e = 0; e < EPOCHS; e++) {
        bool seen[COUNT] = {false};
        training_order(order[e], members, COUNT, 5, e);
        for (int i = 0; i < COUNT; i++) seen[order[e][i] - 100] = true;
        for (int i = 0; i < COUNT; i++) assert_true(seen[i]);
        for (int before = 0; before < e; before++)
            assert_memory_not_equal(order[before], order[e], sizeof *order);
    }
}

// ---- The end ------------------------------------------------------------------------------------

typedef struct Stop {
    long at;
} Stop;

static bool stop_there(void *context, const FacetProgressEvent *event)
{
    const Stop *stop = context;
    return (long)event->done < stop->at;
}

// Trains to the update before the last, which is among those whose loss is kept.
static void stop_before_the_last(FacetTrainOptions *options)
{
    FacetTrainSummary summary;
    Stop stop = {.at = 29};
    const FacetProgress progress = {.report = stop_there, .context = &stop};
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetStatus status =
        facet_policy_train(&summary, "waves.h5", "broken", options, test_pool(2), &progress);
    assert_refused(status, "interrupted at update 29 of 30");
}

static void a_stop_among_the_last_updates_changes_no_loss(void **state)
{
    (void)state;
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary straight, broken;
    stop_before_the_last(&options);
    options.resume = true;
    assert_ok(facet_policy_train(&broken, "waves.h5", "broken", &options, test_pool(2), NULL));
    options.resume = false;
    assert_ok(facet_policy_train(&straight, "waves.h5", "straight", &options, test_pool(2), NULL));
    assert_near(broken.loss, straight.loss, 0.0);
    assert_same_files("straight", "broken");
}

// The distance of a policy's weights from a block of a checkpoint.
static double distance(const FacetPolicy *policy, const Safetensors *file, const char *prefix)
{
    const TensorTable *table = &policy->net->table;
    float *block = policy_block(table);
    assert_non_null(block);
    assert_ok(policy_read_block(block, table, file, prefix));
    double sum = 0.0;
    for (size_t i = 0; i < table->size; i++)
        sum += pow((double)block[i] - (double)policy->params[0][i], 2);
    free(block);
    return sqrt(sum);
}

// One update moves weights and average a little; what lies between the two is much more.
static void a_policy_holds_the_average_of_its_weights(void **state)
{
    (void)state;
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    Safetensors *before;
    FacetPolicy *policy;
    options.rate = 0.01;
    stop_before_the_last(&options);
    assert_ok(safetensors_read(&before, "broken.ckpt"));
    options.resume = true;
    assert_ok(facet_policy_train(&summary, "waves.h5", "broken", &options, test_pool(2), NULL));
    assert_ok(facet_policy_load(&policy, "broken"));
    double from_average = distance(policy, before, "average.");
    double from_weights = distance(policy, before, "weights.");
    print_message("%.3g from the average, %.3g from the weights\n", from_average, from_weights);
    assert_less(2.0 * from_average, from_weights);
    facet_policy_destroy(policy);
    safetensors_free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_of_noise_is_drawn),
        cmocka_unit_test(every_epoch_has_its_own_order),
        cmocka_unit_test_teardown(a_stop_among_the_last_updates_changes_no_loss, scratch_clean),
        cmocka_unit_test_teardown(a_policy_holds_the_average_of_its_weights, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
