// Large blocks of memory (see base/memory.h).
#define _GNU_SOURCE // madvise
#include "base/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, PAGE = 2 << 20 };

void *memory_block(size_t bytes)
{
    if (bytes > SIZE_MAX - PAGE) return NULL;
    size_t align = bytes >= PAGE ? PAGE : LINE, size = (bytes + align - 1) / align * align;
    void *block = aligned_alloc(align, size ? size : align);
    if (!block) return NULL;
#ifdef MADV_HUGEPAGE
    if (align == PAGE) madvise(block, size, MADV_HUGEPAGE);
#endif
    memset(block, 0, size);
    return block;
}
