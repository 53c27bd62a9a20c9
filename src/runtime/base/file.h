// Files that appear whole or not at all.
#ifndef FACET_BASE_FILE_H
#define FACET_BASE_FILE_H

#include "base/status.h"

#include <stddef.h>
#include <stdio.h>

enum { FILE_PATH_MAX = 1024 };

// A file being written under a temporary name beside its final one.
typedef struct AtomicFile {
    char path[FILE_PATH_MAX]; // the final name
    char temp[FILE_PATH_MAX]; // where the bytes stand until the commit; empty when there is none
    int descriptor;           // of the temporary file, open for reading and writing
} AtomicFile;

// Makes a temporary file that was not there before, locked as long as it is written. Write to
// `file->descriptor`: the name may be another's by the time it is opened again. A link keeps
// pointing where it does, and the file behind it is replaced and keeps its mode. Devices and pipes
// are refused. What killed programs left of this path is swept away.
FacetStatus atomic_begin(AtomicFile *file, const char *path);

// A stream of its own to the temporary file, to be closed before the commit; NULL with errno set.
FILE *atomic_stream(const AtomicFile *file);

// Flushes the temporary file to disk and gives it its final name.
FacetStatus atomic_commit(AtomicFile *file);

// Removes the temporary file; the final name keeps what it had.
void atomic_abort(AtomicFile *file);

// Says now what atomic_begin and file_write would say later, before work whose results go there.
FacetStatus atomic_check(const char *path);
FacetStatus file_check(const char *path);

// Removes temporary files of this path that a program left behind which was killed while writing;
// those that are still written are locked, and stay.
void atomic_sweep(const char *path);

// Writes `size` bytes to `path`, atomically if it is a file; a device or a pipe, such as
// /dev/stdout, gets them as they are.
FacetStatus file_write(const char *path, const void *bytes, size_t size);

// Reads a whole text file, zero-terminated; the caller frees *text. Devices and pipes are refused.
FacetStatus file_read(char **text, size_t *size, const char *path);

bool file_exists(const char *path);

// Makes a folder, with the folders above it that are missing. One that is there is fine.
FacetStatus file_make_folder(const char *path);
FacetStatus file_make_parent(const char *path); // the folder that a file is to stand in

// The folder of data that ships with Facet (such as "courses"): in the folder that the
// environment's FACET_DATA names, else in a folder above the program or in its share/facet, else
// above the shared library in the same way, else where Facet is installed by default. A failure
// names them.
FacetStatus file_shipped(char out[FILE_PATH_MAX], const char *name);

#endif
