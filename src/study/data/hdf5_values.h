// The attributes and arrays of an HDF5 file, read by Facet itself (see hdf5_source.h).
#ifndef FACET_DATA_HDF5_VALUES_H
#define FACET_DATA_HDF5_VALUES_H

#include "hdf5_source.h"

typedef enum Hdf5Class {
    CLASS_INTEGER,
    CLASS_FLOAT,
    CLASS_TEXT,
    CLASS_ENUM,
    CLASS_COMPOUND,
    CLASS_REFERENCE,
    CLASS_OTHER,
} Hdf5Class;

typedef struct Hdf5Type {
    Hdf5Class class;
    size_t size; // bytes of an element
    bool big_endian, is_signed;
    bool variable; // a text whose bytes stand in a heap
    bool spaces;   // a text that is filled up with spaces
} Hdf5Type;

// "integers", "floats", …
const char *hdf5_class_name(const Hdf5Type *type);

bool hdf5_type_parse(Hdf5Type *type, Hdf5Source *source, Hdf5Cursor cursor);

typedef struct Hdf5Space {
    int rank;
    bool empty; // no elements at all
    uint64_t shape[HDF5_RANK_MAX];
    uint64_t most[HDF5_RANK_MAX]; // how far it can grow; undefined is without end
    uint64_t count;               // of elements
} Hdf5Space;

bool hdf5_space_parse(Hdf5Space *space, Hdf5Source *source, Hdf5Cursor cursor);

// Where elements go: as doubles, as integers, or as they are stored. One of them is not NULL.
typedef struct Hdf5Output {
    double *doubles;
    int64_t *integers; // those that do not fit become the nearest that does
    unsigned char *raw;
} Hdf5Output;

// Puts elements of a type behind the first `at` of the output.
void hdf5_convert(Hdf5Output out, uint64_t at, const unsigned char *bytes, uint64_t count,
                  const Hdf5Type *type);

// ---- Attributes ---------------------------------------------------------------------------------

typedef struct Hdf5Attribute {
    Hdf5Type type;
    Hdf5Space space;
    Hdf5Cursor data;
} Hdf5Attribute;

// Finds an attribute in a header, which must outlive it.
Hdf5Found hdf5_attribute_find(Hdf5Attribute *attribute, Hdf5Source *source, Hdf5Header *header,
                              const char *name);

// A text of a type, which the caller frees; NULL on failure.
char *hdf5_text_at(Hdf5Source *source, const Hdf5Type *type, Hdf5Cursor data);

// ---- Arrays -------------------------------------------------------------------------------------

typedef enum Hdf5Layout { LAYOUT_COMPACT, LAYOUT_CONTIGUOUS, LAYOUT_CHUNKED } Hdf5Layout;

enum { HDF5_FILTERS_MAX = 8, FILTER_DEFLATE = 1, FILTER_SHUFFLE = 2, FILTER_CHECKSUM = 3 };

typedef struct Hdf5Filter {
    int id;
    char name[32];
} Hdf5Filter;

typedef struct Hdf5Chunk {
    uint64_t offset[HDF5_RANK_MAX]; // of its first element
    uint64_t address;
    uint64_t size;    // bytes in the file
    uint32_t skipped; // filters, one a bit
} Hdf5Chunk;

typedef enum Hdf5Index {
    INDEX_TREE,
    INDEX_SINGLE, // there is one chunk
    INDEX_IMPLICIT,
    INDEX_FIXED,
    INDEX_GROWING,
} Hdf5Index;

typedef struct Hdf5Array {
    Hdf5Header header;
    Hdf5Type type;
    Hdf5Space space;
    Hdf5Layout layout;
    Hdf5Cursor compact;
    uint64_t address;              // of the numbers, or of the tree of chunks
    Hdf5Index index;               // how the address leads to chunks
    Hdf5Chunk single;              // of an array with one chunk
    uint64_t chunk[HDF5_RANK_MAX]; // shape of a chunk
    Hdf5Filter filters[HDF5_FILTERS_MAX];
    int filter_count;
    Hdf5Cursor fill; // the element that was never written; none is zero
} Hdf5Array;

// The caller frees the array, whether or not that succeeds.
bool hdf5_array_open(Hdf5Array *array, Hdf5Source *source, uint64_t address);
void hdf5_array_free(Hdf5Array *array);

// Whether a header is one of an array.
bool hdf5_is_array(const Hdf5Header *header);

// Calls visit for every chunk in the file, until it says no.
typedef bool Hdf5Visit(void *context, const Hdf5Chunk *chunk);
bool hdf5_array_chunks(Hdf5Source *source, const Hdf5Array *array, Hdf5Visit *visit, void *context);

// Bytes of a chunk before its filters.
uint64_t hdf5_chunk_bytes(const Hdf5Array *array);

// All elements; doubles and integers are of numbers.
bool hdf5_array_read(Hdf5Output out, Hdf5Source *source, const Hdf5Array *array);

// Whether a file may hold so many bytes of numbers. What it claims is checked before anybody makes
// room for it: packed, numbers take at least a thousandth of their size.
bool hdf5_may_hold(const Hdf5Source *source, uint64_t bytes);

#endif
