// Arithmetic on eight lanes beyond what operators give: choice, comparison, roots, sine and cosine.
//
// A mask has all bits set in the lanes where a comparison holds. Where the processor has an
// instruction for a function that the compilers do not find by themselves, it is named here; the
// plain form beside it gives the same bits. Registers of 16 bytes take the lanes in two halves.
// Operators do that by themselves; only comparisons, which gcc would take lane by lane, have
// functions.
#ifndef FACET_MATH_LANES_H
#define FACET_MATH_LANES_H

#include "math/geometry.h"

#include <stdint.h>

#if defined(__SSE__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

// What runs in batches is a structure of arrays: every number is a vector of eight lanes, one lane
// a vehicle.
enum { BATCH_LANES = 8 };

// Eight floats. v[i] reads and writes lane i. A compiler without such registers splits it.
typedef float Lanes __attribute__((vector_size(BATCH_LANES * sizeof(float)), aligned(16)));

// Lanes pass between inlined functions only, so no calling convention is at stake.
#pragma GCC diagnostic ignored "-Wpsabi"

#define LANES_INLINE static inline __attribute__((always_inline))

// For what is large and used several times: where lanes take two registers, copies cost too much.
#ifdef __AVX__
#define LANES_PART LANES_INLINE
#else
#define LANES_PART static __attribute__((noinline))
#endif

typedef int32_t LanesMask __attribute__((vector_size(BATCH_LANES * sizeof(int32_t)), aligned(16)));

enum { LANES_ALL = (1 << BATCH_LANES) - 1 };

LANES_INLINE Lanes lanes(float value)
{
    return (Lanes){value, value, value, value, value, value, value, value};
}

// Eight neighbours in an array, which need not be aligned.
typedef float LanesLoose
    __attribute__((vector_size(BATCH_LANES * sizeof(float)), aligned(4), may_alias));

LANES_INLINE Lanes lanes_load(const float *from) { return *(const LanesLoose *)from; }
LANES_INLINE void lanes_store(float *to, Lanes a) { *(LanesLoose *)to = a; }

// The halves of eight lanes.
typedef float LanesHalf __attribute__((vector_size(16)));
typedef int32_t LanesMaskHalf __attribute__((vector_size(16)));

typedef union LanesHalves {
    Lanes whole;
    LanesHalf half[2];
} LanesHalves;

typedef union LanesMaskHalves {
    LanesMask whole;
    LanesMaskHalf half[2];
} LanesMaskHalves;

#ifdef __AVX__
#define LANES_COMPARE(a, operator, b) return (a) operator(b);
#else
#define LANES_COMPARE(a, operator, b)                                                              \
    LanesHalves left = {a}, right = {b};                                                           \
    LanesMaskHalves mask;                                                                          \
    mask.half[0] = left.half[0] operator right.half[0];                                            \
    mask.half[1] = left.half[1] operator right.half[1];                                            \
    return mask.whole;
#endif

LANES_INLINE LanesMask lanes_less(Lanes a, Lanes b){LANES_COMPARE(a, <, b)} LANES_INLINE LanesMask
    lanes_at_most(Lanes a, Lanes b){LANES_COMPARE(a, <=, b)} LANES_INLINE LanesMask
    lanes_equal(Lanes a, Lanes b){LANES_COMPARE(a, ==, b)}

// a where the mask is set, b elsewhere.
LANES_INLINE Lanes lanes_select(LanesMask mask, Lanes a, Lanes b)
{
#ifdef __AVX__
    return (Lanes)_mm256_blendv_ps((__m256)b, (__m256)a, (__m256)mask);
#else
    return (Lanes)((mask & (LanesMask)a) | (~mask & (LanesMask)b));
#endif
}

LANES_INLINE Lanes lanes_keep(LanesMask mask, Lanes a) { return (Lanes)(mask & (LanesMask)a); }

// a < b ? a : b, which is b where either is not a number; likewise lanes_max.
LANES_INLINE Lanes lanes_min(Lanes a, Lanes b)
{
#ifdef __AVX__
    return (Lanes)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return lanes_select(lanes_less(a, b), a, b);
#endif
}

