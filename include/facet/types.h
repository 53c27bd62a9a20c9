// Small values that the other headers share. Everything is SI and radians.
#ifndef FACET_TYPES_H
#define FACET_TYPES_H

#include <stdint.h>

// A vector, or a point, in R^3.
typedef struct FacetVec3 {
    double x, y, z;
} FacetVec3;

// A unit quaternion: Hamilton, scalar first. It rotates body vectors into the world,
// v_world = q v_body q*.
typedef struct FacetQuat {
    double w, x, y, z;
} FacetQuat;

// The state of a stream of random numbers, which are a function of (seed, stream, index).
typedef struct FacetRng {
    uint64_t seed;
    uint64_t stream;
    uint64_t index; // of the next block of four words
    uint32_t block[4];
    int used; // words of `block` already handed out
} FacetRng;

#endif
