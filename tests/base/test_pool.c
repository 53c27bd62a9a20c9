// The thread pool: every index once, at any number of threads, loop after loop.
#define _GNU_SOURCE // sched_setaffinity
#include "base/pool.h"
#include "base/status.h"
#include "testing.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Tally {
    atomic_int *visits; // per index
    int threads;
    atomic_int strangers; // calls with a worker number out of range
    atomic_int busy[256]; // per worker: two calls at once would share scratch space
    atomic_int clashes;
} Tally;

static void visit(void *context, int index, int worker)
{
    Tally *tally = context;
    if (worker < 0 || worker >= tally->threads) {
        atomic_fetch_add(&tally->strangers, 1);
        return;
    }
    if (atomic_fetch_add(&tally->busy[worker], 1) != 0) atomic_fetch_add(&tally->clashes, 1);
    atomic_fetch_add(&tally->visits[index], 1);
    atomic_fetch_sub(&tally->busy[worker], 1);
}

static void every_index_exactly_once(void **state)
{
    (void)state;
    static const int thread_counts[] = {1, 2, 4, 1}, counts[] = {0, 1, 3, 1000};
    for (int t = 0; t < 4; t++) {
        FacetPool *pool = NULL; // the last is no pool, the calling thread alone
        if (t < 3) assert_ok(facet_pool_create(&pool, thread_counts[t]));
        assert_int_equal(facet_pool_threads(pool), thread_counts[t]);
        for (int c = 0; c < 4; c++) {
            Tally tally = {.threads = thread_counts[t]};
            tally.visits = calloc((size_t)counts[c] + 1, sizeof *tally.visits);
            pool_for(pool, counts[c], visit, &tally);
            for (int i = 0; i < counts[c]; i++) assert_int_equal(tally.visits[i], 1);
            assert_int_equal(tally.visits[counts[c]], 0);
            assert_int_equal(tally.strangers, 0);
            assert_int_equal(tally.clashes, 0);
            free(tally.visits);
        }
        facet_pool_destroy(pool);
    }
}

static void add_index(void *context, int index, int worker)
{
    (void)worker;
    ((long *)context)[index] += index;
}

static void many_loops_in_a_row(void **state)
{
    (void)state;
    enum { LOOPS = 5000, COUNT = 7 };
    for (int threads = 1; threads <= 4; threads *= 2) {
        FacetPool *pool;
        assert_ok(facet_pool_create(&pool, threads));
        long sums[COUNT] = {0};
        for (int i = 0; i < LOOPS; i++) pool_for(pool, COUNT, add_index, sums);
        for (int i = 0; i < COUNT; i++) assert_int_equal(sums[i], (long)i * LOOPS);
        facet_pool_destroy(pool);
    }
}

static void pools_come_and_go(void **state)
{
    (void)state;
    for (int i = 0; i < 200; i++) {
        FacetPool *pool;
        assert_ok(facet_pool_create(&pool, 4));
        facet_pool_destroy(pool);
    }
    facet_pool_destroy(NULL);
}

static void wrong_counts_are_refused(void **state)
{
    (void)state;
    FacetPool *pool = NULL;
    assert_refused(facet_pool_create(&pool, -1), "threads: expected 0 to 256, found -1");
    assert_null(pool);
    assert_refused(facet_pool_create(&pool, 257), "found 257");
    assert_null(pool);
}

