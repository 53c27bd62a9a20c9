// Training on observations: what a sample is, what is learned, and that nothing but the seed and
// the demonstrations says what comes out.
#include "policy/waves.h"
#include "pools.h"
#include "train/training.h"

#include <facet/agent.h>

static int write_files(void **state)
{
    int failed = scratch_enter(state);
    if (!failed) run_python("write_robot.py", ".", NULL);
    return failed;
}

static const char *const place[] = {"place", "mode"}, *const eyes[] = {"above", "place", "below"};

// A tiny network and a short training on what is small.
static FacetTrainOptions observing(void)
{
    FacetTrainOptions options = tiny_training();
    options.epochs = 0;
    options.updates = 20;
    options.observe = place;
    options.observe_count = 2;
    options.horizon = 4;
    return options;
}

static FacetTrainOptions seeing(void)
{
    FacetTrainOptions options = observing();
    options.observe = eyes;
    options.observe_count = 3;
    options.updates = 3;
    options.batch = 4;
    return options;
}

static FacetStatus train(FacetTrainSummary *summary, const char *data, const char *out,
                         const FacetTrainOptions *options)
{
    return facet_policy_train(summary, data, out, options, NULL, NULL);
}

// ---- Samples ------------------------------------------------------------------------------------

static double normal(double value, double min, double max)
{
    return 2.0 * ((value - min) / (max - min)) - 1.0;
}

// Row `row` of a demo, or the first or last one.
static const double *row_of(const double *values, int dim, int length, int row)
{
    row = row < 0 ? 0 : row >= length ? length - 1 : row;
    return values + row * dim;
}

// A chunk begins at every row of every demo. Its end and its beginning are padded.
static void a_sample_is_a_chunk_with_what_was_seen_before(void **state)
{
    (void)state;
    enum { T = 5, N = 3, D = 2 };
    FacetTrainOptions options = observing();
    options.horizon = T;
    options.observe_steps = N;
    Training t = {.options = &options};
    FacetDataset *dataset;
    const FacetDatasetRequest request = {place, 2, NULL, NULL};
    assert_ok(facet_dataset_read_some(&dataset, "small.h5", &request));
    assert_ok(training_set_up(&t, dataset, "small.h5", false));
    assert_int_equal(t.samples.count, dataset->rows);
    assert_int_equal(t.policy->observe->shown, D);
    double low[D] = {HUGE_VAL, HUGE_VAL}, high[D] = {-HUGE_VAL, -HUGE_VAL};
    const double *all = dataset->observations[0].values;
    for (int64_t i = 0; i < dataset->rows * D; i++) {
        low[i % D] = fmin(low[i % D], all[i]);
        high[i % D] = fmax(high[i % D], all[i]);
    }
    int sample = 0, short_demos = 0;
    for (int demo = 0; demo < dataset->demos; demo++) {
        int length = facet_dataset_length(dataset, demo);
        const double *actions = facet_dataset_actions(dataset, demo);
        const double *places = facet_dataset_observed(dataset, &dataset->observations[0], demo);
        short_demos += length < T;
        for (int first = 0; first < length; first++, sample++) {
            float x[T * D], numbers[N * D];
            int z[2];
            samples_get(x, z, numbers, NULL, &t.samples, sample, 2);
            assert_int_equal(z[0], dataset->tasks[demo].value[0]);
            assert_int_equal(z[1], dataset->tasks[demo].value[1]);
            const Normalizer *range = policy_normalizer(t.policy);
            for (int k = 0; k < T * D; k++)
                assert_near((double)x[k],
                            normal(row_of(actions, D, length, first + k / D)[k % D],
                                   range->min[k % D], range->max[k % D]),
                            1e-6);
            for (int k = 0; k < N * D; k++)
                assert_near((double)numbers[k],
                            normal(row_of(places, D, length, first - (N - 1) + k / D)[k % D],
                                   low[k % D], high[k % D]),
                            1e-6);
        }
    }
    assert_true(short_demos > 0 && short_demos < dataset->demos);
    assert_int_equal(t.padded, short_demos);
    facet_dataset_destroy(dataset);
    facet_policy_destroy(t.policy);
    samples_free(&t.samples);
    for (int i = 0; i < CHECK_SETS; i++) samples_free(&t.checked[i]);
}

// ---- What is learned ----------------------------------------------------------------------------

static const char *const held_out[] = {"middle/centre", "left/high"};

