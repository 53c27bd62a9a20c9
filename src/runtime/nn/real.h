// The functions of one number that networks are made of, in the file's precision (math/real.h).
#ifndef FACET_NN_REAL_H
#define FACET_NN_REAL_H

#include "math/real.h"

#include <stdint.h>
#include <string.h>

// e^x for x from `least`, -87 or more, to `most`, 88 or less, and e^least and e^most beyond;
// without a library call, so that loops over it become vector code. The float version reduces x = k
// ln 2 + r with |r| <= ln 2 / 2 and takes a polynomial of degree 7 in r (Cephes expf); its relative
// error is below 2e-7. The double version is the library's.
static inline Real real_exp_within(Real x, Real least, Real most)
{
    x = x < least ? least : x;
    x = x > most ? most : x;
#ifdef FACET_REAL_DOUBLE
    return exp(x);
#else
    const float shift = 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer
    float shifted = x * 1.44269504088896341f + shift;
    float k = shifted - shift;
    float r = x - k * 0.693359375f + k * 2.12194440e-4f;
    float p = 1.9875691500e-4f;
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    p = p * r * r + r + 1.0f;
    uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 127u) << 23; // the low bits of `shifted` hold k
    float scale;
    memcpy(&scale, &bits, sizeof scale);
    return p * scale;
#endif
}

static inline Real real_exp(Real x) { return real_exp_within(x, R(-87), R(88)); }

// Below -40, where mish is above -2e-16, it counts as -40. Compilers compute what follows for both
// sides of a limit: below -87 numbers times the quotient are not normal any more, which costs some
// processors a hundred cycles each.
enum { MISH_LEAST = -40, MISH_MOST = 20 };

static inline Real mish_argument(Real x) { return x < R(MISH_LEAST) ? R(MISH_LEAST) : x; }

static inline Real mish_exp(Real x) { return real_exp_within(x, R(MISH_LEAST), R(MISH_MOST)); }

// Mish: x tanh(softplus(x)) = x n / (n + 2) with n = e^x (e^x + 2). Above 20 the quotient is 1.
static inline Real mish_value(Real x)
{
    x = mish_argument(x);
    Real e = mish_exp(x);
    Real n = e * (e + R(2));
    return x * (n / (n + R(2)));
}

// Its value and its slope n / (n + 2) + 4 x e^x (e^x + 1) / (n + 2)^2.
static inline void mish_value_slope(Real *value, Real *slope, Real x)
{
    x = mish_argument(x);
    Real e = mish_exp(x);
    Real n = e * (e + R(2));
    Real inverse = R(1) / (n + R(2));
    Real w = n * inverse;
    *value = x * w;
    *slope = w + R(4) * x * (e * inverse) * ((e + R(1)) * inverse);
}

#endif