static void zero_takes_the_usable_processors(void **state)
{
    (void)state;
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 0));
    assert_int_equal(facet_pool_threads(pool), CPU_COUNT(&all));
    facet_pool_destroy(pool);

    int first = 0;
    while (!CPU_ISSET(first, &all)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_ok(facet_pool_create(&pool, 0));
    assert_int_equal(facet_pool_threads(pool), 1);
    facet_pool_destroy(pool);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

// ---- Tasks that may fail ------------------------------------------------------------------------

enum { TRIES = 500 };

typedef struct Trial {
    atomic_int ran[TRIES];
    int failing[3]; // indices that fail
} Trial;

// The higher the index, the sooner it is done, so that the first to fail is not the lowest.
static FacetStatus try_index(void *context, int index, int worker)
{
    (void)worker;
    Trial *trial = context;
    atomic_fetch_add(&trial->ran[index], 1);
    for (int i = 0; i < 3; i++) {
        if (index != trial->failing[i]) continue;
        if (i == 0) nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        return status_fail(FACET_NOT_FINITE, "index %d", index);
    }
    return status_ok();
}

static void the_lowest_failure_is_the_result(void **state)
{
    (void)state;
    static const int thread_counts[] = {0, 1, 2, 3, 8};
    static const int failing[][3] = {{40, 41, 42}, {0, 1, 499}, {499, -1, -1}, {-1, -1, -1}};
    for (int t = 0; t < 5; t++) {
        FacetPool *pool = NULL; // the first is no pool, the calling thread alone
        if (thread_counts[t]) assert_ok(facet_pool_create(&pool, thread_counts[t]));
        for (int f = 0; f < 4; f++) {
            static Trial trial;
            int lowest = failing[f][0];
            memset(&trial, 0, sizeof trial);
            memcpy(trial.failing, failing[f], sizeof trial.failing);
            FacetStatus status = pool_try(pool, TRIES, try_index, &trial);
            char text[32];
            snprintf(text, sizeof text, "index %d", lowest);
            assert_int_equal(status.ok, lowest < 0);
            assert_int_equal(status.code, lowest < 0 ? FACET_OK : FACET_NOT_FINITE);
            assert_string_equal(status.text, lowest < 0 ? "" : text);
            for (int i = 0; i < TRIES; i++) {
                assert_true(trial.ran[i] <= 1);
                if (lowest < 0 || i <= lowest) assert_int_equal(trial.ran[i], 1);
            }
        }
        assert_ok(pool_try(pool, 0, try_index, NULL));
        facet_pool_destroy(pool);
    }
}

// ---- Hand-over ----------------------------------------------------------------------------------

typedef struct Turns {
    int count;
    atomic_int taken[8];
} Turns;

static void take_turn(void *context, int index, int worker)
{
    (void)worker;
    Turns *turns = context;
    atomic_fetch_add(&turns->taken[index], 1);
}

// Loops that follow each other at once, so that workers come early, late and not at all: every
// index of each is taken once, and none of another.
static void loops_follow_each_other(void **state)
{
    (void)state;
    const int threads[] = {1, 2, 3, 8};
    for (int n = 0; n < 4; n++) {
        FacetPool *pool;
        assert_ok(facet_pool_create(&pool, threads[n]));
        for (int loop = 0; loop < 20000; loop++) {
            Turns turns = {.count = 1 + loop % 8};
            pool_for(pool, turns.count, take_turn, &turns);
            for (int i = 0; i < 8; i++)
                assert_int_equal(atomic_load(&turns.taken[i]), i < turns.count);
        }
        facet_pool_destroy(pool);
    }
}

static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void an_idle_pool_uses_no_processor(void **state)
{
    (void)state;
    FacetPool *pool;
    Turns turns = {.count = 8};
    assert_ok(facet_pool_create(&pool, 2));
    pool_for(pool, turns.count, take_turn, &turns);
    double before = processor_seconds();
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    assert_less(processor_seconds() - before, 0.05);
    facet_pool_destroy(pool);
}

// The caller, worker 0, waits for the other to have an index, so that it has one to wait for.
static void sleep_turn(void *context, int index, int worker)
{
    static atomic_bool taken;
    take_turn(context, index, worker);
    if (worker > 0) atomic_store(&taken, true);
    while (worker == 0 && !atomic_load(&taken))
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    if (worker > 0) nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
}

// A caller that is done first sleeps until the others are.
static void waiting_uses_no_processor(void **state)
{
    (void)state;
    FacetPool *pool;
    Turns turns = {.count = 2};
    assert_ok(facet_pool_create(&pool, 2));
    double before = processor_seconds();
    pool_for(pool, turns.count, sleep_turn, &turns);
    assert_less(processor_seconds() - before, 0.05);
    for (int i = 0; i < 2; i++) assert_int_equal(atomic_load(&turns.taken[i]), 1);
    facet_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_follow_each_other),
        cmocka_unit_test(an_idle_pool_uses_no_processor),
        cmocka_unit_test(waiting_uses_no_processor),
        cmocka_unit_test(the_lowest_failure_is_the_result),
        cmocka_unit_test(every_index_exactly_once),
        cmocka_unit_test(many_loops_in_a_row),
        cmocka_unit_test(pools_come_and_go),
        cmocka_unit_test(wrong_counts_are_refused),
        cmocka_unit_test(zero_takes_the_usable_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
