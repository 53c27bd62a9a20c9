// Training the race study's policies takes less than 300 MB, and a program whose address space is
// limited (ulimit -v) does its work or says in a line that it cannot.
#include "program/program.h"
#include "scratch.h"

#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#define SAMPLE "--courses " TEST_SOURCE "/tests/race/sample --quiet "

// What the shipped demonstrations take beside the few of this test.
enum { LIMIT_MB = 300, DEMONSTRATIONS_MB = 25 };

// The most that any program that has ended took, MB.
static double peak_of_children(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_CHILDREN, &usage), 0);
    return (double)usage.ru_maxrss / 1024.0;
}

static void training_stays_under_its_limit(void **state)
{
    (void)state;
#ifdef TEST_SANITIZED
    skip(); // they take several times the memory
#endif
    Run demos = run("demos " SAMPLE "--rollouts 11 --out demos.h5");
    assert_string_equal(demos.err, "");
    double before = peak_of_children();
    // The network and the batch of the default recipe, with the composed loss: 80 rows an update.
    Run train = run("train --data demos.h5 --out policy --epochs 1 --composed-loss 3 --threads 2 "
                    "--quiet");
    assert_string_equal(train.err, "");
    assert_int_equal(train.code, 0);
    double peak = peak_of_children();
    print_message("demonstrations %.0f MB, training %.0f MB\n", before, peak);
    assert_less(before, peak);
    assert_less(peak, LIMIT_MB - DEMONSTRATIONS_MB);
}

// ---- Limits -------------------------------------------------------------------------------------

static bool has_ended(int *status, pid_t process, int seconds)
{
    for (int i = 0; i < 100 * seconds; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        if (waitpid(process, status, WNOHANG) == process) return true;
    }
    return false;
}

// The exit code of a process that is told to stop after a while. One that does not listen, as it
// waits for memory, is killed and has none: -1.
static int wait_for(pid_t process)
{
    int status = 0;
    bool ended = has_ended(&status, process, 5);
    if (!ended && kill(process, SIGTERM) == 0) ended = has_ended(&status, process, 30);
    if (!ended && kill(process, SIGKILL) == 0) waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Runs the program in so many MB of address space, with OpenBLAS as it is by itself.
static Run run_within(int megabytes, const char *arguments)
{
    char words[512], *argv[32] = {(char[]){"facet"}};
    int argc = 1;
    rlim_t bytes = (rlim_t)megabytes << 20;
    Run result = {.code = -1};
    FILE *err = tmpfile();
    snprintf(words, sizeof words, "%s", arguments);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " ")) argv[argc++] = word;
    fflush(NULL);
    pid_t child = fork();
    assert_true(err && child >= 0);
    if (child == 0) {
        dup2(fileno(err), STDERR_FILENO);
        if (!freopen("/dev/null", "w", stdout)) _exit(126);
        unsetenv("OPENBLAS_NUM_THREADS");
        setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes});
        execv(FACET_PROGRAM, argv);
        _exit(127);
    }
    result.code = wait_for(child);
    read_back(result.err, sizeof result.err, err);
    return result;
}

// From the least space that the program begins in to one that is enough for the work.
static void a_limit_of_memory_is_told(void **state)
{
    (void)state;
#ifdef TEST_SANITIZED
    skip(); // they reserve more than any limit
#endif
    enum { STEP = 32, MOST = 4096 };
    assert_int_equal(run("demos " SAMPLE "--rollouts 2 --out d.h5").code, 0);
    assert_int_equal(
        run("train --data d.h5 --out p --epochs 1 --blocks 1 --channels 16 --quiet").code, 0);
    int megabytes = STEP, told = 0;
    bool works = false;
    while (megabytes < MOST && run_within(megabytes, "version").code != 0) megabytes += STEP;
    for (; megabytes < MOST && !works; megabytes += STEP) {
        Run result = run_within(megabytes, "certify --policy p --task straight/small --steps 2 "
                                           "--threads 2 " SAMPLE);
        works = result.code == 0 || strstr(result.err, "interrupted");
        print_message("%d MB: %d %s", megabytes, result.code, result.err);
        if (result.code == 0) continue;
        assert_int_equal(result.code, 1);
        assert_memory_equal(result.err, "facet", 5);
        assert_string_equal(strchr(result.err, '\n'), "\n");
        told += strstr(result.err, "matrix products: expected 256 MB of address space") != NULL;
    }
    assert_true(works);
    assert_true(told > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_stays_under_its_limit),
        cmocka_unit_test(a_limit_of_memory_is_told),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
