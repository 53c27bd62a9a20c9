// The bar away from a terminal: a line a tenth once the work takes time, and the truth about it.
// And Ctrl-C, which stops the work whether the bar is drawn or not.
#include "base/pool.h"
#include "base/progress.h"
#include "program/bar.h"
#include "program/interrupt.h"
#include "testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static FILE *captured;
static int saved_stderr;

static void capture_begin(void)
{
    captured = tmpfile();
    assert_non_null(captured);
    saved_stderr = dup(STDERR_FILENO);
    dup2(fileno(captured), STDERR_FILENO);
}

// What was written to stderr since capture_begin, in `out`.
static void capture_end(char *out, size_t size)
{
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    rewind(captured);
    out[fread(out, 1, size - 1, captured)] = '\0';
    fclose(captured);
}

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++) lines += *text == '\n';
    return lines;
}

// Long enough for plain lines to appear.
static void take_time(void)
{
    nanosleep(&(struct timespec){.tv_sec = 1, .tv_nsec = 50000000}, NULL);
}

static void one_line_a_tenth(void **state)
{
    (void)state;
    char text[4096];
    capture_begin();
    Progress progress;
    progress_begin(&progress, bar_open(false), "demos", 1000);
    take_time();
    for (int i = 0; i < 1000; i++) assert_ok(progress_add(&progress, 1, i == 999 ? "done" : NULL));
    progress_end(&progress);
    bar_close();
    capture_end(text, sizeof text);
    assert_int_equal(count_lines(text), 10);
    assert_memory_equal(text, "demos 100/1000 ETA ", 19);
    assert_non_null(strstr(text, "s  done\n"));
    assert_null(strchr(text, '\r'));
    assert_null(strchr(text, '\033'));
}

static void quiet_says_nothing(void **state)
{
    (void)state;
    char text[256];
    capture_begin();
    Progress progress;
    progress_begin(&progress, bar_open(true), "demos", 10);
    take_time();
    assert_ok(progress_add(&progress, 10, NULL));
    progress_end(&progress);
    bar_close();
    capture_end(text, sizeof text);
    assert_string_equal(text, "");
}

static void short_work_is_silent(void **state)
{
    (void)state;
    char text[256];
    capture_begin();
    Progress progress;
    progress_begin(&progress, bar_open(false), "short", 10);
    assert_ok(progress_add(&progress, 10, NULL));
    progress_end(&progress);
    capture_end(text, sizeof text);
    assert_string_equal(text, "");
}

static void no_work_is_done_at_once(void **state)
{
    (void)state;
    char text[256];
    capture_begin();
    Progress progress;
    progress_begin(&progress, bar_open(false), "empty", 0);
    take_time();
    assert_ok(progress_add(&progress, 0, NULL));
    assert_ok(progress_add(&progress, 0, NULL)); // is no other line
    progress_end(&progress);
    capture_end(text, sizeof text);
    assert_memory_equal(text, "empty 0/0 in ", 13);
    assert_int_equal(count_lines(text), 1);
}

// A stage begins anew, under the name of the last or another.
static void one_stage_after_the_other(void **state)
{
    (void)state;
    static const char *const stages[] = {"first", "second", "second"};
    char text[256];
    const FacetProgress *bar = bar_open(false);
    capture_begin();
    for (int i = 0; i < 3; i++) {
        Progress progress;
        progress_begin(&progress, bar, stages[i], 2);
        take_time();
        assert_ok(progress_add(&progress, 2, i == 1 ? "note" : NULL));
        progress_end(&progress);
    }
    capture_end(text, sizeof text);
    assert_string_equal(text, "first 2/2 in 1s\nsecond 2/2 in 1s  note\nsecond 2/2 in 1s\n");
}

static FacetStatus step(void *context, int index, int worker)
{
    (void)index, (void)worker;
    return progress_add(context, 1, NULL);
}

static void threads_share_one_bar(void **state)
{
    (void)state;
    char text[4096];
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 4));
    capture_begin();
    Progress progress;
    progress_begin(&progress, bar_open(false), "steps", 5000);
    take_time();
    assert_ok(pool_try(pool, 5000, step, &progress));
    progress_end(&progress);
    capture_end(text, sizeof text);
    facet_pool_destroy(pool);
    assert_int_equal(count_lines(text), 10);
    assert_non_null(strstr(text, "steps 5000/5000 in "));
}

// ---- Ctrl-C -------------------------------------------------------------------------------------

// In a child process: what the work sees of a signal, and of a Ctrl-C after it.
static int interrupt_child(bool quiet, int signal_number)
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        Progress progress;
        interrupt_watch();
        progress_begin(&progress, bar_open(quiet), "demos", 10);
        if (interrupt_requested() || !progress_add(&progress, 1, NULL).ok) _exit(1);
        raise(signal_number);
        if (!interrupt_requested()) _exit(2);
        if (progress_add(&progress, 1, NULL).code != FACET_INTERRUPTED) _exit(3);
        raise(SIGTERM); // which changes nothing
        raise(SIGINT);  // nor does one that comes with the first
        nanosleep(&(const struct timespec){.tv_nsec = 600000000}, NULL);
        raise(SIGINT); // a later one ends the program
        _exit(4);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    return result;
}

static void an_interrupt_stops_the_work(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 6; i++) {
        int result = interrupt_child(i % 2, signals[i / 2]);
        if (!WIFSIGNALED(result)) print_error("left at %d\n", WEXITSTATUS(result));
        assert_true(WIFSIGNALED(result));
        assert_int_equal(WTERMSIG(result), SIGINT);
    }
}

// In a child process: a signal before the work asks for the first time.
static int interrupt_early(int signal_number, void (*before)(int))
{
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(9);
        signal(signal_number, before);
        interrupt_watch();
        raise(signal_number);
        _exit(interrupt_requested() ? 3 : 4);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    return WEXITSTATUS(result);
}

static void an_interrupt_before_the_work_ends_at_once(void **state)
{
    (void)state;
    assert_int_equal(interrupt_early(SIGINT, SIG_DFL), 1);
    assert_int_equal(interrupt_early(SIGTERM, SIG_DFL), 1);
    assert_int_equal(interrupt_early(SIGHUP, SIG_DFL), 1);
    assert_int_equal(interrupt_early(SIGHUP, SIG_IGN), 4); // as nohup starts it
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_a_tenth),
        cmocka_unit_test(quiet_says_nothing),
        cmocka_unit_test(short_work_is_silent),
        cmocka_unit_test(no_work_is_done_at_once),
        cmocka_unit_test(one_stage_after_the_other),
        cmocka_unit_test(threads_share_one_bar),
        cmocka_unit_test(an_interrupt_stops_the_work),
        cmocka_unit_test(an_interrupt_before_the_work_ends_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
