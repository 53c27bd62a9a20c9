// The level of instructions that the kernels run with.
//
// A build for any x86-64 processor carries its kernels once per level: sse2, avx2 (with FMA) and
// avx512. The best that the processor has is chosen when the library is loaded, or the one that
// FACET_ISA names; all kernels of a process run at one level, because they share packed matrices.
// Other builds have one level: that which the compiler was told, neon on ARM64.
#ifndef FACET_BASE_ISA_H
#define FACET_BASE_ISA_H

#include "base/status.h"

#include <stdint.h>

// The level's name.
const char *isa_name(void);

// Refuses a FACET_ISA that is no level, or one that the processor or the build does not have. The
// kernels then run at the level that they would run at without it.
FacetStatus isa_status(void);

// For the entries of cmake/join_levels.cmake: fills `chosen` with the functions of the level, which
// stand `offsets` [levels][count] away from the table itself.
void isa_fill(void **chosen, const int32_t *offsets, int count);

#endif
