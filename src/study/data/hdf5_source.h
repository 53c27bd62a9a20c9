// The bytes of an HDF5 file as Facet reads them: by itself, not through the HDF5 library.
//
// A damaged file makes the library crash or run forever, and no caller can guard against that
// within one process. So the library writes files and this reader reads them: every address, size
// and count of a file is checked before it is used, what a file claims to hold is held against its
// size, and no structure is followed more often than there is room for it in the file. It knows
// what the library and h5py write, in the oldest layout and in the newest; rarer things (arrays
// that grow in two directions in the newest layout, types of other files) are refused by name. The
// format is that of the HDF5 File Format Specification, version 3.
#ifndef FACET_DATA_HDF5_SOURCE_H
#define FACET_DATA_HDF5_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HDF5_RANK_MAX = 32 };

#define HDF5_UNDEFINED UINT64_MAX // an address that leads nowhere

typedef struct Hdf5Link {
    char *name;
    enum { LINK_HARD, LINK_SOFT, LINK_OUTSIDE } kind;
    uint64_t address; // of a hard link
    char *target;     // of a soft one
} Hdf5Link;

// The links of one group, sorted by name.
typedef struct Hdf5Listing {
    uint64_t group;
    uint64_t used; // when it was last looked at
    Hdf5Link *links;
    int count, capacity;
} Hdf5Listing;

enum { HDF5_LISTINGS = 8 };

typedef struct Hdf5Source {
    int descriptor;
    uint64_t base; // where address 0 is in the file
    uint64_t size; // bytes behind it
    uint64_t root; // the header of the root group
    Hdf5Listing listings[HDF5_LISTINGS];
    uint64_t tick;
    unsigned char *heap; // of texts, the one that was read last
    uint64_t heap_address;
    size_t heap_size;
    char reason[160]; // why the last call failed
} Hdf5Source;

// Functions that return bool are false on failure, and leave a reason.
bool hdf5_source_fail(Hdf5Source *source, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Takes the descriptor of a regular file, which the close closes.
bool hdf5_source_open(Hdf5Source *source, int descriptor);
void hdf5_source_close(Hdf5Source *source);

bool hdf5_source_read(Hdf5Source *source, void *out, uint64_t address, uint64_t size);

// Reads bytes that begin with a signature of four.
bool hdf5_source_marked(Hdf5Source *source, void *out, uint64_t address, uint64_t size,
                        const char *mark);

// A copy of some bytes, which the caller frees; NULL on failure.
unsigned char *hdf5_source_block(Hdf5Source *source, uint64_t address, uint64_t size);

// ---- Parsing ------------------------------------------------------------------------------------

// What is left to parse. Reading past the end gives zeros and is remembered.
typedef struct Hdf5Cursor {
    const unsigned char *at;
    size_t left;
    bool over;
} Hdf5Cursor;

uint64_t hdf5_take(Hdf5Cursor *cursor, int bytes); // a little-endian number of up to 8 bytes
const unsigned char *hdf5_skip(Hdf5Cursor *cursor, uint64_t bytes); // where they stood, or NULL

// ---- Objects ------------------------------------------------------------------------------------

enum {
    MESSAGE_DATASPACE = 0x01,
    MESSAGE_LINK_INFO = 0x02,
    MESSAGE_DATATYPE = 0x03,
    MESSAGE_FILL_OLD = 0x04,
    MESSAGE_FILL = 0x05,
    MESSAGE_LINK = 0x06,
    MESSAGE_EXTERNAL = 0x07,
    MESSAGE_LAYOUT = 0x08,
    MESSAGE_GROUP_INFO = 0x0a,
    MESSAGE_FILTERS = 0x0b,
    MESSAGE_ATTRIBUTE = 0x0c,
    MESSAGE_CONTINUATION = 0x10,
    MESSAGE_SYMBOL_TABLE = 0x11,
    MESSAGE_ATTRIBUTE_INFO = 0x15,
};

typedef struct Hdf5Message {
    int type;
    bool shared; // stands in another object
    Hdf5Cursor body;
} Hdf5Message;

enum { HDF5_HEADER_CHUNKS = 64 };

typedef struct Hdf5Header {
    unsigned char *chunks[HDF5_HEADER_CHUNKS];
    int chunk_count;
    Hdf5Message *messages;
    int count, capacity;
} Hdf5Header;

// The caller frees the header, whether or not that succeeds.
bool hdf5_header_read(Hdf5Header *header, Hdf5Source *source, uint64_t address);
void hdf5_header_free(Hdf5Header *header);

// Adds the links or the attributes that stand outside the header, as many do in the newest layout;
// the type is that of their messages.
bool hdf5_header_complete(Hdf5Header *header, Hdf5Source *source, int type);

// Adds a message whose body lives as long as the header, as a block of it does; NULL on failure.
bool hdf5_header_add(Hdf5Header *header, Hdf5Source *source, Hdf5Message message);
unsigned char *hdf5_header_block(Hdf5Header *header, Hdf5Source *source, uint64_t size);

// The first message of a type, or NULL.
const Hdf5Message *hdf5_header_find(const Hdf5Header *header, int type);

// The links of a group; they live until other groups are looked at. NULL on failure.
const Hdf5Listing *hdf5_group_links(Hdf5Source *source, uint64_t group);

typedef enum Hdf5Found { HDF5_FOUND, HDF5_ABSENT, HDF5_OUTSIDE, HDF5_BROKEN } Hdf5Found;

// The header of the object at a path below a group, through soft links.
Hdf5Found hdf5_resolve(uint64_t *address, Hdf5Source *source, uint64_t group, const char *path);

#endif
