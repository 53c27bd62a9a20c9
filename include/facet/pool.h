// One pool of threads for the whole program.
#ifndef FACET_POOL_H
#define FACET_POOL_H

#include <facet/api.h>
#include <facet/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FacetPool FacetPool;

// threads = 0 takes the number of processors this process may use. The calling thread is one of
// the workers, so a pool of one starts no thread.
FACET_API FacetStatus facet_pool_create(FacetPool **pool, int threads);
FACET_API void facet_pool_destroy(FacetPool *pool);
FACET_API int facet_pool_threads(const FacetPool *pool);

#ifdef __cplusplus
}
#endif

#endif
