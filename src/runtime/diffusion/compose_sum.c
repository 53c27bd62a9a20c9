// The sum of corrections: s_null + sum_i w_i (s_i - s_null), paper, Section 3.2, eq. (composed).
// Every factor's effect is added once, with the weight 1 unless told otherwise.
#include "diffusion/operator.h"

#include <math.h>

static FacetStatus weights(double *out, const double *given, int factors)
{
    for (int i = 0; i < factors; i++) {
        out[i] = given ? given[i] : 1.0;
        if (!isfinite(out[i]))
            return compose_refuse(&compose_sum, "finite weights", given, factors);
    }
    return status_ok();
}

// The paper's weights alone.
static int tried(double (*out)[2])
{
    out[0][0] = out[0][1] = 1.0;
    return 1;
}

const ComposeOperator compose_sum = {
    .name = "composed",
    .whose = "sum of corrections (the paper)",
    .weights = weights,
    .tried = tried,
};
