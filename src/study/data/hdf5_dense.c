// Links and attributes that are too many for a header, as the newest layout keeps them: a tree of
// records leads to messages in a heap (HDF5 File Format Specification, version 3, III.A.2, III.G).
#include "hdf5_source.h"

#include <stdlib.h>
#include <string.h>

static bool damaged(Hdf5Source *source, const char *what)
{
    return hdf5_source_fail(source, "a damaged %s", what);
}

// The largest power of two that is not above a number is 2 to this.
static unsigned log_of(uint64_t number)
{
    unsigned bits = 0;
    while (number >>= 1) bits++;
    return bits;
}

static bool is_power(uint64_t number) { return number && !(number & (number - 1)); }

// ---- Trees of records ---------------------------------------------------------------------------

enum { TREE_LEVELS = 16, NODE_HEAD = 6, NODE_REST = 4, RECORD_MAX = 64 };

typedef bool VisitRecord(void *context, const unsigned char *record);

typedef struct Tree {
    Hdf5Source *source;
    VisitRecord *visit;
    void *context;
    uint64_t node_size, record_size;
    uint64_t nodes_left;          // more of them do not fit into the file
    int count_bytes;              // of a node's records
    int total_bytes[TREE_LEVELS]; // of the records of a node and below it; none in a leaf
} Tree;

// How wide numbers are in a node follows from how many records there could be below it.
static bool measure_levels(Tree *tree, unsigned depth)
{
    uint64_t room = tree->node_size - NODE_HEAD - NODE_REST;
    uint64_t most = room / tree->record_size, total = most;
    tree->count_bytes = (int)(log_of(most) / 8 + 1);
    for (unsigned level = 1; level < depth; level++) {
        uint64_t pointer = 8 + (uint64_t)(tree->count_bytes + tree->total_bytes[level - 1]);
        most = room > pointer ? (room - pointer) / (tree->record_size + pointer) : 0;
        if (most == 0 || total > UINT64_MAX / 2 / (most + 1)) return false;
        total = (most + 1) * total + most;
        tree->total_bytes[level] = (int)(log_of(total) / 8 + 1);
    }
    return true;
}

static bool visit_node(Tree *tree, uint64_t address, uint64_t count, unsigned level)
{
    unsigned char mark[4];
    uint64_t pointer = level ? 8 + (uint64_t)(tree->count_bytes + tree->total_bytes[level - 1]) : 0;
    uint64_t size = count * tree->record_size + (level ? (count + 1) * pointer : 0);
    if (tree->nodes_left-- == 0 || size > tree->node_size - NODE_HEAD - NODE_REST)
        return damaged(tree->source, "tree of records");
    if (!hdf5_source_marked(tree->source, mark, address, sizeof mark, level ? "BTIN" : "BTLF"))
        return false;
    unsigned char *node = hdf5_source_block(tree->source, address + NODE_HEAD, size);
    bool visited = node;
    Hdf5Cursor c = {node, (size_t)size, false};
    for (uint64_t i = 0; i < count && visited; i++)
        visited = tree->visit(tree->context, hdf5_skip(&c, tree->record_size));
    for (uint64_t i = 0; level && i <= count && visited; i++) {
        uint64_t child = hdf5_take(&c, 8), records = hdf5_take(&c, tree->count_bytes);
        hdf5_skip(&c, (uint64_t)tree->total_bytes[level - 1]);
        visited = visit_node(tree, child, records, level - 1);
    }
    free(node);
    return visited;
}

// Calls visit for every record of a tree of a type, until it says no.
static bool visit_tree(Hdf5Source *source, uint64_t address, int type, uint64_t record_size,
                       VisitRecord *visit, void *context)
{
    enum { HEAD = 34 };
    unsigned char head[HEAD];
    if (!hdf5_source_marked(source, head, address, HEAD, "BTHD")) return false;
    Hdf5Cursor c = {head + 5, HEAD - 5, false};
    int found_type = (int)hdf5_take(&c, 1);
    Tree tree = {source, visit, context, .node_size = hdf5_take(&c, 4)};
    tree.record_size = hdf5_take(&c, 2);
    unsigned depth = (unsigned)hdf5_take(&c, 2);
    hdf5_skip(&c, 2); // when to split and to merge
    uint64_t root = hdf5_take(&c, 8), count = hdf5_take(&c, 2);
    if (found_type != type || tree.record_size != record_size || depth >= TREE_LEVELS ||
        tree.node_size < NODE_HEAD + NODE_REST + record_size || !measure_levels(&tree, depth))
        return damaged(source, "tree of records");
    tree.nodes_left = source->size / tree.node_size + 1;
    return root == HDF5_UNDEFINED || visit_node(&tree, root, count, depth);
}

// ---- Heaps --------------------------------------------------------------------------------------

