// One source, two precisions: networks run in float, and their derivatives are checked, and
// certificates can be computed, in double.
//
// A file is in one precision. It is in float unless it defines FACET_REAL_DOUBLE before its first
// include; then Real is double and every precision-dependent name gets the suffix _f64. The file
// x_f64.c is x.c compiled that way.
#ifndef FACET_MATH_REAL_H
#define FACET_MATH_REAL_H

#include <math.h>

#ifdef FACET_REAL_DOUBLE
typedef double Real;
#define REAL_NAME(name) name##_f64
#define real_sqrt       sqrt
#else
typedef float Real;
#define REAL_NAME(name) name
#define real_sqrt       sqrtf
#endif

// a b + c, fused where the processor can. For sums of two products, of which the compiler may fuse
// either: which one must not depend on the processor.
static inline Real real_fused(Real a, Real b, Real c)
{
#if !defined(__FMA__) && !defined(__ARM_FEATURE_FMA)
    return a * b + c;
#elif defined(FACET_REAL_DOUBLE)
    return __builtin_fma(a, b, c);
#else
    return __builtin_fmaf(a, b, c);
#endif
}

// A constant in the file's precision.
#define R(value) ((Real)(value))

#endif
