// Philox 4x32-10: ten rounds of two 32x32 -> 64 multiplications on a 128-bit counter, keyed by
// 64 bits. The counter is (index, stream), the key is the seed.
#include "base/rng.h"

#include <math.h>

enum { ROUNDS = 10 };
#define MULTIPLIER_0 0xD2511F53u
#define MULTIPLIER_1 0xCD9E8D57u
#define WEYL_0       0x9E3779B9u
#define WEYL_1       0xBB67AE85u

void rng_block(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t index)
{
    uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32);
    uint32_t c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t p0 = (uint64_t)MULTIPLIER_0 * c0, p1 = (uint64_t)MULTIPLIER_1 * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)p1, c3 = (uint32_t)p0;
        c0 = n0, c2 = n2;
        k0 += WEYL_0, k1 += WEYL_1;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

FacetRng rng_make(uint64_t seed, uint64_t stream)
{
    return (FacetRng){.seed = seed, .stream = stream, .used = 4};
}

uint32_t rng_u32(FacetRng *rng)
{
    if (rng->used == 4) {
        rng_block(rng->block, rng->seed, rng->stream, rng->index++);
        rng->used = 0;
    }
    return rng->block[rng->used++];
}

double rng_uniform(FacetRng *rng)
{
    uint64_t high = rng_u32(rng) >> 5, low = rng_u32(rng) >> 6;
    return (double)((high << 26) | low) * 0x1p-53;
}

double rng_range(FacetRng *rng, double low, double high)
{
    double value = low + (high - low) * rng_uniform(rng);
    return value < high ? value : nextafter(high, low); // the sum can round up to high
}

double rng_normal(FacetRng *rng)
{
    // Box-Muller, one of the pair: two uniforms a number keeps the stream position predictable.
    double radius = sqrt(-2.0 * log(1.0 - rng_uniform(rng)));
    return radius * cos(6.283185307179586 * rng_uniform(rng));
}
