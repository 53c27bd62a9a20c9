// Large blocks of memory (see base/memory.h).
#define _DEFAULT_SOURCE // for madvise
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { CACHE_LINE = 64, HUGE_PAGE = 1 << 21 };

void *memory_block(size_t bytes)
{
    size_t unit = bytes < HUGE_PAGE ? CACHE_LINE : HUGE_PAGE;
    size_t size = (bytes + unit - 1) / unit * unit;
    void *block = aligned_alloc(unit, size);
    if (!block) return NULL;
#ifdef MADV_HUGEPAGE
    if (unit == HUGE_PAGE) madvise(block, size, MADV_HUGEPAGE); // a wish, which may be refused
#endif
    return memset(block, 0, bytes);
}