// Blocks stand in a table with rows of `width`: those of the first two rows have `start` bytes, and
// those of each later row twice as many as the row before. Past the largest block that holds
// messages, a block is a table of the same kind.
typedef struct Heap {
    Hdf5Source *source;
    uint64_t id_size;               // bytes of what a record knows a message by
    int offset_bytes, length_bytes; // within it
    uint64_t width, start, largest;
    uint64_t root; // a table of so many rows, or a single block if there are none
    unsigned rows;
    uint64_t large; // the tree of messages that stand outside the blocks
} Heap;

static int least(int a, int b) { return a < b ? a : b; }

static bool open_heap(Heap *heap, Hdf5Source *source, uint64_t address)
{
    enum { HEAD = 142 };
    unsigned char head[HEAD];
    if (!hdf5_source_marked(source, head, address, HEAD, "FRHP")) return false;
    Hdf5Cursor c = {head + 5, HEAD - 5, false};
    *heap = (Heap){.source = source, .id_size = hdf5_take(&c, 2)};
    if (hdf5_take(&c, 2)) return hdf5_source_fail(source, "a heap behind filters");
    hdf5_skip(&c, 1);
    uint64_t message_max = hdf5_take(&c, 4);
    hdf5_skip(&c, 8);
    heap->large = hdf5_take(&c, 8);
    hdf5_skip(&c, 80); // statistics
    heap->width = hdf5_take(&c, 2);
    heap->start = hdf5_take(&c, 8);
    heap->largest = hdf5_take(&c, 8);
    unsigned bits = (unsigned)hdf5_take(&c, 2);
    hdf5_skip(&c, 2);
    heap->root = hdf5_take(&c, 8);
    heap->rows = (unsigned)hdf5_take(&c, 2);
    if (!is_power(heap->width) || !is_power(heap->start) || !is_power(heap->largest) || bits > 64 ||
        heap->rows > 64 || log_of(heap->width) + log_of(heap->start) + heap->rows > 63)
        return damaged(source, "heap");
    heap->offset_bytes = (int)(bits + 7) / 8;
    heap->length_bytes =
        least((int)(log_of(heap->largest) + 7) / 8, (int)(log_of(message_max) / 8 + 1));
    return heap->id_size <= RECORD_MAX / 2 || damaged(source, "heap");
}

// Where the entry of a table is that leads to an offset; what is left of the offset within it.
static uint64_t find_entry(uint64_t *entry_size, uint64_t *offset, const Heap *heap, unsigned rows)
{
    uint64_t size = heap->start;
    for (unsigned row = 0; row < rows; row++) {
        uint64_t column = *offset / size;
        *entry_size = size;
        if (column < heap->width) {
            *offset -= column * size;
            return row * heap->width + column;
        }
        *offset -= heap->width * size;
        if (row > 0) size *= 2;
    }
    *entry_size = 0;
    return 0;
}

static bool find_in_blocks(uint64_t *address, const Heap *heap, uint64_t offset, uint64_t length)
{
    Hdf5Source *source = heap->source;
    uint64_t block = heap->root, size = heap->start;
    unsigned rows = heap->rows;
    while (rows > 0) {
        unsigned char bytes[8];
        if (!hdf5_source_marked(source, bytes, block, 4, "FHIB")) return false;
        uint64_t entry = find_entry(&size, &offset, heap, rows);
        if (size == 0) return damaged(source, "heap");
        uint64_t list = block + 13 + (uint64_t)heap->offset_bytes;
        if (!hdf5_source_read(source, bytes, list + 8 * entry, 8)) return false;
        block = hdf5_take(&(Hdf5Cursor){bytes, 8, false}, 8);
        bool table = size > heap->largest;
        if (table && size < heap->start * heap->width) return damaged(source, "heap");
        rows = table ? log_of(size) - log_of(heap->start * heap->width) + 1 : 0;
    }
    *address = block + offset;
    return (block != HDF5_UNDEFINED && offset <= size && length <= size - offset) ||
           damaged(source, "heap");
}

enum { LARGE_LEAST = 4097 }; // bytes; what is shorter stands in the blocks

typedef struct Wanted {
    uint64_t id, address, length;
    uint64_t left; // more of them do not fit into the file
    bool found;
} Wanted;

static bool compare_large(void *context, const unsigned char *record)
{
    Wanted *wanted = context;
    Hdf5Cursor c = {record, 24, false};
    uint64_t address = hdf5_take(&c, 8), length = hdf5_take(&c, 8);
    if (hdf5_take(&c, 8) != wanted->id) return wanted->left-- > 0;
    *wanted = (Wanted){.address = address, .length = length, .found = length >= LARGE_LEAST};
    return false;
}