static FacetPolicy *train_robot(FacetPolicyMethod method, const char *out)
{
    FacetTrainOptions options = observing();
    FacetTrainSummary summary;
    FacetPolicy *policy;
    options.method = method;
    options.hold_out = held_out;
    options.hold_out_count = 2;
    options.updates = 1500;
    options.batch = 32;
    options.blocks = 1;
    options.channels = 32;
    options.embed = 8;
    options.horizon = 8;
    options.rate = 3e-3;
    if (method == FACET_POLICY_FACTORED) options.composed_weight = 1.0;
    assert_ok(facet_policy_train(&summary, "robot.h5", out, &options, test_pool(2), NULL));
    assert_ok(facet_policy_load(&policy, out));
    return policy;
}

// The mean distance from the goal after 20 steps, from several places.
static double distance_left(const FacetPolicy *policy, const char *text, double x, double y)
{
    static const double starts[][2] = {{-0.8, -0.7}, {0.9, 0.1}, {0.3, 0.8}, {-0.2, -0.9}};
    FacetFactorTask task;
    FacetAgent *agent;
    double left = 0.0, mode = 7.0;
    assert_ok(facet_factor_task_parse(&task, policy->space, text, FACET_FACTOR_MISSING_REFUSED));
    assert_ok(facet_agent_create(&agent, policy, task, NULL, NULL));
    for (int s = 0; s < 4; s++) {
        double at[2] = {starts[s][0], starts[s][1]}, action[2];
        assert_ok(facet_agent_reset(agent, (uint64_t)s));
        for (int i = 0; i < 20; i++) {
            assert_ok(facet_agent_observe(agent, "place", at, 2));
            assert_ok(facet_agent_observe(agent, "mode", &mode, 1));
            assert_ok(facet_agent_act(action, agent));
            for (int d = 0; d < 2; d++) at[d] += action[d];
        }
        left += 0.25 * hypot(at[0] - x, at[1] - y);
    }
    facet_agent_destroy(agent);
    return left;
}

// Held-out goals are reached in closed loop, by a policy that is told the goal.
static void a_held_out_goal_is_reached(void **state)
{
    (void)state;
    FacetPolicy *factored = train_robot(FACET_POLICY_FACTORED, "factored");
    FacetPolicy *baseline = train_robot(FACET_POLICY_BASELINE, "baseline");
    assert_less(distance_left(factored, "right/low", 0.6, -0.6), 0.15);
    double ours = distance_left(factored, "middle/centre", 0.0, 0.0) +
                  distance_left(factored, "left/high", -0.6, 0.6);
    double theirs = distance_left(baseline, "middle/centre", 0.0, 0.0) +
                    distance_left(baseline, "left/high", -0.6, 0.6);
    assert_less(ours, 0.4);
    assert_less(2.0 * ours, theirs);
    // Demos of middle/centre come from three times as far: the ranges are those of training.
    assert_less(factored->observe->ranges->max[0], 1.0 + 1e-9);
    assert_less(-1.0 - 1e-9, factored->observe->ranges->min[0]);
    assert_less(factored->normalizer->max[0], 0.6);
    facet_policy_destroy(baseline);
    facet_policy_destroy(factored);
}

static void every_method_takes_observations(void **state)
{
    (void)state;
    for (int images = 0; images < 2; images++)
        for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_ORACLE; method++) {
            FacetTrainOptions options = images ? seeing() : observing();
            FacetTrainSummary summary;
            FacetPolicy *policy;
            options.method = (FacetPolicyMethod)method;
            options.hold_out = (const char *const[]){"left/low"};
            options.hold_out_count = 1;
            bool factored = method == FACET_POLICY_FACTORED || method == FACET_POLICY_ORACLE;
            if (factored) options.composed_weight = 1.0;
            assert_ok(train(&summary, images ? "eyes_16x12.h5" : "small.h5", "policy", &options));
            assert_ok(facet_policy_load(&policy, "policy"));
            FacetPolicyInfo info = facet_policy_info(policy);
            assert_int_equal(info.method, method);
            assert_int_equal(info.horizon, 4);
            assert_int_equal(info.execute, 4);
            assert_int_equal(info.observe_steps, 2);
            assert_int_equal(info.observe_keys, images ? 3 : 2);
            assert_int_equal(info.observe_dim, images ? 2 : 3);
            assert_int_equal(info.observe_images, images ? 2 : 0);
            assert_int_equal(info.networks, method == FACET_POLICY_KNET ? 5 : 1);
            assert_string_equal(policy_record(policy)->recipe, "observe");
            assert_int_equal(info.default_steps, factored ? 6 : 10);
            // What is held out is looked at, where it is held out and there is one network.
            assert_int_equal(isnan(summary.held_out),
                             method == FACET_POLICY_ORACLE || method == FACET_POLICY_KNET);
            facet_policy_destroy(policy);
        }
}

