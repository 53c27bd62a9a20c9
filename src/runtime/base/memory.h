// Large blocks of memory.
#ifndef FACET_BASE_MEMORY_H
#define FACET_BASE_MEMORY_H

#include <stddef.h>

// Zeroed memory for numbers that are walked through again and again, on large pages where the
// system gives them: fewer of them to look up, for the processor and for a message to another
// process. Goes with free(). NULL when there is none.
void *memory_block(size_t bytes);

#endif
