// FNV-1a, 64 bits: tells contents apart, not against someone who wants them alike.
#ifndef FACET_BASE_HASH_H
#define FACET_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

// The hash of what was hashed before, followed by these bytes.
static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++) hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
