// Statistics of counts.
#ifndef FACET_MATH_STATISTICS_H
#define FACET_MATH_STATISTICS_H

typedef struct Interval {
    double low, high;
} Interval;

// Wilson's score interval of a rate after `passed` of `count`, at 95 % confidence. Without trials
// it is all of [0, 1].
Interval wilson_interval(int passed, int count);

#endif
