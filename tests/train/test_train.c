// Training: what it learns, the same bits on any number of threads and after any end of a run, and
// what it refuses.
#include "policy/waves.h"
#include "pools.h"
#include "train/training.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>

// On the calling thread, with nobody watching.
static FacetStatus train(FacetTrainSummary *summary, const char *data, const char *out,
                         const FacetTrainOptions *options)
{
    return facet_policy_train(summary, data, out, options, NULL, NULL);
}

static const char *const held_out[] = {"track=b,size=m"};

// ---- What comes out -----------------------------------------------------------------------------

static void every_method_trains(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_ORACLE; method++) {
        FacetTrainOptions options = tiny_training();
        FacetTrainSummary summary;
        FacetPolicy *policy;
        options.method = (FacetPolicyMethod)method;
        options.hold_out = held_out;
        options.hold_out_count = 1;
        assert_ok(train(&summary, "waves.h5", "policy", &options));
        assert_ok(facet_policy_load(&policy, "policy"));
        bool all = method == FACET_POLICY_ORACLE, several = method == FACET_POLICY_KNET;
        assert_int_equal(policy_method(policy), method);
        assert_int_equal(facet_factor_split_count(facet_policy_training(policy)), all ? 6 : 5);
        assert_int_equal(facet_factor_split_count(facet_policy_held_out(policy)), all ? 0 : 1);
        assert_int_equal(summary.demos, all ? 24 : 20);
        assert_int_equal(summary.networks, several ? 6 : 1);
        // knet: 20 demos for all, tracks of 8, 4 and 8, sizes of 12 and 8, ten epochs each
        assert_int_equal(summary.updates, all ? 30 : several ? 25 + 10 + 5 + 10 + 15 + 10 : 25);
        const PolicyRecord *record = policy_record(policy);
        assert_int_equal(record->updates, summary.updates);
        assert_true(record->loss == summary.loss);
        assert_true(record->loss > 0.0);
        assert_string_equal(record->recipe, "default");
        assert_string_equal(record->data, "waves.h5");
        assert_int_equal(strlen(record->data_hash), 16);
        bool factored = method == FACET_POLICY_FACTORED || method == FACET_POLICY_ORACLE;
        assert_near(record->drop[0], factored ? 0.1 : 0.0, 0.0);
        assert_int_equal(access("policy.ckpt", F_OK), -1);
        facet_policy_destroy(policy);
    }
}

static void a_composed_loss_makes_few_steps_the_default(void **state)
{
    (void)state;
    static const struct {
        const char *recipe;
        double composed_weight;
        int steps;
    } cases[] = {{"default", 0.0, 50}, {"default", 1.0, 6}, {"paper", 1.0, 50}};
    write_waves("waves.h5", WAVE_TASKS, false);
    for (int i = 0; i < 3; i++) {
        FacetTrainOptions options = tiny_training();
        FacetTrainSummary summary;
        FacetPolicy *policy;
        options.epochs = 1;
        options.recipe = cases[i].recipe;
        options.composed_weight = cases[i].composed_weight;
        assert_ok(train(&summary, "waves.h5", "policy", &options));
        assert_ok(facet_policy_load(&policy, "policy"));
        assert_int_equal(facet_policy_info(policy).default_steps, cases[i].steps);
        facet_policy_destroy(policy);
    }
}

// An epoch has every demo once, and no two epochs have the same order.
static void an_epoch_has_every_demo_once(void **state)
{
    (void)state;
    int members[50], before[50] = {0}, order[50];
    for (int i = 0; i < 50; i++) members[i] = 3 * i;
    for (long epoch = 0; epoch < 20; epoch++) {
        int seen[150] = {0};
        training_order(order, members, 50, 7, epoch);
        for (int i = 0; i < 50; i++) seen[order[i]]++;
        for (int i = 0; i < 150; i++) assert_int_equal(seen[i], i % 3 == 0);
        assert_true(memcmp(order, before, sizeof order) != 0);
        memcpy(before, order, sizeof order);
    }
    training_order(order, members, 50, 7, 19);
    assert_memory_equal(order, before, sizeof order);
}

