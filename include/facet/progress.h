// Progress of long work on stderr: a bar with an ETA on a terminal, plain lines otherwise.
#ifndef FACET_PROGRESS_H
#define FACET_PROGRESS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Progress Progress;

// Shows nothing (and returns NULL, which the other calls accept) when `quiet` is set.
Progress *progress_begin(const char *label, long total, bool quiet);

// Adds finished items; any thread may call it. `note` is shown behind the bar and may be NULL.
void progress_add(Progress *progress, long items, const char *note);

// Finishes the line. The total time stays on screen.
void progress_end(Progress *progress);

#ifdef __cplusplus
}
#endif

#endif
