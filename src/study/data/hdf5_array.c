// Arrays of an HDF5 file: layouts, chunks and filters (see hdf5_values.h).
#include "hdf5_index.h"
#include "hdf5_values.h"
#include "picture/deflate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// ---- Messages of the header ---------------------------------------------------------------------

bool hdf5_is_array(const Hdf5Header *header)
{
    return hdf5_header_find(header, MESSAGE_DATASPACE) && hdf5_header_find(header, MESSAGE_LAYOUT);
}

static bool parse_filters(Hdf5Array *array, Hdf5Source *source, Hdf5Cursor c)
{
    int version = (int)hdf5_take(&c, 1), count = (int)hdf5_take(&c, 1);
    if (version == 1) hdf5_skip(&c, 6);
    if (version < 1 || version > 2 || count > HDF5_FILTERS_MAX)
        return hdf5_source_fail(source, "%d filters of version %d", count, version);
    for (int i = 0; i < count; i++) {
        Hdf5Filter *filter = &array->filters[i];
        filter->id = (int)hdf5_take(&c, 2);
        uint64_t name_size = version == 1 || filter->id >= 256 ? hdf5_take(&c, 2) : 0;
        hdf5_skip(&c, 2);
        uint64_t values = hdf5_take(&c, 2);
        if (version == 1) name_size = (name_size + 7) / 8 * 8;
        const unsigned char *name = hdf5_skip(&c, name_size);
        size_t shown =
            name_size < sizeof filter->name ? (size_t)name_size : sizeof filter->name - 1;
        if (name) memcpy(filter->name, name, shown);
        hdf5_skip(&c, 4 * values + (version == 1 && values % 2 ? 4 : 0));
    }
    array->filter_count = count;
    return !c.over || hdf5_source_fail(source, "damaged filters");
}

// Packed numbers take at least a thousandth of their size: a file holds no more than that.
static uint64_t most_bytes(const Hdf5Source *source)
{
    enum { RATIO = 1032, SMALL = 1 << 20 };
    return source->size > UINT64_MAX / 2 / RATIO ? UINT64_MAX / 2 : source->size * RATIO + SMALL;
}

// The shape of a chunk, with the size of an element behind it; numbers of `bytes` bytes.
static bool parse_chunk_shape(Hdf5Array *array, Hdf5Source *source, Hdf5Cursor *c, int rank,
                              int bytes)
{
    if (rank != array->space.rank + 1 || rank < 2 || bytes < 1 || bytes > 8)
        return hdf5_source_fail(source, "chunks of %d dimensions", rank - 1);
    uint64_t total = array->type.size;
    for (int i = 0; i < rank - 1; i++) {
        array->chunk[i] = hdf5_take(c, bytes);
        if (array->chunk[i] == 0 || total > UINT32_MAX / array->chunk[i])
            return hdf5_source_fail(source, "chunks of no size, or of more than 4 GiB");
        total *= array->chunk[i];
    }
    if (total > most_bytes(source))
        return hdf5_source_fail(source, "chunks of %llu bytes in a file of %llu",
                                (unsigned long long)total, (unsigned long long)source->size);
    if (hdf5_take(c, bytes) != array->type.size || c->over)
        return hdf5_source_fail(source, "chunks of elements of another size");
    return true;
}

uint64_t hdf5_chunk_bytes(const Hdf5Array *array)
{
    uint64_t bytes = array->type.size;
    for (int i = 0; i < array->space.rank; i++) bytes *= array->chunk[i];
    return bytes;
}

// Chunks of the newest layout are found by an index of one of five kinds.
static bool parse_new_chunks(Hdf5Array *array, Hdf5Source *source, Hdf5Cursor c)
{
    enum { FILTERED = 2 };
    unsigned flags = (unsigned)hdf5_take(&c, 1);
    int rank = (int)hdf5_take(&c, 1), bytes = (int)hdf5_take(&c, 1);
    if (!parse_chunk_shape(array, source, &c, rank, bytes)) return false;
    int index = (int)hdf5_take(&c, 1);
    if (index < INDEX_SINGLE || index > INDEX_GROWING)
        return hdf5_source_fail(
            source, "chunks that grow in two directions in the newest layout, "
                    "which Facet does not read: write the file without libver='latest'");
    array->index = (Hdf5Index)index;
    bool filtered = index == INDEX_SINGLE && flags & FILTERED;
    array->single.size = filtered ? hdf5_take(&c, 8) : hdf5_chunk_bytes(array);
    array->single.skipped = filtered ? (uint32_t)hdf5_take(&c, 4) : 0;
    hdf5_skip(&c, index == INDEX_FIXED ? 1 : index == INDEX_GROWING ? 5 : 0);
    array->single.address = array->address = hdf5_take(&c, 8);
    return !c.over || hdf5_source_fail(source, "damaged chunks");
}

