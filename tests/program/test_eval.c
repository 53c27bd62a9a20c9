// facet eval as a user runs it: rows, totals, JSON, refusals, on a small course and tiny networks.
#include "base/file.h"
#include "base/json.h"
#include "program/program.h"

#include <signal.h>
#include <time.h>

#define SAMPLE "--courses " TEST_SOURCE "/tests/race/sample --quiet "

static void must_run(const char *arguments)
{
    Run result = run(arguments);
    if (result.code != 0) print_error("facet %s: %s", arguments, result.err);
    assert_int_equal(result.code, 0);
}

static int train_policies(void **state)
{
    (void)state;
    must_run("demos " SAMPLE "--rollouts 2 --out test_eval.h5");
    const char *tiny = "--data test_eval.h5 --blocks 1 --channels 16 --epochs 1 --quiet";
    char line[512];
    snprintf(line, sizeof line, "train %s --hold-out straight/large --out test_eval_f.safetensors",
             tiny);
    must_run(line);
    snprintf(line, sizeof line,
             "train %s --hold-out straight/large --composed-loss 1 --out test_eval_o.safetensors",
             tiny);
    must_run(line);
    snprintf(line, sizeof line,
             "train %s --hold-out course --courses " TEST_SOURCE
             "/tests/race/sample --method baseline --out test_eval_b.safetensors",
             tiny);
    must_run(line);
    snprintf(line, sizeof line, "train %s --out test_eval_all.safetensors", tiny);
    must_run(line);
    snprintf(line, sizeof line,
             "train %s --method oracle --hold-out straight/large --out "
             "test_eval_all_oracle.safetensors",
             tiny);
    must_run(line);
    snprintf(line, sizeof line, "train %s --hold-out bend/large --out test_eval_other.safetensors",
             tiny);
    must_run(line);
    return 0;
}

static int remove_policies(void **state)
{
    (void)state;
    static const char *const names[] = {"test_eval.h5",
                                        "test_eval_f.safetensors",
                                        "test_eval_f.safetensors.csv",
                                        "test_eval_o.safetensors",
                                        "test_eval_o.safetensors.csv",
                                        "test_eval_c.safetensors",
                                        "test_eval_c.safetensors.csv",
                                        "test_eval_b.safetensors",
                                        "test_eval_b.safetensors.csv",
                                        "test_eval_all.safetensors",
                                        "test_eval_all.safetensors.csv",
                                        "test_eval_all_oracle.safetensors",
                                        "test_eval_all_oracle.safetensors.csv",
                                        "test_eval_other.safetensors",
                                        "test_eval_other.safetensors.csv"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(names[i]);
    return 0;
}

static double number_of(const JsonRef *object, const char *key)
{
    double value;
    assert_ok(json_member_number(&value, object, key, -1e9, 1e9));
    return value;
}

static void every_method_has_its_rows(void **state)
{
    (void)state;
    Run result = run("eval test_eval_b.safetensors test_eval_o.safetensors test_eval_f.safetensors "
                     "--steps 4 --seeds 2 --no-sweep --json test_eval.json " SAMPLE);
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "Ours, composed"));
    assert_fits(result.out);
    Json *document;
    assert_ok(json_read(&document, "test_eval.json"));
    unlink("test_eval.json");
    JsonRef root = json_root(document, "json"), methods, row, all, training, held_out, list;
    static const char *const keys[] = {"baseline", "factored_composed", "factored_joint",
                                       "ours_composed", "ours_joint"};
    assert_ok(json_member(&methods, &root, "methods"));
    assert_ok(json_only(&methods, keys, 5));
    for (int i = 0; i < 5; i++) {
        assert_ok(json_member(&row, &methods, keys[i]));
        assert_ok(json_member(&all, &row, "all"));
        assert_ok(json_member(&training, &row, "training"));
        assert_ok(json_member(&held_out, &row, "held_out"));
        assert_true(json_has(&row, "crashes"));
        assert_near(number_of(&all, "gates"), 10.0, 0.0);
        assert_near(number_of(&held_out, "gates"), 2.0, 0.0);
        assert_near(number_of(&training, "passed") + number_of(&held_out, "passed"),
                    number_of(&all, "passed"), 0.0);
        double share = number_of(&all, "passed") / 10.0;
        assert_true(number_of(&all, "low") <= share && share <= number_of(&all, "high"));
    }
    int count;
    assert_ok(json_member(&list, &root, "heldout"));
    assert_ok(json_length(&count, &list));
    assert_int_equal(count, 5 * 2); // methods x seeds, one held-out task
    assert_true(json_has(&root, "ddim_sweep"));
    assert_ok(json_member(&methods, &root, "plans"));
    assert_ok(json_only(&methods, keys, 5));
    assert_ok(json_member(&row, &methods, "ours_composed"));
    assert_ok(json_length(&count, &row));
    assert_int_equal(count, 4); // tasks
    assert_ok(json_member(&list, &row, "straight/large"));
    assert_ok(json_length(&count, &list));
    assert_int_equal(count, 32);
    char command[256];
    assert_ok(json_member_string(command, sizeof command, &root, "command"));
    assert_null(strstr(command, "--json"));
    assert_true(json_has(&root, "seed") && json_has(&root, "version"));
    json_free(document);
}

