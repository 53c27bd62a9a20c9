// The groups of an HDF5 file: their links, and the objects at paths (see hdf5_source.h).
#include "hdf5_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_SIZE = 1024, SOFT_LINKS_MAX = 32 }; // of one path

// ---- Listings -----------------------------------------------------------------------------------

static void clear_listing(Hdf5Listing *listing)
{
    for (int i = 0; i < listing->count; i++) {
        free(listing->links[i].name);
        free(listing->links[i].target);
    }
    free(listing->links);
    *listing = (Hdf5Listing){0};
}

void hdf5_source_close(Hdf5Source *source)
{
    for (int i = 0; i < HDF5_LISTINGS; i++) clear_listing(&source->listings[i]);
    free(source->heap);
    source->heap = NULL;
    if (source->descriptor >= 0) close(source->descriptor);
    source->descriptor = -1;
}

static char *copy_text(const unsigned char *bytes, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) return NULL;
    memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

// Takes the link's texts, also on failure.
static bool add_link(Hdf5Listing *listing, Hdf5Source *source, Hdf5Link link)
{
    bool whole = link.name && (link.kind != LINK_SOFT || link.target);
    if (whole && listing->count == listing->capacity) {
        int capacity = listing->capacity ? 2 * listing->capacity : 16;
        void *larger = realloc(listing->links, (size_t)capacity * sizeof link);
        if (larger) listing->links = larger;
        if (larger) listing->capacity = capacity;
        whole = larger;
    }
    if (whole) {
        listing->links[listing->count++] = link;
        return true;
    }
    free(link.name);
    free(link.target);
    return hdf5_source_fail(source, "out of memory");
}

// ---- Links in the header ------------------------------------------------------------------------

static bool parse_link(Hdf5Listing *listing, Hdf5Source *source, Hdf5Cursor c)
{
    hdf5_skip(&c, 1);
    int flags = (int)hdf5_take(&c, 1), kind = flags & 8 ? (int)hdf5_take(&c, 1) : 0;
    hdf5_skip(&c, (flags & 4 ? 8u : 0u) + (flags & 0x10 ? 1u : 0u));
    uint64_t size = hdf5_take(&c, 1 << (flags & 3));
    const unsigned char *name = hdf5_skip(&c, size);
    if (!name || size > NAME_MAX_SIZE) return hdf5_source_fail(source, "a damaged link");
    Hdf5Link link = {.name = copy_text(name, (size_t)size), .kind = LINK_OUTSIDE};
    if (kind == 0) {
        link.kind = LINK_HARD;
        link.address = hdf5_take(&c, 8);
    } else if (kind == 1) {
        uint64_t length = hdf5_take(&c, 2);
        const unsigned char *target = hdf5_skip(&c, length);
        link.kind = LINK_SOFT;
        link.target = target ? copy_text(target, (size_t)length) : NULL;
    }
    if (!c.over) return add_link(listing, source, link);
    free(link.name);
    free(link.target);
    return hdf5_source_fail(source, "a damaged link");
}

// ---- Links in a table ---------------------------------------------------------------------------

typedef struct Table {
    Hdf5Source *source;
    Hdf5Listing *listing;
    uint64_t names, names_size; // the local heap's data
    uint64_t nodes_left;        // more of them do not fit into the file
} Table;

static bool open_names(Table *table, uint64_t heap)
{
    unsigned char bytes[32];
    if (!hdf5_source_read(table->source, bytes, heap, sizeof bytes)) return false;
    if (memcmp(bytes, "HEAP", 4) != 0)
        return hdf5_source_fail(table->source, "no names at %llu", (unsigned long long)heap);
    Hdf5Cursor c = {bytes + 8, 24, false};
    table->names_size = hdf5_take(&c, 8);
    hdf5_skip(&c, 8);
    table->names = hdf5_take(&c, 8);
    return true;
}

// A text of the heap, which the caller frees; NULL on failure.
static char *heap_text(const Table *table, uint64_t offset)
{
    unsigned char bytes[NAME_MAX_SIZE];
    uint64_t left = offset < table->names_size ? table->names_size - offset : 0;
    size_t size = left < sizeof bytes ? (size_t)left : sizeof bytes;
    uint64_t end = table->names + offset;
    if (end < table->names || !hdf5_source_read(table->source, bytes, end, size)) return NULL;
    const unsigned char *zero = memchr(bytes, 0, size);
    if (!zero) hdf5_source_fail(table->source, "a name without an end");
    return zero ? copy_text(bytes, (size_t)(zero - bytes)) : NULL;
}

enum { ENTRY_SIZE = 40, CACHED_SOFT = 2 };

static bool add_entries(Table *table, const unsigned char *entries, int count)
{
    for (int i = 0; i < count; i++) {
        Hdf5Cursor c = {entries + (size_t)i * ENTRY_SIZE, ENTRY_SIZE, false};
        uint64_t name = hdf5_take(&c, 8);
        Hdf5Link link = {.kind = LINK_HARD, .address = hdf5_take(&c, 8)};
        bool soft = hdf5_take(&c, 4) == CACHED_SOFT;
        hdf5_skip(&c, 4);
        if (!(link.name = heap_text(table, name))) return false;
        if (soft) {
            link.kind = LINK_SOFT;
            link.target = heap_text(table, hdf5_take(&c, 4));
        }
        if (!add_link(table->listing, table->source, link)) return false;
    }
    return true;
}

static bool add_symbols(Table *table, uint64_t address)
{
    unsigned char head[8];
    if (!hdf5_source_read(table->source, head, address, sizeof head)) return false;
    if (memcmp(head, "SNOD", 4) != 0)
        return hdf5_source_fail(table->source, "no links at %llu", (unsigned long long)address);
    int count = head[6] | head[7] << 8;
    unsigned char *entries =
        hdf5_source_block(table->source, address + 8, (uint64_t)count * ENTRY_SIZE);
    bool added = entries && add_entries(table, entries, count);
    free(entries);
    return added;
}

