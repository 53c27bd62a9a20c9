// Comparisons with numbers that PyTorch has computed: a room's reference.txt, made by the script
// reference.py beside it. Each entry is a name, a count and that many numbers.
#ifndef FACET_TESTS_REFERENCE_H
#define FACET_TESTS_REFERENCE_H

#include "math/real.h"
#include "testing.h"

// Of floats; a file that needs more says so before it includes this.
#ifdef FACET_REAL_DOUBLE
#undef REFERENCE_TOLERANCE
#define REFERENCE_TOLERANCE 1e-8
#elif !defined(REFERENCE_TOLERANCE)
#define REFERENCE_TOLERANCE 1e-4
#endif

// Numbers that both sides can make: the scripts have the same function.
static inline void wave(Real *out, size_t size, double scale, double rate, double phase)
{
    for (size_t i = 0; i < size; i++) out[i] = (Real)(scale * sin(rate * (double)(i + 1) + phase));
}

static inline void same(const Real *actual, const char *entry, size_t size)
{
    FILE *file = fopen(TEST_DATA "/reference.txt", "r");
    assert_non_null(file);
    char name[64];
    size_t count, compared = 0;
    while (fscanf(file, "%63s %zu", name, &count) == 2)
        for (size_t i = 0; i < count; i++) {
            double expected;
            assert_int_equal(fscanf(file, "%lf", &expected), 1);
            if (strcmp(name, entry) != 0) continue;
            assert_true(i < size);
            if (!(fabs((double)actual[i] - expected) <=
                  REFERENCE_TOLERANCE * (1.0 + fabs(expected))))
                fail_msg("%s[%zu] = %.9g, PyTorch has %.9g", entry, i, (double)actual[i], expected);
            compared++;
        }
    fclose(file);
    if (compared != size)
        fail_msg("%s: %zu of %zu numbers in reference.txt", entry, compared, size);
}

#endif
