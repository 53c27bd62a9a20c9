// What a step of sampling does with numbers: composition, and the step itself (see
// diffusion/sampler.h).
#include "diffusion/sampler.h"

#include <math.h>

void compose_scores(Real *out, const Real *branches, const double *weights, int factors, int plans,
                    int size)
{
    for (int n = 0; n < plans; n++) {
        const Real *null = branches + (size_t)n * (1 + factors) * size;
        Real *sum = out + (size_t)n * size;
        for (int i = 0; i < size; i++) sum[i] = null[i];
        for (int k = 0; k < factors; k++) {
            const Real *branch = null + (size_t)(1 + k) * size;
            Real weight = weights ? (Real)weights[k] : R(1);
            for (int i = 0; i < size; i++) sum[i] += weight * (branch[i] - null[i]);
        }
    }
}

FacetStatus sampler_advance(Real *x, Real *x0_before, const Real *p, const SamplerPlan *plan,
                            int index, size_t size)
{
    const SamplerStep *step = &plan->step[index];
    Real limit = plan->config.clip > 0.0 ? (Real)plan->config.clip : R(INFINITY);
    Real from_x = R(step->clean.first), from_p = R(step->clean.second);
    Real keep = R(step->keep), now = R(step->now), before = R(step->before);
    Real sum = 0;
    for (size_t j = 0; j < size; j++) {
        Real clean = from_x * x[j] + from_p * p[j];
        clean = clean > limit ? limit : clean < -limit ? -limit : clean;
        x[j] = keep * x[j] + now * clean + (index > 0 ? before * x0_before[j] : R(0));
        x0_before[j] = clean;
        sum += x[j];
    }
    if (isfinite(sum)) return status_ok();
    return status_fail(FACET_NOT_FINITE, "sampling: step %d of %d (t = %d) is not finite",
                       index + 1, plan->config.steps, step->t);
}
