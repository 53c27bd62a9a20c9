// Types, shapes and attributes of an HDF5 file (see hdf5_values.h).
#include "hdf5_values.h"

#include <stdlib.h>
#include <string.h>

const char *hdf5_class_name(const Hdf5Type *type)
{
    static const char *const names[] = {
        [CLASS_INTEGER] = "integers",    [CLASS_FLOAT] = "floats",
        [CLASS_TEXT] = "text",           [CLASS_ENUM] = "an enumeration",
        [CLASS_COMPOUND] = "a compound", [CLASS_REFERENCE] = "a reference",
        [CLASS_OTHER] = "another type",
    };
    return names[type->class];
}

// ---- Types --------------------------------------------------------------------------------------

// An integer of 1, 2, 4 or 8 bytes, all of whose bits count.
static bool plain_integer(const Hdf5Type *type, Hdf5Cursor c)
{
    uint64_t shift = hdf5_take(&c, 2), bits = hdf5_take(&c, 2);
    bool whole = type->size == 1 || type->size == 2 || type->size == 4 || type->size == 8;
    return whole && shift == 0 && bits == 8 * type->size;
}

// A half, single or double of IEEE 754.
static bool plain_float(const Hdf5Type *type, Hdf5Cursor c, unsigned sign_bit, unsigned order)
{
    static const struct {
        size_t size;
        unsigned exponent_at, exponent, mantissa, bias;
    } known[] = {{2, 10, 5, 10, 15}, {4, 23, 8, 23, 127}, {8, 52, 11, 52, 1023}};
    uint64_t shift = hdf5_take(&c, 2), bits = hdf5_take(&c, 2);
    uint64_t exponent_at = hdf5_take(&c, 1), exponent = hdf5_take(&c, 1);
    uint64_t mantissa_at = hdf5_take(&c, 1), mantissa = hdf5_take(&c, 1), bias = hdf5_take(&c, 4);
    for (int i = 0; i < 3; i++)
        if (type->size == known[i].size)
            return shift == 0 && bits == 8 * type->size && sign_bit == bits - 1 && order <= 1 &&
                   exponent_at == known[i].exponent_at && exponent == known[i].exponent &&
                   mantissa_at == 0 && mantissa == known[i].mantissa && bias == known[i].bias;
    return false;
}

bool hdf5_type_parse(Hdf5Type *type, Hdf5Source *source, Hdf5Cursor c)
{
    enum { FIXED = 0, FLOAT = 1, STRING = 3, COMPOUND = 6, REFERENCE = 7, ENUM = 8, VARIABLE = 9 };
    unsigned head = (unsigned)hdf5_take(&c, 1), bits = (unsigned)hdf5_take(&c, 3);
    *type = (Hdf5Type){.class = CLASS_OTHER, .size = (size_t)hdf5_take(&c, 4)};
    if (c.over || type->size == 0) return hdf5_source_fail(source, "a damaged type");
    type->big_endian = bits & 1;
    switch (head & 15) {
    case FIXED:
        type->is_signed = bits & 8;
        if (plain_integer(type, c)) type->class = CLASS_INTEGER;
        break;
    case FLOAT:
        // Bit 6 is the other half of the byte order: 2 is for the VAX.
        if (plain_float(type, c, bits >> 8 & 255, (bits & 1) | (bits >> 5 & 2)))
            type->class = CLASS_FLOAT;
        break;
    case STRING:
        type->class = CLASS_TEXT;
        type->spaces = (bits & 15) == 2;
        break;
    case VARIABLE:
        if ((bits & 15) == 1) type->class = CLASS_TEXT;
        type->variable = true;
        break;
    case COMPOUND:
        type->class = CLASS_COMPOUND;
        break;
    case REFERENCE:
        type->class = CLASS_REFERENCE;
        break;
    case ENUM:
        type->class = CLASS_ENUM;
        break;
    default:
        break;
    }
    return true;
}

// ---- Shapes -------------------------------------------------------------------------------------

bool hdf5_space_parse(Hdf5Space *space, Hdf5Source *source, Hdf5Cursor c)
{
    int version = (int)hdf5_take(&c, 1);
    *space = (Hdf5Space){.rank = (int)hdf5_take(&c, 1), .count = 1};
    bool bounded = hdf5_take(&c, 1) & 1;
    if (version == 1)
        hdf5_skip(&c, 5);
    else
        space->empty = hdf5_take(&c, 1) == 2;
    if (version < 1 || version > 2 || space->rank > HDF5_RANK_MAX)
        return hdf5_source_fail(source, "a shape of version %d with %d dimensions", version,
                                space->rank);
    for (int i = 0; i < space->rank; i++) {
        uint64_t size = space->shape[i] = hdf5_take(&c, 8);
        if (size && space->count > UINT64_MAX / size)
            return hdf5_source_fail(source, "a shape of more elements than can be counted");
        space->count *= size;
    }
    for (int i = 0; i < space->rank; i++)
        space->most[i] = bounded ? hdf5_take(&c, 8) : space->shape[i];
    if (space->empty) space->count = 0;
    return !c.over || hdf5_source_fail(source, "a damaged shape");
}

// ---- Attributes ---------------------------------------------------------------------------------

// A part of an attribute; version 1 fills parts up to eight bytes.
static Hdf5Cursor take_part(Hdf5Cursor *c, uint64_t size, bool filled)
{
    const unsigned char *at = hdf5_skip(c, filled ? (size + 7) / 8 * 8 : size);
    return (Hdf5Cursor){at, at ? (size_t)size : 0, !at};
}