LANES_INLINE Lanes lanes_max(Lanes a, Lanes b)
{
#ifdef __AVX__
    return (Lanes)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return lanes_select(lanes_less(b, a), a, b);
#endif
}

LANES_INLINE Lanes lanes_clamp(Lanes value, Lanes low, Lanes high)
{
    return lanes_min(lanes_max(value, low), high);
}

LANES_INLINE Lanes lanes_abs(Lanes a) { return (Lanes)((LanesMask)a & 0x7fffffff); }

LANES_INLINE LanesHalf lanes_half_sqrt(LanesHalf a)
{
#if defined(__SSE__)
    return (LanesHalf)_mm_sqrt_ps((__m128)a);
#elif defined(__aarch64__)
    return (LanesHalf)vsqrtq_f32((float32x4_t)a);
#else
    for (int i = 0; i < BATCH_LANES / 2; i++) a[i] = sqrtf(a[i]);
    return a;
#endif
}

LANES_INLINE Lanes lanes_sqrt(Lanes a)
{
#ifdef __AVX__
    return (Lanes)_mm256_sqrt_ps((__m256)a);
#else
    LanesHalves root = {a};
    for (int i = 0; i < 2; i++) root.half[i] = lanes_half_sqrt(root.half[i]);
    return root.whole;
#endif
}

LANES_INLINE Lanes lanes_floor(Lanes a)
{
#ifdef __AVX__
    return (Lanes)_mm256_floor_ps((__m256)a);
#else
    Lanes whole;
    for (int i = 0; i < BATCH_LANES; i++) whole[i] = floorf(a[i]);
    return whole;
#endif
}

// a + t (b - a)
LANES_INLINE Lanes lanes_mix(Lanes a, Lanes b, Lanes t) { return a + t * (b - a); }

// The mask as bits: lane i is bit i.
LANES_INLINE unsigned lanes_bits(LanesMask mask)
{
#ifdef __AVX__
    return (unsigned)_mm256_movemask_ps((__m256)mask);
#elif defined(__SSE__)
    LanesMaskHalves halves = {mask};
    return (unsigned)_mm_movemask_ps((__m128)halves.half[0]) |
           (unsigned)_mm_movemask_ps((__m128)halves.half[1]) << 4;
#else
    unsigned bits = 0;
    for (int i = 0; i < BATCH_LANES; i++) bits |= (unsigned)(mask[i] & 1) << i;
    return bits;
#endif
}

// The least of the eight.
LANES_INLINE float lanes_least(Lanes a)
{
#ifdef __AVX__
    __m128 v = _mm_min_ps(_mm256_castps256_ps128((__m256)a), _mm256_extractf128_ps((__m256)a, 1));
    v = _mm_min_ps(v, _mm_movehl_ps(v, v));
    return _mm_cvtss_f32(_mm_min_ss(v, _mm_movehdup_ps(v)));
#else
    float least = a[0];
    for (int i = 1; i < BATCH_LANES; i++) least = a[i] < least ? a[i] : least;
    return least;
#endif
}

// The sine and cosine of angles of some turns at most: quarter turns are taken off in two parts,
// and the rest, within 45 degrees, goes into polynomials (coefficients of the Cephes library).
LANES_INLINE void lanes_sincos(Lanes *sine, Lanes *cosine, Lanes angle)
{
    const float round = 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer
    Lanes shifted = angle * 0.636619772f + round;
    LanesMask quarter = (LanesMask)shifted;
    Lanes turns = shifted - round;
    Lanes x = (angle - turns * 1.5703125f) - turns * 4.83826794897e-4f;
    Lanes xx = x * x;
    Lanes s = x + x * xx * (-1.6666654611e-1f + xx * (8.3321608736e-3f - xx * 1.9515295891e-4f));
    Lanes c =
        1.0f - 0.5f * xx +
        xx * xx *
            (4.166664568298827e-2f + xx * (-1.388731625493765e-3f + xx * 2.443315711809948e-5f));
    LanesMask odd = -(quarter & 1);
    LanesMask flip_sine = (quarter & 2) << 30, flip_cosine = ((quarter + 1) & 2) << 30;
    *sine = (Lanes)((LanesMask)lanes_select(odd, c, s) ^ flip_sine);
    *cosine = (Lanes)((LanesMask)lanes_select(odd, s, c) ^ flip_cosine);
}

