// Whole trainings of policies that see: the same bits on any number of threads and after any end of
// a run, stops that more frames follow, encoders taken over, and what is refused.
#include "policy/parts.h"
#include "policy/squares.h"
#include "pools.h"

#include <signal.h>
#include <time.h>

static const char *const both_files[] = {"first.h5", "second.h5"};

static int write_files(void **state)
{
    (void)state;
    write_squares("first.h5", square_shape, 18, 0);
    write_squares("second.h5", square_shape, 12, 1000);
    return 0;
}

static FacetStatus train(FacetTrainSummary *summary, int files, const char *out,
                         const FacetTrainOptions *options)
{
    return facet_policy_train_images(summary, both_files, files, out, options, NULL, NULL);
}

static FacetStatus train_on_two(FacetTrainSummary *summary, int files, const char *out,
                                const FacetTrainOptions *options)
{
    return facet_policy_train_images(summary, both_files, files, out, options, test_pool(2), NULL);
}

static void assert_different_files(const char *a, const char *b)
{
    size_t first_size, second_size;
    char *first = read_bytes(&first_size, a), *second = read_bytes(&second_size, b);
    assert_true(first_size != second_size || memcmp(first, second, first_size) != 0);
    free(first);
    free(second);
}

// ---- What comes out -----------------------------------------------------------------------------

static void a_policy_sees_after_training(void **state)
{
    (void)state;
    FacetTrainOptions options = square_training();
    FacetTrainSummary summary;
    FacetPolicy *policy;
    assert_ok(train(&summary, 2, "policy", &options));
    assert_int_equal(summary.demos, 30);
    assert_int_equal(summary.tasks, 6);
    assert_int_equal(summary.updates, 6);
    assert_int_equal(summary.resumed, 0);
    assert_true(summary.loss > 0.0);
    assert_int_equal(access("policy.ckpt", F_OK), -1);
    assert_ok(facet_policy_load(&policy, "policy"));
    assert_true(policy_sees(policy));
    assert_int_equal(policy_record(policy)->updates, 6);
    assert_int_equal(policy_record(policy)->draws, 2);
    assert_true(policy_record(policy)->loss == summary.loss);
    assert_string_equal(policy_record(policy)->data, "first.h5");

    // It plans from a frame of the camera, which is twice as large as those of the file.
    int width, height;
    policy_frame_size(policy, &width, &height);
    assert_int_equal(width, 320);
    assert_int_equal(height, 240);
    FacetPolicyRunner *runner;
    double bright[SQUARE_SIZE], dark[SQUARE_SIZE];
    uint8_t *frame = malloc(320 * 240 * 3);
    assert_non_null(frame);
    FacetFactorTask task = factor_task_at(facet_policy_space(policy), 3);
    assert_ok(facet_policy_runner_create(&runner, policy, 1, 1, NULL));
    memset(frame, 200, 320 * 240 * 3);
    const FacetPolicyObserved observed = {.frames = frame};
    assert_ok(facet_policy_runner_sample(bright, runner, &task, &observed, 1,
                                         &(FacetPolicySampling){0}, NULL));
    memset(frame, 50, 320 * 100 * 3);
    assert_ok(facet_policy_runner_sample(dark, runner, &task, &observed, 1,
                                         &(FacetPolicySampling){0}, NULL));
    for (int i = 0; i < SQUARE_SIZE; i++) {
        assert_true(isfinite(bright[i]));
        assert_true(isfinite(dark[i]));
    }
    assert_true(memcmp(bright, dark, sizeof bright) != 0);
    free(frame);
    facet_policy_runner_destroy(runner);
    facet_policy_destroy(policy);
}

