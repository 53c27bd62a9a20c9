// Normalisation to [-1, 1], channel by channel (see policy/normalizer.h).
#include "policy/normalizer.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static bool is_constant(double min, double max)
{
    return max - min <= 1e-12 * fmax(fabs(min), fabs(max));
}

FacetStatus normalizer_create(Normalizer **out, const double *min, const double *max, int dim)
{
    assert(dim > 0 && "there is something to normalise");
    *out = NULL;
    for (int i = 0; i < dim; i++)
        if (!isfinite(min[i]) || !isfinite(max[i]) || !isfinite(max[i] - min[i]) || min[i] > max[i])
            return status_fail(FACET_BAD_ARGUMENT,
                               "channel %d: expected a finite range, found %g to %g", i, min[i],
                               max[i]);
    Normalizer *normalizer = malloc(sizeof *normalizer);
    double *ranges = malloc(2 * (size_t)dim * sizeof *ranges);
    if (!normalizer || !ranges) {
        free(normalizer);
        free(ranges);
        return status_fail(FACET_NO_MEMORY, "out of memory for a normalizer of %d channels", dim);
    }
    *normalizer = (Normalizer){.dim = dim, .min = ranges, .max = ranges + dim};
    for (int i = 0; i < dim; i++) {
        normalizer->min[i] = min[i];
        normalizer->max[i] = is_constant(min[i], max[i]) ? min[i] : max[i];
    }
    *out = normalizer;
    return status_ok();
}

void normalizer_destroy(Normalizer *normalizer)
{
    if (!normalizer) return;
    free(normalizer->min); // `max` is the second half of the same block
    free(normalizer);
}

int normalizer_constants(const Normalizer *normalizer)
{
    int count = 0;
    for (int i = 0; i < normalizer->dim; i++) count += normalizer->min[i] == normalizer->max[i];
    return count;
}

static double bend(double x, double knee) { return knee > 0.0 ? asinh(x / knee) : x; }

static double unbend(double u, double knee) { return knee > 0.0 ? knee * sinh(u) : u; }

void normalizer_apply(double *out, const Normalizer *normalizer, const double *in, size_t rows)
{
    int dim = normalizer->dim;
    double knee = normalizer->knee;
    for (int i = 0; i < dim; i++) {
        double min = bend(normalizer->min[i], knee), max = bend(normalizer->max[i], knee);
        for (size_t at = (size_t)i; at < rows * (size_t)dim; at += (size_t)dim)
            out[at] = min == max ? 0.0 : 2.0 * ((bend(in[at], knee) - min) / (max - min)) - 1.0;
    }
}

void normalizer_invert(double *out, const Normalizer *normalizer, const double *in, size_t rows)
{
    int dim = normalizer->dim;
    double knee = normalizer->knee;
    for (int i = 0; i < dim; i++) {
        double min = bend(normalizer->min[i], knee), max = bend(normalizer->max[i], knee);
        for (size_t at = (size_t)i; at < rows * (size_t)dim; at += (size_t)dim) {
            double y = in[at], u = min * (0.5 - 0.5 * y) + max * (0.5 + 0.5 * y);
            out[at] = min == max ? normalizer->min[i] : unbend(u, knee);
        }
    }
}

double normalizer_slope(const Normalizer *normalizer, int channel, double y)
{
    double knee = normalizer->knee, min = bend(normalizer->min[channel], knee),
           max = bend(normalizer->max[channel], knee);
    double u = min * (0.5 - 0.5 * y) + max * (0.5 + 0.5 * y), slope = 0.5 * (max - min);
    return knee > 0.0 ? slope * knee * cosh(u) : slope;
}