// Each network of a knet trains an encoder of its own.
static void networks_do_not_share_an_encoder(void **state)
{
    (void)state;
    FacetTrainOptions options = seeing();
    FacetTrainSummary summary;
    FacetPolicy *policy;
    options.method = FACET_POLICY_KNET;
    assert_ok(train(&summary, "eyes_16x12.h5", "policy", &options));
    assert_ok(facet_policy_load(&policy, "policy"));
    size_t bytes = encoder_table(policy->encoder)->size * sizeof(float);
    for (int n = 1; n < policy->networks; n++)
        assert_true(memcmp(policy->encoder_params[n], policy->encoder_params[0], bytes) != 0);
    facet_policy_destroy(policy);
}

static void the_encoder_has_the_size_of_the_images(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        int width, height;
    } files[] = {{"eyes_84x84.h5", 84, 84}, {"eyes_50x38.h5", 50, 38}};
    for (int i = 0; i < 2; i++) {
        FacetTrainOptions options = seeing();
        FacetTrainSummary summary;
        FacetPolicy *policy;
        FacetAgent *agent;
        options.observe_count = 1;
        options.updates = 2;
        assert_ok(train(&summary, files[i].data, "policy", &options));
        assert_true(isfinite(summary.loss));
        assert_ok(facet_policy_load(&policy, "policy"));
        FacetPolicyInfo info = facet_policy_info(policy);
        assert_int_equal(info.frame_width, files[i].width);
        assert_int_equal(info.frame_height, files[i].height);
        static uint8_t rgb[84 * 84 * 3];
        double action[2];
        assert_ok(facet_agent_create(&agent, policy, facet_factor_split_task(policy->training, 0),
                                     NULL, NULL));
        assert_ok(facet_agent_observe_image(agent, "above", rgb, files[i].width, files[i].height));
        assert_ok(facet_agent_act(action, agent));
        assert_true(isfinite(action[0]) && isfinite(action[1]));
        facet_agent_destroy(agent);
        facet_policy_destroy(policy);
    }
}

// ---- The same bits ------------------------------------------------------------------------------

static void threads_change_no_byte(void **state)
{
    (void)state;
    for (int images = 0; images < 2; images++) {
        FacetTrainOptions options = images ? seeing() : observing();
        const char *data = images ? "eyes_16x12.h5" : "small.h5";
        FacetTrainSummary summary;
        options.composed_weight = 1.0;
        options.filter = "train";
        options.validate = "valid";
        for (int threads = 1; threads <= 3; threads++) {
            assert_ok(facet_policy_train(&summary, data, threads == 1 ? "one" : "many", &options,
                                         test_pool(threads), NULL));
            if (threads == 1) continue;
            assert_same_files("one", "many");
            assert_same_files("one.csv", "many.csv");
        }
    }
}

static bool stop_at_update(void *context, const FacetProgressEvent *event)
{
    return event->done != *(const long *)context;
}

// Whatever the method, and whichever network it is in.
static void an_interrupted_training_goes_on_to_the_same_bytes(void **state)
{
    (void)state;
    static const struct {
        FacetPolicyMethod method;
        bool images;
        long stop;
    } cases[] = {{FACET_POLICY_FACTORED, false, 7},
                 {FACET_POLICY_FACTORED, true, 2},
                 {FACET_POLICY_KNET, true, 5}};
    for (int i = 0; i < 3; i++) {
        FacetTrainOptions options = cases[i].images ? seeing() : observing();
        const char *data = cases[i].images ? "eyes_16x12.h5" : "small.h5";
        FacetTrainSummary summary, again;
        options.method = cases[i].method;
        options.validate = "valid";
        const FacetProgress progress = {.report = stop_at_update,
                                        .context = (void *)&(long){cases[i].stop}};
        assert_ok(train(&summary, data, "straight", &options));
        FacetStatus status = facet_policy_train(&again, data, "broken", &options, NULL, &progress);
        assert_int_equal(status.code, FACET_INTERRUPTED);
        options.resume = true;
        assert_ok(train(&again, data, "broken", &options));
        assert_int_equal(again.resumed, cases[i].stop);
        assert_same_files("straight", "broken");
        assert_same_files("straight.csv", "broken.csv");
        if (cases[i].method != FACET_POLICY_KNET) assert_true(again.valid == summary.valid);
    }
}

