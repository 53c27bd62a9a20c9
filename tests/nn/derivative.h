// Central differences in double, shared by the tests of layers and networks.
#ifndef FACET_TEST_DERIVATIVE_H
#define FACET_TEST_DERIVATIVE_H

#include "base/rng.h"
#include "testing.h"

static inline void fill_normal(double *out, size_t size, uint64_t stream)
{
    FacetRng rng = rng_make(11, stream);
    for (size_t i = 0; i < size; i++) out[i] = rng_normal(&rng);
}

static inline double dot(const double *a, const double *b, size_t size)
{
    double sum = 0.0;
    for (size_t i = 0; i < size; i++) sum += a[i] * b[i];
    return sum;
}

// The scalar function of everything the context points at.
typedef double (*ScalarFunction)(void *context);

// Compares gradient[i] with the central difference of f over value[i] for every `stride`-th i.
static inline void check_gradient(const char *name, double *value, const double *gradient,
                                  size_t size, size_t stride, ScalarFunction f, void *context)
{
    for (size_t i = 0; i < size; i += stride) {
        double keep = value[i], h = 1e-5;
        value[i] = keep + h;
        double above = f(context);
        value[i] = keep - h;
        double below = f(context);
        value[i] = keep;
        double expected = (above - below) / (2.0 * h);
        if (!(fabs(gradient[i] - expected) <= 2e-7 * (1.0 + fabs(expected)))) {
            print_error("%s[%zu]: gradient %.10g, central difference %.10g\n", name, i, gradient[i],
                        expected);
            fail();
        }
    }
}

// The function that fills the context's outputs from its inputs.
typedef void (*VectorFunction)(void *context);

// Compares tangent (of output) with the central difference along direction (of input).
static inline void check_tangent(const char *name, double *input, const double *direction,
                                 size_t inputs, const double *output, const double *tangent,
                                 size_t outputs, VectorFunction f, void *context)
{
    enum { LIMIT = 4096 };
    static double keep[LIMIT], above[LIMIT];
    assert_true(inputs <= LIMIT);
    assert_true(outputs <= LIMIT);
    double h = 1e-5;
    memcpy(keep, input, inputs * sizeof *keep);
    for (size_t i = 0; i < inputs; i++) input[i] = keep[i] + h * direction[i];
    f(context);
    memcpy(above, output, outputs * sizeof *above);
    for (size_t i = 0; i < inputs; i++) input[i] = keep[i] - h * direction[i];
    f(context);
    for (size_t i = 0; i < outputs; i++) {
        double expected = (above[i] - output[i]) / (2.0 * h);
        if (!(fabs(tangent[i] - expected) <= 2e-7 * (1.0 + fabs(expected)))) {
            print_error("%s[%zu]: tangent %.10g, central difference %.10g\n", name, i, tangent[i],
                        expected);
            fail();
        }
    }
    memcpy(input, keep, inputs * sizeof *keep);
    f(context);
}

#endif
