// Normalisation of numbers to [-1, 1], channel by channel, from the range each channel has.
//
//   y = 2 (x - min) / (max - min) - 1        x = min (1 - y) / 2 + max (1 + y) / 2
//
// The ends of the range map to -1 and 1 and back without rounding. Values outside the range are
// not clipped. A channel is constant when its range is not above the rounding of its values
// (max - min <= 1e-12 max(|min|, |max|)): every x maps to 0, and every y back to min.
//
// With a knee k > 0 the same is done to asinh(x / k) instead of x, so that equal steps of y are
// equal steps of x near 0 and equal factors of x far beyond k: errors count by their size near 0,
// and relative to x elsewhere.
#ifndef FACET_POLICY_NORMALIZER_H
#define FACET_POLICY_NORMALIZER_H

#include "base/status.h"

#include <stddef.h>

typedef struct Normalizer {
    int dim;     // channels
    double *min; // [dim]
    double *max; // [dim], equal to min where the channel is constant
    double knee; // k of all channels; 0, as it is made, for none
} Normalizer;

// The ranges are copied, and must be finite and ordered. Destroy accepts NULL.
FacetStatus normalizer_create(Normalizer **normalizer, const double *min, const double *max,
                              int dim);
void normalizer_destroy(Normalizer *normalizer);

// How many channels are constant.
int normalizer_constants(const Normalizer *normalizer);

// rows x dim numbers; `out` may be `in`.
void normalizer_apply(double *out, const Normalizer *normalizer, const double *in, size_t rows);
void normalizer_invert(double *out, const Normalizer *normalizer, const double *in, size_t rows);

// d x/d y of a channel at y; 0 where the channel is constant.
double normalizer_slope(const Normalizer *normalizer, int channel, double y);

#endif
