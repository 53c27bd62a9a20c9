// The sensor's random numbers: Philox 4x32-10 for eight pixels at once, the same words as rng_block
// gives for each. A pixel's block serves its three colours, one word each; the sum of a word's four
// bytes is nearly normal (within 3.4 standard deviations).
#include "camera/scene.h"

// Words of 32 bits in lanes of 64, where their products have room. What stands above a word does
// not count.
typedef uint64_t Words __attribute__((vector_size(BATCH_LANES * sizeof(uint64_t)), aligned(16)));

// The products of the words of a with a factor.
LANES_INLINE Words multiply(Words a, uint32_t factor)
{
#if defined(__AVX512F__)
    return (Words)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi64(factor));
#elif defined(__AVX2__)
    __m256i low = (__m256i)__builtin_shufflevector(a, a, 0, 1, 2, 3);
    __m256i high = (__m256i)__builtin_shufflevector(a, a, 4, 5, 6, 7);
    low = _mm256_mul_epu32(low, _mm256_set1_epi64x(factor));
    high = _mm256_mul_epu32(high, _mm256_set1_epi64x(factor));
    return (Words)__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
#else
    return (a & 0xffffffffu) * factor;
#endif
}

// The first three words of the blocks.
static void blocks(LanesMask words[3], uint64_t seed, uint64_t stream, const LanesMask *pixel)
{
    Words c0 = __builtin_convertvector(*pixel, Words), c1 = {0};
    Words c2 = c1 + (uint32_t)stream, c3 = c1 + (stream >> 32);
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        Words product0 = multiply(c0, 0xD2511F53u), product1 = multiply(c2, 0xCD9E8D57u);
        c0 = product1 >> 32 ^ c1 ^ k0;
        c2 = product0 >> 32 ^ c3 ^ k1;
        c1 = product1, c3 = product0;
    }
    words[0] = __builtin_convertvector(c0, LanesMask);
    words[1] = __builtin_convertvector(c1, LanesMask);
    words[2] = __builtin_convertvector(c2, LanesMask);
}

// Four bytes, each uniform on 0..255: mean 4 * 127.5, variance 4 (256^2 - 1)/12.
LANES_INLINE Lanes nearly_normal(LanesMask words)
{
    LanesMask pairs = (words & 0x00ff00ff) + ((words >> 8) & 0x00ff00ff);
    LanesMask sum = (pairs & 0xffff) + (pairs >> 16);
    return (__builtin_convertvector(sum, Lanes) - 510.0f) * (1.0f / 147.8005413f);
}

void sensor_noise(Lanes3 *noise, uint64_t seed, uint64_t stream, const LanesMask *pixel)
{
    LanesMask words[3];
    blocks(words, seed, stream, pixel);
    *noise = lanes3(nearly_normal(words[0]), nearly_normal(words[1]), nearly_normal(words[2]));
}
