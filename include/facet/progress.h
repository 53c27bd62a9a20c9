// Progress of long work on stderr: a bar with an ETA on a terminal, plain lines otherwise.
#ifndef FACET_PROGRESS_H
#define FACET_PROGRESS_H

#include <facet/api.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FacetProgress FacetProgress;

// Shows nothing (and returns NULL, which the other calls accept) when `quiet` is set.
FACET_API FacetProgress *facet_progress_begin(const char *label, long total, bool quiet);

// Adds finished items; any thread may call it. `note` is shown behind the bar and may be NULL.
FACET_API void facet_progress_add(FacetProgress *progress, long items, const char *note);

// Finishes the line. The total time stays on screen.
FACET_API void facet_progress_end(FacetProgress *progress);

#ifdef __cplusplus
}
#endif

#endif
