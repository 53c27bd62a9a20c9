// Where the HDF5 library puts the bytes of a file it writes: a driver of our own, for hdf5_file.c
// alone.
//
// The library must not see a write fail: version 1.10 then cannot close the file, and crashes when
// the program ends. So the first failure is kept for the caller to ask for, and from then on what
// the library writes is held in memory, where the library finds it again. The caller asks after
// every step and gives the file up.
#ifndef FACET_DATA_HDF5_STREAM_H
#define FACET_DATA_HDF5_STREAM_H

#include <hdf5.h>

typedef struct Hdf5Stream Hdf5Stream;

// Writes to an open, empty file, which stays the caller's; NULL, with errno set, when that fails.
// Close accepts NULL; the library has closed the file before.
Hdf5Stream *hdf5_stream_open(int descriptor);
void hdf5_stream_close(Hdf5Stream *stream);

// A list of access properties that makes H5Fcreate write here; the caller releases it. Negative
// when the library fails.
hid_t hdf5_stream_access(const Hdf5Stream *stream);

// The errno of the first write that failed, 0 when none has.
int hdf5_stream_error(const Hdf5Stream *stream);

#endif
