// Statistics of counts (see statistics.h).
//
// Wilson (1927): (p + z^2/2n +- z sqrt(p (1 - p)/n + z^2/4n^2)) / (1 + z^2/n), with z = 1.96.
#include "statistics.h"

#include <facet/math.h>

Interval wilson_interval(int passed, int count)
{
    const double z = 1.959963984540054;
    if (count <= 0) return (Interval){0.0, 1.0};
    double n = count, p = passed / n, z2 = z * z;
    double middle = p + z2 / (2.0 * n);
    double reach = z * sqrt(p * (1.0 - p) / n + z2 / (4.0 * n * n));
    double scale = 1.0 / (1.0 + z2 / n);
    return (Interval){clamp(scale * (middle - reach), 0.0, 1.0),
                      clamp(scale * (middle + reach), 0.0, 1.0)};
}
