// A sampler's step in double, from the exact clean sample (see certify/mixture.h). It may fuse, as
// the networks' kernels do.
#include "certify/mixture.h"

#include <math.h>

bool mixture_step(double *x, double *x0_before, const double *x0, const SamplerPlan *plan,
                  int index, size_t size)
{
    const SamplerStep *step = &plan->step[index];
    double limit = plan->config.clip > 0.0 ? plan->config.clip : (double)INFINITY, sum = 0.0;
    double keep = step->keep, now = step->now, before = step->before;
    for (size_t j = 0; j < size; j++) {
        double clean = x0[j] > limit ? limit : x0[j] < -limit ? -limit : x0[j];
        x[j] = keep * x[j] + now * clean + (index > 0 ? before * x0_before[j] : 0.0);
        x0_before[j] = clean;
        sum += x[j];
    }
    return isfinite(sum);
}