// The largest number of what the factors select with.
static float largest_selection(const char *path)
{
    FacetPolicy *policy;
    float largest = 0.0f;
    assert_ok(facet_policy_load(&policy, path));
    const ScoreNetConfig *c = &policy->net->config;
    assert_true(score_selects(c));
    for (int i = 0; i < score_embed_width(c) * c->context; i++)
        largest = fmaxf(largest, fabsf(policy->params[0][policy->net->select_weight + (size_t)i]));
    assert_int_equal(policy_record(policy)->no_selection, largest == 0.0f);
    facet_policy_destroy(policy);
    return largest;
}

static void a_selection_that_is_left_out_stays_zero(void **state)
{
    (void)state;
    FacetTrainOptions options = square_training();
    FacetTrainSummary summary;
    options.composed_weight = 1.0;
    assert_ok(train(&summary, 1, "selects", &options));
    assert_true(largest_selection("selects") > 0.0f);
    options.no_selection = options.resume = true;
    assert_refused(train(&summary, 1, "selects", &options),
                   "selects: expected the train_selection of this run, off, found none");
    assert_ok(train(&summary, 1, "plain", &options));
    assert_true(largest_selection("plain") == 0.0f);
    options.no_selection = false;
    assert_refused(train(&summary, 1, "plain", &options),
                   "plain: expected the train_selection of this run, on, found off");
    options = square_training();
    options.no_selection = true;
    options.method = FACET_POLICY_BASELINE;
    assert_refused(train(&summary, 1, "baseline", &options), "found one without a selection");
}

static void same_bits_on_any_thread_count(void **state)
{
    (void)state;
    FacetTrainOptions options = square_training();
    FacetTrainSummary summary;
    options.composed_weight = 1.0;
    assert_ok(train(&summary, 2, "one", &options));
    assert_ok(train_on_two(&summary, 2, "two", &options));
    assert_same_files("one", "two");
    assert_same_files("one.csv", "two.csv");
    options.seed++;
    assert_ok(train(&summary, 2, "two", &options));
    assert_different_files("one.csv", "two.csv");
}

static void patterns_hold_out_all_they_match(void **state)
{
    (void)state;
    static const char *const patterns[] = {"place=c", "a/away"};
    FacetTrainOptions options = square_training();
    FacetTrainSummary summary;
    options.updates = 1;
    options.hold_out = patterns;
    options.hold_out_count = 2;
    for (int oracle = 0; oracle < 2; oracle++) {
        FacetPolicy *policy;
        options.method = oracle ? FACET_POLICY_ORACLE : FACET_POLICY_FACTORED;
        assert_ok(train(&summary, 2, "policy", &options));
        assert_ok(facet_policy_load(&policy, "policy"));
        assert_int_equal(summary.demos, oracle ? 30 : 15); // five frames a task
        assert_int_equal(summary.tasks, oracle ? 6 : 3);
        assert_int_equal(facet_factor_split_count(facet_policy_held_out(policy)), oracle ? 0 : 3);
        assert_int_equal(facet_policy_knows(policy, 0, 2), oracle);
        facet_policy_destroy(policy);
    }
    options.method = FACET_POLICY_FACTORED;
    options.hold_out = (const char *const[]){"place=d"};
    options.hold_out_count = 1;
    assert_refused(train(&summary, 1, "other", &options), "hold-out task 'place=d': no place 'd'");
    options.hold_out = (const char *const[]){"*/there", "way=away"};
    options.hold_out_count = 2;
    assert_refused(train(&summary, 1, "other", &options),
                   "first.h5: expected demonstrations to train on, found all 18 held out");
}

// ---- Stops and resumes --------------------------------------------------------------------------

