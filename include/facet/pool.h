// A pool of threads, which the functions that can share out work take as an argument. NULL is
// always a valid pool: the calling thread alone. Results do not depend on the number of threads.
//
// A pool serves one call at a time; threads of the host that work at the same time have a pool
// each.
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
