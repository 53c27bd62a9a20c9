// Where the data that ships with Facet stands (see file.h).
//
// A folder holds Facet's data if it has courses/course.json: a host may well keep a folder of its
// own named models, and that is not meant. The clone holds them at its top, an installed tree in
// share/facet, and a build folder outside the clone has links in share/facet.
#define _GNU_SOURCE // dladdr

#include "file.h"

#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The path of `name` in a folder. False when it does not fit, or there is no such thing.
static bool path_found(char out[FILE_PATH_MAX], const char *folder, const char *name)
{
    int length = snprintf(out, FILE_PATH_MAX, "%s/%s", folder, name);
    return length > 0 && length < FILE_PATH_MAX && file_exists(out);
}

// Whether the data are in `folder``below`, with `name` among them.
static bool data_found(char out[FILE_PATH_MAX], const char *folder, const char *below,
                       const char *name)
{
    char data[FILE_PATH_MAX];
    int length = snprintf(data, sizeof data, "%s%s", folder, below);
    return length < FILE_PATH_MAX && path_found(out, data, "courses/course.json") &&
           path_found(out, data, name);
}

// Looks in the folders above a file, from the nearest up.
static bool found_above(char out[FILE_PATH_MAX], const char *file, const char *name)
{
    char path[FILE_PATH_MAX];
    snprintf(path, sizeof path, "%s", file);
    for (char *folder = dirname(path); strlen(folder) > 1; folder = dirname(folder))
        if (data_found(out, folder, "", name) || data_found(out, folder, "/share/facet", name))
            return true;
    return false;
}

// The file of this program; empty where the system does not tell.
static void program_file(char out[FILE_PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", out, FILE_PATH_MAX - 1);
    out[length > 0 ? length : 0] = '\0';
}

// The file that this code was loaded from: a shared library, or the program again.
static void library_file(char out[FILE_PATH_MAX])
{
    Dl_info info = {0};
    const char *(*const here)(void) = facet_version;
    void *address;
    memcpy(&address, &here, sizeof address);
    char *path = dladdr(address, &info) && info.dli_fname ? realpath(info.dli_fname, NULL) : NULL;
    snprintf(out, FILE_PATH_MAX, "%s", path ? path : "");
    free(path);
}

FacetStatus file_shipped(char out[FILE_PATH_MAX], const char *name)
{
    const char *given = getenv("FACET_DATA");
    char program[FILE_PATH_MAX], library[FILE_PATH_MAX];
    if (given && given[0] && path_found(out, given, name)) return status_ok();
    program_file(program);
    if (found_above(out, program, name)) return status_ok();
    library_file(library);
    if (found_above(out, library, name)) return status_ok();
    if (path_found(out, FACET_DATADIR, name)) return status_ok();
    bool apart = strcmp(program, library) != 0;
    return status_fail(FACET_NOT_FOUND,
                       "cannot find the folder '%s' that ships with Facet: looked in %.80s, in the "
                       "folders above %.120s%s%.120s, and in %.80s",
                       name, given && given[0] ? given : "FACET_DATA (not set)", program,
                       apart ? " and " : "", apart ? library : "", FACET_DATADIR);
}