// A stop changes nothing; frames that join after it change what follows, and not what went before.
static void training_stops_and_goes_on(void **state)
{
    (void)state;
    FacetTrainOptions options = square_training();
    FacetTrainSummary summary;
    FacetPolicy *policy;
    assert_ok(train(&summary, 1, "straight", &options));

    options.until = 4;
    assert_ok(train(&summary, 1, "stopped", &options));
    assert_int_equal(summary.updates, 4);
    assert_int_equal(access("stopped.ckpt", F_OK), 0);
    assert_ok(facet_policy_load(&policy, "stopped")); // it flies as it is
    assert_int_equal(policy_record(policy)->updates, 4);
    facet_policy_destroy(policy);
    assert_refused(train(&summary, 1, "stopped", &options),
                   "stopped.ckpt: there is an unfinished training");

    // Stopped once more at the same place, it is where it was.
    options.resume = true;
    size_t size, again_size;
    char *bytes = read_bytes(&size, "stopped");
    assert_ok(train(&summary, 1, "stopped", &options));
    assert_int_equal(summary.resumed, 4);
    char *again = read_bytes(&again_size, "stopped");
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again, size);
    free(bytes);
    free(again);

    options.until = 3;
    assert_refused(train(&summary, 1, "stopped", &options),
                   "stopped.ckpt: expected at most 3 updates, found 4");
    options.until = 0;
    bytes = read_bytes(&size, "stopped.ckpt");
    assert_ok(train_on_two(&summary, 1, "stopped", &options));
    assert_int_equal(summary.resumed, 4);
    assert_int_equal(summary.updates, 6);
    assert_int_equal(access("stopped.ckpt", F_OK), -1);
    assert_same_files("straight", "stopped");
    assert_same_files("straight.csv", "stopped.csv");

    write_bytes("more.ckpt", bytes, size);
    free(bytes);
    assert_ok(train(&summary, 2, "more", &options));
    assert_int_equal(summary.resumed, 4);
    assert_int_equal(summary.demos, 30);
    assert_different_files("straight", "more");
}

// A killed training goes on from its last checkpoint, also with frames that joined at a stop.
static void a_killed_training_resumes(void **state)
{
    (void)state;
    FacetTrainOptions options = square_training();
    FacetTrainSummary summary;
    options.updates = 400;
    options.until = 2;
    options.checkpoint_every = 2;
    assert_ok(train(&summary, 1, "killed", &options));
    options.resume = true;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FacetTrainOptions endless = options;
        endless.until = 0;
        _exit(train(&summary, 2, "killed", &endless).ok ? 0 : 1);
    }
    // Its log has rows behind a checkpoint that is newer than the stop's.
    int status, rows = 0;
    while (rows < 6 && waitpid(child, &status, WNOHANG) == 0) {
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        char line[200];
        FILE *log = fopen("killed.csv", "r");
        assert_non_null(log);
        for (rows = -1; fgets(line, sizeof line, log);) rows++;
        fclose(log);
    }
    assert_true(rows >= 6);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));

    options.until = 14;
    assert_ok(train(&summary, 2, "killed", &options));
    assert_true(summary.resumed > 2);
    assert_true(summary.resumed < 14);

    options.resume = false;
    options.until = 2;
    assert_ok(train(&summary, 1, "straight", &options));
    options.resume = true;
    options.until = 14;
    assert_ok(train(&summary, 2, "straight", &options));
    assert_same_files("straight", "killed");
    assert_same_files("straight.csv", "killed.csv");
    assert_same_files("straight.ckpt", "killed.ckpt");
}

static void a_finished_training_is_left_alone(void **state)
{
    (void)state;
    FacetTrainOptions options = square_training();
    FacetTrainSummary summary;
    assert_ok(train(&summary, 1, "policy", &options));
    size_t size, size_after;
    char *before = read_bytes(&size, "policy");
    options.resume = true;
    options.command = "another command";
    assert_ok(train(&summary, 1, "policy", &options));
    assert_int_equal(summary.resumed, 6);
    assert_int_equal(summary.updates, 6);
    char *after = read_bytes(&size_after, "policy");
    assert_int_equal(size, size_after);
    assert_memory_equal(before, after, size);
    free(before);
    free(after);
    options.updates = 7;
    assert_refused(train(&summary, 1, "policy", &options),
                   "policy: expected a training of 7 updates or its checkpoint, found the policy "
                   "after 6 and no checkpoint");
}

