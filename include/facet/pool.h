// One pool of threads for the whole program.
#ifndef FACET_POOL_H
#define FACET_POOL_H

#include <facet/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ThreadPool ThreadPool;

// threads = 0 takes the number of processors this process may use. The calling thread is one of
// the workers, so a pool of one starts no thread.
Status pool_create(ThreadPool **pool, int threads);
void pool_destroy(ThreadPool *pool);
int pool_threads(const ThreadPool *pool);

// Calls task(context, index, worker) once for every index in [0, count), in no fixed order, and
// returns when all are done. worker is in [0, pool_threads) and names the scratch space the call
// may use. A task writes only to what belongs to its index, so that results do not depend on the
// number of threads. A task does not start a loop on the same pool. A NULL pool is the calling
// thread alone.
void pool_for(ThreadPool *pool, int count, void (*task)(void *context, int index, int worker),
              void *context);

#ifdef __cplusplus
}
#endif

#endif
