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

// Removes all that is in a folder.
static inline void scratch_empty(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char below[512];
        struct stat info;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(below, sizeof below, "%.200s/%.256s", path, entry->d_name);
        if (lstat(below, &info) == 0 && S_ISDIR(info.st_mode)) scratch_empty(below);
        if (remove(below) != 0) print_error("cannot remove %s\n", below);
    }
    if (folder) closedir(folder);
}

static inline void scratch_end(const Scratch *scratch)
{
    scratch_empty(scratch->folder);
    rmdir(scratch->folder);
}

// ---- Working inside one: setups and teardowns of a test or a group ------------------------------

static char scratch_outside[4096], scratch_inside[32];

static inline int scratch_enter(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    strcpy(scratch_inside, scratch.folder);
    return getcwd(scratch_outside, sizeof scratch_outside) && chdir(scratch_inside) == 0 ? 0 : -1;
}

static inline int scratch_leave(void **state)
{
    (void)state;
    if (chdir(scratch_outside) != 0) return -1;
    scratch_empty(scratch_inside);
    return rmdir(scratch_inside);
}

// Removes what a test left, for the next one of its group.
static inline int scratch_clean(void **state)
{
    (void)state;
    scratch_empty(".");
    return 0;
}

// How many files and folders are in one.
static inline int scratch_count(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    while (readdir(folder)) count++;
    closedir(folder);
    return count - 2; // itself and the one above
}

#endif
