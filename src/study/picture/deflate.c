// zlib's format through zlib (see deflate.h).
#include "picture/deflate.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

struct Deflater {
    z_stream stream;
};

struct Inflater {
    z_stream stream;
};

size_t deflate_room(size_t size) { return compressBound(size); }

Deflater *deflater_create(DeflateStyle style)
{
    enum { WINDOW_BITS = 15, MEMORY_LEVEL = 8 }; // zlib's defaults
    Deflater *deflater = calloc(1, sizeof *deflater);
    bool small = style == DEFLATE_SMALL;
    if (deflater && deflateInit2(&deflater->stream, small ? 9 : 1, Z_DEFLATED, WINDOW_BITS,
                                 MEMORY_LEVEL, small ? Z_DEFAULT_STRATEGY : Z_RLE) == Z_OK)
        return deflater;
    free(deflater);
    return NULL;
}

void deflater_destroy(Deflater *deflater)
{
    if (!deflater) return;
    deflateEnd(&deflater->stream);
    free(deflater);
}

// zlib reads its input only, though older versions of it do not say so.
static void give(z_stream *stream, const uint8_t *bytes, size_t size)
{
    assert(size <= UINT_MAX && "zlib counts in 32 bits");
    union {
        const uint8_t *promised;
        Bytef *taken;
    } input = {.promised = bytes};
    stream->next_in = input.taken;
    stream->avail_in = (uInt)size;
}

static void give_room(z_stream *stream, uint8_t *out, size_t room)
{
    assert(room <= UINT_MAX && "zlib counts in 32 bits");
    stream->next_out = out;
    stream->avail_out = (uInt)room;
}

void deflater_begin(uint8_t *out, Deflater *deflater, size_t size)
{
    deflateReset(&deflater->stream);
    give_room(&deflater->stream, out, deflate_room(size));
}

size_t deflater_add(Deflater *deflater, const uint8_t *bytes, size_t size, bool last)
{
    z_stream *stream = &deflater->stream;
    give(stream, bytes, size);
    int result = deflate(stream, last ? Z_FINISH : Z_NO_FLUSH);
    assert(result == (last ? Z_STREAM_END : Z_OK) && stream->avail_in == 0 && "the room is enough");
    (void)result;
    return (size_t)stream->total_out;
}

size_t deflater_pack(uint8_t *out, Deflater *deflater, const uint8_t *bytes, size_t size)
{
    deflater_begin(out, deflater, size);
    return deflater_add(deflater, bytes, size, true);
}

Inflater *inflater_create(void)
{
    Inflater *inflater = calloc(1, sizeof *inflater);
    if (inflater && inflateInit(&inflater->stream) == Z_OK) return inflater;
    free(inflater);
    return NULL;
}

void inflater_destroy(Inflater *inflater)
{
    if (!inflater) return;
    inflateEnd(&inflater->stream);
    free(inflater);
}

InflateResult inflater_unpack(uint8_t *out, size_t size, Inflater *inflater, const uint8_t *packed,
                              size_t packed_size)
{
    z_stream *stream = &inflater->stream;
    inflateReset(stream);
    give(stream, packed, packed_size);
    give_room(stream, out, size);
    int result = inflate(stream, Z_FINISH);
    if (result == Z_STREAM_END) return stream->avail_out ? INFLATE_SHORTER : INFLATE_DONE;
    // Without room left, a stream that goes on in order is too long. Its input tells it from one
    // that was cut short.
    bool waits = result == Z_BUF_ERROR || result == Z_OK;
    return waits && !stream->avail_out && stream->avail_in ? INFLATE_LONGER : INFLATE_DAMAGED;
}

uint32_t deflate_crc32(const uint8_t *bytes, size_t size)
{
    return (uint32_t)crc32(0, bytes, (uInt)size);
}