// Nothing but the factors tells the methods apart: a knet's null network is the baseline.
static void the_null_network_is_the_baseline(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    FacetPolicy *knet, *baseline;
    options.method = FACET_POLICY_KNET;
    assert_ok(train(&summary, "waves.h5", "knet", &options));
    options.method = FACET_POLICY_BASELINE;
    assert_ok(train(&summary, "waves.h5", "baseline", &options));
    assert_ok(facet_policy_load(&knet, "knet"));
    assert_ok(facet_policy_load(&baseline, "baseline"));
    size_t bytes = knet->net->table.size * sizeof(float);
    assert_memory_equal(knet->params[0], baseline->params[0], bytes);
    for (int i = 1; i < knet->networks; i++)
        assert_true(memcmp(knet->params[i], knet->params[0], bytes) != 0);
    facet_policy_destroy(knet);
    facet_policy_destroy(baseline);
}

// The normalizer sees the training demos alone.
static void held_out_demos_are_not_looked_at(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    static const char *const large[] = {"a/m", "b/m", "c/m"};
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    FacetPolicy *policy;
    options.hold_out = large;
    options.hold_out_count = 3;
    assert_ok(train(&summary, "waves.h5", "policy", &options));
    assert_ok(facet_policy_load(&policy, "policy"));
    assert_less(policy_normalizer(policy)->max[1], 20.5);
    FacetFactorTask task;
    double actions[WAVE_T * WAVE_D];
    assert_ok(facet_factor_task_parse(&task, facet_policy_space(policy), "a/m",
                                      FACET_FACTOR_MISSING_REFUSED));
    assert_refused(facet_policy_sample(actions, policy, &task, 1, &(FacetPolicySampling){0}, NULL),
                   "the policy never saw size 'm': it knows s");
    facet_policy_destroy(policy);
}

// A network learns the waves, and composed plans for the held-out task are near the truth.
static void it_learns(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    options.epochs = 700;
    options.channels = 32;
    options.blocks = 2;
    options.rate = 4e-3;
    options.composed_weight = 1.0;
    options.hold_out = held_out;
    options.hold_out_count = 1;
    FacetPolicy *policy;
    FacetPool *pool = test_pool(2);
    assert_ok(facet_policy_train(&summary, "waves.h5", "policy", &options, pool, NULL));
    assert_ok(facet_policy_load(&policy, "policy"));
    assert_near(policy_record(policy)->drop[1], 0.3, 0.0);
    FacetFactorTask tasks[WAVE_TASKS];
    for (int i = 0; i < WAVE_TASKS; i++) tasks[i] = factor_task_at(facet_policy_space(policy), i);
    double actions[WAVE_TASKS][WAVE_T][WAVE_D];
    assert_ok(facet_policy_sample(actions[0][0], policy, tasks, WAVE_TASKS,
                                  &(FacetPolicySampling){.steps = 10}, pool));
    for (int i = 0; i < WAVE_TASKS; i++) {
        double square = 0.0, size = 0.0;
        for (int t = 0; t < WAVE_T; t++) {
            double truth = wave(tasks[i], t, 1);
            square += (actions[i][t][1] - truth) * (actions[i][t][1] - truth);
            size += truth * truth;
        }
        bool unseen = facet_factor_split_contains(facet_policy_held_out(policy), tasks[i]);
        assert_less(sqrt(square / size), unseen ? 0.9 : 0.35);
    }
    facet_policy_destroy(policy);
}

// Dilations and a network without positions are of the file, and lists that fit no network are
// refused.
static void a_network_can_see_farther(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    FacetPolicy *policy;
    options.blocks = 2;
    options.dilation = "1,3";
    options.no_position = true;
    for (int threads = 1; threads <= 3; threads++)
        assert_ok(facet_policy_train(&summary, "waves.h5", threads == 1 ? "one" : "many", &options,
                                     test_pool(threads), NULL));
    assert_same_files("one", "many");
    assert_ok(facet_policy_load(&policy, "one"));
    assert_int_equal(score_reach(&policy->net->config), 2 + 2 * (1 + 3));
    assert_null(tensor_find(&policy->net->table, "position"));
    facet_policy_destroy(policy);
    static const char *const wrong[] = {"1", "1,2,3", "1;3", "0,3", "1,999", ""};
    for (int i = 0; i < 6; i++) {
        options.dilation = wrong[i];
        assert_refused(train(&summary, "waves.h5", "policy", &options),
                       "dilation: expected 2 numbers from 1 to");
    }
}

