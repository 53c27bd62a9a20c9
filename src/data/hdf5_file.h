// HDF5 files as groups, attributes and matrices of numbers. The HDF5 library stands behind
// hdf5_file.c alone.
//
// A file is written as an image in memory, and the caller puts the image on disk: when the disk
// is full, HDF5 1.10 fails to close a file it writes itself, and crashes when the program ends.
//
// Every message names the file and the object: "demos.h5: data/demo_3/actions: expected ...".
// Opening or creating a file turns off the HDF5 library's own printing of errors. One thread at a
// time may use this module.
#ifndef FACET_DATA_HDF5_FILE_H
#define FACET_DATA_HDF5_FILE_H

#include <facet/status.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HDF5_NAME_SIZE = 128, // bytes of a child's name, with its final zero
    HDF5_PATH_SIZE = 512, // bytes of an object's path, with its final zero
};

typedef struct Hdf5File Hdf5File;

// `shown` is the name of the file in messages. Close accepts NULL.
Status hdf5_create_image(Hdf5File **file, const char *shown);
Status hdf5_open(Hdf5File **file, const char *path);
void hdf5_close(Hdf5File *file);

// A failure at an object of the file, in the one form all messages have.
Status hdf5_wrong(const Hdf5File *file, const char *object, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// ---- Writing --------------------------------------------------------------------------------

// Objects carry no time stamps: equal content gives equal bytes.
Status hdf5_add_group(Hdf5File *file, const char *path);
Status hdf5_add_text(Hdf5File *file, const char *object, const char *attribute, const char *text);
Status hdf5_add_integer(Hdf5File *file, const char *object, const char *attribute, int64_t value);
Status hdf5_add_matrix(Hdf5File *file, const char *path, const double *values, int rows,
                       int columns);

// The bytes of the file so far; the caller frees them.
Status hdf5_image(void **bytes, size_t *size, Hdf5File *file);

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
Status hdf5_children(char (**names)[HDF5_NAME_SIZE], int *count, const Hdf5File *file,
                     const char *group, Hdf5Kind kind, const char *prefix);

// Attributes of one element: text of fixed or variable length, integers of any size. The caller
// frees *text.
bool hdf5_has_attribute(const Hdf5File *file, const char *object, const char *attribute);
Status hdf5_text(char **text, const Hdf5File *file, const char *object, const char *attribute);
Status hdf5_integer(int64_t *value, const Hdf5File *file, const char *object,
                    const char *attribute);

// Matrices of floats or integers of any size, at least 1x1.
Status hdf5_matrix_shape(int *rows, int *columns, const Hdf5File *file, const char *path);
Status hdf5_matrix(double *values, const Hdf5File *file, const char *path);

#endif
