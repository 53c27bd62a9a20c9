// What the tests of flying share: comparisons of vectors and attitudes, and random states.
#ifndef FACET_FLYING_H
#define FACET_FLYING_H

#include "base/rng.h"
#include "quad/quad.h"
#include "testing.h"

#define assert_vec3_near(actual, expected, tolerance)                                              \
    do {                                                                                           \
        FacetVec3 va_ = (actual), ve_ = (expected);                                                \
        double vt_ = (tolerance);                                                                  \
        if (!(vec3_distance(va_, ve_) <= vt_)) {                                                   \
            print_error("%s = (%.12g, %.12g, %.12g), expected (%.12g, %.12g, %.12g) within %.3g, " \
                        "off by %.3g\n",                                                           \
                        #actual, va_.x, va_.y, va_.z, ve_.x, ve_.y, ve_.z, vt_,                    \
                        vec3_distance(va_, ve_));                                                  \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

#define assert_between(actual, low, high)                                                          \
    do {                                                                                           \
        double actual_ = (actual), low_ = (low), high_ = (high);                                   \
        if (!(actual_ >= low_ && actual_ <= high_)) {                                              \
            print_error("%s = %.12g, expected from %.12g to %.12g\n", #actual, actual_, low_,      \
                        high_);                                                                    \
            _fail(__FILE__, __LINE__);                                                             \
        }                                                                                          \
    } while (0)

static inline FacetVec3 random_vec3(FacetRng *rng, double reach)
{
    double x = rng_range(rng, -reach, reach), y = rng_range(rng, -reach, reach);
    return vec3(x, y, rng_range(rng, -reach, reach));
}

static inline FacetVec3 random_direction(FacetRng *rng)
{
    double x = rng_normal(rng), y = rng_normal(rng);
    return vec3_unit(vec3(x, y, rng_normal(rng)), vec3(1.0, 0.0, 0.0));
}

// Uniform over all rotations.
static inline FacetQuat random_attitude(FacetRng *rng)
{
    double w = rng_normal(rng), x = rng_normal(rng), y = rng_normal(rng);
    return quat_normalize((FacetQuat){w, x, y, rng_normal(rng)});
}

static inline void random_thrusts(double thrust[4], FacetRng *rng, double low, double high)
{
    for (int i = 0; i < FACET_QUAD_MOTORS; i++) thrust[i] = rng_range(rng, low, high);
}

static inline FacetQuadState random_state(FacetRng *rng)
{
    FacetQuadState state = {.attitude = random_attitude(rng)};
    state.pos_world = random_vec3(rng, 5.0);
    state.vel_world = random_vec3(rng, 5.0);
    state.omega_body = random_vec3(rng, 5.0);
    random_thrusts(state.thrust, rng, 0.0, 4.0);
    return state;
}

// The angle between two attitudes, rad.
static inline double attitude_angle(FacetQuat a, FacetQuat b)
{
    return vec3_norm(quat_log(quat_mul(quat_conj(a), b)));
}

#endif