static void same_bits_on_any_thread_count(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    options.composed_weight = 0.5, options.agreement_weight = 0.25;
    for (int threads = 1; threads <= 4; threads *= 2) {
        assert_ok(facet_policy_train(&summary, "waves.h5", threads == 1 ? "one" : "many", &options,
                                     test_pool(threads), NULL));
        if (threads == 1) continue;
        assert_same_files("one", "many");
        assert_same_files("one.csv", "many.csv");
    }
    options.seed++;
    assert_ok(train(&summary, "waves.h5", "many", &options));
    size_t size;
    char *one = read_bytes(&size, "one"), *other = read_bytes(&size, "many");
    assert_true(memcmp(one, other, size) != 0);
    free(one);
    free(other);
}

static void the_log_has_every_update(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    assert_ok(train(&summary, "waves.h5", "policy", &options));
    size_t size;
    char *text = read_bytes(&size, "policy.csv");
    text[size] = '\0';
    const char *line = strchr(text, '\n') + 1;
    double tail = 0.0;
    for (int i = 0; i < 30; i++, line = strchr(line, '\n') + 1) {
        int network;
        long update, epoch;
        double loss, rate;
        assert_int_equal(sscanf(line, "%d,%ld,%ld,%lf,%*f,%*f,%*f,%lf\n", &network, &update, &epoch,
                                &loss, &rate),
                         5);
        assert_int_equal(network, 0);
        assert_int_equal(update, i + 1);
        assert_int_equal(epoch, i / 3);
        assert_true(rate >= 0.0);
        assert_true(rate <= 1e-3);
        if (i >= 27) tail += loss / 3.0;
    }
    assert_int_equal(line - text, size);
    assert_near(tail, summary.loss, 1e-8);
    free(text);
}

// ---- Runs that end early ------------------------------------------------------------------------

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static bool go_on(void *context, const FacetProgressEvent *event)
{
    (void)context, (void)event;
    return !interrupted;
}

// Trains in a child process, which gets the signal once the checkpoint is there and a moment more
// has passed. Returns whether it was still at work.
static bool train_until(const FacetTrainOptions *options, const char *out, int signal_number,
                        long pause)
{
    char checkpoint[64];
    snprintf(checkpoint, sizeof checkpoint, "%s.ckpt", out);
    fflush(NULL);
    signal(SIGINT, on_interrupt); // which the child inherits
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        FacetTrainSummary summary;
        const FacetProgress watch = {.report = go_on};
        FacetStatus status = facet_policy_train(&summary, "waves.h5", out, options, NULL, &watch);
        _exit(status.ok ? 0 : strstr(status.text, "--resume continues from") ? 3 : 4);
    }
    int status, ended = 0;
    while (access(checkpoint, F_OK) != 0 && !(ended = waitpid(child, &status, WNOHANG)))
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    if (!ended) {
        kill(child, signal_number);
        assert_int_equal(waitpid(child, &status, 0), child);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
    if (signal_number == SIGKILL)
        assert_true(WIFSIGNALED(status));
    else
        assert_int_equal(WEXITSTATUS(status), 3);
    return true;
}

// Stops after some updates.
static bool stop_at_forty(void *context, const FacetProgressEvent *event)
{
    (void)context;
    return event->done < 40;
}