static bool parse_layout(Hdf5Array *array, Hdf5Source *source, Hdf5Cursor c)
{
    enum { COMPACT = 0, CONTIGUOUS = 1, CHUNKED = 2 };
    int version = (int)hdf5_take(&c, 1), class = (int)hdf5_take(&c, 1);
    if (version < 3 || version > 4 || class > CHUNKED)
        return hdf5_source_fail(source,
                                "a layout of version %d and class %d, which Facet does not "
                                "read",
                                version, class);
    array->layout = (Hdf5Layout) class;
    if (class == COMPACT) {
        uint64_t size = hdf5_take(&c, 2);
        const unsigned char *at = hdf5_skip(&c, size);
        array->compact = (Hdf5Cursor){at, at ? (size_t)size : 0, false};
    } else if (class == CONTIGUOUS) {
        array->address = hdf5_take(&c, 8);
    } else if (version == 4) {
        return parse_new_chunks(array, source, c);
    } else {
        int rank = (int)hdf5_take(&c, 1);
        array->address = hdf5_take(&c, 8);
        if (!parse_chunk_shape(array, source, &c, rank, 4)) return false;
    }
    return !c.over || hdf5_source_fail(source, "a damaged layout");
}

// The value of elements that were never written, where the file has one.
static void parse_fill(Hdf5Array *array)
{
    const Hdf5Message *message = hdf5_header_find(&array->header, MESSAGE_FILL);
    if (!message) return;
    Hdf5Cursor c = message->body;
    int version = (int)hdf5_take(&c, 1);
    bool defined;
    if (version == 3) {
        defined = hdf5_take(&c, 1) & 0x20;
    } else {
        hdf5_skip(&c, 2);
        defined = hdf5_take(&c, 1) == 1;
    }
    uint64_t size = hdf5_take(&c, 4);
    const unsigned char *at = hdf5_skip(&c, size);
    if (defined && at && size == array->type.size) array->fill = (Hdf5Cursor){at, size, false};
}

bool hdf5_may_hold(const Hdf5Source *source, uint64_t bytes) { return bytes <= most_bytes(source); }

static bool check_claim(Hdf5Source *source, const Hdf5Array *array)
{
    uint64_t elements = array->space.count;
    if (elements <= most_bytes(source) / array->type.size) return true;
    return hdf5_source_fail(source, "%llu elements of %zu bytes in a file of %llu bytes",
                            (unsigned long long)elements, array->type.size,
                            (unsigned long long)source->size);
}

static bool parse_array(Hdf5Array *array, Hdf5Source *source)
{
    const Hdf5Message *parts[3] = {hdf5_header_find(&array->header, MESSAGE_DATATYPE),
                                   hdf5_header_find(&array->header, MESSAGE_DATASPACE),
                                   hdf5_header_find(&array->header, MESSAGE_LAYOUT)};
    for (int i = 0; i < 3; i++)
        if (!parts[i] || parts[i]->shared)
            return hdf5_source_fail(source, "a type or shape that stands elsewhere, which Facet "
                                            "does not read");
    if (hdf5_header_find(&array->header, MESSAGE_EXTERNAL))
        return hdf5_source_fail(source, "numbers in another file, which Facet does not follow");
    const Hdf5Message *filters = hdf5_header_find(&array->header, MESSAGE_FILTERS);
    if (!hdf5_type_parse(&array->type, source, parts[0]->body) ||
        !hdf5_space_parse(&array->space, source, parts[1]->body) || !check_claim(source, array) ||
        (filters && !parse_filters(array, source, filters->body)))
        return false;
    parse_fill(array);
    return parse_layout(array, source, parts[2]->body);
}

bool hdf5_array_open(Hdf5Array *array, Hdf5Source *source, uint64_t address)
{
    *array = (Hdf5Array){0};
    return hdf5_header_read(&array->header, source, address) && parse_array(array, source);
}

void hdf5_array_free(Hdf5Array *array) { hdf5_header_free(&array->header); }

// ---- Chunks -------------------------------------------------------------------------------------

typedef struct Walk {
    Hdf5Source *source;
    const Hdf5Array *array;
    Hdf5Visit *visit;
    void *context;
    uint64_t nodes_left, chunks_left;
} Walk;

