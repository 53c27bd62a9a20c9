// A temporary folder for tests that need files: made below the folder the test runs in, which is
// in the build, and removed with all that is in it.
#ifndef FACET_SCRATCH_H
#define FACET_SCRATCH_H

#include "testing.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Scratch {
    char folder[32];
    char path[128]; // of the file written or named last
} Scratch;

static inline Scratch scratch_begin(void)
{
    Scratch scratch = {.folder = "scratch-XXXXXX"};
    if (!mkdtemp(scratch.folder)) fail_msg("cannot make a temporary folder");
    return scratch;
}

// The path of a file in the folder; it lives until the next call.
static inline const char *scratch_path(Scratch *scratch, const char *name)
{
    snprintf(scratch->path, sizeof scratch->path, "%s/%.80s", scratch->folder, name);
    return scratch->path;
}

// Writes a text and returns its path.
static inline const char *scratch_write(Scratch *scratch, const char *name, const char *text)
{
    const char *path = scratch_path(scratch, name);
    FILE *file = fopen(path, "w");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0) fail_msg("cannot write %s", path);
    return path;
}

static inline void scratch_end(Scratch *scratch)
{
    DIR *folder = opendir(scratch->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove(scratch_path(scratch, entry->d_name));
    if (folder) closedir(folder);
    rmdir(scratch->folder);
}

#endif