static void a_log_that_was_cut_is_told(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    const FacetProgress watch = {.report = stop_at_forty};
    options.epochs = 60;
    assert_refused(facet_policy_train(&summary, "waves.h5", "cut", &options, NULL, &watch),
                   "interrupted at update 40");
    options.resume = true;
    assert_int_equal(truncate("cut.csv", 400), 0); // the header, five rows and part of one
    assert_ok(facet_policy_train(&summary, "waves.h5", "cut", &options, NULL, NULL));
    assert_int_equal(summary.resumed, 40);
    assert_true(summary.log_missing > 30);
    assert_true(summary.log_missing < 40);
    options.resume = false;
    assert_ok(facet_policy_train(&summary, "waves.h5", "whole", &options, NULL, NULL));
    assert_int_equal(summary.log_missing, 0);
}

// A row that comes again, or before its time, is where a log ends.
static void rows_of_a_log_rise(void **state)
{
    (void)state;
    static const struct {
        const char *rows;
        long missing, length; // bytes of the rows that stay
    } cases[] = {
        {"0,1,x\n0,2,x\n1,1,x\n1,2,x\n", 0, 24},
        {"0,1,x\n0,2,x\n1,1,x\n1,3,x\n", 1, 18},
        {"0,1,x\n0,1,x\n1,1,x\n", 3, 6},
        {"0,1,x\n1,1,x\n0,2,x\n", 2, 12},
        {"0,2,x\n1,2,x\n", 2, 12},
        {"0,1,x\n 0,2,x\n", 3, 6},
        {"0,1,x\n0,2", 3, 6},
        {"0,1\n0,2\n", 4, 0},
        {"0,1,x\n,2,x\n", 3, 6},
        {"0,1,x\n0,,x\n", 3, 6},
    };
    const FacetTrainOptions options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Training training = {.options = &options, .csv = "rows.csv"};
        size_t header, size;
        assert_ok(log_open(&training, 0, 0, 0)); // a new one: the header alone
        assert_ok(log_close(&training));
        free(read_bytes(&header, "rows.csv"));
        FILE *file = fopen("rows.csv", "a");
        assert_non_null(file);
        fputs(cases[i].rows, file);
        assert_int_equal(fclose(file), 0);
        assert_ok(log_open(&training, 1, 2, 4));
        assert_ok(log_close(&training));
        free(read_bytes(&size, "rows.csv"));
        assert_int_equal(training.log_missing, cases[i].missing);
        assert_int_equal(size, header + (size_t)cases[i].length);
    }
}

// The time to read a log grows with its length alone.
static void a_long_log_is_read_in_time(void **state)
{
    (void)state;
    enum { ROWS = 200000 };
    const FacetTrainOptions options = {0};
    Training training = {.options = &options, .csv = "long.csv"};
    assert_ok(log_open(&training, 0, 0, 0));
    const TrainReport report = {.loss = 1.0};
    for (int i = 1; i <= ROWS; i++) {
        TrainReport row = report;
        row.update = i;
        assert_ok(log_row(&training, &row, 0, NULL));
    }
    assert_ok(log_close(&training));
    clock_t start = clock();
    assert_ok(log_open(&training, 0, ROWS, ROWS));
    assert_less((double)(clock() - start) / CLOCKS_PER_SEC, 2.0);
    assert_ok(log_close(&training));
    assert_int_equal(training.log_missing, 0);
}

static void a_run_that_ends_early_resumes_bit_for_bit(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    for (int method = FACET_POLICY_FACTORED; method <= FACET_POLICY_KNET;
         method += FACET_POLICY_KNET) {
        FacetTrainOptions options = tiny_training();
        FacetTrainSummary summary;
        options.method = (FacetPolicyMethod)method;
        options.epochs = method == FACET_POLICY_KNET ? 40 : 200;
        options.composed_weight = method == FACET_POLICY_KNET ? 0.0 : 1.0;
        options.checkpoint_every = 25;
        assert_ok(train(&summary, "waves.h5", "straight", &options));
        options.resume = true;
        int ends = 0;
        for (int i = 0; i < 6; i++)
            ends += train_until(&options, "broken", i % 2 ? SIGINT : SIGKILL, 1000000L * (3 * i));
        assert_true(ends >= 2);
        options.command = "another command";
        assert_ok(facet_policy_train(&summary, "waves.h5", "broken", &options, test_pool(2), NULL));
        assert_same_files("straight", "broken");
        assert_same_files("straight.csv", "broken.csv");
        assert_int_equal(access("broken.ckpt", F_OK), -1);
        // Once complete there is nothing left to do.
        assert_ok(train(&summary, "waves.h5", "broken", &options));
        assert_int_equal(summary.resumed, summary.updates);
        assert_same_files("straight", "broken");
        scratch_clean(state);
        write_waves("waves.h5", WAVE_TASKS, false);
    }
}

