// Gusts as one flight meets them: a first-order Gauss-Markov process on each axis, discretised
// exactly, which changes ten times slower than the simulation steps.
#ifndef FACET_FLIGHT_GUSTS_H
#define FACET_FLIGHT_GUSTS_H

#include <facet/flight.h>

enum { GUST_STEPS = 10 }; // simulation steps between two changes of the wind

typedef struct Wind {
    Vec3 now;            // m/s, world
    double keep, spread; // of one change: now = keep now + spread * noise
    Rng rng;
} Wind;

static inline Wind wind_make(const Gusts *gusts, double step)
{
    double keep = gusts->speed > 0.0 ? exp(-GUST_STEPS * step / gusts->time) : 0.0;
    return (Wind){
        .keep = keep,
        .spread = gusts->speed * sqrt(1.0 - keep * keep),
        .rng = rng_make(gusts->seed, gusts->stream),
    };
}

static inline void wind_change(Wind *wind)
{
    double *axes[3] = {&wind->now.x, &wind->now.y, &wind->now.z};
    for (int i = 0; i < 3; i++)
        *axes[i] = wind->keep * *axes[i] + wind->spread * rng_normal(&wind->rng);
}

#endif