static void another_training_does_not_resume(void **state)
{
    (void)state;
    FacetTrainOptions options = square_training();
    FacetTrainSummary summary;
    options.until = 2;
    assert_ok(train(&summary, 1, "policy", &options));
    options.resume = true;
    options.updates = 8;
    assert_refused(train(&summary, 1, "policy", &options),
                   "policy.ckpt: expected a training of 8 updates, found one of 6");
    options.updates = 6;
    options.draws = 3;
    assert_refused(train(&summary, 1, "policy", &options),
                   "policy.ckpt: expected the train_draws of this run, 3, found 2");
    options.draws = 2;
    options.jitter = -1.0;
    assert_refused(train(&summary, 1, "policy", &options),
                   "policy.ckpt: expected the train_jitter of this run, 0, found 1");
    options.jitter = 0.0;
    options.knee = 2.0;
    assert_refused(train(&summary, 1, "policy", &options), "policy.ckpt: expected the normalizer");
    options.knee = 0.0;
    assert_refused(
        facet_policy_train_images(&summary, both_files + 1, 1, "policy", &options, NULL, NULL),
        "policy.ckpt: expected the ");
    // A stop whose checkpoint is lost is no end.
    assert_int_equal(unlink("policy.ckpt"), 0);
    assert_refused(train(&summary, 1, "policy", &options),
                   "policy: expected a training of 6 updates or its checkpoint, found the policy "
                   "after 2 and no checkpoint");
}

// ---- The encoder of another ---------------------------------------------------------------------

static void an_encoder_is_taken_over_and_kept(void **state)
{
    (void)state;
    FacetTrainOptions options = square_training();
    FacetTrainSummary summary;
    FacetPolicy *giver, *taker;
    assert_ok(train(&summary, 1, "giver", &options));
    options.encoder_from = "giver";
    options.seed++;
    assert_ok(train(&summary, 1, "taker", &options));
    assert_ok(facet_policy_load(&giver, "giver"));
    assert_ok(facet_policy_load(&taker, "taker"));
    size_t bytes = encoder_table(giver->encoder)->size * sizeof(float);
    assert_memory_equal(taker->encoder_params[0], giver->encoder_params[0], bytes);
    assert_true(
        memcmp(taker->params[0], giver->params[0], giver->net->table.size * sizeof(float)) != 0);
    assert_true(policy_record(taker)->frozen_encoder);
    assert_false(policy_record(giver)->frozen_encoder);
    facet_policy_destroy(taker);
    facet_policy_destroy(giver);

    // It resumes with the encoder frozen.
    options.until = 3;
    assert_ok(train(&summary, 1, "stopped", &options));
    options.until = 0;
    options.resume = true;
    assert_ok(train(&summary, 1, "stopped", &options));
    assert_same_files("taker", "stopped");
    options.resume = false;
    options.until = 3;
    assert_ok(train(&summary, 1, "thawed", &options));
    options.resume = true;
    options.encoder_from = NULL;
    assert_refused(train(&summary, 1, "thawed", &options),
                   "thawed.ckpt: expected the train_encoder of this run");
}

static void encoders_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions options = square_training(), blind = tiny_training();
    FacetTrainSummary summary;
    assert_ok(facet_policy_train(&summary, "waves.h5", "blind", &blind, NULL, NULL));
    options.encoder_from = "blind";
    assert_refused(train(&summary, 1, "policy", &options),
                   "blind: expected a policy that sees, found one without an encoder");
    options.encoder_from = "missing";
    assert_refused(train(&summary, 1, "policy", &options), "missing");

    // One that differs from 'small' in how it shrinks frames, by its file.
    options.encoder_from = NULL;
    options.updates = 1;
    FacetPolicy *policy;
    assert_ok(train(&summary, 1, "small", &options));
    assert_ok(facet_policy_load(&policy, "small"));
    EncoderConfig other = *encoder_config(policy->encoder);
    other.shrink = 1;
    encoder_free(policy->encoder);
    assert_ok(encoder_create(&policy->encoder, other));
    assert_ok(policy_save(policy, "other", TENSOR_F32));
    facet_policy_destroy(policy);
    options.encoder_from = "other";
    assert_refused(train(&summary, 1, "policy", &options),
                   "other: expected the encoder 'small', found another");
    assert_int_equal(access("policy", F_OK), -1);
    assert_int_equal(access("policy.ckpt", F_OK), -1);
}