// A host that says stop after some updates, and remembers what it was told.
typedef struct Watcher {
    long stop_at; // updates, or -1
    long events, done, total;
    char stage[32], note[80];
} Watcher;

static bool watch_update(void *context, const FacetProgressEvent *event)
{
    Watcher *watcher = context;
    watcher->events++;
    watcher->done = event->done;
    watcher->total = event->total;
    snprintf(watcher->stage, sizeof watcher->stage, "%s", event->stage);
    snprintf(watcher->note, sizeof watcher->note, "%s", event->note ? event->note : "");
    return event->done != watcher->stop_at;
}

static void a_host_that_says_stop_gets_a_checkpoint(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    assert_ok(train(&summary, "waves.h5", "straight", &options));
    Watcher watcher = {.stop_at = 12};
    const FacetProgress progress = {.report = watch_update, .context = &watcher};
    FacetStatus status =
        facet_policy_train(&summary, "waves.h5", "broken", &options, test_pool(2), &progress);
    assert_int_equal(status.code, FACET_INTERRUPTED);
    assert_refused(status, "interrupted at update 12 of 30: --resume continues from broken.ckpt");
    assert_int_equal(watcher.done, 12); // nothing after the stop
    assert_int_equal(watcher.total, 30);
    assert_string_equal(watcher.stage, "train");
    assert_memory_equal(watcher.note, "loss ", 5);

    options.resume = true;
    watcher = (Watcher){.stop_at = -1};
    assert_ok(facet_policy_train(&summary, "waves.h5", "broken", &options, NULL, &progress));
    assert_int_equal(watcher.done, 18);
    assert_int_equal(watcher.total, 18);
    assert_int_equal(watcher.events, 19); // the beginning, and every update
    assert_same_files("straight", "broken");
    assert_same_files("straight.csv", "broken.csv");
}

static void another_training_does_not_resume(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    write_waves("other.h5", WAVE_TASKS - 1, false);
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    options.epochs = 4000;
    options.checkpoint_every = 25;
    assert_true(train_until(&options, "policy", SIGKILL, 0));
    assert_refused(train(&summary, "waves.h5", "policy", &options),
                   "policy.ckpt: there is an unfinished training: --resume continues it");
    options.resume = true;
    options.batch = 9;
    assert_refused(train(&summary, "waves.h5", "policy", &options),
                   "policy.ckpt: expected the train_batch of this run, 9, found 8");
    options.batch = 8;
    options.channels = 16;
    assert_refused(train(&summary, "waves.h5", "policy", &options),
                   "policy.ckpt: expected the network of this run");
    options.channels = 8;
    options.drop = "size=0.25";
    assert_refused(train(&summary, "waves.h5", "policy", &options),
                   "expected the train_drop of this run, [0.1,0.25], found [0.1,0.1]");
    options.drop = NULL;
    assert_refused(train(&summary, "other.h5", "policy", &options),
                   "expected the training_tasks of this run");
    size_t size;
    char *bytes = read_bytes(&size, "policy.ckpt");
    write_bytes("policy.ckpt", bytes, size - 10);
    free(bytes);
    assert_refused(train(&summary, "waves.h5", "policy", &options), "policy.ckpt: tensor");
    options.epochs = 1;
    options.resume = false;
    assert_int_equal(unlink("policy.ckpt"), 0);
    assert_ok(train(&summary, "waves.h5", "policy", &options));
    options.resume = true;
    options.seed++;
    assert_refused(train(&summary, "waves.h5", "policy", &options),
                   "policy: expected the train_seed of this run, 6, found 5");
    options.seed--;
    options.resume = false;
    options.composed_weight = options.agreement_weight = 1.0;
    assert_ok(train(&summary, "waves.h5", "agreeing", &options));
    options.resume = true;
    options.agreement_weight = 0.0;
    assert_refused(train(&summary, "waves.h5", "agreeing", &options),
                   "agreeing: expected the train_agreement_weight of this run, none, found 1");
}

