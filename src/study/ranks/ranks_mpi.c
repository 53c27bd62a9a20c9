// Ranks by MPI: the one file that knows it (see ranks/ranks.h).
//
// MPI's own answer to an error is kept: it ends all ranks with a line of its own.
#include "base/status.h"
#include "ranks/ranks.h"

#include <assert.h>
#include <limits.h>
#include <mpi.h>
#include <stdlib.h>

enum { TAG_DATA = 1, TAG_TOPICS = 2, TOPICS = 16384 };

struct RanksPending {
    int count, capacity;
    MPI_Request requests[];
};

// Set by mpirun, or by another starter that speaks PMI, for every process that it starts. Starting
// MPI without one costs time, and gives a rank alone.
static bool is_started(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") || getenv("PMIX_RANK") || getenv("PMI_RANK");
}

FacetStatus facet_ranks_join(FacetRanks **out)
{
    int provided;
    *out = NULL;
    if (!is_started()) return status_ok();
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
        provided < MPI_THREAD_SERIALIZED)
        return status_fail(FACET_NO_THREAD, "MPI: expected support for threads, found none");
    FacetRanks *ranks = calloc(1, sizeof *ranks);
    if (!ranks) return status_fail(FACET_NO_MEMORY, "out of memory for the ranks");
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks->count);
    *out = ranks;
    return ranks_reserve(ranks, 4);
}

void facet_ranks_leave(FacetRanks *ranks)
{
    if (!ranks) return;
    MPI_Finalize();
    free(ranks->pending);
    free(ranks);
}

static int count_of(size_t bytes)
{
    assert(bytes <= INT_MAX && "a message is shorter than 2 GB");
    return (int)bytes;
}

int64_t ranks_least(FacetRanks *ranks, int64_t value)
{
    if (ranks) MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
    return value;
}

void ranks_broadcast(FacetRanks *ranks, int from, void *data, size_t bytes)
{
    if (ranks) MPI_Bcast(data, count_of(bytes), MPI_BYTE, from, MPI_COMM_WORLD);
}

void ranks_gather_all(FacetRanks *ranks, void *data, const size_t *starts)
{
    if (!ranks) return;
    for (int r = 0; r < ranks->count; r++) {
        char *from = (char *)data + starts[r];
        size_t bytes = starts[r + 1] - starts[r];
        if (r == ranks->rank)
            for (int to = 0; to < ranks->count; to++)
                if (to != r) ranks_send(ranks, to, from, bytes);
        if (r != ranks->rank) ranks_receive(ranks, r, from, bytes);
    }
    ranks_wait(ranks);
}

void ranks_gather(FacetRanks *ranks, void *data, const size_t *starts)
{
    if (!ranks) return;
    if (ranks->rank > 0)
        ranks_send(ranks, 0, (char *)data + starts[ranks->rank],
                   starts[ranks->rank + 1] - starts[ranks->rank]);
    for (int r = 1; r < ranks->count && ranks->rank == 0; r++)
        ranks_receive(ranks, r, (char *)data + starts[r], starts[r + 1] - starts[r]);
    ranks_wait(ranks);
}

FacetStatus ranks_reserve(FacetRanks *ranks, int messages)
{
    if (!ranks) return status_ok();
    struct RanksPending *pending = ranks->pending;
    messages += 2 * ranks->count; // what gathering needs
    if (pending && pending->capacity >= messages) return status_ok();
    pending = realloc(pending, sizeof *pending + (size_t)messages * sizeof *pending->requests);
    if (!pending) return status_fail(FACET_NO_MEMORY, "out of memory for %d messages", messages);
    if (!ranks->pending) pending->count = 0;
    pending->capacity = messages;
    ranks->pending = pending;
    return status_ok();
}

static MPI_Request *next_request(FacetRanks *ranks)
{
    assert(ranks->pending->count < ranks->pending->capacity && "ranks_reserve comes first");
    return &ranks->pending->requests[ranks->pending->count++];
}

void ranks_send(FacetRanks *ranks, int to, const void *data, size_t bytes)
{
    if (ranks && bytes > 0)
        MPI_Isend(data, count_of(bytes), MPI_BYTE, to, TAG_DATA, MPI_COMM_WORLD,
                  next_request(ranks));
}

void ranks_receive(FacetRanks *ranks, int from, void *data, size_t bytes)
{
    if (ranks && bytes > 0)
        MPI_Irecv(data, count_of(bytes), MPI_BYTE, from, TAG_DATA, MPI_COMM_WORLD,
                  next_request(ranks));
}

void ranks_wait(FacetRanks *ranks)
{
    if (!ranks) return;
    MPI_Waitall(ranks->pending->count, ranks->pending->requests, MPI_STATUSES_IGNORE);
    ranks->pending->count = 0;
}

void ranks_tell(FacetRanks *ranks, int topic, int64_t number)
{
    // So short a message goes out at once: the sender does not wait for rank 0 to take it.
    if (ranks) MPI_Send(&number, 1, MPI_INT64_T, 0, TAG_TOPICS + topic % TOPICS, MPI_COMM_WORLD);
}

bool ranks_told(FacetRanks *ranks, int topic, int64_t *number, bool wait)
{
    int tag = TAG_TOPICS + topic % TOPICS, there = wait;
    if (!ranks) return false;
    if (!wait) MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (there)
        MPI_Recv(number, 1, MPI_INT64_T, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return there;
}

void ranks_abort(FacetRanks *ranks)
{
    if (ranks) MPI_Abort(MPI_COMM_WORLD, 1);
}