// ---- Refusals -----------------------------------------------------------------------------------

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    FacetTrainOptions options;
    FacetTrainSummary summary;
#define REFUSED(setting, words)                                                                    \
    do {                                                                                           \
        options = square_training();                                                               \
        setting;                                                                                   \
        assert_refused(train(&summary, 1, "policy", &options), words);                             \
    } while (0)
    REFUSED(options.method = FACET_POLICY_KNET, "found the method knet");
    REFUSED(options.encoder = NULL, "expected an encoder for frames, found none");
    REFUSED(options.encoder = "smal", "no encoder 'smal': small, small160, resnet18");
    REFUSED(options.encoder = "resnet18",
            "first.h5: expected frames of 320 x 240 for the encoder 'resnet18', found 80 x 60");
    REFUSED(options.updates = 0, "expected 1 update or more and a stop before the last, found 0");
    REFUSED(options.until = 7, "expected 1 update or more and a stop before the last, found 6");
    REFUSED(options.until = -1, "a stop before the last, found 6 and -1");
    REFUSED(options.jitter = 1.5, "expected a jitter from 0 to 1, found 1.5");
    options = square_training();
    write_squares("large.h5", (FacetFrameShape){320, 240, SQUARE_T, SQUARE_D}, 6, 0);
    const char *const large[] = {"large.h5"}, *const mixed[] = {"first.h5", "large.h5"};
    assert_refused(facet_policy_train_images(&summary, large, 1, "policy", &options, NULL, NULL),
                   "large.h5: expected frames of 80 x 60 for the encoder 'small', found 320 x "
                   "240");
    assert_refused(facet_policy_train_images(&summary, mixed, 2, "policy", &options, NULL, NULL),
                   "large.h5");
    assert_int_equal(access("policy", F_OK), -1);
    // Demonstrations without frames have no use for an encoder.
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions blind = tiny_training();
    blind.encoder = "small";
    assert_refused(facet_policy_train(&summary, "waves.h5", "policy", &blind, NULL, NULL),
                   "expected an encoder beside observations only");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_policy_sees_after_training, write_files, scratch_clean),
        cmocka_unit_test_setup_teardown(a_selection_that_is_left_out_stays_zero, write_files,
                                        scratch_clean),
        cmocka_unit_test_setup_teardown(same_bits_on_any_thread_count, write_files, scratch_clean),
        cmocka_unit_test_setup_teardown(patterns_hold_out_all_they_match, write_files,
                                        scratch_clean),
        cmocka_unit_test_setup_teardown(training_stops_and_goes_on, write_files, scratch_clean),
        cmocka_unit_test_setup_teardown(a_killed_training_resumes, write_files, scratch_clean),
        cmocka_unit_test_setup_teardown(a_finished_training_is_left_alone, write_files,
                                        scratch_clean),
        cmocka_unit_test_setup_teardown(another_training_does_not_resume, write_files,
                                        scratch_clean),
        cmocka_unit_test_setup_teardown(an_encoder_is_taken_over_and_kept, write_files,
                                        scratch_clean),
        cmocka_unit_test_setup_teardown(encoders_that_do_not_fit_are_refused, write_files,
                                        scratch_clean),
        cmocka_unit_test_setup_teardown(wrong_settings_are_refused, write_files, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
