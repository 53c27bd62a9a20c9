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

// A constant in the file's precision.
#define R(value) ((Real)(value))

#endif
