// The commands of the race study as a user runs them: JSON, messages, nothing half-written.
#include "base/json.h"
#include "program/program.h"
#include "scratch.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#define SAMPLE "--courses " TEST_SOURCE "/tests/race/sample --quiet "

static double number_at(const JsonRef *object, const char *key)
{
    double value;
    assert_ok(json_member_number(&value, object, key, -1e9, 1e9));
    return value;
}

// Reads the document that a command wrote, and removes the file.
static Json *read_output(const char *file)
{
    Json *document;
    assert_ok(json_read(&document, file));
    unlink(file);
    return document;
}

static void speeds_writes_every_task(void **state)
{
    (void)state;
    Run result = run("speeds " SAMPLE "--json test_speeds.json");
    assert_int_equal(result.code, 0);
    assert_string_equal(result.err, "");
    assert_non_null(strstr(result.out, "straight"));
    Json *document = read_output("test_speeds.json");
    JsonRef root = json_root(document, "json"), tasks, task;
    int count;
    assert_ok(json_member(&tasks, &root, "tasks"));
    assert_ok(json_length(&count, &tasks));
    assert_int_equal(count, 4);
    static const char *const keys[] = {"track", "size", "half_width", "gates", "feasible", "speed"};
    for (int i = 0; i < count; i++) {
        assert_ok(json_element(&task, &tasks, i));
        assert_ok(json_only(&task, keys, 6));
        for (int k = 0; k < 6; k++) assert_true(json_has(&task, keys[k]));
    }
    json_free(document);
}

static void fly_writes_results_and_totals(void **state)
{
    (void)state;
    Run result = run("fly --expert " SAMPLE "--json test_fly.json --seed 5");
    assert_int_equal(result.code, 0);
    Json *document = read_output("test_fly.json");
    JsonRef root = json_root(document, "json"), tasks, task, totals, all, gates, gate;
    static const char *const keys[] = {"track",   "size",           "held_out", "seed",
                                       "gates",   "passed",         "crashed",  "speed_generated",
                                       "error_m", "speed_reference"};
    assert_ok(json_member(&tasks, &root, "tasks"));
    assert_ok(json_element(&task, &tasks, 0));
    for (int k = 0; k < 10; k++) assert_true(json_has(&task, keys[k]));
    assert_near(number_at(&task, "seed"), 5.0, 0.0);
    assert_ok(json_member(&gates, &task, "gate_results"));
    assert_ok(json_element(&gate, &gates, 0));
    assert_true(json_has(&gate, "miss") && json_has(&gate, "time") && json_has(&gate, "speed"));
    assert_ok(json_member(&totals, &root, "totals"));
    assert_ok(json_member(&all, &totals, "all"));
    assert_near(number_at(&all, "passed"), number_at(&all, "gates"), 0.0);
    assert_true(json_has(&totals, "training") && json_has(&totals, "held_out"));
    assert_near(number_at(&totals, "crashes"), 0.0, 0.0);
    json_free(document);
}

static void fly_samples_a_flight_a_seed(void **state)
{
    (void)state;
    Run result = run("fly --expert --gusts 1 --samples 3 " SAMPLE "--json test_fly.json --seed 5");
    assert_string_equal(result.err, "");
    assert_fits(result.out);
    assert_non_null(strstr(result.out, "3 flights a task"));
    Run alone = run("fly --expert --gusts 1 " SAMPLE "--json test_alone.json --seed 6");
    assert_int_equal(alone.code, 0);
    Json *document = read_output("test_fly.json"), *single = read_output("test_alone.json");
    JsonRef root = json_root(document, "json"), other = json_root(single, "json");
    JsonRef flights, flight, tasks, task;
    assert_ok(json_member(&flights, &root, "tasks"));
    assert_ok(json_member(&tasks, &other, "tasks"));
    int count, all;
    assert_ok(json_length(&count, &tasks));
    assert_ok(json_length(&all, &flights));
    assert_int_equal(all, 3 * count);
    for (int i = 0; i < count; i++) { // the second seed's
        assert_ok(json_element(&flight, &flights, count + i));
        assert_ok(json_element(&task, &tasks, i));
        assert_near(number_at(&flight, "seed"), 6.0, 0.0);
        assert_near(number_at(&flight, "duration"), number_at(&task, "duration"), 0.0);
        assert_near(number_at(&flight, "error_m"), number_at(&task, "error_m"), 0.0);
    }
    json_free(document);
    json_free(single);
}