// How far apart a method's plans of two tasks are: the largest difference of a number.
static double plans_apart(const JsonRef *plans, const char *method, const char *one,
                          const char *other)
{
    JsonRef row, lists[2], keypoints[2];
    double most = 0.0;
    assert_ok(json_member(&row, plans, method));
    assert_ok(json_member(&lists[0], &row, one));
    assert_ok(json_member(&lists[1], &row, other));
    for (int k = 0; k < 32; k++) {
        double values[2][4];
        for (int i = 0; i < 2; i++) {
            assert_ok(json_element(&keypoints[i], &lists[i], k));
            for (int c = 0; c < 4; c++) {
                JsonRef at;
                assert_ok(json_element(&at, &keypoints[i], c));
                assert_ok(json_number(&values[i][c], &at, -1e9, 1e9));
            }
        }
        for (int c = 0; c < 4; c++) most = fmax(most, fabs(values[0][c] - values[1][c]));
    }
    return most;
}

// Told the track alone, a policy plans the same for every size; nothing is left to the noise here.
static void a_control_is_told_the_track_alone(void **state)
{
    (void)state;
    must_run("train --data test_eval.h5 --blocks 1 --channels 16 --epochs 100 --quiet --hold-out "
             "straight/large --composed-loss 1 --out test_eval_c.safetensors");
    must_run("eval test_eval_c.safetensors --steps 4 --seeds 1 --no-sweep --controls --temperature "
             "1e-7 --json test_eval.json " SAMPLE);
    Json *document;
    JsonRef plans;
    assert_ok(json_read(&document, "test_eval.json"));
    unlink("test_eval.json");
    JsonRef root = json_root(document, "json");
    assert_ok(json_member(&plans, &root, "plans"));
    double sizes = plans_apart(&plans, "ours_track", "bend/small", "bend/large");
    assert_less(1e2 * sizes, plans_apart(&plans, "ours_composed", "bend/small", "bend/large"));
    assert_less(1e2 * sizes, plans_apart(&plans, "ours_track", "bend/large", "straight/large"));
    json_free(document);
}

static bool held_out_at(const JsonRef *root, const char *track, const char *size)
{
    JsonRef tasks, task;
    int count;
    char name[64];
    assert_ok(json_member(&tasks, root, "tasks"));
    assert_ok(json_length(&count, &tasks));
    for (int i = 0; i < count; i++) {
        JsonRef flag;
        assert_ok(json_element(&task, &tasks, i));
        assert_ok(json_member_string(name, sizeof name, &task, "track"));
        if (strcmp(name, track) != 0) continue;
        assert_ok(json_member_string(name, sizeof name, &task, "size"));
        if (strcmp(name, size) != 0) continue;
        assert_ok(json_member(&flag, &task, "held_out"));
        return json_is_true(&flag);
    }
    fail_msg("no task %s/%s", track, size);
    return false;
}

static void assert_held_out_gates(const char *path, const char *method, double gates)
{
    Json *document;
    JsonRef root, methods, row, held_out;
    assert_ok(json_read(&document, path));
    root = json_root(document, path);
    assert_ok(json_member(&methods, &root, "methods"));
    assert_ok(json_member(&row, &methods, method));
    assert_ok(json_member(&held_out, &row, "held_out"));
    assert_near(number_of(&held_out, "gates"), gates, 0.0);
    json_free(document);
}

