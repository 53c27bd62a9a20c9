// A pool of threads that share out the indices of one loop at a time (see facet/pool.h and pool.h).
#define _GNU_SOURCE // sched_getaffinity

#include "base/pool.h"

#include "base/status.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef void (*PoolTask)(void *context, int index, int worker);

typedef struct Worker {
    FacetPool *pool;
    int number;
    pthread_t thread;
} Worker;

struct FacetPool {
    int threads;
    Worker *workers; // workers[0] is the caller and has no thread
    pthread_mutex_t mutex;
    pthread_cond_t work_ready, work_done;
    unsigned long generation; // counts loops; a worker sleeps until it changes
    int running;              // workers still in the current loop
    bool stopping;
    PoolTask task;
    void *context;
    int count;
    atomic_int next;
};

static void take_indices(FacetPool *pool, int worker)
{
    for (;;) {
        int index = atomic_fetch_add(&pool->next, 1);
        if (index >= pool->count) return;
        pool->task(pool->context, index, worker);
    }
}

static void *worker_main(void *argument)
{
    Worker *self = argument;
    FacetPool *pool = self->pool;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->stopping && pool->generation == seen)
            pthread_cond_wait(&pool->work_ready, &pool->mutex);
        if (pool->stopping) break;
        seen = pool->generation;
        pthread_mutex_unlock(&pool->mutex);
        take_indices(pool, self->number);
        pthread_mutex_lock(&pool->mutex);
        if (--pool->running == 0) pthread_cond_signal(&pool->work_done);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

// The processors this process may run on, which can be fewer than the machine has.
static int usable_processors(void)
{
    cpu_set_t allowed;
    bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    long count = known ? CPU_COUNT(&allowed) : sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > 256 ? 256 : (int)count;
}

FacetStatus facet_pool_create(FacetPool **out, int threads)
{
    *out = NULL;
    if (threads < 0 || threads > 256)
        return status_fail(FACET_BAD_ARGUMENT, "threads: expected 0 to 256, found %d", threads);
    if (threads == 0) threads = usable_processors();
    FacetPool *pool = calloc(1, sizeof *pool);
    Worker *workers = calloc((size_t)threads, sizeof *workers);
    if (!pool || !workers) {
        free(pool);
        free(workers);
        return status_fail(FACET_NO_MEMORY, "out of memory for a pool of %d threads", threads);
    }
    pool->workers = workers;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work_ready, NULL);
    pthread_cond_init(&pool->work_done, NULL);
    for (pool->threads = 1; pool->threads < threads; pool->threads++) {
        Worker *worker = &workers[pool->threads];
        *worker = (Worker){.pool = pool, .number = pool->threads};
        if (pthread_create(&worker->thread, NULL, worker_main, worker) != 0) {
            int started = pool->threads;
            facet_pool_destroy(pool);
            return status_fail(FACET_NO_THREAD, "cannot start thread %d of %d", started + 1,
                               threads);
        }
    }
    *out = pool;
    return status_ok();
}

void facet_pool_destroy(FacetPool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->mutex);
    pool->stopping = true;
    pthread_cond_broadcast(&pool->work_ready);
    pthread_mutex_unlock(&pool->mutex);
    for (int i = 1; i < pool->threads; i++) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->work_done);
    pthread_cond_destroy(&pool->work_ready);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->workers);
    free(pool);
}

int facet_pool_threads(const FacetPool *pool) { return pool ? pool->threads : 1; }

void pool_for(FacetPool *pool, int count, PoolTask task, void *context)
{
    if (!pool) {
        for (int index = 0; index < count; index++) task(context, index, 0);
        return;
    }
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->context = context;
    pool->count = count;
    atomic_store(&pool->next, 0);
    pool->running = pool->threads - 1;
    pool->generation++;
    pthread_cond_broadcast(&pool->work_ready);
    pthread_mutex_unlock(&pool->mutex);
    take_indices(pool, 0);
    pthread_mutex_lock(&pool->mutex);
    while (pool->running > 0) pthread_cond_wait(&pool->work_done, &pool->mutex);
    pthread_mutex_unlock(&pool->mutex);
}

// ---- Tasks that may fail ----------------------------------------------------------------------

typedef FacetStatus (*PoolTry)(void *context, int index, int worker);

typedef struct Attempt {
    PoolTry task;
    void *context;
    pthread_mutex_t mutex;
    atomic_int failed;  // the lowest index that failed, or the number of all
    FacetStatus status; // its failure
} Attempt;

// Indices are taken in order, so those below one that fails are done or being done.
static void attempt(void *context, int index, int worker)
{
    Attempt *a = context;
    if (index > atomic_load(&a->failed)) return;
    FacetStatus status = a->task(a->context, index, worker);
    if (status.ok) return;
    pthread_mutex_lock(&a->mutex);
    if (index < atomic_load(&a->failed)) {
        atomic_store(&a->failed, index);
        a->status = status;
    }
    pthread_mutex_unlock(&a->mutex);
}

FacetStatus pool_try(FacetPool *pool, int count, PoolTry task, void *context)
{
    Attempt a = {.task = task, .context = context, .failed = count, .status = status_ok()};
    pthread_mutex_init(&a.mutex, NULL);
    pool_for(pool, count, attempt, &a);
    pthread_mutex_destroy(&a.mutex);
    return a.status;
}
