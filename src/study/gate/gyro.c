// The gyro (see gate/gyro.h).
#include "gate/gyro.h"

#include "base/text.h"
#include "math/geometry.h"

#include <stddef.h>
#include <string.h>

// Densities as used for these parts in the literature (docs/camera.md). The bias at the start is
// what is left after the vehicle has stood still for a second: the mean of one second of noise,
// whose standard deviation is the density.
static const FacetGyroParams parts[] = {
    {.name = "ADIS16448", .noise_density = 3.4e-4, .bias_walk = 3.9e-5, .bias_start = 3.4e-4},
    {.name = "BMI088", .noise_density = 2.4e-4, .bias_walk = 1.4e-5, .bias_start = 2.4e-4},
};
enum { PARTS = sizeof parts / sizeof *parts };

FacetGyroParams gyro_params_default(void) { return parts[0]; }

FacetStatus gyro_params_find(FacetGyroParams *params, const char *name)
{
    const char *names[PARTS];
    for (int i = 0; i < PARTS; i++) {
        names[i] = parts[i].name;
        if (strcmp(name, names[i]) != 0) continue;
        *params = parts[i];
        return status_ok();
    }
    char text[200];
    text_unknown(text, sizeof text, "gyro", name, names, PARTS);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

static FacetVec3 normal_vec3(FacetRng *rng)
{
    double x = rng_normal(rng), y = rng_normal(rng), z = rng_normal(rng);
    return vec3(x, y, z);
}

Gyro gyro_make(const FacetGyroParams *params, FacetQuat attitude, uint64_t seed, uint64_t stream)
{
    Gyro gyro = {.params = *params, .rng = rng_make(seed, stream), .attitude = attitude};
    gyro.bias = vec3_scale(normal_vec3(&gyro.rng), params->bias_start);
    return gyro;
}

FacetVec3 gyro_step(Gyro *gyro, FacetVec3 omega_body, double step)
{
    FacetVec3 noise = normal_vec3(&gyro->rng);
    FacetVec3 reading =
        vec3_axpy(vec3_add(omega_body, gyro->bias), gyro->params.noise_density / sqrt(step), noise);
    FacetVec3 walk = normal_vec3(&gyro->rng);
    gyro->bias = vec3_axpy(gyro->bias, gyro->params.bias_walk * sqrt(step), walk);
    gyro->attitude = quat_normalize(quat_mul(gyro->attitude, quat_exp(vec3_scale(reading, step))));
    return reading;
}
