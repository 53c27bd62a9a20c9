// Training, sampling and flying a policy as a user does it.
#include "base/json.h"
#include "base/safetensors.h"
#include "policy/waves.h"
#include "program/program.h"

#include <signal.h>
#include <time.h>

#define SAMPLE "--courses " TEST_SOURCE "/tests/race/sample --quiet "
#define TINY   "--blocks 1 --channels 8 --embed 4 --quiet "

static void trained(const char *arguments)
{
    char line[400];
    snprintf(line, sizeof line, "train --data waves.h5 " TINY "--epochs 3 %s", arguments);
    Run result = run(line);
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
}

static double number_at(const JsonRef *object, const char *key)
{
    double value;
    assert_ok(json_member_number(&value, object, key, -1e12, 1e12));
    return value;
}

static void train_writes_policy_log_and_json(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    trained("--out policy --hold-out track=b,size=m --hold-out a/s --json train.json --threads 1");
    Json *document;
    assert_ok(json_read(&document, "train.json"));
    JsonRef root = json_root(document, "train.json");
    assert_near(number_at(&root, "demos"), 16.0, 0.0);
    assert_near(number_at(&root, "tasks"), 4.0, 0.0);
    assert_near(number_at(&root, "networks"), 1.0, 0.0);
    assert_near(number_at(&root, "updates"), 3.0, 0.0); // 48 places in batches of 16
    assert_true(number_at(&root, "loss") > 0.0);
    json_free(document);
    FacetPolicy *policy;
    assert_ok(facet_policy_load(&policy, "policy"));
    assert_string_equal(policy_record(policy)->command,
                        "facet train --data waves.h5 --blocks 1 --channels 8 --embed 4 --epochs 3 "
                        "--out policy --hold-out track=b,size=m --hold-out a/s");
    assert_memory_equal(policy_record(policy)->version, facet_version(), strlen(facet_version()));
    facet_policy_destroy(policy);
    assert_int_equal(access("policy.csv", F_OK), 0);
    assert_int_equal(access("policy.ckpt", F_OK), -1);
}

static void sample_writes_actions(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    trained("--out policy --precision fp16 --method oracle --hold-out a/s");
    Run result = run("sample --policy policy --task track=a,size=m --steps 5 --json one.json");
    assert_int_equal(result.code, 0);
    assert_string_equal(result.err, "");
    Json *document;
    assert_ok(json_read(&document, "one.json"));
    JsonRef root = json_root(document, "one.json"), actions, row, samples;
    int length;
    assert_ok(json_member(&actions, &root, "actions"));
    assert_ok(json_length(&length, &actions));
    assert_int_equal(length, WAVE_T);
    assert_ok(json_element(&row, &actions, 3));
    assert_ok(json_length(&length, &row));
    assert_int_equal(length, WAVE_D);
    json_free(document);
    assert_int_equal(run("sample --policy policy --task a/* --mode joint --sampler dpmpp --count 3 "
                         "--steps 5 --json many.json")
                         .code,
                     0);
    assert_ok(json_read(&document, "many.json"));
    root = json_root(document, "many.json");
    assert_ok(json_member(&samples, &root, "samples"));
    assert_ok(json_length(&length, &samples));
    assert_int_equal(length, 3);
    json_free(document);
    result = run("sample --policy policy --task a/m --steps 5");
    assert_non_null(strstr(result.out, "step  action 0  action 1\n"));
    // The same seed gives the same plan, at any number of threads.
    assert_string_equal(run("sample --policy policy --task a/m --steps 5 --threads 3").out,
                        result.out);
}

static void wrong_words_get_the_right_ones(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    trained("--out policy --hold-out a/m --hold-out b/m --hold-out c/m");
    assert_fails("train --out policy", 2, "facet train: expected --data FILE\n");
    assert_fails("train --data waves.h5", 2, "facet train: expected --out POLICY\n");
    assert_fails("train --data waves.h5 --out policy --method knt", 2,
                 "facet train: no method 'knt', did you mean 'knet'? known: factored, baseline, "
                 "knet, oracle\n");
    assert_fails("train --data waves.h5 --out policy --precision fp8", 2,
                 "facet train: no precision 'fp8': fp32, fp16\n");
    assert_fails("sample --task a/s", 2, "facet sample: expected --policy POLICY\n");
    assert_fails("sample --policy policy", 2, "facet sample: expected --task TASK\n");
    assert_fails("sample --policy policy --task a/s --steps 101", 1,
                 "facet sample: sampler: expected 1 to 100 steps (the training steps), found "
                 "101\n");
    assert_fails("sample --policy policy --task zebra/s", 1,
                 "facet sample: task 'zebra/s': no track 'zebra': a, b, c\n");
    assert_fails("sample --policy policy --task a/m", 1,
                 "facet sample: the policy never saw size 'm': it knows s\n");
    assert_fails("sample --policy policy --task a/s --mode jiont", 2,
                 "facet sample: no mode 'jiont', did you mean 'joint'? known: composed, joint, "
                 "product, convex, interpolate, router\n");
    assert_fails("train --data waves.h5 --out p --courses " TEST_SOURCE "/tests/race/sample", 2,
                 "facet train: --courses: expected --hold-out course beside it, without which it "
                 "means nothing\n");
    assert_fails("train --data waves.h5 --out p --hold-out course --courses " TEST_SOURCE
                 "/tests/race/sample",
                 1, "facet train: hold-out task 'straight/large': no track 'straight': a, b, c\n");
    Run other = run("sample --policy waves.h5 --task a/s");
    assert_int_equal(other.code, 1);
    assert_non_null(strstr(other.err, "facet sample: waves.h5: expected a header of "));
    assert_non_null(strstr(other.err, " in the file: truncated, or not a safetensors file\n"));
    assert_fails("fly --expert --policy policy", 2,
                 "facet fly: expected --expert or --policy, found both\n");
    assert_fails("fly " SAMPLE "--policy policy", 1,
                 "facet fly: expected a policy with chunks of 32 x 4, found 6 x 2\n");
}