// Says in a checkpoint that another network was being trained.
static void set_network(const char *path, char digit)
{
    static const char key[] = "\"at_network\":\"";
    size_t size, length = sizeof key - 1;
    char *bytes = read_bytes(&size, path), *at = bytes;
    while (at + length < bytes + size && memcmp(at, key, length) != 0) at++;
    assert_true(at + length < bytes + size);
    at[length] = digit;
    write_bytes(path, bytes, size);
    free(bytes);
}

// A knet of six has networks 0 to 5: a checkpoint of a later one is of no use, and one of the last
// needs the weights of those before it.
static void a_checkpoint_is_of_a_network_that_is_there(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    Watcher watcher = {.stop_at = 12};
    const FacetProgress progress = {.report = watch_update, .context = &watcher};
    options.method = FACET_POLICY_KNET;
    assert_refused(facet_policy_train(&summary, "waves.h5", "knet", &options, NULL, &progress),
                   "interrupted at update 12");
    options.resume = true;
    set_network("knet.ckpt", '6');
    assert_refused(train(&summary, "waves.h5", "knet", &options),
                   "knet.ckpt: at_network: expected a number from 0 to 5, found '6'");
    set_network("knet.ckpt", '5');
    assert_refused(train(&summary, "waves.h5", "knet", &options),
                   "knet.ckpt: expected a tensor done.null.");
    set_network("knet.ckpt", '0');
    assert_ok(train(&summary, "waves.h5", "knet", &options));
    assert_int_equal(summary.resumed, 12);
}

// ---- Refusals -----------------------------------------------------------------------------------

static void a_diverging_loss_stops(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    options.rate = 1e18;
    options.checkpoint_every = 1;
    assert_refused(train(&summary, "waves.h5", "policy", &options), "training diverged at update ");
    assert_int_equal(access("policy", F_OK), -1);
    assert_int_equal(access("policy.ckpt", F_OK), 0);
    options.checkpoint_every = 500;
    assert_refused(train(&summary, "waves.h5", "second", &options), "there was no checkpoint yet");
}

// A gripper that never moves does not stand in the way.
static void a_constant_action_stays_as_it_is(void **state)
{
    (void)state;
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    FacetPolicy *policy;
    write_waves("constant.h5", WAVE_TASKS, true);
    assert_ok(train(&summary, "constant.h5", "policy", &options));
    assert_non_null(strstr(summary.remarks,
                           "1 of 2 numbers of an action never change and stay as they are: 1 = 4"));
    assert_ok(facet_policy_load(&policy, "policy"));
    FacetPolicyInfo info = facet_policy_info(policy);
    double *plan = calloc((size_t)(info.horizon * info.dim), sizeof *plan);
    const FacetPolicySampling how = {0};
    FacetFactorTask task = factor_task_at(facet_policy_space(policy), 0);
    assert_ok(facet_policy_sample(plan, policy, &task, 1, &how, NULL));
    for (int i = 0; i < info.horizon; i++) assert_true(plan[i * info.dim + 1] == 4.0);
    assert_true(plan[0] != plan[info.dim]);
    free(plan);
    facet_policy_destroy(policy);
}

