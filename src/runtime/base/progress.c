// A progress bar with an ETA (see facet/progress.h). Redraws at most ten times a second on a
// terminal. Elsewhere it prints a line for every tenth of the work, from the first second on: short
// work stays silent there.
#include <facet/progress.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct FacetProgress {
    pthread_mutex_t mutex;
    char label[32];
    long done, total;
    double started, drawn; // seconds on the monotonic clock
    int printed_tenths;
    bool terminal;
};

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

static void draw(const FacetProgress *progress, const char *note, double now)
{
    enum { WIDTH = 28 };
    double elapsed = now - progress->started;
    double fraction = progress->total > 0 ? (double)progress->done / (double)progress->total : 1.0;
    char bar[WIDTH + 1], time[16];
    for (int i = 0; i < WIDTH; i++) bar[i] = i < (int)(fraction * WIDTH) ? '#' : '.';
    bar[WIDTH] = '\0';
    bool finished = progress->done >= progress->total;
    if (finished)
        format_duration(time, elapsed);
    else if (progress->done > 0)
        format_duration(time, elapsed * (1.0 / fraction - 1.0));
    else
        strcpy(time, "?");
    const char *meaning = finished ? "in" : "ETA";
    if (progress->terminal)
        fprintf(stderr, "\r%s [%s] %ld/%ld %s %s%s%s\033[K", progress->label, bar, progress->done,
                progress->total, meaning, time, note ? "  " : "", note ? note : "");
    else
        fprintf(stderr, "%s %ld/%ld %s %s%s%s\n", progress->label, progress->done, progress->total,
                meaning, time, note ? "  " : "", note ? note : "");
}

FacetProgress *facet_progress_begin(const char *label, long total, bool quiet)
{
    if (quiet) return NULL;
    FacetProgress *progress = calloc(1, sizeof *progress);
    if (!progress) return NULL;
    pthread_mutex_init(&progress->mutex, NULL);
    snprintf(progress->label, sizeof progress->label, "%s", label);
    progress->total = total;
    progress->started = now_seconds();
    progress->terminal = isatty(STDERR_FILENO);
    if (progress->terminal) draw(progress, NULL, progress->started);
    return progress;
}

void facet_progress_add(FacetProgress *progress, long items, const char *note)
{
    if (!progress) return;
    pthread_mutex_lock(&progress->mutex);
    progress->done += items;
    double now = now_seconds();
    bool finished = progress->done >= progress->total;
    if (progress->terminal) {
        if (finished || now - progress->drawn > 0.1) {
            draw(progress, note, now);
            progress->drawn = now;
        }
    } else {
        int tenths = progress->total > 0 ? (int)(10 * progress->done / progress->total) : 10;
        if (tenths > progress->printed_tenths && now - progress->started > 1.0)
            draw(progress, note, now);
        progress->printed_tenths = tenths;
    }
    pthread_mutex_unlock(&progress->mutex);
}

void facet_progress_end(FacetProgress *progress)
{
    if (!progress) return;
    if (progress->terminal) fputc('\n', stderr);
    pthread_mutex_destroy(&progress->mutex);
    free(progress);
}
