// The sensor's random numbers: Philox 4x32-10 for eight pixels at once, the same words as rng_block
// gives for each. A pixel's block serves its three colours, one word each; the sum of a word's four
// bytes is nearly normal (within 3.4 standard deviations).
#include "base/rng.h"
#include "camera/scene.h"

#include <string.h>

#ifdef __AVX2__
// The two halves of eight products of 32 bits.
static inline void multiply(__m256i *high, __m256i *low, __m256i a, __m256i factor)
{
    __m256i even = _mm256_mul_epu32(a, factor);
    __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), factor);
    *low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
    *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
}

static void blocks(uint32_t words[3][BATCH_LANES], uint64_t seed, uint64_t stream,
                   const uint32_t pixel[BATCH_LANES])
{
    __m256i c0 = _mm256_loadu_si256((const __m256i_u *)pixel), c1 = _mm256_setzero_si256();
    __m256i c2 = _mm256_set1_epi32((int)(uint32_t)stream);
    __m256i c3 = _mm256_set1_epi32((int)(uint32_t)(stream >> 32));
    const __m256i factor0 = _mm256_set1_epi32((int)0xD2511F53u);
    const __m256i factor1 = _mm256_set1_epi32((int)0xCD9E8D57u);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        __m256i high0, low0, high1, low1;
        multiply(&high0, &low0, c0, factor0);
        multiply(&high1, &low1, c2, factor1);
        c0 = _mm256_xor_si256(_mm256_xor_si256(high1, c1), _mm256_set1_epi32((int)k0));
        c2 = _mm256_xor_si256(_mm256_xor_si256(high0, c3), _mm256_set1_epi32((int)k1));
        c1 = low1, c3 = low0;
    }
    _mm256_storeu_si256((__m256i_u *)words[0], c0);
    _mm256_storeu_si256((__m256i_u *)words[1], c1);
    _mm256_storeu_si256((__m256i_u *)words[2], c2);
}
#else
static void blocks(uint32_t words[3][BATCH_LANES], uint64_t seed, uint64_t stream,
                   const uint32_t pixel[BATCH_LANES])
{
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        uint32_t block[4];
        rng_block(block, seed, stream, pixel[lane]);
        for (int c = 0; c < 3; c++) words[c][lane] = block[c];
    }
}
#endif

// Four bytes, each uniform on 0..255: mean 4 * 127.5, variance 4 (256^2 - 1)/12.
static Lanes nearly_normal(const uint32_t words[BATCH_LANES])
{
    LanesMask w;
    memcpy(&w, words, sizeof w);
    LanesMask pairs = (w & 0x00ff00ff) + ((w >> 8) & 0x00ff00ff);
    LanesMask sum = (pairs & 0xffff) + (pairs >> 16);
    return (__builtin_convertvector(sum, Lanes) - 510.0f) * (1.0f / 147.8005413f);
}

void sensor_noise(Lanes3 *noise, uint64_t seed, uint64_t stream, const uint32_t pixel[BATCH_LANES])
{
    uint32_t words[3][BATCH_LANES];
    blocks(words, seed, stream, pixel);
    *noise = lanes3(nearly_normal(words[0]), nearly_normal(words[1]), nearly_normal(words[2]));
}
