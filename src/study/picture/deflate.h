// Bytes packed and unpacked in zlib's format (RFC 1950). zlib stands behind deflate.c alone.
//
// A packer or an unpacker keeps its working memory from one call to the next, so that a call
// allocates nothing. One thread at a time uses it.
#ifndef FACET_BASE_DEFLATE_H
#define FACET_BASE_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum DeflateStyle {
    DEFLATE_FAST,  // runs and frequencies alone: noisy pictures hold no other repeats
    DEFLATE_SMALL, // the smallest zlib can do
} DeflateStyle;

// The room that `size` bytes need at the most when they are packed.
size_t deflate_room(size_t size);

// NULL when memory ends. Destroy accepts NULL.
typedef struct Deflater Deflater;
Deflater *deflater_create(DeflateStyle style);
void deflater_destroy(Deflater *deflater);

// Packs `size` bytes into `out`, which has deflate_room(size); the number of bytes it took.
size_t deflater_pack(uint8_t *out, Deflater *deflater, const uint8_t *bytes, size_t size);

// The same for bytes that come in pieces: `out` has deflate_room of all of them, and with the last
// piece the number of bytes they took is returned.
void deflater_begin(uint8_t *out, Deflater *deflater, size_t size);
size_t deflater_add(Deflater *deflater, const uint8_t *bytes, size_t size, bool last);

typedef struct Inflater Inflater;
Inflater *inflater_create(void);
void inflater_destroy(Inflater *inflater);

typedef enum InflateResult {
    INFLATE_DONE,
    INFLATE_DAMAGED, // not in the format, cut short, or with a wrong checksum
    INFLATE_SHORTER, // a whole stream of fewer bytes
    INFLATE_LONGER,  // more bytes than asked for
} InflateResult;

// Unpacks a stream that must hold exactly `size` bytes.
InflateResult inflater_unpack(uint8_t *out, size_t size, Inflater *inflater, const uint8_t *packed,
                              size_t packed_size);

// The checksum of a PNG chunk.
uint32_t deflate_crc32(const uint8_t *bytes, size_t size);

#endif