static bool visit_chunk(Walk *walk, Hdf5Cursor key, uint64_t address)
{
    Hdf5Chunk chunk = {.address = address, .size = hdf5_take(&key, 4)};
    chunk.skipped = (uint32_t)hdf5_take(&key, 4);
    const Hdf5Array *array = walk->array;
    for (int i = 0; i < array->space.rank; i++) {
        chunk.offset[i] = hdf5_take(&key, 8);
        if (chunk.offset[i] % array->chunk[i] != 0)
            return hdf5_source_fail(walk->source, "a chunk that begins within another");
        // What a smaller extent has cut off may still stand in the file.
        if (chunk.offset[i] >= array->space.shape[i]) return true;
    }
    if (walk->chunks_left-- == 0) return hdf5_source_fail(walk->source, "a chunk twice");
    return walk->visit(walk->context, &chunk);
}

// A node of the tree whose leaves are the chunks. `level` is the one above it.
static bool walk_tree(Walk *walk, uint64_t address, int level)
{
    enum { HEAD = 24 };
    unsigned char head[HEAD];
    uint64_t key = 8 + 8 * ((uint64_t)walk->array->space.rank + 1), step = key + 8;
    if (walk->nodes_left-- == 0) return hdf5_source_fail(walk->source, "a tree with loops");
    if (!hdf5_source_read(walk->source, head, address, HEAD)) return false;
    int own = head[5], count = head[6] | head[7] << 8;
    if (memcmp(head, "TREE", 4) != 0 || head[4] != 1 || own >= level)
        return hdf5_source_fail(walk->source, "no tree at %llu", (unsigned long long)address);
    unsigned char *entries =
        hdf5_source_block(walk->source, address + HEAD, (uint64_t)count * step);
    bool walked = entries;
    for (int i = 0; i < count && walked; i++) {
        Hdf5Cursor c = {entries + (uint64_t)i * step, (size_t)step, false}, child = c;
        hdf5_skip(&child, key);
        uint64_t below = hdf5_take(&child, 8);
        walked = own > 0 ? walk_tree(walk, below, own) : visit_chunk(walk, c, below);
    }
    free(entries);
    return walked;
}

bool hdf5_array_chunks(Hdf5Source *source, const Hdf5Array *array, Hdf5Visit *visit, void *context)
{
    enum { LEVELS = 256, NODE_MIN = 24 };
    if (array->address == HDF5_UNDEFINED) return true;
    if (array->index == INDEX_SINGLE) return visit(context, &array->single);
    if (array->index != INDEX_TREE) return hdf5_index_chunks(source, array, visit, context);
    Walk walk = {source, array, visit, context, source->size / NODE_MIN, 1};
    for (int i = 0; i < array->space.rank; i++)
        walk.chunks_left *= (array->space.shape[i] + array->chunk[i] - 1) / array->chunk[i];
    return walk_tree(&walk, array->address, LEVELS);
}

// ---- Filters ------------------------------------------------------------------------------------

// The checksum that the library calls fletcher32: sums of 16-bit words, modulo 65535.
static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    uint32_t first = 0, second = 0;
    for (size_t i = 0; i < size; i += 2) {
        uint32_t word = (uint32_t)bytes[i] << 8 | (i + 1 < size ? bytes[i + 1] : 0u);
        first = (first + word) % 65535u;
        second = (second + first) % 65535u;
    }
    return second << 16 | first;
}

// Sums modulo 65535 have two zeros.
static bool same_sum(uint32_t a, uint32_t b)
{
    return (a & 0xffffu) % 65535u == (b & 0xffffu) % 65535u &&
           (a >> 16) % 65535u == (b >> 16) % 65535u;
}

static bool check_sum(Hdf5Source *source, const unsigned char *bytes, uint64_t *size)
{
    if (*size < 4) return hdf5_source_fail(source, "a chunk without its checksum");
    *size -= 4;
    uint32_t stored = (uint32_t)hdf5_take(&(Hdf5Cursor){bytes + *size, 4, false}, 4);
    uint32_t found = checksum(bytes, (size_t)*size);
    // Old libraries on machines of the other byte order wrote the bytes of each half swapped.
    uint32_t swapped = (stored & 0x00ff00ffu) << 8 | (stored >> 8 & 0x00ff00ffu);
    return same_sum(stored, found) || same_sum(swapped, found) ||
           hdf5_source_fail(source, "a chunk with a wrong checksum");
}

