// Statistics of counts and of a few numbers.
#ifndef FACET_MATH_STATISTICS_H
#define FACET_MATH_STATISTICS_H

typedef struct Interval {
    double low, high;
} Interval;

// Wilson's score interval of a rate after `passed` of `count`, at 95 % confidence. Without trials
// it is all of [0, 1].
Interval wilson_interval(int passed, int count);

// The regularised incomplete beta function I_x(a, b) for x in [0, 1] and positive a, b.
double incomplete_beta(double x, double a, double b);

// The exact one-sided lower bound of a rate after `passed` of `count` (Clopper and Pearson, 1934):
// the rate at which `passed` or more of `count` have the probability 1 - confidence. 0 when none
// passed. The confidence lies in (0, 1).
double clopper_pearson_lower(int passed, int count, double confidence);

// Numbers in short, of the finite ones among them; NaN where there is none.
typedef struct Summary {
    int count;
    double mean;
    double deviation; // with n - 1; NaN for fewer than two
    double least, median, most;
} Summary;

// The finite ones come to the front of `values` and are sorted there.
Summary summarise(double *values, int count);

#endif