// A look at what is not learned changes nothing in what is.
static void validation_changes_no_weight(void **state)
{
    (void)state;
    for (int images = 0; images < 2; images++) {
        FacetTrainOptions options = images ? seeing() : observing();
        const char *data = images ? "eyes_16x12.h5" : "small.h5";
        FacetTrainSummary summary;
        options.filter = "train";
        assert_ok(train(&summary, data, "unseen", &options));
        assert_true(isnan(summary.valid));
        options.validate = "valid";
        assert_ok(train(&summary, data, "looked", &options));
        assert_true(summary.valid > 0.0 && summary.valid_composed > 0.0);
        assert_same_files("unseen", "looked");
    }
}

// Without a filter the rest is learned; a demo in both lists is refused.
static void what_validates_is_not_learned(void **state)
{
    (void)state;
    FacetTrainOptions options = observing();
    FacetTrainSummary summary;
    options.filter = "train";
    options.validate = "valid";
    assert_ok(train(&summary, "small.h5", "both", &options));
    int demos = summary.demos;
    options.filter = NULL;
    assert_ok(train(&summary, "small.h5", "one", &options));
    assert_int_equal(summary.demos, demos);
    assert_same_files("both", "one");
    options.filter = "valid";
    assert_refused(train(&summary, "small.h5", "refused", &options),
                   "small.h5: mask: expected no demo in both 'valid' and 'valid', found 'demo_");
    assert_int_equal(access("refused", F_OK), -1);
}

// The cells of the CSV row of an update.
static int split_row(char cells[12][32], const char *text, long update)
{
    char begin[32];
    snprintf(begin, sizeof begin, "\n0,%ld,", update);
    const char *at = strstr(text, begin);
    assert_non_null(at);
    int count = 0;
    for (at++; count < 12; count++) {
        size_t length = strcspn(at, ",\n");
        snprintf(cells[count], 32, "%.*s", (int)length, at);
        at += length + 1;
        if (at[-1] == '\n') return count + 1;
    }
    return count;
}

// Many networks say where their losses are; a training that cannot look at them is refused.
static void validation_is_never_left_out_in_silence(void **state)
{
    (void)state;
    FacetTrainOptions options = observing();
    FacetTrainSummary summary;
    size_t size;
    options.validate = "valid";
    options.method = FACET_POLICY_KNET;
    assert_ok(train(&summary, "small.h5", "many", &options));
    assert_non_null(strstr(summary.remarks, "losses of what is not learned are each network's own, "
                                            "of its value's demonstrations: they are in many.csv "
                                            "alone\n"));
    char *text = read_bytes(&size, "many.csv"), cells[12][32];
    text[size] = '\0';
    assert_int_equal(split_row(cells, text, 20), 12);
    assert_true(cells[8][0] != '\0');
    free(text);
    options.method = FACET_POLICY_FACTORED;
    options.batch = 1;
    assert_refused(train(&summary, "small.h5", "none", &options),
                   "expected one rank and a larger batch to look at the loss on 'valid', found 1 "
                   "rank and a batch of 1");
    assert_int_equal(access("none", F_OK), -1);
}

// ---- The log and what is said -------------------------------------------------------------------

static void the_log_has_ten_looks(void **state)
{
    (void)state;
    FacetTrainOptions options = observing();
    FacetTrainSummary summary;
    size_t size;
    options.filter = "train";
    options.validate = "valid";
    options.hold_out = (const char *const[]){"right/high"};
    options.hold_out_count = 1;
    assert_ok(train(&summary, "small.h5", "policy", &options));
    assert_int_equal(summary.demos, 3);
    char *text = read_bytes(&size, "policy.csv"), cells[12][32];
    text[size] = '\0';
    const char header[] = "network,update,epoch,loss,denoise,composed,grad_norm,rate,valid,"
                          "valid_composed,held_out,held_out_composed\n";
    assert_memory_equal(text, header, sizeof header - 1);
    for (long update = 1; update <= 20; update++) {
        assert_int_equal(split_row(cells, text, update), 12);
        for (int i = 8; i < 12; i++) assert_int_equal(cells[i][0] != '\0', update % 2 == 0);
    }
    assert_near(strtod(cells[8], NULL), summary.valid, 1e-8);
    assert_near(strtod(cells[9], NULL), summary.valid_composed, 1e-8);
    assert_near(strtod(cells[10], NULL), summary.held_out, 1e-8);
    assert_near(strtod(cells[11], NULL), summary.held_out_composed, 1e-8);
    free(text);
}

