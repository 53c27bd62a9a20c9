// A gyro: the body's rate with white noise and a bias that walks, and the attitude that follows
// from integrating what it reads.
//
// In continuous time  reading = omega + b + n,  b' = w,  with n and w white. Over a step dt the
// noise has the standard deviation  noise_density/sqrt(dt)  and the bias moves by  bias_walk
// sqrt(dt)  a step.
#ifndef FACET_GYRO_H
#define FACET_GYRO_H

#include <facet/math.h>
#include <facet/rng.h>
#include <facet/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GyroParams {
    const char *name;
    double noise_density; // rad/s/sqrt(Hz)
    double bias_walk;     // rad/s^2/sqrt(Hz)
    double bias_start;    // rad/s, standard deviation of the bias at the start on each axis
} GyroParams;

// The parts known by name: "ADIS16448" (the default) and "BMI088". docs/camera.md gives the source
// of their figures. A failure lists them.
GyroParams gyro_params_default(void);
Status gyro_params_find(GyroParams *params, const char *name);

typedef struct Gyro {
    GyroParams params;
    Rng rng;
    Vec3 bias;     // rad/s
    Quat attitude; // body to world, as integrated
} Gyro;

// At rest on a known attitude. The bias is drawn from the stream, as is all noise after it.
Gyro gyro_make(const GyroParams *params, Quat attitude, uint64_t seed, uint64_t stream);

// Reads the rate (rad/s) over one step (s), and turns the attitude by it. Returns the reading.
Vec3 gyro_step(Gyro *gyro, Vec3 omega_body, double step);

#ifdef __cplusplus
}
#endif

#endif
