// Ctrl-C, SIGTERM and SIGHUP set a flag (see interrupt.h).
#include "interrupt.h"

#include "args.h"

#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;
static struct timespec first;       // when the first signal came
static volatile sig_atomic_t asked; // the work has begun to ask

static void end_at_once(void)
{
    static const char line[] =
        "facet: interrupted before the work began: the same command begins anew\n";
    if (write(STDERR_FILENO, line, sizeof line - 1) < 0) _exit(EXIT_FAILED);
    _exit(EXIT_FAILED);
}

// Half a second on, a person is impatient; before, `timeout` and shells have told the program and
// its group of one and the same.
static bool is_later(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec) > 0.5;
}

// A second SIGTERM does not end the program: mpirun sends several, and has SIGKILL for those who do
// not listen.
static void on_interrupt(int signal_number)
{
    if (!asked) end_at_once();
    if (!interrupted)
        clock_gettime(CLOCK_MONOTONIC, &first);
    else if (signal_number == SIGINT && is_later()) {
        signal(SIGINT, SIG_DFL);
        raise(SIGINT);
    }
    interrupted = 1;
}

void interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = on_interrupt}, before;
    sigemptyset(&action.sa_mask);
    asked = 0;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(SIGHUP, &action, NULL);
}

bool interrupt_requested(void)
{
    asked = 1;
    return interrupted;
}

static bool report(void *context, const FacetProgressEvent *event)
{
    (void)context, (void)event;
    return !interrupt_requested();
}

const FacetProgress *interrupt_progress(void)
{
    static const FacetProgress progress = {.report = report};
    return &progress;
}
