// A build without MPI: every process is alone (see ranks/ranks.h).
#include "base/status.h"
#include "ranks/ranks.h"

#include <stdlib.h>

FacetStatus facet_ranks_join(FacetRanks **ranks)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    *ranks = NULL;
    if (!size || atoi(size) <= 1) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT,
                       "started as one of %.20s ranks, but built without MPI: install "
                       "libopenmpi-dev and openmpi-bin, then build with -DFACET_MPI=ON, as ./facet "
                       "does by itself where they are",
                       size);
}

void facet_ranks_leave(FacetRanks *ranks) { (void)ranks; }

int64_t ranks_least(FacetRanks *ranks, int64_t value)
{
    (void)ranks;
    return value;
}

void ranks_broadcast(FacetRanks *ranks, int from, void *data, size_t bytes)
{
    (void)ranks, (void)from, (void)data, (void)bytes;
}

void ranks_gather_all(FacetRanks *ranks, void *data, const size_t *starts)
{
    (void)ranks, (void)data, (void)starts;
}

void ranks_gather(FacetRanks *ranks, void *data, const size_t *starts)
{
    (void)ranks, (void)data, (void)starts;
}

FacetStatus ranks_reserve(FacetRanks *ranks, int messages)
{
    (void)ranks, (void)messages;
    return status_ok();
}

void ranks_send(FacetRanks *ranks, int to, const void *data, size_t bytes)
{
    (void)ranks, (void)to, (void)data, (void)bytes;
}

void ranks_receive(FacetRanks *ranks, int from, void *data, size_t bytes)
{
    (void)ranks, (void)from, (void)data, (void)bytes;
}

void ranks_wait(FacetRanks *ranks) { (void)ranks; }

void ranks_tell(FacetRanks *ranks, int topic, int64_t number)
{
    (void)ranks, (void)topic, (void)number;
}

bool ranks_told(FacetRanks *ranks, int topic, int64_t *number, bool wait)
{
    (void)ranks, (void)topic, (void)number, (void)wait;
    return false;
}

void ranks_abort(FacetRanks *ranks) { (void)ranks; }
