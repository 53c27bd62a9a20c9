// Counter-based random numbers: Philox 4x32-10 (Salmon et al., SC 2011).
//
// A number is a pure function of (seed, stream, index). There is no global state and no clock, so
// work that draws from one stream per item gives the same bits in any order on any thread count.
#ifndef FACET_RNG_H
#define FACET_RNG_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct Rng {
    uint64_t seed;
    uint64_t stream;
    uint64_t index; // of the next block of four words
    uint32_t block[4];
    int used; // words of `block` already handed out
} Rng;

// The generator of one stream. Give each rollout, shard or sample its own stream.
Rng rng_make(uint64_t seed, uint64_t stream);

uint32_t rng_u32(Rng *rng);
double rng_uniform(Rng *rng);                        // in [0, 1), 53 bits
double rng_range(Rng *rng, double low, double high); // in [low, high)
double rng_normal(Rng *rng);                         // mean 0, variance 1

// The raw block: four words for (seed, stream, index).
void rng_block(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t index);

#ifdef __cplusplus
}
#endif

#endif
