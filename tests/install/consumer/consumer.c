// A program outside the project that uses the installed library.
#include "base/pool.h"
#include "base/rng.h"

#include <inttypes.h>
#include <stdio.h>

static void draw(void *context, int index, int worker)
{
    (void)worker;
    rng_block((uint32_t *)context + 4 * index, 0, 0, (uint64_t)index);
}

int main(void)
{
    uint32_t words[8];
    FacetPool *pool;
    FacetStatus status = facet_pool_create(&pool, 2);
    if (!status.ok) return fprintf(stderr, "%s\n", status.text), 1;
    pool_for(pool, 2, draw, words);
    facet_pool_destroy(pool);
    printf("%08" PRIx32 "\n", words[0]);
    return 0;
}
