// Ctrl-C and SIGTERM set a flag (see interrupt.h).
#include "interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;

// A second Ctrl-C ends the program at once. A second SIGTERM does not: mpirun sends several, and
// has SIGKILL for those who do not listen.
static void on_interrupt(int signal_number)
{
    interrupted = 1;
    if (signal_number == SIGINT) signal(signal_number, SIG_DFL);
}

void interrupt_watch(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupt_requested(void) { return interrupted; }

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