static void fly_verifies_and_shows_the_raw_flight_too(void **state)
{
    (void)state;
    Run result = run("fly --expert --verify --margin 0.4 " SAMPLE "--json test_verify.json");
    assert_int_equal(result.code, 0);
    assert_true(has_line(result.out, "gates 10 10 10")); // raw, verified, of
    assert_fits(result.out);
    Json *document = read_output("test_verify.json");
    JsonRef root = json_root(document, "json"), raw, totals, reports, report;
    int count, changed = 0;
    assert_ok(json_member(&raw, &root, "raw"));
    assert_ok(json_member(&totals, &raw, "totals"));
    assert_ok(json_member(&totals, &root, "totals"));
    assert_near(number_at(&root, "margin"), 0.4, 0.0);
    assert_ok(json_member(&reports, &root, "verification"));
    assert_ok(json_length(&count, &reports));
    assert_int_equal(count, 4);
    for (int i = 0; i < count; i++) {
        assert_ok(json_element(&report, &reports, i));
        assert_true(json_has(&report, "within_margin") && json_has(&report, "blocked"));
        assert_true(json_has(&report, "rounds") && json_has(&report, "speeds"));
        assert_true(number_at(&report, "clear") <= number_at(&report, "checked"));
        changed += number_at(&report, "slowest_factor") < 1.0 || number_at(&report, "shift") > 0.0;
    }
    assert_true(changed > 0); // the expert keeps only a quarter
    json_free(document);
    assert_fails("fly --expert --verify --margin 1.5 " SAMPLE, 2,
                 "facet fly: --margin: expected a number from 0 to 0.99, found '1.5'\n");
}

static void verified_plans_get_a_verdict(void **state)
{
    (void)state;
    Run result = run("fly --expert --verify --samples 60 --task straight/large " SAMPLE
                     "--json test_verdict.json");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "Verdicts"));
    assert_fits(result.out);
    Json *document = read_output("test_verdict.json");
    JsonRef root = json_root(document, "json"), verdicts, tasks, task;
    assert_ok(json_member(&verdicts, &root, "verdicts"));
    assert_near(number_at(&verdicts, "samples"), 60.0, 0.0);
    assert_ok(json_member(&tasks, &verdicts, "tasks"));
    assert_ok(json_element(&task, &tasks, 0));
    assert_near(number_at(&task, "clear"), 60.0, 0.0);
    assert_near(number_at(&task, "lower"), pow(0.05, 1.0 / 60.0), 1e-9);
    assert_near(number_at(&task, "pace"), 1.0, 0.0);
    json_free(document);
}

static void race_does_the_same_for_all_tasks(void **state)
{
    (void)state;
    Run result = run("race " SAMPLE "--no-report");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "bend/large"));
    assert_true(has_line(result.out, "gates passed 10 10 100"));
    // The policy that ships knows other tracks: the table is the expert's.
    assert_null(strstr(result.out, "Factored policy"));
    assert_non_null(strstr(result.out, "\n4 feasible tasks are left out: the policy was not "));
    assert_fits(result.out);
}

// How many tasks a document's list has.
static int task_count(const JsonRef *document)
{
    JsonRef tasks;
    int count;
    assert_ok(json_member(&tasks, document, "tasks"));
    assert_ok(json_length(&count, &tasks));
    return count;
}

// Two gates in a row under a track's name that the policy knows, and one of its sizes.
static Scratch course_of_a_known_track(void)
{
    Scratch course = scratch_begin();
    scratch_write(&course, "course.json",
                  "{\"arena\": {\"min\": [-10, -10, 0], \"max\": [10, 10, 5]},"
                  " \"speeds\": {\"min\": 2, \"max\": 4},"
                  " \"openings\": [{\"name\": \"wide\", \"half_width\": 1},"
                  " {\"name\": \"huge\", \"half_width\": 1.5}],"
                  " \"gates\": [{\"name\": \"a\", \"center\": [-3, 0, 2], \"normal\": [1, 0, 0]},"
                  " {\"name\": \"b\", \"center\": [3, 1, 2], \"normal\": [1, 0, 0]}]}");
    scratch_write(&course, "race1.json",
                  "{\"name\": \"race1\", \"description\": \"Two gates in a row\","
                  " \"path\": [[-7, 0, 2], \"a\", \"b\", [7, 1.5, 2]]}");
    return course;
}