// ---- Vectors of lanes -------------------------------------------------------------------------

typedef struct Lanes3 {
    Lanes x, y, z;
} Lanes3;

LANES_INLINE Lanes3 lanes3(Lanes x, Lanes y, Lanes z) { return (Lanes3){x, y, z}; }
LANES_INLINE Lanes3 lanes3_load(const Lanes v[3]) { return lanes3(v[0], v[1], v[2]); }
LANES_INLINE void lanes3_store(Lanes out[3], Lanes3 v) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

LANES_INLINE Lanes3 lanes3_add(Lanes3 a, Lanes3 b)
{
    return lanes3(a.x + b.x, a.y + b.y, a.z + b.z);
}

LANES_INLINE Lanes3 lanes3_sub(Lanes3 a, Lanes3 b)
{
    return lanes3(a.x - b.x, a.y - b.y, a.z - b.z);
}

LANES_INLINE Lanes3 lanes3_scale(Lanes3 a, Lanes s) { return lanes3(a.x * s, a.y * s, a.z * s); }

// a + s b
LANES_INLINE Lanes3 lanes3_axpy(Lanes3 a, Lanes s, Lanes3 b)
{
    return lanes3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}

LANES_INLINE Lanes lanes3_dot(Lanes3 a, Lanes3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
LANES_INLINE Lanes lanes3_norm(Lanes3 a) { return lanes_sqrt(lanes3_dot(a, a)); }

LANES_INLINE Lanes3 lanes3_cross(Lanes3 a, Lanes3 b)
{
    return lanes3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

LANES_INLINE Lanes3 lanes3_select(LanesMask mask, Lanes3 a, Lanes3 b)
{
    return lanes3(lanes_select(mask, a.x, b.x), lanes_select(mask, a.y, b.y),
                  lanes_select(mask, a.z, b.z));
}

LANES_INLINE Lanes3 lanes3_mix(Lanes3 a, Lanes3 b, Lanes t)
{
    return lanes3(lanes_mix(a.x, b.x, t), lanes_mix(a.y, b.y, t), lanes_mix(a.z, b.z, t));
}

LANES_INLINE Lanes3 lanes3_mul(Lanes3 a, Lanes3 b)
{
    return lanes3(a.x * b.x, a.y * b.y, a.z * b.z);
}

// The columns of a rotation: the body's axes in the world.
typedef struct LanesFrame {
    Lanes3 b1, b2, b3;
} LanesFrame;

// The rotation of a quaternion (w, x, y, z), as quat_to_mat3 gives it.
LANES_INLINE LanesFrame lanes_frame(Lanes w, Lanes x, Lanes y, Lanes z)
{
    Lanes x2 = x + x, y2 = y + y, z2 = z + z;
    Lanes xx = x * x2, yy = y * y2, zz = z * z2;
    Lanes xy = x * y2, xz = x * z2, yz = y * z2, wx = w * x2, wy = w * y2, wz = w * z2;
    return (LanesFrame){{1.0f - (yy + zz), xy + wz, xz - wy},
                        {xy - wz, 1.0f - (xx + zz), yz + wx},
                        {xz + wy, yz - wx, 1.0f - (xx + yy)}};
}

LANES_INLINE Lanes3 lanes_to_body(LanesFrame r, Lanes3 v)
{
    return lanes3(lanes3_dot(r.b1, v), lanes3_dot(r.b2, v), lanes3_dot(r.b3, v));
}

LANES_INLINE Lanes3 lanes_to_world(LanesFrame r, Lanes3 v)
{
    return lanes3_axpy(lanes3_axpy(lanes3_scale(r.b1, v.x), v.y, r.b2), v.z, r.b3);
}

#endif