static Hdf5Found parse_attribute(Hdf5Attribute *attribute, Hdf5Source *source, Hdf5Cursor c,
                                 const char *name)
{
    int version = (int)hdf5_take(&c, 1);
    unsigned shared = (unsigned)hdf5_take(&c, 1);
    uint64_t sizes[3];
    for (int i = 0; i < 3; i++) sizes[i] = hdf5_take(&c, 2);
    if (version == 3) hdf5_skip(&c, 1);
    Hdf5Cursor found = take_part(&c, sizes[0], version == 1);
    size_t length = strlen(name);
    if (version < 1 || version > 3 || found.over || found.left == 0) {
        hdf5_source_fail(source, "a damaged attribute");
        return HDF5_BROKEN;
    }
    if (found.left != length + 1 || memcmp(found.at, name, length) != 0) return HDF5_ABSENT;
    if (version > 1 && shared & 3) {
        hdf5_source_fail(source, "a type that stands elsewhere, which Facet does not read");
        return HDF5_BROKEN;
    }
    Hdf5Cursor type = take_part(&c, sizes[1], version == 1);
    Hdf5Cursor space = take_part(&c, sizes[2], version == 1);
    attribute->data = c;
    bool parsed = hdf5_type_parse(&attribute->type, source, type) &&
                  hdf5_space_parse(&attribute->space, source, space);
    return parsed ? HDF5_FOUND : HDF5_BROKEN;
}

Hdf5Found hdf5_attribute_find(Hdf5Attribute *attribute, Hdf5Source *source, Hdf5Header *header,
                              const char *name)
{
    if (!hdf5_header_complete(header, source, MESSAGE_ATTRIBUTE)) return HDF5_BROKEN;
    for (int i = 0; i < header->count; i++) {
        const Hdf5Message *message = &header->messages[i];
        if (message->type != MESSAGE_ATTRIBUTE || message->shared) continue;
        Hdf5Found found = parse_attribute(attribute, source, message->body, name);
        if (found != HDF5_ABSENT) return found;
    }
    return HDF5_ABSENT;
}

// ---- Texts --------------------------------------------------------------------------------------

static char *copy_text(Hdf5Source *source, const unsigned char *bytes, size_t size)
{
    const unsigned char *zero = memchr(bytes, 0, size);
    if (zero) size = (size_t)(zero - bytes);
    char *text = malloc(size + 1);
    if (!text) {
        hdf5_source_fail(source, "out of memory");
        return NULL;
    }
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

// Object `index` of a heap of texts.
static bool find_in_heap(Hdf5Cursor *out, Hdf5Source *source, Hdf5Cursor c, uint64_t index)
{
    while (c.left >= 16) {
        uint64_t number = hdf5_take(&c, 2);
        hdf5_skip(&c, 6);
        uint64_t size = hdf5_take(&c, 8);
        if (number == 0) break; // free space up to the end
        if (size > c.left) return hdf5_source_fail(source, "a damaged heap of texts");
        if (number == index) {
            *out = (Hdf5Cursor){c.at, (size_t)size, false};
            return true;
        }
        hdf5_skip(&c, (size + 7) / 8 * 8);
    }
    return hdf5_source_fail(source, "no text %llu in its heap", (unsigned long long)index);
}

// Keeps the heap that was read last: texts of one file mostly stand in few.
static bool open_heap(Hdf5Cursor *out, Hdf5Source *source, uint64_t address)
{
    enum { HEAD = 16, HEAP_MAX = 1 << 26 };
    if (source->heap && source->heap_address == address) {
        *out = (Hdf5Cursor){source->heap, source->heap_size, false};
        return true;
    }
    unsigned char head[HEAD];
    if (!hdf5_source_read(source, head, address, HEAD)) return false;
    uint64_t size = hdf5_take(&(Hdf5Cursor){head + 8, 8, false}, 8);
    if (memcmp(head, "GCOL\1", 5) != 0 || size < HEAD || size > HEAP_MAX)
        return hdf5_source_fail(source, "no heap of texts at %llu", (unsigned long long)address);
    unsigned char *heap = hdf5_source_block(source, address + HEAD, size - HEAD);
    if (!heap) return false;
    free(source->heap);
    source->heap = heap;
    source->heap_address = address;
    source->heap_size = (size_t)(size - HEAD);
    *out = (Hdf5Cursor){heap, source->heap_size, false};
    return true;
}

static char *heap_text(Hdf5Source *source, Hdf5Cursor reference)
{
    uint64_t length = hdf5_take(&reference, 4), address = hdf5_take(&reference, 8);
    uint64_t index = hdf5_take(&reference, 4);
    // What nobody has written is no text at all.
    if (length == 0 || address == 0) return copy_text(source, (const unsigned char *)"", 0);
    Hdf5Cursor heap, found = {0};
    if (!open_heap(&heap, source, address) || !find_in_heap(&found, source, heap, index))
        return NULL;
    if (length <= found.left) return copy_text(source, found.at, (size_t)length);
    hdf5_source_fail(source, "a text that is longer than its place");
    return NULL;
}

char *hdf5_text_at(Hdf5Source *source, const Hdf5Type *type, Hdf5Cursor data)
{
    if (type->size > data.left || (type->variable && data.left < 16)) {
        hdf5_source_fail(source, "a text that ends behind its place");
        return NULL;
    }
    if (type->variable) return heap_text(source, data);
    size_t size = type->size;
    while (type->spaces && size && data.at[size - 1] == ' ') size--;
    return copy_text(source, data.at, size);
}
