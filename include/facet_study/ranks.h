// Several processes, on one machine or many, that work as one: ranks of an MPI job.
//
// Whoever starts the processes, such as mpirun, numbers them from 0. All of them run the same calls
// with the same settings; what is written, is written by rank 0. Results do not depend on their
// number: the same bits on one rank and on many. NULL stands for a process that is alone, and every
// function that takes ranks takes NULL.
//
// A rank that dies ends all of them: that is the starter's part.
#ifndef FACET_STUDY_RANKS_H
#define FACET_STUDY_RANKS_H

#include <facet/api.h>
#include <facet/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FacetRanks FacetRanks;

// Joins the other ranks, once in a process. *ranks is NULL when nobody started this one as one of
// several. Fails when somebody did and Facet is built without MPI.
FACET_API FacetStatus facet_ranks_join(FacetRanks **ranks);

// All ranks leave together.
FACET_API void facet_ranks_leave(FacetRanks *ranks);

FACET_API int facet_ranks_rank(const FacetRanks *ranks);  // from 0
FACET_API int facet_ranks_count(const FacetRanks *ranks); // 1 or more

#ifdef __cplusplus
}
#endif

#endif
