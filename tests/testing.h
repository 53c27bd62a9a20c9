// What every test file includes: cmocka, and comparisons of floating-point numbers that say what
// they saw.
#ifndef FACET_TESTING_H
#define FACET_TESTING_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define assert_near(actual, expected, tolerance)                                                   \
    do {                                                                                           \
        double actual_ = (actual), expected_ = (expected), tolerance_ = (tolerance);               \
        if (!(fabs(actual_ - expected_) <= tolerance_)) {                                          \
            print_error("%s = %.12g, expected %.12g within %.3g\n", #actual, actual_, expected_,   \
                        tolerance_);                                                               \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

#define assert_less(actual, limit)                                                                 \
    do {                                                                                           \
        double actual_ = (actual), limit_ = (limit);                                               \
        if (!(actual_ < limit_)) {                                                                 \
            print_error("%s = %.12g, expected less than %.12g\n", #actual, actual_, limit_);       \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

#define assert_ok(expression)                                                                      \
    do {                                                                                           \
        FacetStatus status_ = (expression);                                                        \
        if (!status_.ok) {                                                                         \
            print_error("%s failed: %s\n", #expression, status_.text);                             \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

// The operation must fail with a message that contains `words`.
#define assert_refused(expression, words)                                                          \
    do {                                                                                           \
        FacetStatus status_ = (expression);                                                        \
        if (status_.ok || !strstr(status_.text, (words)) || strchr(status_.text, '\n')) {          \
            print_error("%s said \"%s\", expected a line with \"%s\"\n", #expression,              \
                        status_.ok ? "ok" : status_.text, (words));                                \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

#endif
