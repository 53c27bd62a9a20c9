// Chunks of the newest layout, which are found by their number: one after the other, in an array of
// fixed size, or in one that grows (HDF5 File Format Specification, version 3, VII.C and VII.D).
#include "hdf5_index.h"

#include <stdlib.h>
#include <string.h>

typedef struct Walk {
    Hdf5Source *source;
    const Hdf5Array *array;
    Hdf5Visit *visit;
    void *context;
    uint64_t next;   // the number of the next chunk
    uint64_t needed; // chunks that the array has room for
    size_t element;  // bytes of an entry
} Walk;

// ---- Numbers ------------------------------------------------------------------------------------

// Chunks are counted along the last dimension first; the dimension that grows comes before all.
static void order_of(int order[HDF5_RANK_MAX], const Hdf5Space *space)
{
    int count = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < space->rank; i++)
            if ((space->most[i] == HDF5_UNDEFINED) == (pass == 0)) order[count++] = i;
}

static uint64_t along(const Hdf5Array *array, int i)
{
    bool grows = array->space.most[i] == HDF5_UNDEFINED;
    uint64_t size = grows ? array->space.shape[i] : array->space.most[i];
    return size / array->chunk[i] + (size % array->chunk[i] > 0);
}

// Hands on the next chunk, where there is one within the array.
static bool visit_next(Walk *walk, Hdf5Chunk chunk)
{
    const Hdf5Array *array = walk->array;
    int order[HDF5_RANK_MAX];
    uint64_t number = walk->next++;
    if (chunk.address == HDF5_UNDEFINED) return true;
    order_of(order, &array->space);
    for (int k = array->space.rank - 1; k >= 0; k--) {
        int i = order[k];
        uint64_t count = along(array, i);
        chunk.offset[i] = (k ? number % count : number) * array->chunk[i];
        number /= count;
        if (chunk.offset[i] >= array->space.shape[i]) return true;
    }
    return walk->visit(walk->context, &chunk);
}

// Entries are an address, and behind filters also a size and the filters that were skipped.
static bool visit_entries(Walk *walk, const unsigned char *entries, uint64_t count)
{
    size_t element = walk->element;
    for (uint64_t i = 0; i < count && walk->next < walk->needed; i++) {
        Hdf5Cursor c = {entries + i * element, element, false};
        Hdf5Chunk chunk = {.address = hdf5_take(&c, 8), .size = hdf5_chunk_bytes(walk->array)};
        if (element > 8) {
            chunk.size = hdf5_take(&c, (int)element - 12);
            chunk.skipped = (uint32_t)hdf5_take(&c, 4);
        }
        if (!visit_next(walk, chunk)) return false;
    }
    return true;
}

static bool visit_entries_at(Walk *walk, uint64_t address, uint64_t count)
{
    unsigned char *entries = hdf5_source_block(walk->source, address, count * walk->element);
    bool visited = entries && visit_entries(walk, entries, count);
    free(entries);
    return visited;
}

static bool check_element(const Walk *walk, uint64_t size)
{
    bool filtered = walk->array->filter_count > 0;
    return (filtered ? size > 12 && size <= 20 : size == 8) ||
           hdf5_source_fail(walk->source, "chunks with entries of %llu bytes",
                            (unsigned long long)size);
}

// ---- One after the other ------------------------------------------------------------------------

static bool walk_implicit(Walk *walk)
{
    uint64_t bytes = hdf5_chunk_bytes(walk->array);
    for (uint64_t i = 0; i < walk->needed; i++)
        if (!visit_next(walk,
                        (Hdf5Chunk){.address = walk->array->address + i * bytes, .size = bytes}))
            return false;
    return true;
}

// ---- A fixed array ------------------------------------------------------------------------------

// A large one has pages of entries, each with a checksum behind it, and a bit for each page that
// was ever written.
static bool walk_pages(Walk *walk, uint64_t address, uint64_t count, uint64_t page)
{
    uint64_t pages = (count + page - 1) / page, bits = (pages + 7) / 8;
    unsigned char *written = hdf5_source_block(walk->source, address, bits);
    bool walked = written;
    uint64_t at = address + bits + 4;
    for (uint64_t i = 0; i < pages && walked && walk->next < walk->needed; i++) {
        uint64_t here = i + 1 < pages ? page : count - i * page;
        if (written[i / 8] & 128 >> i % 8)
            walked = visit_entries_at(walk, at, here);
        else
            walk->next += here;
        at += here * walk->element + 4;
    }
    free(written);
    return walked;
}

