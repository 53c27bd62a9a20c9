// The interpolation of track networks (Mao et al. 2025): one factor, the first, has a network a
// value, and plans are interpolated between networks with a weight. Here it is between the network
// of the task's own value and the one of all data; the other factors are not told. The own network
// alone unless told otherwise.
#include "diffusion/operator.h"

static FacetStatus weights(double *out, const double *given, int factors)
{
    for (int i = 0; i < factors; i++) {
        out[i] = given ? given[i] : i == 0;
        bool right = i == 0 ? out[i] >= 0.0 && out[i] <= 1.0 : out[i] == 0.0;
        if (!right)
            return compose_refuse(&compose_interpolate,
                                  "a weight from 0 to 1 of the first factor and none of others",
                                  given, factors);
    }
    return status_ok();
}

// From the network of all data to the first factor's, in tenths.
static int tried(double (*out)[2])
{
    int count = 0;
    for (int i = 0; i <= 10; i++, count++) out[count][0] = 0.1 * i, out[count][1] = 0.0;
    return count;
}

const ComposeOperator compose_interpolate = {
    .name = "interpolate",
    .whose = "track networks interpolated (Mao et al.)",
    .weights = weights,
    .tried = tried,
};
