// A gyro: the body's rate with white noise and a bias that walks, and the attitude that follows
// from integrating what it reads.
//
// In continuous time  reading = omega + b + n,  b' = w,  with n and w white. Over a step dt the
// noise has the standard deviation  noise_density/sqrt(dt)  and the bias moves by  bias_walk
// sqrt(dt)  a step.
#ifndef FACET_GATE_GYRO_H
#define FACET_GATE_GYRO_H

#include "base/rng.h"
#include "base/status.h"

#include <facet_study/gate.h>

// The parts known by name: "ADIS16448" (the default) and "BMI088". docs/camera.md gives the source
// of their figures. A failure lists them.
FacetGyroParams gyro_params_default(void);
FacetStatus gyro_params_find(FacetGyroParams *params, const char *name);

typedef struct Gyro {
    FacetGyroParams params;
    FacetRng rng;
    FacetVec3 bias;     // rad/s
    FacetQuat attitude; // body to world, as integrated
} Gyro;

// At rest on a known attitude. The bias is drawn from the stream, as is all noise after it.
Gyro gyro_make(const FacetGyroParams *params, FacetQuat attitude, uint64_t seed, uint64_t stream);

// Reads the rate (rad/s) over one step (s), and turns the attitude by it. Returns the reading.
FacetVec3 gyro_step(Gyro *gyro, FacetVec3 omega_body, double step);

#endif
