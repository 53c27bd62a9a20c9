// Loops over a pool of threads (facet/pool.h).
#ifndef FACET_BASE_POOL_H
#define FACET_BASE_POOL_H

#include <facet/pool.h>

// Calls task(context, index, worker) once for every index in [0, count), in no fixed order, and
// returns when all are done. worker is in [0, facet_pool_threads) and names the scratch space the
// call may use. A task writes only to what belongs to its index, so that results do not depend on
// the number of threads. A task does not start a loop on the same pool. A NULL pool is the calling
// thread alone.
void pool_for(FacetPool *pool, int count, void (*task)(void *context, int index, int worker),
              void *context);

// The same for tasks that may fail. The result is the failure of the lowest index that fails, on
// any number of threads: all indices below it run, and some above it may not.
FacetStatus pool_try(FacetPool *pool, int count,
                     FacetStatus (*task)(void *context, int index, int worker), void *context);

#endif
