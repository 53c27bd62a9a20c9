// Counter-based random numbers: Philox 4x32-10 (Salmon et al., SC 2011).
//
// A number is a pure function of (seed, stream, index). There is no global state and no clock, so
// work that draws from one stream per item gives the same bits in any order on any thread count.
#ifndef FACET_BASE_RNG_H
#define FACET_BASE_RNG_H

#include <facet/types.h>

// The generator of one stream. Give each rollout, shard or sample its own stream.
FacetRng rng_make(uint64_t seed, uint64_t stream);

uint32_t rng_u32(FacetRng *rng);
double rng_uniform(FacetRng *rng);                        // in [0, 1), 53 bits
double rng_range(FacetRng *rng, double low, double high); // in [low, high)
double rng_normal(FacetRng *rng);                         // mean 0, variance 1

// The raw block: four words for (seed, stream, index).
void rng_block(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t index);

#endif
