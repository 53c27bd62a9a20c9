// A driver of the HDF5 library whose writes never fail (see hdf5_stream.h).
#include "hdf5_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

// What the disk did not take.
typedef struct Held {
    haddr_t address;
    size_t size;
    unsigned char *bytes;
} Held;

struct Hdf5Stream {
    int descriptor;
    hid_t driver;
    int error;
    haddr_t end; // of what was written
    Held *held;  // in the order of writing
    size_t held_count, held_capacity;
};

// What the library calls a file: its own part comes first.
typedef struct StreamFile {
    H5FD_t base;
    Hdf5Stream *stream;
    haddr_t allocated;
} StreamFile;

static StreamFile *file_of(H5FD_t *base) { return (StreamFile *)(void *)base; }

static const StreamFile *const_file_of(const H5FD_t *base)
{
    return (const StreamFile *)(const void *)base;
}

static H5FD_t *stream_open(const char *name, unsigned flags, hid_t access, haddr_t highest)
{
    (void)name, (void)flags, (void)highest;
    Hdf5Stream *const *stream = H5Pget_driver_info(access);
    StreamFile *file = stream ? calloc(1, sizeof *file) : NULL;
    if (!file) return NULL;
    file->stream = *stream;
    return &file->base;
}

static herr_t stream_close(H5FD_t *base)
{
    free(file_of(base));
    return 0;
}

static herr_t stream_query(const H5FD_t *base, unsigned long *flags)
{
    (void)base;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t stream_allocated(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return const_file_of(base)->allocated;
}

static herr_t stream_allocate(H5FD_t *base, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    file_of(base)->allocated = end;
    return 0;
}

static haddr_t stream_end(const H5FD_t *base, H5FD_mem_t type)
{
    (void)type;
    return const_file_of(base)->stream->end;
}

// ---- Reading and writing ----------------------------------------------------------------------

// The part of a held piece that lies in [address, address + size) goes to its place in `out`.
static void overlay(unsigned char *out, haddr_t address, size_t size, const Held *held)
{
    haddr_t from = held->address > address ? held->address : address;
    haddr_t held_end = held->address + held->size, end = address + size;
    haddr_t to = held_end < end ? held_end : end;
    if (from < to) memcpy(out + (from - address), held->bytes + (from - held->address), to - from);
}

// What nobody has written is zero.
static herr_t stream_read(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, void *out)
{
    (void)type, (void)transfer;
    const Hdf5Stream *stream = file_of(base)->stream;
    unsigned char *bytes = out;
    size_t done = 0;
    while (done < size) {
        ssize_t got = pread(stream->descriptor, bytes + done, size - done, (off_t)(address + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    memset(bytes + done, 0, size - done);
    for (size_t i = 0; i < stream->held_count; i++) overlay(out, address, size, &stream->held[i]);
    return 0;
}

static bool write_all(Hdf5Stream *stream, haddr_t address, size_t size, const unsigned char *bytes)
{
    for (size_t done = 0; done < size;) {
        ssize_t put =
            pwrite(stream->descriptor, bytes + done, size - done, (off_t)(address + done));
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) {
            stream->error = put < 0 ? errno : ENOSPC;
            return false;
        }
        done += (size_t)put;
    }
    return true;
}

static bool hold(Hdf5Stream *stream, haddr_t address, size_t size, const void *bytes)
{
    if (stream->held_count == stream->held_capacity) {
        size_t capacity = stream->held_capacity ? 2 * stream->held_capacity : 64;
        void *larger = realloc(stream->held, capacity * sizeof *stream->held);
        if (!larger) return false;
        stream->held = larger;
        stream->held_capacity = capacity;
    }
    unsigned char *copy = malloc(size ? size : 1);
    if (!copy) return false;
    memcpy(copy, bytes, size);
    stream->held[stream->held_count++] = (Held){address, size, copy};
    return true;
}

static herr_t stream_write(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t size, const void *bytes)
{
    (void)type, (void)transfer;
    Hdf5Stream *stream = file_of(base)->stream;
    if (address + size > stream->end) stream->end = address + size;
    if (!stream->error && write_all(stream, address, size, bytes)) return 0;
    return hold(stream, address, size, bytes) ? 0 : -1;
}

static herr_t stream_truncate(H5FD_t *base, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    StreamFile *file = file_of(base);
    Hdf5Stream *stream = file->stream;
    if (!stream->error && ftruncate(stream->descriptor, (off_t)file->allocated) != 0)
        stream->error = errno;
    stream->end = file->allocated;
    return 0;
}

// ---- The stream -------------------------------------------------------------------------------

static const H5FD_class_t stream_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600, // the library leaves numbers from 256 on to others
#endif
    .name = "facet_stream",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(Hdf5Stream *),
    .open = stream_open,
    .close = stream_close,
    .query = stream_query,
    .get_eoa = stream_allocated,
    .set_eoa = stream_allocate,
    .get_eof = stream_end,
    .read = stream_read,
    .write = stream_write,
    .truncate = stream_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

Hdf5Stream *hdf5_stream_open(int descriptor)
{
    Hdf5Stream *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->driver = H5I_INVALID_HID;
    stream->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (stream->descriptor >= 0 && (stream->driver = H5FDregister(&stream_class)) >= 0)
        return stream;
    int error = stream->descriptor < 0 ? errno : ENOMEM;
    hdf5_stream_close(stream);
    errno = error;
    return NULL;
}

void hdf5_stream_close(Hdf5Stream *stream)
{
    if (!stream) return;
    if (stream->driver >= 0) H5FDunregister(stream->driver);
    if (stream->descriptor >= 0) close(stream->descriptor);
    for (size_t i = 0; i < stream->held_count; i++) free(stream->held[i].bytes);
    free(stream->held);
    free(stream);
}

hid_t hdf5_stream_access(const Hdf5Stream *stream)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_driver(access, stream->driver, &stream) >= 0) return access;
    if (access >= 0) H5Pclose(access);
    return H5I_INVALID_HID;
}

int hdf5_stream_error(const Hdf5Stream *stream) { return stream->error; }