// Puts the bytes of elements together again: all first bytes stand first, then all second ones.
static bool unshuffle(Hdf5Source *source, unsigned char **bytes, uint64_t size, size_t width)
{
    unsigned char *out = malloc((size_t)size + 1);
    if (!out) return hdf5_source_fail(source, "out of memory");
    uint64_t elements = size / width;
    for (uint64_t i = 0; i < elements; i++)
        for (size_t k = 0; k < width; k++) out[i * width + k] = (*bytes)[k * elements + i];
    memcpy(out + elements * width, *bytes + elements * width, (size_t)(size - elements * width));
    free(*bytes);
    *bytes = out;
    return true;
}

static bool inflate_into(Hdf5Source *source, unsigned char **bytes, uint64_t *size, uint64_t wanted)
{
    Inflater *inflater = inflater_create();
    unsigned char *out = malloc((size_t)wanted + 1);
    InflateResult result = INFLATE_DAMAGED;
    if (inflater && out)
        result = inflater_unpack(out, (size_t)wanted, inflater, *bytes, (size_t)*size);
    else
        hdf5_source_fail(source, "out of memory");
    if (inflater && out && result != INFLATE_DONE)
        hdf5_source_fail(source, "a chunk that cannot be unpacked");
    inflater_destroy(inflater);
    free(*bytes);
    *bytes = out;
    *size = wanted;
    return result == INFLATE_DONE;
}

static bool apply_filter(Hdf5Source *source, unsigned char **bytes, uint64_t *size,
                         const Hdf5Array *array, const Hdf5Chunk *chunk, int index)
{
    const Hdf5Filter *filter = &array->filters[index];
    if (chunk->skipped >> index & 1) return true;
    if (filter->id == FILTER_CHECKSUM) return check_sum(source, *bytes, size);
    if (filter->id == FILTER_SHUFFLE) return unshuffle(source, bytes, *size, array->type.size);
    if (filter->id != FILTER_DEFLATE)
        return hdf5_source_fail(source, "filter %d, '%s': expected gzip, shuffle or fletcher32",
                                filter->id, filter->name);
    uint64_t wanted = hdf5_chunk_bytes(array);
    for (int i = 0; i < index; i++)
        if (array->filters[i].id == FILTER_CHECKSUM && !(chunk->skipped >> i & 1)) wanted += 4;
    return inflate_into(source, bytes, size, wanted);
}

// The numbers of a chunk as they were before its filters; the caller frees them.
static unsigned char *read_chunk(Hdf5Source *source, const Hdf5Array *array, const Hdf5Chunk *chunk)
{
    uint64_t size = chunk->size;
    unsigned char *bytes = hdf5_source_block(source, chunk->address, size);
    bool read = bytes;
    for (int i = array->filter_count - 1; i >= 0 && read; i--)
        read = apply_filter(source, &bytes, &size, array, chunk, i);
    if (read && size != hdf5_chunk_bytes(array))
        read = hdf5_source_fail(source, "a chunk of %llu bytes, not %llu", (unsigned long long)size,
                                (unsigned long long)hdf5_chunk_bytes(array));
    if (read) return bytes;
    free(bytes);
    return NULL;
}

// ---- Numbers ------------------------------------------------------------------------------------

static uint64_t word_of(const unsigned char *bytes, const Hdf5Type *type)
{
    uint64_t word = 0;
    for (size_t i = 0; i < type->size; i++)
        word = word << 8 | bytes[type->big_endian ? i : type->size - 1 - i];
    return word;
}

