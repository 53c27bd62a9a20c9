// Files that appear whole or not at all (see file.h).
#define _XOPEN_SOURCE 700 // realpath

#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool flush_to_disk(const char *path, int flags)
{
    int descriptor = open(path, flags);
    if (descriptor < 0) return false;
    int failed = fsync(descriptor), error = errno;
    close(descriptor);
    errno = error;
    return !failed || error == EINVAL; // some filesystems have nothing to sync
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

static bool is_folder(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

// A device, a pipe or a socket: bytes written there cannot be replaced.
static bool is_stream(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

FacetStatus atomic_begin(AtomicFile *file, const char *path)
{
    memset(file, 0, sizeof *file);
    if (!path[0])
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected the name of a file to write, found an empty one");
    struct stat info;
    bool is_link = lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
    if (is_folder(path))
        return status_fail(FACET_BAD_FILE, "%s: expected a file to write, found a folder", path);
    if (is_stream(path))
        return status_fail(FACET_BAD_FILE, "%s: expected a file to write, found a device or a pipe",
                           path);
    char *target = is_link ? realpath(path, NULL) : NULL;
    const char *final = target ? target : path;
    bool fits = strlen(final) <= FILE_PATH_MAX - 32;
    if (fits) {
        snprintf(file->path, sizeof file->path, "%s", final);
        snprintf(file->temp, sizeof file->temp, "%s.%ld.part", final, (long)getpid());
    }
    free(target);
    if (!fits) return status_fail(FACET_BAD_FILE, "%.200s…: name too long", path);
    int descriptor = open(file->temp, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (descriptor < 0) {
        file->temp[0] = '\0';
        return status_fail(status_errno(errno), "%s: cannot create: %s", path, strerror(errno));
    }
    close(descriptor);
    return status_ok();
}

FacetStatus atomic_commit(AtomicFile *file)
{
    FacetStatus status = status_ok();
    if (!flush_to_disk(file->temp, O_RDWR))
        status = status_fail(status_errno(errno), "%s: cannot write to disk: %s", file->path,
                             strerror(errno));
    else if (rename(file->temp, file->path) != 0)
        status = status_fail(status_errno(errno), "%s: cannot rename into place: %s", file->path,
                             strerror(errno));
    if (!status.ok) {
        atomic_abort(file);
        return status;
    }
    file->temp[0] = '\0';
    // The file is in place. Syncing the folder makes the new name survive a power cut; where that
    // is not allowed, the write has succeeded all the same.
    char folder[FILE_PATH_MAX];
    strcpy(folder, file->path);
    flush_to_disk(dirname(folder), O_RDONLY | O_DIRECTORY);
    return status_ok();
}

void atomic_abort(AtomicFile *file)
{
    if (file->temp[0]) unlink(file->temp);
    file->temp[0] = '\0';
}

FacetStatus atomic_check(const char *path)
{
    AtomicFile probe;
    TRY(atomic_begin(&probe, path));
    atomic_abort(&probe);
    return status_ok();
}

FacetStatus file_check(const char *path)
{
    return is_stream(path) ? status_ok() : atomic_check(path);
}

void atomic_sweep(const char *path)
{
    char copy[FILE_PATH_MAX], folder[FILE_PATH_MAX], name[FILE_PATH_MAX];
    if (strlen(path) > FILE_PATH_MAX - 32) return;
    snprintf(folder, sizeof folder, "%s", dirname(strcpy(copy, path)));
    snprintf(name, sizeof name, "%s", basename(strcpy(copy, path)));
    size_t length = strlen(name);
    DIR *stream = opendir(folder);
    if (!stream) return;
    for (struct dirent *entry; (entry = readdir(stream));) {
        int used = 0;
        long process;
        if (strncmp(entry->d_name, name, length) != 0 ||
            sscanf(entry->d_name + length, ".%18ld.part%n", &process, &used) != 1 || !used ||
            entry->d_name[length + (size_t)used])
            continue;
        bool runs = process > 0 && (kill((pid_t)process, 0) == 0 || errno != ESRCH);
        if (!runs) unlinkat(dirfd(stream), entry->d_name, 0);
    }
    closedir(stream);
}

// Writes the bytes to an existing file; `name` is what a message calls it.
static FacetStatus write_bytes(const char *path, const void *bytes, size_t size, const char *name)
{
    FILE *stream = fopen(path, "wb");
    bool written = stream && fwrite(bytes, 1, size, stream) == size;
    int error = errno;
    if (stream && fclose(stream) != 0 && written) written = false, error = errno;
    return written
               ? status_ok()
               : status_fail(status_errno(error), "%s: cannot write: %s", name, strerror(error));
}

FacetStatus file_write(const char *path, const void *bytes, size_t size)
{
    if (is_stream(path)) return write_bytes(path, bytes, size, path);
    AtomicFile file;
    TRY(atomic_begin(&file, path));
    FacetStatus status = write_bytes(file.temp, bytes, size, path);
    if (status.ok) return atomic_commit(&file);
    atomic_abort(&file);
    return status;
}

FacetStatus file_read(char **text, size_t *size, const char *path)
{
    *text = NULL;
    *size = 0;
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return status_fail(status_errno(errno), "%s: cannot open: %s", path, strerror(errno));
    size_t capacity = 1 << 14, used = 0;
    char *bytes = malloc(capacity);
    while (bytes) {
        used += fread(bytes + used, 1, capacity - used - 1, stream);
        if (used < capacity - 1) break;
        char *larger = realloc(bytes, capacity *= 2);
        if (!larger) free(bytes);
        bytes = larger;
    }
    int failed = ferror(stream), error = errno;
    fclose(stream);
    if (!bytes) return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    if (failed) {
        free(bytes);
        return status_fail(status_errno(error), "%s: cannot read: %s", path, strerror(error));
    }
    bytes[used] = '\0';
    *text = bytes;
    *size = used;
    return status_ok();
}

FacetStatus file_make_folder(const char *path)
{
    char part[FILE_PATH_MAX];
    if (strlen(path) >= sizeof part)
        return status_fail(FACET_BAD_FILE, "%.200s…: name too long", path);
    for (size_t i = 1; i <= strlen(path); i++) {
        if (path[i] != '/' && path[i] != '\0') continue;
        snprintf(part, sizeof part, "%.*s", (int)i, path);
        if (mkdir(part, 0755) != 0 && errno != EEXIST)
            return status_fail(status_errno(errno), "%s: cannot make the folder: %s", path,
                               strerror(errno));
    }
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return status_fail(FACET_BAD_FILE, "%s: expected a folder, found something else", path);
    return status_ok();
}

FacetStatus file_make_parent(const char *path)
{
    char copy[FILE_PATH_MAX];
    if (strlen(path) >= sizeof copy)
        return status_fail(FACET_BAD_FILE, "%.200s…: name too long", path);
    return file_make_folder(dirname(strcpy(copy, path)));
}