static bool walk_fixed(Walk *walk)
{
    enum { HEAD = 24, BLOCK_HEAD = 14 };
    unsigned char head[HEAD], mark[BLOCK_HEAD];
    if (!hdf5_source_marked(walk->source, head, walk->array->address, HEAD, "FAHD")) return false;
    Hdf5Cursor c = {head + 6, HEAD - 6, false};
    walk->element = (size_t)hdf5_take(&c, 1);
    unsigned page_bits = (unsigned)hdf5_take(&c, 1);
    uint64_t count = hdf5_take(&c, 8), address = hdf5_take(&c, 8);
    if (!check_element(walk, walk->element)) return false;
    if (address == HDF5_UNDEFINED) return true;
    if (!hdf5_source_marked(walk->source, mark, address, BLOCK_HEAD, "FADB")) return false;
    if (page_bits > 30 || count > walk->source->size)
        return hdf5_source_fail(walk->source, "a damaged array of chunks");
    address += BLOCK_HEAD;
    uint64_t page = UINT64_C(1) << page_bits;
    return count > page ? walk_pages(walk, address, count, page)
                        : visit_entries_at(walk, address, count);
}

// ---- An array that grows ------------------------------------------------------------------------

// Its first entries and blocks of entries stand in an index block; later blocks, ever larger, are
// listed in super blocks. Super block u has 2^(u/2) blocks of 2^((u+1)/2) * least entries.
typedef struct Growing {
    Walk *walk;
    unsigned bits;      // of the number of an entry
    unsigned first;     // entries in the index block
    unsigned least;     // entries of the smallest block
    unsigned pointers;  // least blocks of a super block that has a block of its own
    unsigned page_bits; // entries of a page
    uint64_t index_block;
} Growing;

static unsigned log_of(unsigned power)
{
    unsigned bits = 0;
    while (power >>= 1) bits++;
    return bits;
}

static bool read_growing(Growing *g)
{
    enum { HEAD = 68 };
    unsigned char head[HEAD];
    if (!hdf5_source_marked(g->walk->source, head, g->walk->array->address, HEAD, "EAHD"))
        return false;
    Hdf5Cursor c = {head + 6, HEAD - 6, false};
    g->walk->element = (size_t)hdf5_take(&c, 1);
    g->bits = (unsigned)hdf5_take(&c, 1);
    g->first = (unsigned)hdf5_take(&c, 1);
    g->least = (unsigned)hdf5_take(&c, 1);
    g->pointers = (unsigned)hdf5_take(&c, 1);
    g->page_bits = (unsigned)hdf5_take(&c, 1);
    hdf5_skip(&c, 48); // statistics
    g->index_block = hdf5_take(&c, 8);
    bool powers = g->least && !(g->least & (g->least - 1)) && g->pointers &&
                  !(g->pointers & (g->pointers - 1));
    if (!powers || g->bits > 64 || g->bits < log_of(g->least) || g->page_bits > 30)
        return hdf5_source_fail(g->walk->source, "a damaged array of chunks");
    return check_element(g->walk, g->walk->element);
}

static uint64_t blocks_of(unsigned u) { return UINT64_C(1) << u / 2; }
static uint64_t entries_of(const Growing *g, unsigned u)
{
    return (UINT64_C(1) << (u + 1) / 2) * g->least;
}

static uint64_t block_head(const Growing *g) { return 14 + (g->bits + 7) / 8; }