static double float_of(uint64_t word, size_t size)
{
    if (size == 8) {
        double value;
        memcpy(&value, &word, sizeof value);
        return value;
    }
    uint32_t bits = (uint32_t)word;
    if (size == 2) {
        uint32_t exponent = bits >> 10 & 31, sign = (bits & 0x8000u) << 16;
        if (exponent == 0) return (sign ? -0x1p-24 : 0x1p-24) * (double)(bits & 0x3ffu);
        bits = sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | (bits & 0x3ffu) << 13;
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

// An integer as it is, or the nearest that an int64_t holds.
static int64_t integer_of(uint64_t word, const Hdf5Type *type)
{
    unsigned unused = 64 - 8 * (unsigned)type->size;
    if (type->is_signed) return (int64_t)(word << unused) >> unused;
    return word > INT64_MAX ? INT64_MAX : (int64_t)word;
}

void hdf5_convert(Hdf5Output out, uint64_t at, const unsigned char *bytes, uint64_t count,
                  const Hdf5Type *type)
{
    bool is_float = type->class == CLASS_FLOAT, is_signed = type->is_signed;
    if (out.raw) {
        memcpy(out.raw + at * type->size, bytes, (size_t)(count * type->size));
        return;
    }
    for (uint64_t i = 0; i < count; i++) {
        uint64_t word = word_of(bytes + i * type->size, type);
        if (out.integers)
            out.integers[at + i] = integer_of(word, type);
        else
            out.doubles[at + i] = is_float    ? float_of(word, type->size)
                                  : is_signed ? (double)integer_of(word, type)
                                              : (double)word;
    }
}

typedef struct Gather {
    Hdf5Source *source;
    const Hdf5Array *array;
    Hdf5Output out;
} Gather;

// Copies the rows of a chunk that lie within the array.
static void place_chunk(const Gather *g, const Hdf5Chunk *chunk, const unsigned char *bytes)
{
    const Hdf5Space *space = &g->array->space;
    int last = space->rank - 1;
    uint64_t at[HDF5_RANK_MAX] = {0}, run = g->array->chunk[last];
    if (run > space->shape[last] - chunk->offset[last])
        run = space->shape[last] - chunk->offset[last];
    for (;;) {
        uint64_t from = 0, to = 0;
        bool inside = true;
        for (int i = 0; i <= last; i++) {
            from = from * g->array->chunk[i] + at[i];
            to = to * space->shape[i] + chunk->offset[i] + at[i];
            inside = inside && chunk->offset[i] + at[i] < space->shape[i];
        }
        if (inside)
            hdf5_convert(g->out, to, bytes + from * g->array->type.size, run, &g->array->type);
        int i = last - 1;
        while (i >= 0 && ++at[i] == g->array->chunk[i]) at[i--] = 0;
        if (i < 0) return;
    }
}

static bool gather_chunk(void *context, const Hdf5Chunk *chunk)
{
    const Gather *g = context;
    unsigned char *bytes = read_chunk(g->source, g->array, chunk);
    if (!bytes) return false;
    place_chunk(g, chunk, bytes);
    free(bytes);
    return true;
}

static void fill_all(const Gather *g)
{
    size_t count = (size_t)g->array->space.count;
    if (g->array->fill.at)
        for (uint64_t i = 0; i < count; i++)
            hdf5_convert(g->out, i, g->array->fill.at, 1, &g->array->type);
    else if (g->out.raw)
        memset(g->out.raw, 0, count * g->array->type.size);
    else if (g->out.integers)
        memset(g->out.integers, 0, count * sizeof *g->out.integers);
    else
        memset(g->out.doubles, 0, count * sizeof *g->out.doubles);
}

static bool read_contiguous(const Gather *g)
{
    enum { BLOCK = 1 << 13 };
    unsigned char bytes[8 * BLOCK]; // of numbers
    const Hdf5Array *array = g->array;
    uint64_t width = array->type.size, count = array->space.count;
    if (g->out.raw) return hdf5_source_read(g->source, g->out.raw, array->address, count * width);
    for (uint64_t done = 0, left; done < count; done += left) {
        left = count - done < BLOCK ? count - done : BLOCK;
        uint64_t address = array->address + done * width;
        if (address < array->address || !hdf5_source_read(g->source, bytes, address, left * width))
            return hdf5_source_fail(g->source, "numbers behind the end of the file");
        hdf5_convert(g->out, done, bytes, left, &array->type);
    }
    return true;
}

bool hdf5_array_read(Hdf5Output out, Hdf5Source *source, const Hdf5Array *array)
{
    Gather g = {source, array, out};
    bool number = array->type.class == CLASS_INTEGER || array->type.class == CLASS_FLOAT;
    if (!out.raw && (!number || (out.integers && array->type.class == CLASS_FLOAT)))
        return hdf5_source_fail(source, "%s", hdf5_class_name(&array->type));
    if (array->space.count == 0) return true;
    uint64_t bytes = array->space.count * array->type.size;
    if (array->layout == LAYOUT_COMPACT) {
        if (array->compact.left < bytes) return hdf5_source_fail(source, "fewer elements");
        hdf5_convert(g.out, 0, array->compact.at, array->space.count, &array->type);
        return true;
    }
    if (array->layout == LAYOUT_CHUNKED) {
        fill_all(&g);
        return hdf5_array_chunks(source, array, gather_chunk, &g);
    }
    if (array->address != HDF5_UNDEFINED) return read_contiguous(&g);
    fill_all(&g);
    return true;
}