static void the_summary_has_remarks(void **state)
{
    (void)state;
    FacetTrainOptions options = observing();
    FacetTrainSummary summary;
    options.horizon = 5;
    options.filter = "train";
    options.hold_out = (const char *const[]){"right/high"};
    options.hold_out_count = 1;
    assert_ok(train(&summary, "small.h5", "policy", &options));
    assert_non_null(
        strstr(summary.remarks, "1 of 3 observed numbers never change and are left out: mode 0\n"));
    assert_non_null(strstr(summary.remarks, " demonstrations are shorter than the horizon of 5: "
                                            "their last action is repeated\n"));
    assert_non_null(strstr(summary.remarks, "column 'right' has one demonstration alone\n"));
    assert_non_null(strstr(summary.remarks, "row 'high' has one demonstration alone\n"));
    assert_null(strstr(summary.remarks, "column 'left' has"));
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    FacetTrainSummary summary;
    FacetTrainOptions options;
#define REFUSED(setting, words)                                                                    \
    do {                                                                                           \
        options = observing();                                                                     \
        setting;                                                                                   \
        assert_refused(train(&summary, "small.h5", "refused", &options), words);                   \
        assert_int_equal(access("refused", F_OK), -1);                                             \
    } while (0)
    REFUSED((options.observe = (const char *const[]){"plac"}, options.observe_count = 1),
            "small.h5: data/demo_0/obs: no observation 'plac', did you mean 'place'? known: mode, "
            "place");
    REFUSED((options.observe = (const char *const[]){"place", "place"}),
            "observation 'place' is named twice");
    REFUSED((options.observe = place + 1, options.observe_count = 1),
            "expected numbers that change, found 1 constants");
    REFUSED(options.execute = 5, "expected at most 4 actions to execute, the horizon, found 5");
    REFUSED(options.observe_steps = 65, "expected steps from 1 to 64, found 65");
    REFUSED(options.filter = "tran", "small.h5: mask: no filter 'tran', did you mean 'train'?");
    REFUSED(options.validate = "val", "small.h5: mask: no filter 'val'");
    REFUSED(options.encoder = "small", "expected no encoder for observations without images");
    REFUSED(options.encoder_from = "other", "a policy that does not see");
    REFUSED((options.recipe = "images", options.updates = 0),
            "the recipe 'images' does not say how long");
    REFUSED(options.observe_count = 0,
            "expected a horizon beside observations only, found no observation to take");
    REFUSED((options.observe_count = 0, options.horizon = 0),
            "expected demonstrations of one length to learn whole, found several; with "
            "observations (--observe) they are learned in chunks");
    options = seeing();
    options.encoder = "large";
    assert_refused(train(&summary, "eyes_16x12.h5", "refused", &options), "'large'");
    options = observing();
    options.hold_out = (const char *const[]){"left/low", "left/high", "right/low"};
    options.hold_out_count = 3;
    assert_refused(train(&summary, "small.h5", "refused", &options), "found one task");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_is_a_chunk_with_what_was_seen_before),
        cmocka_unit_test(a_held_out_goal_is_reached),
        cmocka_unit_test(every_method_takes_observations),
        cmocka_unit_test(networks_do_not_share_an_encoder),
        cmocka_unit_test(the_encoder_has_the_size_of_the_images),
        cmocka_unit_test(threads_change_no_byte),
        cmocka_unit_test(an_interrupted_training_goes_on_to_the_same_bytes),
        cmocka_unit_test(validation_changes_no_weight),
        cmocka_unit_test(what_validates_is_not_learned),
        cmocka_unit_test(validation_is_never_left_out_in_silence),
        cmocka_unit_test(the_log_has_ten_looks),
        cmocka_unit_test(the_summary_has_remarks),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, write_files, scratch_leave);
}
