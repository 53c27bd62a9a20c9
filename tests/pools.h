// Pools for tests that only need one to be there.
#ifndef FACET_TEST_POOLS_H
#define FACET_TEST_POOLS_H

#include "testing.h"

#include <facet/pool.h>

// A pool of so many threads, or of one a processor. It lives as long as the test program; a child
// process makes its own.
static inline FacetPool *test_pool(int threads)
{
    static FacetPool *pools[9];
    assert_true(threads >= 0 && threads < 9);
    if (!pools[threads]) assert_ok(facet_pool_create(&pools[threads], threads));
    return pools[threads];
}

#endif
