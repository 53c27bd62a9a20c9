// A progress bar with an ETA (see bar.h). Redraws at most ten times a second on a terminal.
// Elsewhere it prints a line for every tenth of the work, from the first second on: short work
// stays silent there.
#include "bar.h"

#include "interrupt.h"
#include "team.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Bar {
    bool terminal;
    char stage[32], note[80];
    long done;
    bool open;             // a line on the terminal that is not ended yet
    bool complete;         // the stage is, and its last line is written
    double started, drawn; // seconds on the monotonic clock
    int printed_tenths;
} Bar;

static Bar bar; // there is one stderr

static double now_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// "4s", "3m07s", "2h05m"
static void format_duration(char out[16], double seconds)
{
    unsigned whole = seconds < 3.6e7 ? (unsigned)(seconds + 0.5) : 36000000u;
    if (whole < 60)
        snprintf(out, 16, "%us", whole);
    else if (whole < 3600)
        snprintf(out, 16, "%um%02us", whole / 60, whole % 60);
    else
        snprintf(out, 16, "%uh%02um", whole / 3600, whole / 60 % 60);
}

static void draw(long done, long total, double now)
{
    enum { WIDTH = 28 };
    double elapsed = now - bar.started;
    double fraction = total > 0 ? (double)done / (double)total : 1.0;
    char cells[WIDTH + 1], time[16];
    for (int i = 0; i < WIDTH; i++) cells[i] = i < (int)(fraction * WIDTH) ? '#' : '.';
    cells[WIDTH] = '\0';
    bool finished = done >= total;
    if (finished)
        format_duration(time, elapsed);
    else if (done > 0)
        format_duration(time, elapsed * (1.0 / fraction - 1.0));
    else
        strcpy(time, "?");
    const char *meaning = finished ? "in" : "ETA", *space = *bar.note ? "  " : "";
    if (bar.terminal)
        fprintf(stderr, "\r%s [%s] %ld/%ld %s %s%s%s\033[K", bar.stage, cells, done, total, meaning,
                time, space, bar.note);
    else
        fprintf(stderr, "%s %ld/%ld %s %s%s%s\n", bar.stage, done, total, meaning, time, space,
                bar.note);
    bar.open = bar.terminal;
    bar.drawn = now;
}

static void begin_stage(const FacetProgressEvent *event, double now)
{
    bar_close();
    snprintf(bar.stage, sizeof bar.stage, "%s", event->stage);
    bar.note[0] = '\0';
    bar.complete = false;
    bar.started = now;
    bar.printed_tenths = 0;
    if (bar.terminal) draw(event->done, event->total, now);
    bar.drawn = 0.0;
}

static void show(const FacetProgressEvent *event)
{
    double now = now_seconds();
    bool fresh =
        event->done < bar.done || strncmp(event->stage, bar.stage, sizeof bar.stage - 1) != 0;
    bar.done = event->done;
    if (fresh) begin_stage(event, now);
    if (fresh || bar.complete) return;
    if (event->note) snprintf(bar.note, sizeof bar.note, "%s", event->note);
    bool finished = event->done >= event->total;
    int tenths = event->total > 0 ? (int)(10 * event->done / event->total) : 10;
    if (bar.terminal) {
        if (finished || now - bar.drawn > 0.1) draw(event->done, event->total, now);
    } else if (tenths > bar.printed_tenths && now - bar.started > 1.0) {
        draw(event->done, event->total, now);
    }
    bar.printed_tenths = tenths;
    if (!finished) return;
    bar_close();
    bar.complete = true;
}

static bool report(void *context, const FacetProgressEvent *event)
{
    (void)context;
    show(event);
    return !interrupt_requested();
}

const FacetProgress *bar_open(bool quiet)
{
    static const FacetProgress progress = {.report = report};
    bar.terminal = isatty(STDERR_FILENO);
    return quiet || !team_leads() ? interrupt_progress() : &progress;
}

void bar_close(void)
{
    if (bar.open) fputc('\n', stderr);
    bar.open = false;
}
