// Vectors as wide as the processor's registers.
#ifndef FACET_MATH_VECTOR_H
#define FACET_MATH_VECTOR_H

#include "math/real.h"

#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#elif defined(__AVX__)
enum { VECTOR_BYTES = 32 };
#else
enum { VECTOR_BYTES = 16 };
#endif

enum { LANES = VECTOR_BYTES / sizeof(Real) };

typedef Real Vector __attribute__((vector_size(VECTOR_BYTES)));
typedef Real Unaligned __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(Real)), may_alias));

static inline Vector vector_load(const Real *x) { return *(const Unaligned *)x; }

static inline void vector_store(Real *x, Vector v) { *(Unaligned *)x = v; }

#endif
