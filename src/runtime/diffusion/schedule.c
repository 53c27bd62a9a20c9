// The noise schedule, prediction types and spacings (see diffusion/schedule.h).
#include "diffusion/schedule.h"

#include "math/geometry.h"

#include <string.h>

static double cosine_signal(double s)
{
    double c = cos((s + 0.008) / 1.008 * FACET_PI / 2.0);
    return c * c;
}

FacetStatus schedule_cosine(NoiseSchedule *schedule, int steps)
{
    if (steps < 1 || steps > SCHEDULE_STEPS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "noise schedule: expected 1 to %d steps, found %d",
                           SCHEDULE_STEPS_MAX, steps);
    *schedule = (NoiseSchedule){.steps = steps};
    double product = 1.0;
    for (int t = 0; t < steps; t++) {
        double ratio = cosine_signal((t + 1.0) / steps) / cosine_signal((double)t / steps);
        product *= 1.0 - fmin(1.0 - ratio, 0.999);
        schedule->alpha_bar[t] = product;
    }
    return status_ok();
}

static const char *const prediction_names[] = {"eps", "v", "x0"};
static const char *const spacing_names[] = {"leading", "trailing", "even"};

const char *prediction_name(Prediction prediction) { return prediction_names[prediction]; }
const char *spacing_name(Spacing spacing) { return spacing_names[spacing]; }

FacetStatus prediction_parse(Prediction *prediction, const char *name)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(name, prediction_names[i]) == 0) {
            *prediction = (Prediction)i;
            return status_ok();
        }
    return status_fail(FACET_NOT_FOUND, "no prediction '%s': eps, v, x0", name);
}

FacetStatus spacing_parse(Spacing *spacing, const char *name)
{
    for (int i = 0; i < 3; i++)
        if (strcmp(name, spacing_names[i]) == 0) {
            *spacing = (Spacing)i;
            return status_ok();
        }
    return status_fail(FACET_NOT_FOUND, "no spacing '%s': leading, trailing, even", name);
}

Mix prediction_target(Prediction prediction, double alpha_bar)
{
    double signal = sqrt(alpha_bar), noise = sqrt(1.0 - alpha_bar);
    switch (prediction) {
    case PREDICT_EPSILON:
        return (Mix){0.0, 1.0};
    case PREDICT_V:
        return (Mix){-noise, signal};
    case PREDICT_X0:
        break;
    }
    return (Mix){1.0, 0.0};
}

Mix prediction_to_x0(Prediction prediction, double alpha_bar)
{
    double signal = sqrt(alpha_bar), noise = sqrt(1.0 - alpha_bar);
    switch (prediction) {
    case PREDICT_EPSILON:
        return (Mix){1.0 / signal, -noise / signal};
    case PREDICT_V:
        return (Mix){signal, -noise};
    case PREDICT_X0:
        break;
    }
    return (Mix){0.0, 1.0};
}

Mix prediction_to_epsilon(Prediction prediction, double alpha_bar)
{
    double signal = sqrt(alpha_bar), noise = sqrt(1.0 - alpha_bar);
    switch (prediction) {
    case PREDICT_EPSILON:
        return (Mix){0.0, 1.0};
    case PREDICT_V:
        return (Mix){noise, signal};
    case PREDICT_X0:
        break;
    }
    return (Mix){1.0 / noise, -signal / noise};
}

FacetStatus schedule_times(int *times, int count, const NoiseSchedule *schedule, Spacing spacing)
{
    int steps = schedule->steps;
    if (count < 1 || count > steps)
        return status_fail(FACET_BAD_ARGUMENT,
                           "sampler: expected 1 to %d steps (the training steps), found %d", steps,
                           count);
    for (int i = 0; i < count; i++) {
        int rank = count - 1 - i; // from the cleanest
        switch (spacing) {
        case SPACING_LEADING:
            times[i] = rank * steps / count;
            break;
        case SPACING_TRAILING:
            times[i] = (int)lround((rank + 1.0) * steps / count) - 1;
            break;
        case SPACING_EVEN:
            times[i] = count == 1 ? steps - 1 : (int)lround(rank * (steps - 1.0) / (count - 1));
            break;
        }
    }
    return status_ok();
}
