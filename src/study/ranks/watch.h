// The progress of work that is shared out over ranks: rank 0 counts what all of them have done.
#ifndef FACET_RANKS_WATCH_H
#define FACET_RANKS_WATCH_H

#include "ranks/ranks.h"

#include <facet/progress.h>

typedef struct RanksWatch {
    FacetProgress progress; // to hand to the work
    FacetRanks *ranks;
    const FacetProgress *host; // of this rank
    int topic;
    long own, others; // items: of this rank, and on rank 0 of the others
    FacetProgressEvent last;
} RanksWatch;

// All ranks begin to watch a stage, and end to. Each reports its own items out of those of all of
// them; host may be NULL. Hand &watch->progress on in between.
void ranks_watch_begin(RanksWatch *watch, FacetRanks *ranks, const FacetProgress *host);
void ranks_watch_end(RanksWatch *watch);

#endif