// The course lists straight/large; what counts is what the policy was trained on.
static void held_out_is_what_the_policy_says(void **state)
{
    (void)state;
    Run all =
        run("eval test_eval_all.safetensors --steps 4 --seeds 2 --json test_all.json " SAMPLE);
    assert_int_equal(all.code, 0);
    assert_null(strstr(all.out, "eld out"));
    assert_null(strstr(all.out, "eld-out"));
    Json *document;
    JsonRef root, methods, row, held_out;
    assert_ok(json_read(&document, "test_all.json"));
    root = json_root(document, "test_all.json");
    assert_ok(json_member(&methods, &root, "methods"));
    assert_ok(json_member(&row, &methods, "factored_composed"));
    assert_ok(json_member(&held_out, &row, "held_out"));
    assert_near(number_of(&held_out, "gates"), 0.0, 0.0);
    assert_false(held_out_at(&row, "straight", "large"));
    json_free(document);
    Run flown = run("fly --policy test_eval_all.safetensors --steps 4 " SAMPLE);
    assert_int_equal(flown.code, 0);
    assert_null(strstr(flown.out, "held"));
    assert_null(strstr(flown.out, "in training tasks"));

    // The oracle has none of its own, and beside others is counted on theirs.
    must_run(
        "eval test_eval_all_oracle.safetensors --steps 4 --seeds 2 --json test_all.json " SAMPLE);
    assert_held_out_gates("test_all.json", "oracle", 0.0);
    must_run("eval test_eval_all_oracle.safetensors test_eval_f.safetensors --steps 4 --seeds 2 "
             "--no-sweep --json test_all.json " SAMPLE);
    assert_held_out_gates("test_all.json", "oracle", 2.0);
    // Alone it is counted on what is asked for, and nobody else is who was trained on it.
    must_run("eval test_eval_all_oracle.safetensors --hold-out course --steps 4 --seeds 1 --json "
             "test_all.json " SAMPLE);
    assert_held_out_gates("test_all.json", "oracle", 2.0);
    must_run("eval test_eval_all_oracle.safetensors --hold-out bend/large --steps 4 --seeds 1 "
             "--json test_all.json " SAMPLE);
    assert_held_out_gates("test_all.json", "oracle", 3.0);
    assert_fails("eval test_eval_all.safetensors --hold-out course --steps 4 --seeds 1 " SAMPLE, 1,
                 "facet eval: --hold-out: expected tasks that only an oracle was trained on, found "
                 "straight/large, which the policy factored was trained on\n");
    assert_fails("eval test_eval_all_oracle.safetensors test_eval_other.safetensors --hold-out "
                 "course --steps 4 --seeds 1 " SAMPLE,
                 1,
                 "facet eval: --hold-out: expected tasks that only an oracle was trained on, found "
                 "straight/large, which the policy factored was trained on\n");

    flown = run("fly --policy test_eval_other.safetensors --steps 4 --json test_all.json " SAMPLE);
    assert_int_equal(flown.code, 0);
    assert_non_null(strstr(flown.out, "bend/large*"));
    assert_null(strstr(flown.out, "straight/large*"));
    assert_ok(json_read(&document, "test_all.json"));
    root = json_root(document, "test_all.json");
    assert_true(held_out_at(&root, "bend", "large"));
    assert_false(held_out_at(&root, "straight", "large"));
    json_free(document);
    unlink("test_all.json");
}

static void the_sweep_has_the_papers_steps(void **state)
{
    (void)state;
    Run result =
        run("eval test_eval_f.safetensors --steps 4 --seeds 1 --json test_eval.json " SAMPLE);
    assert_int_equal(result.code, 0);
    Json *document;
    assert_ok(json_read(&document, "test_eval.json"));
    unlink("test_eval.json");
    JsonRef root = json_root(document, "json"), sweep, row;
    static const double steps[] = {10, 20, 30, 50};
    assert_ok(json_member(&sweep, &root, "ddim_sweep"));
    for (int i = 0; i < 4; i++) {
        assert_ok(json_element(&row, &sweep, i));
        assert_near(number_of(&row, "steps"), steps[i], 0.0);
        assert_true(json_has(&row, "composed") && json_has(&row, "joint"));
    }
    json_free(document);
}

static void the_step_study_has_every_curve(void **state)
{
    (void)state;
    Run result = run("eval test_eval_f.safetensors test_eval_o.safetensors test_eval_b.safetensors "
                     "--step-study --seeds 1 --json test_eval.json " SAMPLE);
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_fits(result.out);
    assert_int_equal(access("test_eval.json.state", F_OK), -1);
    Json *document;
    assert_ok(json_read(&document, "test_eval.json"));
    JsonRef root = json_root(document, "json"), curves, curve, cells, cell, list;
    int count;
    assert_ok(json_member(&curves, &root, "curves"));
    assert_ok(json_length(&count, &curves));
    assert_int_equal(count, 2 * 2 * 2); // losses, samplers, modes
    for (int i = 0; i < count; i++) {
        int length;
        assert_ok(json_element(&curve, &curves, i));
        assert_ok(json_member(&cells, &curve, "steps"));
        assert_ok(json_length(&length, &cells));
        assert_int_equal(length, 10);
        assert_ok(json_element(&cell, &cells, 9));
        assert_near(number_of(&cell, "steps"), 50.0, 0.0);
        assert_ok(json_member(&list, &cell, "passed"));
        assert_ok(json_length(&length, &list));
        assert_int_equal(length, 1); // seeds
    }
    json_free(document);
}