static void a_policy_flies(void **state)
{
    (void)state;
    assert_int_equal(run("demos " SAMPLE "--out demos.h5 --rollouts 1").code, 0);
    assert_int_equal(run("train --data demos.h5 --out policy --epochs 1 " TINY).code, 0);
    Run result = run("fly " SAMPLE "--policy policy --steps 3 --seed 2 --json fly.json");
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "bend/large"));
    Json *document;
    assert_ok(json_read(&document, "fly.json"));
    JsonRef root = json_root(document, "fly.json"), totals;
    assert_ok(json_member(&totals, &root, "totals"));
    json_free(document);
    assert_int_equal(run("fly " SAMPLE "--policy policy --steps 3 --mode joint").code, 0);
}

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// Starts a long training and waits until it is well under way.
static pid_t start_training(FILE *err)
{
    unlink("policy.csv");
    unlink("policy.ckpt");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(fileno(err), STDERR_FILENO);
        execl(FACET_PROGRAM, "facet", "train", "--data", "waves.h5", "--out", "policy", "--quiet",
              "--epochs", "1000000", "--blocks", "1", "--channels", "8", (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 60000 && access("policy.ckpt", F_OK) != 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return child;
}

// Waits for its end, which must be an orderly one.
static void wait_training(char *said, size_t size, pid_t child, FILE *err)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    read_back(said, size, err);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
}

// A signal at work leaves a checkpoint of its last update, soon.
static void interrupted_by(int signal_number)
{
    char said[512], expected[32];
    long update = -1;
    FILE *err = tmpfile();
    pid_t child = start_training(err);
    double sent = now_seconds();
    kill(child, signal_number);
    wait_training(said, sizeof said, child, err);
    assert_less(now_seconds() - sent, 20.0); // a second, and more on a busy machine
    assert_int_equal(sscanf(said, "facet train: interrupted at update %18ld", &update), 1);
    assert_non_null(strstr(said, "--resume continues from policy.ckpt\n"));
    Safetensors *checkpoint;
    assert_ok(safetensors_read(&checkpoint, "policy.ckpt"));
    snprintf(expected, sizeof expected, "%ld", update);
    assert_string_equal(safetensors_metadata(checkpoint, "at_update"), expected);
    safetensors_free(checkpoint);
    assert_int_equal(access("policy.lock", F_OK), -1);
    assert_int_equal(access("policy", F_OK), -1);
}

// Two trainings with one --out: the second is told who has it, and the first goes on unharmed.
static void a_place_has_one_training(void **state)
{
    (void)state;
    char said[512], line[256];
    FILE *err = tmpfile();
    write_waves("waves.h5", WAVE_TASKS, false);
    pid_t child = start_training(err);
    snprintf(line, sizeof line,
             "facet train: policy: expected no other process that writes there, found %ld: wait "
             "for it, or choose another place\n",
             (long)child);
    assert_fails("train --data waves.h5 --out policy --resume", 1, line);
    assert_fails("train --data waves.h5 --out policy", 1, line);
    kill(child, SIGINT);
    wait_training(said, sizeof said, child, err);
    assert_non_null(strstr(said, "--resume continues from policy.ckpt\n"));
    assert_int_equal(run("train --data waves.h5 --out other " TINY "--epochs 2").code, 0);
}

static void an_interrupt_leaves_a_checkpoint(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    interrupted_by(SIGINT);
    interrupted_by(SIGTERM);
    interrupted_by(SIGHUP);
    assert_fails("train --data waves.h5 --out policy --epochs 1000000 --blocks 1 --channels 8", 1,
                 "facet train: policy.ckpt: there is an unfinished training: --resume continues "
                 "it, and removing the file gives it up\n");
}

static void the_example_prints_a_plan(void **state)
{
    (void)state;
    write_waves("waves.h5", WAVE_TASKS, false);
    trained("--out policy");
    FILE *output = popen(EXAMPLE_PLAN " policy b/s", "r");
    assert_non_null(output);
    for (int t = 0; t < WAVE_T; t++) {
        int step;
        double first, second;
        assert_int_equal(fscanf(output, "%d %lf %lf", &step, &first, &second), 3);
        assert_int_equal(step, t);
        assert_true(isfinite(first) && isfinite(second));
    }
    assert_int_equal(pclose(output), 0);
    output = popen(EXAMPLE_PLAN " policy zebra/s 2>&1", "r");
    char line[200] = "";
    assert_non_null(fgets(line, sizeof line, output));
    assert_string_equal(line, "task 'zebra/s': no track 'zebra': a, b, c\n");
    assert_int_equal(WEXITSTATUS(pclose(output)), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(train_writes_policy_log_and_json, scratch_clean),
        cmocka_unit_test_teardown(sample_writes_actions, scratch_clean),
        cmocka_unit_test_teardown(wrong_words_get_the_right_ones, scratch_clean),
        cmocka_unit_test_teardown(a_policy_flies, scratch_clean),
        cmocka_unit_test_teardown(an_interrupt_leaves_a_checkpoint, scratch_clean),
        cmocka_unit_test_teardown(a_place_has_one_training, scratch_clean),
        cmocka_unit_test_teardown(the_example_prints_a_plan, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
