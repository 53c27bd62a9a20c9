// Counts what the library allocates, and lets memory end. The linker sends every allocation of a
// test listed in tests/CMakeLists.txt through these; one test file a program includes this.
#ifndef FACET_TESTS_ALLOCATIONS_H
#define FACET_TESTS_ALLOCATIONS_H

#include <stddef.h>

static long allocations;     // and what is freed
static long fail_after = -1; // allocations from now on that still succeed; all when negative

static inline int memory_ends(void) { return allocations++, fail_after >= 0 && fail_after-- == 0; }

void __real_free(void *old);
void __wrap_free(void *old);
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void __wrap_free(void *old)
{
    allocations += old != NULL;
    __real_free(old);
}

void *__wrap_malloc(size_t size) { return memory_ends() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size)
{
    return memory_ends() ? NULL : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size)
{
    return memory_ends() ? NULL : __real_realloc(old, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return memory_ends() ? NULL : __real_aligned_alloc(alignment, size);
}

#endif
