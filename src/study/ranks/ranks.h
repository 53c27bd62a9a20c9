// What ranks say to each other (facet_study/ranks.h).
//
// Everything here is a step that all ranks take together, in the same order, but for sending and
// receiving. On NULL, a process alone, nothing happens. ranks_mpi.c is the one file that knows MPI;
// without it ranks_alone.c stands in.
#ifndef FACET_RANKS_RANKS_H
#define FACET_RANKS_RANKS_H

#include <facet_study/ranks.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct FacetRanks {
    int rank, count;
    bool agreed;                  // a failure is known to all of them
    struct RanksPending *pending; // messages under way
    int watches;                  // stages that were watched so far (ranks/watch.h)
};

// Whether this one is rank 0, which writes and speaks.
static inline bool ranks_lead(const FacetRanks *ranks) { return !ranks || ranks->rank == 0; }

// Whether part `index` of shared work is this rank's.
static inline bool ranks_mine(const FacetRanks *ranks, int index)
{
    return !ranks || index % ranks->count == ranks->rank;
}

// ---- Agreement (ranks.c) ------------------------------------------------------------------------

// The failure of the lowest rank that failed, on all of them; it names the rank unless all say the
// same.
FacetStatus ranks_agree(FacetRanks *ranks, FacetStatus status);

// Whether it is so on any of them.
bool ranks_any(FacetRanks *ranks, bool value);

// Refuses, on all, a text that is not that of rank 0: a word of it that differs is shown. `what`
// says what the text is.
FacetStatus ranks_same(FacetRanks *ranks, const char *what, const char *text);

// The same for the bytes of a file.
FacetStatus ranks_same_file(FacetRanks *ranks, const char *path);

// The results [count] of work that was shared out by ranks_mine, each of `size` bytes.
void ranks_collect(FacetRanks *ranks, void *results, size_t size, int count);

// ---- Messages (ranks_mpi.c, ranks_alone.c) ------------------------------------------------------

// The least of the ranks' numbers.
int64_t ranks_least(FacetRanks *ranks, int64_t value);

// The bytes of rank `from`, on all of them.
void ranks_broadcast(FacetRanks *ranks, int from, void *data, size_t bytes);

// Rank r has the bytes from starts[r] to starts[r + 1]: all get all, or rank 0 gets all.
void ranks_gather_all(FacetRanks *ranks, void *data, const size_t *starts);
void ranks_gather(FacetRanks *ranks, void *data, const size_t *starts);

// Room for so many messages under way.
FacetStatus ranks_reserve(FacetRanks *ranks, int messages);

// Begins a message between two ranks; one is received in the order it was sent. Its bytes are left
// alone until all messages under way are through.
void ranks_send(FacetRanks *ranks, int to, const void *data, size_t bytes);
void ranks_receive(FacetRanks *ranks, int from, void *data, size_t bytes);
void ranks_wait(FacetRanks *ranks);

// A number for rank 0 that nobody waits for; rank 0 takes one if one is there, or waits for it.
// `topic` keeps apart what is counted.
void ranks_tell(FacetRanks *ranks, int topic, int64_t number);
bool ranks_told(FacetRanks *ranks, int topic, int64_t *number, bool wait);

// Ends all ranks at once, with exit code 1.
void ranks_abort(FacetRanks *ranks);

#endif
