// Memory that a program cannot go on without: small texts for a person.
#ifndef FACET_BASE_REQUIRED_H
#define FACET_BASE_REQUIRED_H

#include <stdio.h>
#include <stdlib.h>

// Returns the pointer, or ends the program when it is NULL.
static inline void *required(void *pointer)
{
    if (!pointer) {
        fputs("facet: out of memory\n", stderr);
        abort();
    }
    return pointer;
}

#endif