static void unusable_demonstrations_are_refused(void **state)
{
    (void)state;
    FacetTrainOptions options = tiny_training();
    FacetTrainSummary summary;
    write_waves("single.h5", 1, false);
    assert_refused(train(&summary, "single.h5", "policy", &options),
                   "single.h5: expected demonstrations of two tasks or more to tell factors apart, "
                   "found one task");
    options.method = FACET_POLICY_KNET;
    assert_refused(train(&summary, "single.h5", "policy", &options), "found one task");
    options.hold_out = (const char *const[]){"a/s"};
    options.hold_out_count = 1;
    options.method = FACET_POLICY_BASELINE;
    assert_refused(train(&summary, "single.h5", "policy", &options),
                   "expected demonstrations to train on, found all 4 held out");
    options.hold_out_count = 0;
    assert_ok(train(&summary, "single.h5", "policy", &options)); // needs no factors
    assert_refused(train(&summary, "missing.h5", "policy", &options), "missing.h5");
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    FacetTrainSummary summary;
    FacetTrainOptions options = tiny_training();
#define REFUSED(setting, words)                                                                    \
    do {                                                                                           \
        options = tiny_training();                                                                 \
        setting;                                                                                   \
        assert_refused(train(&summary, "waves.h5", "policy", &options), words);                    \
    } while (0)
    REFUSED(options.recipe = "papr", "no recipe 'papr', did you mean 'paper'?");
    REFUSED(options.predict = "w", "no prediction 'w': eps, v, x0");
    REFUSED(options.drop = "1.5", "drop: expected a probability from 0 to 1, found '1.5'");
    REFUSED(options.drop = "track=0.1,size", "drop: expected FACTOR=PROBABILITY, found 'size'");
    REFUSED(options.drop = "trak=0.1", "no factor 'trak', did you mean 'track'?");
    REFUSED(options.epochs = -1, "expected epochs, batch, rate and composed loss of 0 or more");
    REFUSED(options.rate = nan(""), "expected epochs, batch, rate and composed loss of 0 or more");
    REFUSED(options.channels = 1, "network: expected channels");
    REFUSED((options.hold_out = (const char *const[]){"a/x"}, options.hold_out_count = 1),
            "hold-out task 'a/x': no size 'x'");
    REFUSED((options.method = FACET_POLICY_BASELINE, options.composed_weight = 1.0),
            "expected no composed loss with the method baseline");
    REFUSED(options.agreement_weight = 1.0,
            "expected an agreement of 0 or more, beside a composed loss, found 1 beside 0");
    REFUSED((options.method = FACET_POLICY_KNET, options.drop = "0.1"),
            "expected no drop probability with the method knet");
    REFUSED((options.batch = 1, options.composed_weight = 1.0),
            "a composed loss needs a factor and a batch of 2 or more");
    options = tiny_training();
    assert_refused(train(&summary, "waves.h5", "no/such/policy", &options), "cannot create");
    assert_int_equal(access("policy", F_OK), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(every_method_trains, scratch_clean),
        cmocka_unit_test(a_composed_loss_makes_few_steps_the_default),
        cmocka_unit_test(an_epoch_has_every_demo_once),
        cmocka_unit_test_teardown(the_null_network_is_the_baseline, scratch_clean),
        cmocka_unit_test_teardown(held_out_demos_are_not_looked_at, scratch_clean),
        cmocka_unit_test_teardown(it_learns, scratch_clean),
        cmocka_unit_test_teardown(a_network_can_see_farther, scratch_clean),
        cmocka_unit_test_teardown(same_bits_on_any_thread_count, scratch_clean),
        cmocka_unit_test_teardown(the_log_has_every_update, scratch_clean),
        cmocka_unit_test_teardown(a_run_that_ends_early_resumes_bit_for_bit, scratch_clean),
        cmocka_unit_test_teardown(a_log_that_was_cut_is_told, scratch_clean),
        cmocka_unit_test_teardown(rows_of_a_log_rise, scratch_clean),
        cmocka_unit_test_teardown(a_long_log_is_read_in_time, scratch_clean),
        cmocka_unit_test_teardown(a_host_that_says_stop_gets_a_checkpoint, scratch_clean),
        cmocka_unit_test_teardown(another_training_does_not_resume, scratch_clean),
        cmocka_unit_test_teardown(a_checkpoint_is_of_a_network_that_is_there, scratch_clean),
        cmocka_unit_test_teardown(a_diverging_loss_stops, scratch_clean),
        cmocka_unit_test_teardown(a_constant_action_stays_as_it_is, scratch_clean),
        cmocka_unit_test_teardown(unusable_demonstrations_are_refused, scratch_clean),
        cmocka_unit_test_teardown(wrong_options_are_refused, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
