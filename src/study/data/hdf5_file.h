// HDF5 files as groups, attributes and arrays of numbers. The HDF5 library writes them, behind
// hdf5_file.c, and the disk it writes to stands behind hdf5_stream.c. Facet reads them by itself
// (hdf5_read.c), since damaged files crash the library (hdf5_source.h).
//
// When the disk is full, HDF5 1.10 fails to close a file it writes itself, and crashes when the
// program ends. So a small file is written as an image in memory, which the caller puts on disk;
// and a large one goes through a stream that hides the failure from the library.
//
// Every message names the file and the object: "demos.h5: data/demo_3/actions: expected ...".
// Creating a file turns off the HDF5 library's own printing of errors. One thread at a time may use
// this module.
#ifndef FACET_DATA_HDF5_FILE_H
#define FACET_DATA_HDF5_FILE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum {
    HDF5_NAME_SIZE = 128, // bytes of a child's name, with its final zero
    HDF5_PATH_SIZE = 512, // bytes of an object's path, with its final zero
};

typedef struct Hdf5File Hdf5File;

// `shown` is the name of the file in messages. Close accepts NULL.
FacetStatus hdf5_create_image(Hdf5File **file, const char *shown);
// Writes to an open, empty file, which stays the caller's; the library knows it by its path.
FacetStatus hdf5_create_stream(Hdf5File **file, int descriptor, const char *path,
                               const char *shown);
FacetStatus hdf5_open(Hdf5File **file, const char *path);
void hdf5_close(Hdf5File *file);

// A failure at an object of the file, in the one form all messages have.
FacetStatus hdf5_wrong(const Hdf5File *file, const char *object, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- Writing --------------------------------------------------------------------------------

// Objects carry no time stamps: equal content gives equal bytes.
FacetStatus hdf5_add_group(Hdf5File *file, const char *path);
FacetStatus hdf5_add_text(Hdf5File *file, const char *object, const char *attribute,
                          const char *text);
FacetStatus hdf5_add_integer(Hdf5File *file, const char *object, const char *attribute,
                             int64_t value);
FacetStatus hdf5_add_matrix(Hdf5File *file, const char *path, const double *values, int rows,
                            int columns);

// Arrays of any rank, all of which is given at once.
FacetStatus hdf5_add_doubles(Hdf5File *file, const char *path, const double *values,
                             const int64_t *shape, int rank);
FacetStatus hdf5_add_integers(Hdf5File *file, const char *path, const int32_t *values,
                              const int64_t *shape, int rank);

// The bytes of an image so far; the caller frees them.
FacetStatus hdf5_image(void **bytes, size_t *size, Hdf5File *file);

// Whether the disk has taken all that a stream has written so far.
FacetStatus hdf5_stream_check(const Hdf5File *file);

// Closes a stream and says whether the disk has taken all of it. The file is gone either way.
FacetStatus hdf5_finish_stream(Hdf5File *file);

// ---- Reading --------------------------------------------------------------------------------

typedef enum Hdf5Kind {
    HDF5_NOTHING,
    HDF5_GROUP,
    HDF5_ARRAY, // what HDF5 calls a dataset
    HDF5_OTHER,
} Hdf5Kind;

Hdf5Kind hdf5_kind(const Hdf5File *file, const char *path);

// The children of a group that are of one kind and start with a prefix, in natural order
// (demo_2 before demo_10); the caller frees *names.
FacetStatus hdf5_children(char (**names)[HDF5_NAME_SIZE], int *count, const Hdf5File *file,
                          const char *group, Hdf5Kind kind, const char *prefix);

// Attributes of one element: text of fixed or variable length, integers of any size. The caller
// frees *text.
bool hdf5_has_attribute(const Hdf5File *file, const char *object, const char *attribute);
FacetStatus hdf5_text(char **text, const Hdf5File *file, const char *object, const char *attribute);
FacetStatus hdf5_integer(int64_t *value, const Hdf5File *file, const char *object,
                         const char *attribute);

// Matrices of floats or integers of any size, at least 1x1.
FacetStatus hdf5_matrix_shape(int *rows, int *columns, const Hdf5File *file, const char *path);

// The shape of an array of `rank` dimensions, of integers or of any numbers. `expected` describes
// it in messages: "tasks [N][K] of integers".
FacetStatus hdf5_array_shape(int64_t *shape, int rank, bool integers, const Hdf5File *file,
                             const char *path, const char *expected);

// All numbers of an array; integers that do not fit become the nearest that does.
FacetStatus hdf5_doubles(double *values, const Hdf5File *file, const char *path);
FacetStatus hdf5_integers(int64_t *values, const Hdf5File *file, const char *path);

// Whether a file of its size can hold so many bytes of numbers in all, before room is made for
// them.
FacetStatus hdf5_check_claim(const Hdf5File *file, const char *object, double bytes);

// An array [N][height][width][3] of bytes, and all of its bytes.
bool hdf5_is_image(const Hdf5File *file, const char *path);
FacetStatus hdf5_image_shape(int64_t *count, int *height, int *width, const Hdf5File *file,
                             const char *path);
FacetStatus hdf5_bytes(uint8_t *bytes, const Hdf5File *file, const char *path);

// A list of texts of fixed or variable length; the caller frees each of them and *texts.
FacetStatus hdf5_texts(char ***texts, int *count, const Hdf5File *file, const char *path);

// ---- Frames of bytes --------------------------------------------------------------------------

// An array of bytes [N][a][b][c] that is stored frame by frame: every frame is one chunk, deflated
// or not, that is read and written without the library's own filters. The caller deflates and
// inflates.
typedef struct Hdf5Frames Hdf5Frames;

enum { HDF5_FRAME_RANK = 3 };

// Close accepts NULL, and comes before the close of the file.
FacetStatus hdf5_add_frames(Hdf5Frames **frames, Hdf5File *file, const char *path,
                            const int frame_shape[HDF5_FRAME_RANK]);
FacetStatus hdf5_append_frame(Hdf5Frames *frames, const void *deflated, size_t size);
FacetStatus hdf5_open_frames(Hdf5Frames **frames, int64_t *count, int frame_shape[HDF5_FRAME_RANK],
                             const Hdf5File *file, const char *path, const char *expected);
void hdf5_close_frames(Hdf5Frames *frames);

// The bytes a frame takes in the file; a failure when it was never written.
FacetStatus hdf5_frame_size(size_t *size, const Hdf5Frames *frames, int64_t frame);

// Reads a frame as it is stored, at most `room` bytes, and says whether it is deflated.
FacetStatus hdf5_read_frame(void *bytes, size_t *size, bool *deflated, size_t room,
                            const Hdf5Frames *frames, int64_t frame);

#endif
