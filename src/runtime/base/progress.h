// Counting the items of a stage for the host that watches (facet/progress.h).
#ifndef FACET_BASE_PROGRESS_H
#define FACET_BASE_PROGRESS_H

#include <facet/progress.h>
#include <facet/status.h>
#include <pthread.h>

typedef struct Progress {
    const FacetProgress *host; // NULL: nobody watches
    const char *stage;
    long done, total;
    long part; // of `done`, what the part that runs now has added
    bool stopped;
    pthread_mutex_t mutex;
} Progress;

// Begins a stage. The host and the stage's name must outlive it, and it is to be ended.
void progress_begin(Progress *progress, const FacetProgress *host, const char *stage, long total);
void progress_end(Progress *progress);

// Adds finished items, or none to ask whether to go on. Any thread may call it. Once the host has
// said stop, this fails with FACET_INTERRUPTED and does not ask again. `note` may be NULL.
FacetStatus progress_add(Progress *progress, long items, const char *note);

// Asks the host. For work that has more to say of a stop than "interrupted".
bool progress_stopped(Progress *progress);

// A watcher for work inside this work. It passes a stop on; the items of a part count as items of
// this work, those of an aside do not. One part runs at a time, and `part` counts its items.
FacetProgress progress_part(Progress *progress);
FacetProgress progress_aside(Progress *progress);

#endif
