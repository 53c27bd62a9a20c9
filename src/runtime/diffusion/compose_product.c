// The product of experts of PoCo (Wang et al. 2024): p is in proportion to prod_i p_i^w_i, so that
// scores add up with weights. The experts are the networks of the factors' values, each trained on
// its slice of the data; the network of all data has no part in it. Weights are exponents of a
// logarithmic pool and sum to one; equal ones unless told otherwise.
#include "diffusion/operator.h"

#include <math.h>

static FacetStatus weights(double *out, const double *given, int factors)
{
    double sum = 0.0;
    for (int i = 0; i < factors; i++) {
        out[i] = given ? given[i] : 1.0 / factors;
        sum += out[i];
    }
    if (!(fabs(sum - 1.0) <= 1e-9))
        return compose_refuse(&compose_product, "weights that sum to 1", given, factors);
    return status_ok();
}

// From all of the second factor to all of the first, in tenths.
static int tried(double (*out)[2])
{
    int count = 0;
    for (int i = 0; i <= 10; i++, count++) out[count][0] = 0.1 * i, out[count][1] = 1.0 - 0.1 * i;
    return count;
}

const ComposeOperator compose_product = {
    .name = "product",
    .whose = "product of experts (PoCo)",
    .weights = weights,
    .tried = tried,
};
