// PNG (ISO 15948): signature, header, one chunk of deflated rows, end. Every row is filtered by
// Paeth's predictor, which suits photographs.
#include "picture/png.h"

#include "base/file.h"
#include "picture/deflate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 3, SIGNATURE = 8, HEADER = 13, CHUNK_EXTRA = 12, FILTER_PAETH = 4 };

static uint8_t *put_u32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(value >> (24 - 8 * i));
    return to + 4;
}

// Length, type, data, checksum of type and data. The data may be in place already.
static uint8_t *put_chunk(uint8_t *to, const char *type, const uint8_t *data, size_t size)
{
    put_u32(to, (uint32_t)size);
    memcpy(to + 4, type, 4);
    if (size) memmove(to + 8, data, size);
    return put_u32(to + 8 + size, deflate_crc32(to + 4, 4 + size));
}

// Whichever of left, above and above-left is nearest to left + above - above-left.
static int paeth(int left, int above, int corner)
{
    int to_left = abs(above - corner), to_above = abs(left - corner);
    int to_corner = abs(left + above - 2 * corner);
    if (to_left <= to_above && to_left <= to_corner) return left;
    return to_above <= to_corner ? above : corner;
}

static void filter_rows(uint8_t *out, const uint8_t *rgb, size_t stride, int height)
{
    for (int y = 0; y < height; y++) {
        const uint8_t *row = rgb + (size_t)y * stride, *above = y ? row - stride : NULL;
        *out++ = FILTER_PAETH;
        for (size_t i = 0; i < stride; i++) {
            int left = i < CHANNELS ? 0 : row[i - CHANNELS];
            int corner = above && i >= CHANNELS ? above[i - CHANNELS] : 0;
            *out++ = (uint8_t)(row[i] - paeth(left, above ? above[i] : 0, corner));
        }
    }
}

static const uint8_t signature[SIGNATURE] = {137, 'P', 'N', 'G', '\r', '\n', 26, '\n'};

FacetStatus png_encode(uint8_t **bytes, size_t *size, const uint8_t *rgb, int width, int height)
{
    assert(width > 0 && height > 0);
    size_t stride = (size_t)width * CHANNELS, raw_size = (stride + 1) * (size_t)height;
    size_t room = deflate_room(raw_size);
    Deflater *deflater = deflater_create(DEFLATE_SMALL);
    uint8_t *raw = malloc(raw_size);
    uint8_t *file = malloc(SIGNATURE + HEADER + 3 * CHUNK_EXTRA + room);
    bool done = raw && file && deflater;
    if (done) {
        uint8_t header[HEADER] = {[8] = 8, [9] = 2}; // eight bits a channel, red green blue
        put_u32(put_u32(header, (uint32_t)width), (uint32_t)height);
        memcpy(file, signature, SIGNATURE);
        uint8_t *end = put_chunk(file + SIGNATURE, "IHDR", header, HEADER);
        filter_rows(raw, rgb, stride, height);
        end = put_chunk(end, "IDAT", end + 8, deflater_pack(end + 8, deflater, raw, raw_size));
        end = put_chunk(end, "IEND", NULL, 0);
        *size = (size_t)(end - file);
    }
    deflater_destroy(deflater);
    free(raw);
    if (!done) free(file);
    *bytes = done ? file : NULL;
    return done ? status_ok()
                : status_fail(FACET_NO_MEMORY, "out of memory for a picture of %dx%d", width,
                              height);
}

static uint32_t get_u32(const uint8_t *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

// The reverse of filter_rows; false where a row has another filter.
static bool unfilter_rows(uint8_t *rgb, const uint8_t *raw, size_t stride, int height)
{
    for (int y = 0; y < height; y++) {
        uint8_t *row = rgb + (size_t)y * stride, *above = y ? row - stride : NULL;
        if (*raw++ != FILTER_PAETH) return false;
        for (size_t i = 0; i < stride; i++) {
            int left = i < CHANNELS ? 0 : row[i - CHANNELS];
            int corner = above && i >= CHANNELS ? above[i - CHANNELS] : 0;
            row[i] = (uint8_t)(*raw++ + paeth(left, above ? above[i] : 0, corner));
        }
    }
    return true;
}

bool png_decode(uint8_t **rgb, int *width, int *height, const uint8_t *bytes, size_t size)
{
    enum {
        BEFORE = SIGNATURE + HEADER + CHUNK_EXTRA + 8,
        AFTER = 4 + CHUNK_EXTRA,
        SIDE_MAX = 4096
    };
    static const uint8_t kind[] = {8, 2, 0, 0, 0}; // as png_encode writes it
    *rgb = NULL;
    if (size < BEFORE + AFTER || memcmp(bytes, signature, SIGNATURE) != 0 ||
        memcmp(bytes + SIGNATURE + 4, "IHDR", 4) != 0 ||
        memcmp(bytes + SIGNATURE + 16, kind, sizeof kind) != 0 ||
        memcmp(bytes + BEFORE - 4, "IDAT", 4) != 0 ||
        get_u32(bytes + BEFORE - 8) != size - BEFORE - AFTER)
        return false;
    uint32_t across = get_u32(bytes + SIGNATURE + 8), down = get_u32(bytes + SIGNATURE + 12);
    if (across < 1 || across > SIDE_MAX || down < 1 || down > SIDE_MAX) return false;
    size_t stride = (size_t)across * CHANNELS, raw_size = (stride + 1) * down;
    Inflater *inflater = inflater_create();
    uint8_t *raw = malloc(raw_size), *pixels = malloc(stride * down);
    bool done = inflater && raw && pixels &&
                inflater_unpack(raw, raw_size, inflater, bytes + BEFORE, size - BEFORE - AFTER) ==
                    INFLATE_DONE &&
                unfilter_rows(pixels, raw, stride, (int)down);
    inflater_destroy(inflater);
    free(raw);
    if (!done) free(pixels);
    if (!done) return false;
    *rgb = pixels;
    *width = (int)across;
    *height = (int)down;
    return true;
}

FacetStatus png_write(const char *path, const uint8_t *rgb, int width, int height)
{
    uint8_t *bytes;
    size_t size;
    TRY(png_encode(&bytes, &size, rgb, width, height));
    FacetStatus status = file_write(path, bytes, size);
    free(bytes);
    return status;
}
