// The router of FDP (Liu et al. 2025): the weights follow from the noisy plan, the time and the
// task, by a network that is trained for it (diffusion/router.h). Nobody gives it weights; what
// stands here are those of a router that has learned nothing.
#include "diffusion/operator.h"

static FacetStatus weights(double *out, const double *given, int factors)
{
    if (given)
        return compose_refuse(&compose_router, "no weights, which are the router's", given,
                              factors);
    for (int i = 0; i < factors; i++) out[i] = 1.0 / (1 + factors);
    return status_ok();
}

const ComposeOperator compose_router = {
    .name = "router",
    .whose = "experts under a learned router (FDP)",
    .weights = weights,
};