// Stops the study of the test before, once a curve is done.
static void stop_step_study(const char *courses)
{
    const struct timespec millisecond = {.tv_nsec = 1000000};
    FILE *err = tmpfile();
    assert_non_null(err);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(fileno(err), STDERR_FILENO);
        execl(FACET_PROGRAM, "facet", "eval", "test_eval_f.safetensors", "test_eval_o.safetensors",
              "test_eval_b.safetensors", "--step-study", "--seeds", "1", "--json", "test_stop.json",
              "--courses", courses, "--quiet", NULL);
        _exit(127);
    }
    for (int i = 0; i < 60000 && access("test_stop.json.state", F_OK) != 0; i++)
        nanosleep(&millisecond, NULL);
    kill(child, SIGINT);
    int status;
    char text[512];
    assert_int_equal(waitpid(child, &status, 0), child);
    read_back(text, sizeof text, err);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(text, "the same command goes on from test_stop.json.state\n"));
}

// Puts a curve of another method in the place of the first one.
static void refuse_another_curve(void)
{
    char *text;
    size_t size;
    assert_ok(file_read(&text, &size, "test_stop.json.state"));
    char *method = strstr(text, "\"ours\"");
    if (!method) method = strstr(text, "\"factored\"");
    assert_non_null(method);
    char kept = method[1];
    method[1] = 'x';
    assert_ok(file_write("test_stop.json.state", text, size));
    Run result = run("eval test_eval_f.safetensors test_eval_o.safetensors test_eval_b.safetensors "
                     "--step-study --seeds 1 --json test_stop.json " SAMPLE);
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.err, "curves[0]: expected a curve of the study"));
    method[1] = kept;
    assert_ok(file_write("test_stop.json.state", text, size));
    free(text);
}

static void a_step_study_goes_on_where_it_stopped(void **state)
{
    (void)state;
    stop_step_study(TEST_SOURCE "/tests/race/sample");
    assert_fails(
        "eval test_eval_f.safetensors test_eval_o.safetensors test_eval_b.safetensors "
        "--step-study --seeds 2 --json test_stop.json --quiet --courses " TEST_SOURCE
        "/tests/race/sample",
        1,
        "facet eval: test_stop.json.state: expected results of this study, with seeds 2, found "
        "seeds 1; remove it to begin anew\n");
    refuse_another_curve();
    must_run("eval test_eval_f.safetensors test_eval_o.safetensors test_eval_b.safetensors "
             "--step-study --seeds 1 --json test_stop.json " SAMPLE);
    char *straight, *resumed;
    size_t size;
    assert_ok(file_read(&straight, &size, "test_eval.json"));
    assert_ok(file_read(&resumed, &size, "test_stop.json"));
    assert_string_equal(resumed, straight);
    free(straight);
    free(resumed);
    unlink("test_eval.json");
    unlink("test_stop.json");
}

// A course may change under its name between a stop and the next start.
static void a_course_that_changed_is_another_study(void **state)
{
    (void)state;
    char *text;
    size_t size;
    assert_int_equal(system("rm -rf test_own && cp -r " TEST_SOURCE "/tests/race/sample test_own"),
                     0);
    stop_step_study("test_own");
    assert_ok(file_read(&text, &size, "test_own/course.json"));
    char *half_width = strstr(text, "0.4}");
    assert_non_null(half_width);
    half_width[2] = '5';
    assert_ok(file_write("test_own/course.json", text, size));
    free(text);
    Run result = run("eval test_eval_f.safetensors test_eval_o.safetensors test_eval_b.safetensors "
                     "--step-study --seeds 1 --json test_stop.json --courses test_own --quiet");
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.err, "expected results of this study"));
    unlink("test_stop.json.state");
    assert_int_equal(system("rm -rf test_own"), 0);
}

static void what_cannot_be_compared_is_refused(void **state)
{
    (void)state;
    assert_fails("eval test_eval_f.safetensors test_eval_f.safetensors " SAMPLE, 1,
                 "facet eval: test_eval_f.safetensors: there is already a policy of the method "
                 "'factored'\n");
    assert_fails("eval no-such.safetensors " SAMPLE, 1,
                 "facet eval: no-such.safetensors: cannot open: No such file or directory\n");
    assert_fails("eval test_eval_b.safetensors --step-study " SAMPLE, 1,
                 "facet eval: --step-study: expected a factored policy, found none\n");
    Run result = run("eval test_eval_f.safetensors --steps 101 " SAMPLE);
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.err, "100"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_has_its_rows),
        cmocka_unit_test(a_control_is_told_the_track_alone),
        cmocka_unit_test(held_out_is_what_the_policy_says),
        cmocka_unit_test(the_sweep_has_the_papers_steps),
        cmocka_unit_test(the_step_study_has_every_curve),
        cmocka_unit_test(a_step_study_goes_on_where_it_stopped),
        cmocka_unit_test(a_course_that_changed_is_another_study),
        cmocka_unit_test(what_cannot_be_compared_is_refused),
    };
    return cmocka_run_group_tests(tests, train_policies, remove_policies);
}
