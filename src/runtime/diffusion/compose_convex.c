// The convex combination of GPC (Cao et al. 2026): whole policies are mixed at test time, with
// weights that are searched for by flying (race/operators.h). The policies are the networks of the
// factors' values and the one of all data, which has what is left of 1. Equal weights of the
// factors' networks unless told otherwise.
#include "diffusion/operator.h"

static FacetStatus weights(double *out, const double *given, int factors)
{
    double sum = 0.0;
    bool right = true;
    for (int i = 0; i < factors; i++) {
        out[i] = given ? given[i] : 1.0 / factors;
        sum += out[i];
        right &= out[i] >= 0.0;
    }
    if (!right || sum > 1.0 + 1e-9)
        return compose_refuse(&compose_convex, "weights of 0 or more that sum to at most 1", given,
                              factors);
    return status_ok();
}

// In fifths; the network of all data has what is left of 1.
static int tried(double (*out)[2])
{
    int count = 0;
    for (int i = 0; i <= 5; i++)
        for (int k = 0; k <= 5 - i; k++, count++) out[count][0] = 0.2 * i, out[count][1] = 0.2 * k;
    return count;
}

const ComposeOperator compose_convex = {
    .name = "convex",
    .whose = "convex combination (GPC)",
    .weights = weights,
    .tried = tried,
};
