// Signals: what the first and the second of each kind do, before the work asks and after.
#include "program/args.h"
#include "program/interrupt.h"
#include "testing.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// How a process ends that gets these signals, one after the other, and then asks whether to go on:
// with 3 if it is told to stop, and with 4 if not. They come so far apart (s).
static int end_of(bool asks_before, const int *signals, int count, double apart_s)
{
    int status;
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(126);
        interrupt_watch();
        if (asks_before && interrupt_requested()) _exit(5);
        for (int i = 0; i < count; i++) {
            const struct timespec apart = {.tv_nsec = (long)(1e9 * apart_s)};
            if (i > 0) nanosleep(&apart, NULL);
            raise(signals[i]);
        }
        _exit(interrupt_requested() ? 3 : 4);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void assert_stops(const int *signals, int count)
{
    int status = end_of(true, signals, count, 0.0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), count ? 3 : 4);
}

static void every_signal_says_stop(void **state)
{
    (void)state;
    assert_stops(NULL, 0);
    assert_stops((const int[]){SIGINT}, 1);
    assert_stops((const int[]){SIGTERM}, 1);
    assert_stops((const int[]){SIGHUP}, 1);
}

// mpirun sends several.
static void a_second_sigterm_is_survived(void **state)
{
    (void)state;
    assert_stops((const int[]){SIGTERM, SIGTERM, SIGTERM}, 3);
    assert_stops((const int[]){SIGINT, SIGTERM, SIGHUP}, 3);
    assert_stops((const int[]){SIGHUP, SIGHUP}, 2);
}

static void a_second_interrupt_ends_at_once(void **state)
{
    (void)state;
    static const int twice[] = {SIGINT, SIGINT}, after[] = {SIGTERM, SIGINT};
    int status = end_of(true, twice, 2, 0.7);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
    status = end_of(true, after, 2, 0.7);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
    // The first signal is what it comes after, whatever came between.
    static const int between[] = {SIGINT, SIGTERM, SIGINT};
    status = end_of(true, between, 3, 0.4);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

// timeout -s INT tells a program and then its group, maybe a little later.
static void two_interrupts_at_once_are_one(void **state)
{
    (void)state;
    assert_stops((const int[]){SIGINT, SIGINT, SIGINT}, 3);
    int status = end_of(true, (const int[]){SIGINT, SIGINT}, 2, 0.15);
    // On a busy machine the second may come later than it should.
    for (int i = 0; i < 5 && !WIFEXITED(status); i++)
        status = end_of(true, (const int[]){SIGINT, SIGINT}, 2, 0.15);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
}

static void before_the_work_asks_a_signal_ends_it(void **state)
{
    (void)state;
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 3; i++) {
        int status = end_of(false, &signals[i], 1, 0.0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), EXIT_FAILED);
    }
}

// nohup's choice is respected.
static void an_ignored_sighup_stays_ignored(void **state)
{
    (void)state;
    signal(SIGHUP, SIG_IGN);
    int status = end_of(true, (const int[]){SIGHUP}, 1, 0.0);
    signal(SIGHUP, SIG_DFL);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_signal_says_stop),
        cmocka_unit_test(a_second_sigterm_is_survived),
        cmocka_unit_test(a_second_interrupt_ends_at_once),
        cmocka_unit_test(two_interrupts_at_once_are_one),
        cmocka_unit_test(before_the_work_asks_a_signal_ends_it),
        cmocka_unit_test(an_ignored_sighup_stays_ignored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