// A block of entries; `written` has a bit for each of its pages.
static bool walk_block(Growing *g, uint64_t address, uint64_t count, const unsigned char *written)
{
    Walk *walk = g->walk;
    unsigned char mark[4];
    uint64_t page = UINT64_C(1) << g->page_bits, from = walk->next;
    if (address == HDF5_UNDEFINED) {
        walk->next += count;
        return true;
    }
    if (!hdf5_source_marked(walk->source, mark, address, sizeof mark, "EADB")) return false;
    address += block_head(g);
    if (!written) return visit_entries_at(walk, address, count);
    address += 4; // a checksum
    bool walked = true;
    for (uint64_t i = 0; i < count / page && walked && walk->next < walk->needed; i++) {
        walk->next = from + i * page;
        if (written[i / 8] & 128 >> i % 8) walked = visit_entries_at(walk, address, page);
        address += page * walk->element + 4;
    }
    walk->next = from + count;
    return walked;
}

static bool walk_super_block(Growing *g, uint64_t address, unsigned u)
{
    Walk *walk = g->walk;
    uint64_t blocks = blocks_of(u), entries = entries_of(g, u);
    uint64_t page = UINT64_C(1) << g->page_bits, pages = entries > page ? entries / page : 0;
    uint64_t bits = (pages + 7) / 8, head = block_head(g);
    if (address == HDF5_UNDEFINED) {
        walk->next += blocks * entries;
        return true;
    }
    unsigned char mark[4];
    if (!hdf5_source_marked(walk->source, mark, address, sizeof mark, "EASB")) return false;
    unsigned char *rest = hdf5_source_block(walk->source, address + head, blocks * (bits + 8));
    bool walked = rest;
    for (uint64_t i = 0; i < blocks && walked && walk->next < walk->needed; i++) {
        Hdf5Cursor c = {rest + blocks * bits + 8 * i, 8, false};
        walked = walk_block(g, hdf5_take(&c, 8), entries, pages ? rest + bits * i : NULL);
    }
    free(rest);
    return walked;
}

// The blocks that the index block lists itself, and then the super blocks.
static bool walk_lists(Growing *g, Hdf5Cursor c, unsigned supers, unsigned direct)
{
    Walk *walk = g->walk;
    bool walked = true;
    for (unsigned u = 0; u < supers && walked && walk->next < walk->needed; u++) {
        for (uint64_t i = 0; u < direct && i < blocks_of(u) && walked; i++)
            walked = walk_block(g, hdf5_take(&c, 8), entries_of(g, u), NULL);
        if (u >= direct) walked = walk_super_block(g, hdf5_take(&c, 8), u);
    }
    return walked;
}

static bool walk_growing(Walk *walk)
{
    enum { HEAD = 14 };
    Growing g = {.walk = walk};
    unsigned char mark[4];
    if (!read_growing(&g)) return false;
    if (g.index_block == HDF5_UNDEFINED) return true;
    if (!hdf5_source_marked(walk->source, mark, g.index_block, sizeof mark, "EAIB")) return false;
    unsigned supers = 1 + g.bits - log_of(g.least), direct = 2 * log_of(g.pointers);
    if (direct > supers || (UINT64_C(1) << g.page_bits) < entries_of(&g, direct ? direct - 1 : 0))
        return hdf5_source_fail(walk->source, "a damaged array of chunks");
    uint64_t addresses = 2 * (g.pointers - 1) + (supers - direct);
    uint64_t size = g.first * walk->element + 8 * addresses;
    unsigned char *block = hdf5_source_block(walk->source, g.index_block + HEAD, size);
    Hdf5Cursor c = {block, (size_t)size, false};
    bool walked = block && visit_entries(walk, block, g.first);
    if (walked) {
        hdf5_skip(&c, g.first * walk->element);
        walked = walk_lists(&g, c, supers, direct);
    }
    free(block);
    return walked;
}

// ---- All of them --------------------------------------------------------------------------------

bool hdf5_index_chunks(Hdf5Source *source, const Hdf5Array *array, Hdf5Visit *visit, void *context)
{
    Walk walk = {source, array, visit, context, .needed = 1};
    uint64_t limit = source->size; // a chunk takes a byte at least
    for (int i = 0; i < array->space.rank; i++) {
        uint64_t count = along(array, i);
        if (count && walk.needed > limit / count)
            return hdf5_source_fail(source, "more chunks than bytes");
        walk.needed *= count;
    }
    return array->index == INDEX_IMPLICIT ? walk_implicit(&walk)
           : array->index == INDEX_FIXED  ? walk_fixed(&walk)
                                          : walk_growing(&walk);
}
