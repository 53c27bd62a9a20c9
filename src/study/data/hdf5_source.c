// The bytes of an HDF5 file, its superblock and its object headers (see hdf5_source.h).
#include "hdf5_source.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool hdf5_source_fail(Hdf5Source *source, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(source->reason, sizeof source->reason, format, arguments);
    va_end(arguments);
    return false;
}

// ---- Bytes --------------------------------------------------------------------------------------

bool hdf5_source_read(Hdf5Source *source, void *out, uint64_t address, uint64_t size)
{
    if (address > source->size || size > source->size - address)
        return hdf5_source_fail(source, "%llu bytes at %llu of %llu", (unsigned long long)size,
                                (unsigned long long)address, (unsigned long long)source->size);
    unsigned char *bytes = out;
    for (uint64_t done = 0; done < size;) {
        ssize_t got = pread(source->descriptor, bytes + done, (size_t)(size - done),
                            (off_t)(source->base + address + done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return hdf5_source_fail(source, "%s", got < 0 ? strerror(errno) : "it became shorter");
        done += (uint64_t)got;
    }
    return true;
}

bool hdf5_source_marked(Hdf5Source *source, void *out, uint64_t address, uint64_t size,
                        const char *mark)
{
    if (!hdf5_source_read(source, out, address, size)) return false;
    return memcmp(out, mark, 4) == 0 ||
           hdf5_source_fail(source, "no %s at %llu", mark, (unsigned long long)address);
}

unsigned char *hdf5_source_block(Hdf5Source *source, uint64_t address, uint64_t size)
{
    bool fits = address <= source->size && size <= source->size - address;
    unsigned char *block = fits ? malloc((size_t)size + 1) : NULL;
    if (fits && !block) hdf5_source_fail(source, "out of memory");
    if (fits && !block) return NULL;
    if (!hdf5_source_read(source, block, address, size)) {
        free(block);
        return NULL;
    }
    return block;
}

uint64_t hdf5_take(Hdf5Cursor *cursor, int bytes)
{
    const unsigned char *at = hdf5_skip(cursor, (uint64_t)bytes);
    uint64_t value = 0;
    for (int i = bytes - 1; at && i >= 0; i--) value = value << 8 | at[i];
    return value;
}

const unsigned char *hdf5_skip(Hdf5Cursor *cursor, uint64_t bytes)
{
    if (bytes > cursor->left) {
        cursor->over = true;
        cursor->left = 0;
        return NULL;
    }
    const unsigned char *at = cursor->at;
    cursor->at += bytes;
    cursor->left -= (size_t)bytes;
    return at;
}

// ---- The superblock -----------------------------------------------------------------------------

enum { SIGNATURE_SIZE = 8, SUPERBLOCK_SIZE = 96 };

static const unsigned char signature[SIGNATURE_SIZE] = {0x89, 'H',  'D',  'F',
                                                        '\r', '\n', 0x1a, '\n'};

// It stands at the start of the file, or behind a user's block of 512, 1024, 2048, … bytes.
static bool find_superblock(Hdf5Source *source, uint64_t file_size)
{
    source->size = file_size;
    for (uint64_t at = 0; at + SIGNATURE_SIZE <= file_size; at = at ? 2 * at : 512) {
        unsigned char found[SIGNATURE_SIZE];
        if (!hdf5_source_read(source, found, at, SIGNATURE_SIZE)) return false;
        if (memcmp(found, signature, SIGNATURE_SIZE) != 0) continue;
        source->base = at;
        source->size = file_size - at;
        return true;
    }
    return hdf5_source_fail(source, "no signature");
}

static bool parse_superblock(Hdf5Source *source, Hdf5Cursor c)
{
    hdf5_skip(&c, SIGNATURE_SIZE);
    int version = (int)hdf5_take(&c, 1);
    if (version > 3) return hdf5_source_fail(source, "superblock of version %d", version);
    if (version < 2) hdf5_skip(&c, 4);
    int address_bytes = (int)hdf5_take(&c, 1), length_bytes = (int)hdf5_take(&c, 1);
    hdf5_skip(&c, version == 0 ? 9 : version == 1 ? 13 : 1);
    if (address_bytes != 8 || length_bytes != 8)
        return hdf5_source_fail(source, "addresses of %d and lengths of %d bytes, not 8",
                                address_bytes, length_bytes);
    hdf5_skip(&c, 16); // the base, and free space or an extension
    uint64_t end = hdf5_take(&c, 8);
    hdf5_skip(&c, version < 2 ? 16 : 0); // the driver, and where the root's name is
    source->root = hdf5_take(&c, 8);
    if (c.over) return hdf5_source_fail(source, "a superblock that ends early");
    uint64_t file_size = source->base + source->size; // the end counts the user's block
    if (end > file_size)
        return hdf5_source_fail(source, "%llu bytes of %llu", (unsigned long long)file_size,
                                (unsigned long long)end);
    return true;
}

bool hdf5_source_open(Hdf5Source *source, int descriptor)
{
    *source = (Hdf5Source){.descriptor = descriptor};
    struct stat info;
    if (fstat(descriptor, &info) != 0) return hdf5_source_fail(source, "%s", strerror(errno));
    if (!find_superblock(source, (uint64_t)info.st_size)) return false;
    unsigned char bytes[SUPERBLOCK_SIZE];
    size_t size = source->size < sizeof bytes ? (size_t)source->size : sizeof bytes;
    if (!hdf5_source_read(source, bytes, 0, size)) return false;
    return parse_superblock(source, (Hdf5Cursor){bytes, size, false});
}

// ---- Object headers -----------------------------------------------------------------------------

typedef struct HeaderFormat {
    int version;
    int flags; // of version 2
} HeaderFormat;

bool hdf5_header_add(Hdf5Header *header, Hdf5Source *source, Hdf5Message message)
{
    if (header->count == header->capacity) {
        int capacity = header->capacity ? 2 * header->capacity : 16;
        void *larger = realloc(header->messages, (size_t)capacity * sizeof *header->messages);
        if (!larger) return hdf5_source_fail(source, "out of memory");
        header->messages = larger;
        header->capacity = capacity;
    }
    header->messages[header->count++] = message;
    return true;
}

// The messages of one block of a header.
static bool parse_messages(Hdf5Header *header, Hdf5Source *source, Hdf5Cursor c,
                           HeaderFormat format)
{
    bool old = format.version == 1, ordered = !old && format.flags & 4;
    size_t head = old ? 8 : ordered ? 6 : 4;
    while (c.left >= head) {
        int type = (int)hdf5_take(&c, old ? 2 : 1);
        uint64_t size = hdf5_take(&c, 2);
        int flags = (int)hdf5_take(&c, 1);
        hdf5_skip(&c, old ? 3 : ordered ? 2 : 0);
        const unsigned char *body = hdf5_skip(&c, size);
        if (!body) return hdf5_source_fail(source, "a message that ends behind its header");
        Hdf5Message message = {type, flags & 2, {body, (size_t)size, false}};
        if (type && !hdf5_header_add(header, source, message)) return false;
    }
    return true;
}

unsigned char *hdf5_header_block(Hdf5Header *header, Hdf5Source *source, uint64_t size)
{
    enum { CHUNK_MAX = 1 << 24 };
    bool fits = header->chunk_count < HDF5_HEADER_CHUNKS && size <= CHUNK_MAX;
    unsigned char *bytes = fits ? malloc((size_t)size + 1) : NULL;
    if (!fits)
        hdf5_source_fail(source, "a header of more than %d blocks or %d bytes in one",
                         HDF5_HEADER_CHUNKS, CHUNK_MAX);
    else if (!bytes)
        hdf5_source_fail(source, "out of memory");
    else
        header->chunks[header->chunk_count++] = bytes;
    return bytes;
}

static bool add_chunk(Hdf5Header *header, Hdf5Source *source, uint64_t address, uint64_t size,
                      HeaderFormat format)
{
    unsigned char *bytes = hdf5_header_block(header, source, size);
    if (!bytes || !hdf5_source_read(source, bytes, address, size)) return false;
    return parse_messages(header, source, (Hdf5Cursor){bytes, (size_t)size, false}, format);
}

// A later block of version 2 has a signature before and a checksum behind its messages.
static bool add_continuation(Hdf5Header *header, Hdf5Source *source, Hdf5Cursor c,
                             HeaderFormat format)
{
    uint64_t address = hdf5_take(&c, 8), size = hdf5_take(&c, 8);
    if (format.version == 1) return add_chunk(header, source, address, size, format);
    unsigned char mark[4];
    if (size < 8 || !hdf5_source_read(source, mark, address, 4) || memcmp(mark, "OCHK", 4) != 0)
        return hdf5_source_fail(source, "no header block at %llu", (unsigned long long)address);
    return add_chunk(header, source, address + 4, size - 8, format);
}

// Reads what stands before the messages.
static bool parse_prefix(HeaderFormat *format, uint64_t *start, uint64_t *size, Hdf5Source *source,
                         uint64_t address)
{
    unsigned char bytes[16] = {0};
    if (!hdf5_source_read(source, bytes, address, 12)) return false;
    Hdf5Cursor c = {bytes, sizeof bytes, false};
    if (memcmp(bytes, "OHDR", 4) != 0) {
        *format = (HeaderFormat){.version = (int)hdf5_take(&c, 1)};
        hdf5_skip(&c, 7);
        *size = hdf5_take(&c, 4);
        *start = address + 16;
        return format->version == 1 || hdf5_source_fail(source, "no header of an object at %llu",
                                                        (unsigned long long)address);
    }
    hdf5_skip(&c, 5);
    *format = (HeaderFormat){.version = 2, .flags = (int)hdf5_take(&c, 1)};
    uint64_t prefix = 6 + (format->flags & 0x20 ? 16 : 0) + (format->flags & 0x10 ? 4 : 0);
    int length = 1 << (format->flags & 3);
    if (!hdf5_source_read(source, bytes, address + prefix, (uint64_t)length)) return false;
    *size = hdf5_take(&(Hdf5Cursor){bytes, 8, false}, length);
    *start = address + prefix + (uint64_t)length;
    return true;
}

bool hdf5_header_read(Hdf5Header *header, Hdf5Source *source, uint64_t address)
{
    *header = (Hdf5Header){0};
    HeaderFormat format;
    uint64_t start, size;
    if (!parse_prefix(&format, &start, &size, source, address)) return false;
    if (!add_chunk(header, source, start, size, format)) return false;
    for (int i = 0; i < header->count; i++) {
        const Hdf5Message *message = &header->messages[i];
        if (message->type != MESSAGE_CONTINUATION) continue;
        if (!add_continuation(header, source, message->body, format)) return false;
    }
    return true;
}

void hdf5_header_free(Hdf5Header *header)
{
    for (int i = 0; i < header->chunk_count; i++) free(header->chunks[i]);
    free(header->messages);
    *header = (Hdf5Header){0};
}

const Hdf5Message *hdf5_header_find(const Hdf5Header *header, int type)
{
    for (int i = 0; i < header->count; i++)
        if (header->messages[i].type == type) return &header->messages[i];
    return NULL;
}
