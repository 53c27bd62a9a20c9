// An update allocates nothing, and neither does the BLAS inside it: this program's own malloc and
// its kin stand before the C library's for all that it links.
#include "base/rng.h"
#include "pools.h"
#include "train/trainer.h"

#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BATCH = 14, FACTORS = 2, SIZE = 32 * 4 };

#if defined(__GLIBC__) && !defined(TEST_SANITIZED)

static atomic_long calls;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *old);

static void *counted(void *block)
{
    calls++;
    return block;
}

void *malloc(size_t size) { return counted(__libc_malloc(size)); }
void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }
void *realloc(void *old, size_t size) { return counted(__libc_realloc(old, size)); }
void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }
void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void **out, size_t alignment, size_t size)
{
    *out = memalign(alignment, size);
    return *out ? 0 : ENOMEM;
}
void free(void *old)
{
    calls += old != NULL;
    __libc_free(old);
}

static void assert_updates_in_place(double composed_weight, int threads)
{
    ScoreNetConfig shape = score_net_default();
    shape.blocks = 2, shape.channels = 64, shape.factors = FACTORS;
    shape.values[0] = 8, shape.values[1] = 3;
    static float x0[BATCH * SIZE];
    int z[BATCH * FACTORS];
    FacetRng rng = rng_make(1, 0);
    for (int i = 0; i < BATCH * SIZE; i++) x0[i] = (float)rng_range(&rng, -1.0, 1.0);
    for (int i = 0; i < BATCH; i++) z[2 * i] = i % 8, z[2 * i + 1] = i % 3;
    ScoreNet *net;
    NoiseSchedule schedule;
    Trainer *trainer;
    TrainConfig config = trainer_default();
    config.batch = BATCH;
    config.composed_weight = composed_weight;
    FacetPool *pool = test_pool(threads);
    assert_ok(score_net_create(&net, shape));
    assert_ok(schedule_cosine(&schedule, 100));
    assert_ok(trainer_create(&trainer, net, &schedule, config, threads));
    long before = calls;
    assert_true(before > 20); // those of the trainer were counted
    for (int i = 0; i < 4; i++) assert_true(trainer_step(trainer, x0, z, NULL, pool).finite);
    long during = calls - before;
    assert_int_equal(during, 0);
    trainer_free(trainer);
    score_net_free(net);
}

static void an_update_allocates_nothing(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        assert_updates_in_place(0.0, threads);
        assert_updates_in_place(1.0, threads);
    }
}

#else

static void an_update_allocates_nothing(void **state)
{
    (void)state;
    skip(); // the allocator is the sanitizer's
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(an_update_allocates_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
