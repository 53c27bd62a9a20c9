// The first number of a matrix that is not finite.
#ifndef FACET_DATA_FINITE_H
#define FACET_DATA_FINITE_H

#include <math.h>
#include <stddef.h>

// Its index in row-major order, or `count` when all are finite.
static inline size_t first_not_finite(const double *values, size_t count)
{
    size_t i = 0;
    while (i < count && isfinite(values[i])) i++;
    return i;
}

#endif
