// What hdf5_file.c, which writes, and hdf5_read.c share.
#ifndef FACET_DATA_HDF5_INSIDE_H
#define FACET_DATA_HDF5_INSIDE_H

#include "hdf5_file.h"
#include "hdf5_stream.h"
#include "hdf5_values.h"

struct Hdf5File {
    hid_t id;           // of a file that is written
    Hdf5Stream *stream; // of one that is written to disk
    Hdf5Source *source; // of a file that is read
    char shown[256];    // the name in messages; the end of a long path
};

enum { FRAMES_RANK = 1 + HDF5_FRAME_RANK };

// Where a frame stands in the file.
typedef struct FramePlace {
    uint64_t address, size; // no bytes where none was written
    bool skipped;           // its filter was
} FramePlace;

struct Hdf5Frames {
    const Hdf5File *file;
    char path[HDF5_NAME_SIZE];
    uint64_t shape[FRAMES_RANK]; // of the whole array
    hid_t array;                 // that is written
    FramePlace *places;          // [shape[0]] of an array that is read
    bool deflated;               // frames are, where their own mark does not say otherwise
};

FacetStatus hdf5_make_file(Hdf5File **file, const char *shown);
FacetStatus hdf5_make_frames(Hdf5Frames **frames, const Hdf5File *file, const char *path);

#endif
