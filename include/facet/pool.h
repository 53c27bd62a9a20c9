// A pool of threads, which a host makes and lends to the functions that share out their work.
//
// The libraries start no thread that is not in a pool of the host's. Wherever one is taken it may
// be NULL, which is the calling thread alone; it changes how long work takes and no bit of its
// result. A pool does one piece of work at a time, so threads that work side by side have one each.
#ifndef FACET_POOL_H
#define FACET_POOL_H

#include <facet/api.h>
#include <facet/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FacetPool FacetPool;

// Starts the threads, 1 to 256, which sleep until there is work; 0 takes the number of processors
// this process may use. The calling thread is one of the workers, so a pool of one starts no
// thread. Allocates the pool. Destroy ends the threads and accepts NULL.
FACET_API FacetStatus facet_pool_create(FacetPool **pool, int threads);
FACET_API void facet_pool_destroy(FacetPool *pool);
FACET_API int facet_pool_threads(const FacetPool *pool); // with the calling one; 1 of NULL

#ifdef __cplusplus
}
#endif

#endif
