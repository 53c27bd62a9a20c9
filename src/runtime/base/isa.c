// The choice of a level of instructions (see base/isa.h).
#include "base/isa.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#ifdef FACET_DISPATCH

enum { LEVELS = 3, UNKNOWN = -1 };

static const char *const names[LEVELS] = {"sse2", "avx2", "avx512"}; // as cmake/levels.cmake has it

// Both are written while the library is loaded, before there are threads of Facet's users.
static int level = UNKNOWN;
static const char *refused; // what FACET_ISA names, if that cannot be

static int best(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 0;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
               ? 2
               : 1;
}

static void choose(void)
{
    const char *wanted = getenv("FACET_ISA");
    int most = best();
    level = most;
    if (!wanted || !wanted[0]) return;
    for (int i = 0; i <= most; i++)
        if (strcmp(wanted, names[i]) == 0) {
            level = i;
            return;
        }
    refused = wanted;
}

void isa_fill(void **chosen, const int32_t *offsets, int count)
{
    if (level == UNKNOWN) choose();
    for (int i = 0; i < count; i++) {
        const char *function = (const char *)offsets + offsets[level * count + i];
        memcpy(&chosen[i], &function, sizeof function);
    }
}

const char *isa_name(void) { return names[level]; }

FacetStatus isa_status(void)
{
    if (!refused) return status_ok();
    char have[64] = "";
    for (int i = 0; i <= best(); i++) {
        if (i) strcat(have, ", ");
        strcat(have, names[i]);
    }
    return status_fail(FACET_BAD_ARGUMENT,
                       "FACET_ISA: expected a level that this processor has (%s), found '%.40s'",
                       have, refused);
}

#else

#if defined(__AVX512F__)
#define LEVEL "avx512"
#elif defined(__AVX2__) && defined(__FMA__)
#define LEVEL "avx2"
#elif defined(__SSE2__)
#define LEVEL "sse2"
#elif defined(__ARM_NEON)
#define LEVEL "neon"
#elif defined(__wasm_simd128__)
#define LEVEL "simd128"
#else
#define LEVEL "plain"
#endif

const char *isa_name(void) { return LEVEL; }

FacetStatus isa_status(void)
{
    const char *wanted = getenv("FACET_ISA");
    if (!wanted || !wanted[0] || strcmp(wanted, LEVEL) == 0) return status_ok();
    return status_fail(FACET_BAD_ARGUMENT,
                       "FACET_ISA: expected %s, the one level of this build, found '%.40s'", LEVEL,
                       wanted);
}

#endif