// Large messages have a number, by which a tree knows where they are.
static bool find_large(uint64_t *address, uint64_t *length, const Heap *heap, Hdf5Cursor id)
{
    enum { LARGE_BY_NUMBER = 1, LARGE_RECORD = 24 };
    Wanted wanted = {.id = hdf5_take(&id, id.left < 8 ? (int)id.left : 8),
                     .left = heap->source->size / LARGE_LEAST};
    damaged(heap->source, "heap"); // unless the tree says more
    visit_tree(heap->source, heap->large, LARGE_BY_NUMBER, LARGE_RECORD, compare_large, &wanted);
    *address = wanted.address;
    *length = wanted.length;
    return wanted.found;
}

static bool find_message(uint64_t *address, uint64_t *length, const Heap *heap,
                         const unsigned char *id)
{
    enum { IN_BLOCKS = 0, LARGE = 1 };
    Hdf5Cursor c = {id, (size_t)heap->id_size, false};
    int kind = (int)hdf5_take(&c, 1) >> 4 & 3;
    if (kind == LARGE) return find_large(address, length, heap, c);
    uint64_t offset = hdf5_take(&c, heap->offset_bytes);
    *length = hdf5_take(&c, heap->length_bytes);
    if (kind != IN_BLOCKS || c.over) return damaged(heap->source, "heap");
    return find_in_blocks(address, heap, offset, *length);
}

// ---- Messages -----------------------------------------------------------------------------------

typedef struct Piece {
    uint64_t address, length;
} Piece;

typedef struct Pieces {
    Heap heap;
    uint64_t id_at; // where a record has what the heap knows its message by
    Piece *pieces;
    size_t count, capacity;
    uint64_t bytes; // of all
} Pieces;

static bool add_piece(void *context, const unsigned char *record)
{
    Pieces *all = context;
    Hdf5Source *source = all->heap.source;
    Piece piece;
    if (!find_message(&piece.address, &piece.length, &all->heap, record + all->id_at)) return false;
    if (piece.length > source->size - all->bytes) // no two of them share a byte
        return damaged(source, "heap");
    if (all->count == all->capacity) {
        size_t capacity = all->capacity ? 2 * all->capacity : 16;
        void *larger = realloc(all->pieces, capacity * sizeof piece);
        if (!larger) return hdf5_source_fail(source, "out of memory");
        all->pieces = larger;
        all->capacity = capacity;
    }
    all->pieces[all->count++] = piece;
    all->bytes += piece.length;
    return true;
}

static bool add_messages(Hdf5Header *header, const Pieces *all, int type)
{
    Hdf5Source *source = all->heap.source;
    unsigned char *bytes = hdf5_header_block(header, source, all->bytes);
    for (size_t i = 0; bytes && i < all->count; i++) {
        uint64_t length = all->pieces[i].length;
        Hdf5Message message = {type, false, {bytes, (size_t)length, false}};
        if (!hdf5_source_read(source, bytes, all->pieces[i].address, length)) return false;
        if (!hdf5_header_add(header, source, message)) return false;
        bytes += length;
    }
    return bytes;
}

// What the message has that tells of the heap: its address, and the tree that leads into it.
static bool parse_info(uint64_t *heap, uint64_t *tree, const Hdf5Message *info, int order_bytes)
{
    Hdf5Cursor c = info->body;
    hdf5_skip(&c, 1);
    bool ordered = hdf5_take(&c, 1) & 1;
    hdf5_skip(&c, ordered ? (uint64_t)order_bytes : 0);
    *heap = hdf5_take(&c, 8);
    *tree = hdf5_take(&c, 8);
    return !c.over;
}

bool hdf5_header_complete(Hdf5Header *header, Hdf5Source *source, int type)
{
    enum { LINKS_BY_NAME = 5, ATTRIBUTES_BY_NAME = 8 };
    bool links = type == MESSAGE_LINK;
    const Hdf5Message *info =
        hdf5_header_find(header, links ? MESSAGE_LINK_INFO : MESSAGE_ATTRIBUTE_INFO);
    uint64_t heap = HDF5_UNDEFINED, tree;
    if (info && !parse_info(&heap, &tree, info, links ? 8 : 2)) return damaged(source, "header");
    if (heap == HDF5_UNDEFINED) return true;
    Pieces all = {.id_at = links ? 4 : 0};
    if (!open_heap(&all.heap, source, heap)) return false;
    // A link's record has a hash as well; an attribute's also flags and its place in order.
    uint64_t record_size = all.heap.id_size + (links ? 4 : 9);
    bool added = visit_tree(source, tree, links ? LINKS_BY_NAME : ATTRIBUTES_BY_NAME, record_size,
                            add_piece, &all) &&
                 add_messages(header, &all, type);
    free(all.pieces);
    return added;
}