static void race_shows_the_expert_beside_the_policy(void **state)
{
    (void)state;
    Scratch course = course_of_a_known_track();
    char line[200];
    snprintf(line, sizeof line, "race --courses %s --quiet --no-report --json test_race.json",
             course.folder);
    Run result = run(line);
    scratch_end(&course);
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    // The table is the policy's, with the one task that it knows.
    assert_true(has_line(result.out, "Expert: 2 of 2 tasks feasible, 4/4 gates"));
    assert_true(has_line(result.out, "Factored policy, composed inference:"));
    assert_non_null(strstr(result.out, "\n1 feasible task is left out: the policy was not "));
    assert_fits(result.out);
    Json *document = read_output("test_race.json");
    JsonRef root = json_root(document, "json"), expert, totals, all;
    char planner[16];
    assert_ok(json_member_string(planner, sizeof planner, &root, "planner"));
    assert_string_equal(planner, "policy");
    assert_int_equal(task_count(&root), 1);
    assert_ok(json_member(&expert, &root, "expert"));
    assert_int_equal(task_count(&expert), 2);
    assert_ok(json_member(&totals, &expert, "totals"));
    assert_ok(json_member(&all, &totals, "all"));
    assert_near(number_at(&all, "passed"), 4.0, 0.0);
    json_free(document);
}

static void one_task_alone(void **state)
{
    (void)state;
    Run result = run("fly --expert " SAMPLE "--task straight/small");
    assert_int_equal(result.code, 0);
    assert_non_null(strstr(result.out, "straight/small"));
    assert_null(strstr(result.out, "bend"));
}

static void wrong_words_get_the_right_ones(void **state)
{
    (void)state;
    assert_fails("fly --expert " SAMPLE "--task stright/small", 1,
                 "facet fly: no track 'stright', did you mean 'straight'? known: bend, straight\n");
    assert_fails("fly --expert " SAMPLE "--task straight/smal", 1,
                 "facet fly: no opening 'smal', did you mean 'small'? known: small, large\n");
    assert_fails("fly --expert " SAMPLE "--task straight", 1,
                 "facet fly: expected a task TRACK/OPENING such as bend/small, found 'straight'\n");
    assert_fails("speeds " SAMPLE "--preset rce", 1,
                 "facet speeds: no control preset 'rce', did you mean 'race'? known: race, soft\n");
    assert_fails("demos " SAMPLE, 2, "facet demos: expected --out FILE\n");
    assert_fails("speeds --courses no-such-folder", 1,
                 "facet speeds: no-such-folder/course.json: cannot open: No such file or "
                 "directory\n");
}

static void a_file_that_cannot_be_written_is_a_failure(void **state)
{
    (void)state;
    assert_fails("speeds " SAMPLE "--json no-such-folder/speeds.json", 1,
                 "facet speeds: no-such-folder/speeds.json: cannot create: No such file or "
                 "directory\n");
    assert_fails("demos " SAMPLE "--out no-such-folder/demos.h5", 1,
                 "facet demos: no-such-folder/demos.h5: cannot create: No such file or "
                 "directory\n");
    assert_fails("demos " SAMPLE "--out /dev/null", 1,
                 "facet demos: /dev/null: expected a file to write, found a device or a pipe\n");
}

