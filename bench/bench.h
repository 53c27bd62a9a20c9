// What the benchmarks share: clocks.
#ifndef FACET_BENCH_H
#define FACET_BENCH_H

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

#endif