// A node of the tree whose leaves hold the links. `level` is the one above it.
static bool add_tree(Table *table, uint64_t address, int level)
{
    enum { HEAD = 24, STEP = 16 };
    unsigned char head[HEAD];
    if (table->nodes_left-- == 0) return hdf5_source_fail(table->source, "a tree with loops");
    if (!hdf5_source_read(table->source, head, address, HEAD)) return false;
    int own = head[5], count = head[6] | head[7] << 8;
    if (memcmp(head, "TREE", 4) != 0 || head[4] != 0 || own >= level)
        return hdf5_source_fail(table->source, "no tree at %llu", (unsigned long long)address);
    unsigned char *entries =
        hdf5_source_block(table->source, address + HEAD, (uint64_t)count * STEP);
    bool added = entries;
    for (int i = 0; i < count && added; i++) {
        uint64_t child = hdf5_take(&(Hdf5Cursor){entries + i * STEP + 8, 8, false}, 8);
        if (own > 0)
            added = add_tree(table, child, own);
        else if (table->nodes_left-- == 0)
            added = hdf5_source_fail(table->source, "a tree with loops");
        else
            added = add_symbols(table, child);
    }
    free(entries);
    return added;
}

static bool add_table(Hdf5Listing *listing, Hdf5Source *source, Hdf5Cursor c)
{
    enum { LEVELS = 256, NODE_MIN = 8 };
    uint64_t tree = hdf5_take(&c, 8), heap = hdf5_take(&c, 8);
    Table table = {source, listing, .nodes_left = source->size / NODE_MIN};
    if (c.over) return hdf5_source_fail(source, "a damaged table of links");
    return open_names(&table, heap) && add_tree(&table, tree, LEVELS);
}

// ---- Groups -------------------------------------------------------------------------------------

static bool fill_listing(Hdf5Listing *listing, Hdf5Source *source, Hdf5Header *header)
{
    if (!hdf5_header_complete(header, source, MESSAGE_LINK)) return false;
    for (int i = 0; i < header->count; i++) {
        const Hdf5Message *message = &header->messages[i];
        if (message->type == MESSAGE_LINK && !parse_link(listing, source, message->body))
            return false;
        if (message->type == MESSAGE_SYMBOL_TABLE && !add_table(listing, source, message->body))
            return false;
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const Hdf5Link *)a)->name, ((const Hdf5Link *)b)->name);
}

// The listing that was not looked at for the longest time makes room for a new one.
const Hdf5Listing *hdf5_group_links(Hdf5Source *source, uint64_t group)
{
    Hdf5Listing *oldest = &source->listings[0];
    for (int i = 0; i < HDF5_LISTINGS; i++) {
        Hdf5Listing *listing = &source->listings[i];
        if (listing->used && listing->group == group) {
            listing->used = ++source->tick;
            return listing;
        }
        if (listing->used < oldest->used) oldest = listing;
    }
    clear_listing(oldest);
    Hdf5Header header;
    bool read = hdf5_header_read(&header, source, group) && fill_listing(oldest, source, &header);
    hdf5_header_free(&header);
    if (!read) {
        clear_listing(oldest);
        return NULL;
    }
    if (oldest->count) qsort(oldest->links, (size_t)oldest->count, sizeof *oldest->links, by_name);
    oldest->group = group;
    oldest->used = ++source->tick;
    return oldest;
}

static Hdf5Found resolve(uint64_t *address, Hdf5Source *source, uint64_t group, const char *path,
                         int *soft_links);

static Hdf5Found follow(uint64_t *address, Hdf5Source *source, uint64_t group, const char *name,
                        int *soft_links)
{
    const Hdf5Listing *listing = hdf5_group_links(source, group);
    if (!listing) return HDF5_BROKEN;
    const Hdf5Link wanted = {.name = (char *)(uintptr_t)name};
    const Hdf5Link *link = listing->count ? bsearch(&wanted, listing->links, (size_t)listing->count,
                                                    sizeof wanted, by_name)
                                          : NULL;
    if (!link) return HDF5_ABSENT;
    if (link->kind == LINK_OUTSIDE) return HDF5_OUTSIDE;
    *address = link->address;
    if (link->kind == LINK_HARD) return HDF5_FOUND;
    if (++*soft_links > SOFT_LINKS_MAX) return HDF5_ABSENT;
    char *target = strdup(link->target); // the listing may go
    if (!target) hdf5_source_fail(source, "out of memory");
    Hdf5Found found =
        target ? resolve(address, source, *target == '/' ? source->root : group, target, soft_links)
               : HDF5_BROKEN;
    free(target);
    return found;
}

static Hdf5Found resolve(uint64_t *address, Hdf5Source *source, uint64_t group, const char *path,
                         int *soft_links)
{
    *address = group;
    while (*path) {
        char name[NAME_MAX_SIZE];
        size_t size = strcspn(path, "/");
        if (size >= sizeof name) return HDF5_ABSENT;
        memcpy(name, path, size);
        name[size] = '\0';
        path += size + (path[size] == '/');
        if (size == 0 || strcmp(name, ".") == 0) continue;
        Hdf5Found found = follow(address, source, *address, name, soft_links);
        if (found != HDF5_FOUND) return found;
    }
    return HDF5_FOUND;
}

Hdf5Found hdf5_resolve(uint64_t *address, Hdf5Source *source, uint64_t group, const char *path)
{
    int soft_links = 0;
    return resolve(address, source, group, path, &soft_links);
}