// Whether a process has a handler of its own for a signal.
static bool handles(pid_t process, int signal_number)
{
    char path[64], line[128];
    unsigned long long caught = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
    FILE *status = fopen(path, "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "SigCgt: %llx", &caught);
    if (status) fclose(status);
    return caught >> (signal_number - 1) & 1;
}

// `facet demos` at work on the sample course, in a folder of its own.
typedef struct DemosRun {
    Scratch folder; // its path is the file's
    FILE *err;
    pid_t process;
} DemosRun;

// `bytes` is the most that a file may hold.
static DemosRun demos_start(const char *rollouts, rlim_t bytes)
{
    DemosRun run = {.folder = scratch_begin(), .err = tmpfile()};
    const char *out = scratch_path(&run.folder, "demos.h5");
    run.process = fork();
    assert_true(run.process >= 0);
    if (run.process == 0) {
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
        dup2(fileno(run.err), STDERR_FILENO);
        execl(FACET_PROGRAM, "facet", "demos", "--courses", TEST_SOURCE "/tests/race/sample",
              "--quiet", "--rollouts", rollouts, "--out", out, (char *)NULL);
        _exit(127);
    }
    return run;
}

// It fails, says why in one line that names the file, and leaves nothing behind.
static void assert_demos_fail(DemosRun *run, const char *words, const char *other)
{
    char said[512], line[512];
    int status;
    assert_int_equal(waitpid(run->process, &status, 0), run->process);
    read_back(said, sizeof said, run->err);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    snprintf(line, sizeof line, "facet demos: %s: %s\n", run->folder.path, words);
    assert_string_equal(said, other && strcmp(said, other) == 0 ? other : line);
    assert_int_equal(scratch_count(run->folder.folder), 0);
    scratch_end(&run->folder);
}

static void an_interrupt_leaves_no_file(void **state)
{
    (void)state;
    DemosRun run = demos_start("100000", RLIM_INFINITY);
    for (int i = 0; i < 400 && !handles(run.process, SIGINT); i++)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    kill(run.process, SIGINT);
    assert_demos_fail(&run, "interrupted, not written",
                      "facet: interrupted before the work began: the same command begins anew\n");
}

// Ends a command that would take long, and has it say so in one line.
static void assert_heard(const char *arguments)
{
    char words[512], said[512], *argv[32] = {(char[]){"facet"}};
    int argc = 1, status;
    snprintf(words, sizeof words, "%s", arguments);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    FILE *err = tmpfile();
    pid_t process = fork();
    assert_true(err && process >= 0);
    if (process == 0) {
        dup2(fileno(err), STDERR_FILENO);
        if (!freopen("/dev/null", "w", stdout)) _exit(126);
        setenv("FACET_CACHE", "", 1);
        execv(FACET_PROGRAM, argv);
        _exit(127);
    }
    for (int i = 0; i < 400 && !handles(process, SIGTERM); i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    kill(process, SIGTERM);
    assert_int_equal(waitpid(process, &status, 0), process);
    read_back(said, sizeof said, err);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || !strstr(said, "interrupted"))
        print_error("facet %s: ended with %x and said \"%s\"\n", arguments, status, said);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    assert_non_null(strstr(said, "interrupted"));
    assert_string_equal(strchr(said, '\n'), "\n");
}

static void every_command_hears_a_signal(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char line[512];
    assert_heard("fly --expert --samples 100000 --gusts 1 --quiet");
    assert_heard("race --no-report --quiet");
    assert_heard("speeds --quiet");
    assert_heard("sample --policy " TEST_SOURCE "/models/race-factored.safetensors --task "
                 "race1/wide --steps 100 --count 10000 --quiet");
    snprintf(line, sizeof line, "report --quiet --out %s", scratch_path(&scratch, "page.html"));
    assert_heard(line);
    assert_int_equal(scratch_count(scratch.folder), 0);
    scratch_end(&scratch);
}

static void a_file_too_large_leaves_no_file(void **state)
{
    (void)state;
    DemosRun run = demos_start("3", 20000);
    assert_demos_fail(&run, "cannot write: File too large", NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speeds_writes_every_task),
        cmocka_unit_test(fly_samples_a_flight_a_seed),
        cmocka_unit_test(fly_writes_results_and_totals),
        cmocka_unit_test(fly_verifies_and_shows_the_raw_flight_too),
        cmocka_unit_test(verified_plans_get_a_verdict),
        cmocka_unit_test(race_does_the_same_for_all_tasks),
        cmocka_unit_test(race_shows_the_expert_beside_the_policy),
        cmocka_unit_test(one_task_alone),
        cmocka_unit_test(wrong_words_get_the_right_ones),
        cmocka_unit_test(a_file_that_cannot_be_written_is_a_failure),
        cmocka_unit_test(an_interrupt_leaves_no_file),
        cmocka_unit_test(every_command_hears_a_signal),
        cmocka_unit_test(a_file_too_large_leaves_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
