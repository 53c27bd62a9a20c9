// A pool of threads that share out the indices of one loop at a time (see facet/pool.h and pool.h).
#define _GNU_SOURCE // sched_getaffinity

#include "base/pool.h"

#include "base/status.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef void (*PoolTask)(void *context, int index, int worker);

// How long a worker looks for the next loop before it sleeps: longer than the work between two
// layers of a network, shorter than anyone would notice.
#define SPIN_SECONDS 50e-6

typedef struct Worker {
    FacetPool *pool;
    int number;
    pthread_t thread;
} Worker;

// The ticket holds a loop's number and its next index, so that one exchange both claims an index
// and makes sure that it is of the loop whose task was read: what a loop does is written while the
// ticket is closed. A worker that comes late finds nothing to claim, and nobody waits for it.
#define CLOSED UINT32_MAX // in place of the next index

struct FacetPool {
    int threads;
    bool spins;      // false where threads share processors, and looking takes time from work
    Worker *workers; // workers[0] is the caller and has no thread
    pthread_mutex_t mutex;
    pthread_cond_t work_ready, work_done;
    atomic_int sleeping; // workers
    atomic_bool waiting; // the caller sleeps until the loop is done
    atomic_bool stopping;
    _Alignas(64) _Atomic uint64_t ticket; // loop << 32 | next index
    _Atomic(PoolTask) task;
    _Atomic(void *) context;
    atomic_int count;
    _Alignas(64) atomic_int done; // indices of the current loop
};

static inline void pause_processor(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void wake_caller(FacetPool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_signal(&pool->work_done);
    pthread_mutex_unlock(&pool->mutex);
}

// Claims indices of the loop that is open, and runs them. Returns when none is left.
static void take_indices(FacetPool *pool, int worker)
{
    for (;;) {
        uint64_t ticket = atomic_load(&pool->ticket);
        if ((uint32_t)ticket == CLOSED) return;
        PoolTask task = atomic_load_explicit(&pool->task, memory_order_relaxed);
        void *context = atomic_load_explicit(&pool->context, memory_order_relaxed);
        int index = (int)(uint32_t)ticket;
        if (index >= atomic_load_explicit(&pool->count, memory_order_relaxed)) return;
        if (!atomic_compare_exchange_strong(&pool->ticket, &ticket, ticket + 1)) continue;
        int count = atomic_load_explicit(&pool->count, memory_order_relaxed);
        task(context, index, worker);
        if (atomic_fetch_add(&pool->done, 1) + 1 == count && atomic_load(&pool->waiting))
            wake_caller(pool);
    }
}

static uint64_t loop_of(FacetPool *pool) { return atomic_load(&pool->ticket) >> 32; }

// Sleeps until there is a loop other than the one seen last, or the pool stops.
static void sleep_after(FacetPool *pool, uint64_t seen)
{
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!atomic_load(&pool->stopping) && loop_of(pool) == seen)
        pthread_cond_wait(&pool->work_ready, &pool->mutex);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->mutex);
}

static void *worker_main(void *argument)
{
    Worker *self = argument;
    FacetPool *pool = self->pool;
    uint64_t seen = 0;
    while (!atomic_load(&pool->stopping)) {
        double until = pool->spins ? seconds() + SPIN_SECONDS : 0.0;
        while (loop_of(pool) == seen && !atomic_load(&pool->stopping)) {
            if (!pool->spins || seconds() > until) {
                sleep_after(pool, seen);
                break;
            }
            pause_processor();
        }
        seen = loop_of(pool);
        take_indices(pool, self->number);
    }
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
    FacetPool *pool = aligned_alloc(_Alignof(FacetPool), sizeof *pool);
    Worker *workers = calloc((size_t)threads, sizeof *workers);
    if (!pool || !workers) {
        free(pool);
        free(workers);
        return status_fail(FACET_NO_MEMORY, "out of memory for a pool of %d threads", threads);
    }
    memset(pool, 0, sizeof *pool);
    pool->workers = workers;
    pool->spins = threads <= usable_processors();
    atomic_store(&pool->ticket, CLOSED);
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
    atomic_store(&pool->stopping, true);
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

// Until all indices of the loop are done: those that others claimed may take long.
static void wait_for(FacetPool *pool, int count)
{
    double until = pool->spins ? seconds() + SPIN_SECONDS : 0.0;
    while (atomic_load(&pool->done) < count) {
        if (pool->spins && seconds() < until) {
            pause_processor();
            continue;
        }
        pthread_mutex_lock(&pool->mutex);
        atomic_store(&pool->waiting, true);
        while (atomic_load(&pool->done) < count) pthread_cond_wait(&pool->work_done, &pool->mutex);
        atomic_store(&pool->waiting, false);
        pthread_mutex_unlock(&pool->mutex);
    }
}

void pool_for(FacetPool *pool, int count, PoolTask task, void *context)
{
    if (!pool || pool->threads == 1 || count == 1) {
        for (int index = 0; index < count; index++) task(context, index, 0);
        return;
    }
    if (count < 1) return;
    uint64_t loop = loop_of(pool) + 1;
    atomic_store_explicit(&pool->task, task, memory_order_relaxed);
    atomic_store_explicit(&pool->context, context, memory_order_relaxed);
    atomic_store_explicit(&pool->done, 0, memory_order_relaxed);
    atomic_store_explicit(&pool->count, count, memory_order_relaxed);
    atomic_store(&pool->ticket, loop << 32);
    if (atomic_load(&pool->sleeping) > 0) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_broadcast(&pool->work_ready);
        pthread_mutex_unlock(&pool->mutex);
    }
    take_indices(pool, 0);
    wait_for(pool, count);
    atomic_store(&pool->ticket, loop << 32 | CLOSED);
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
