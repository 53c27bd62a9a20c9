// What the benchmarks share: clocks, medians, and the end of a program that cannot go on.
#ifndef FACET_BENCH_H
#define FACET_BENCH_H

#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline double bench_clock(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Seconds by the clock on the wall.
static inline double wall_seconds(void) { return bench_clock(CLOCK_MONOTONIC); }

// Seconds of this thread's processor time: other programs that share the core do not count.
static inline double processor_seconds(void) { return bench_clock(CLOCK_THREAD_CPUTIME_ID); }

static inline int bench_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Sorts the values.
static inline double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, bench_ascending);
    return values[count / 2];
}

static inline void must(FacetStatus status)
{
    if (status.ok) return;
    fprintf(stderr, "%s\n", status.text);
    exit(1);
}

#endif
