// Files that appear whole or not at all (see file.h).
#define _GNU_SOURCE // flock, realpath

#include "file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

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

// Whether the name still leads to the open file.
static bool is_still(const char *path, int descriptor)
{
    struct stat named, open_file;
    return lstat(path, &named) == 0 && fstat(descriptor, &open_file) == 0 &&
           named.st_dev == open_file.st_dev && named.st_ino == open_file.st_ino;
}

// ---- Temporary files ----------------------------------------------------------------------------

// How the names of temporary files end: as no other program's do, for those left behind are
// removed.
#define TEMP_ENDING ".facet.part"

// Locked as long as it is written, so that nobody sweeps it away. False when somebody just did.
static bool hold(int descriptor, const char *path)
{
    bool taken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    return !taken && is_still(path, descriptor);
}

// PATH.PID.facet.part, or with a number when that name is taken, by another thread or by whoever
// wants us to write somewhere else.
static int create_temp(AtomicFile *file, mode_t mode)
{
    enum { NAMES = 100 };
    for (int i = 0; i < NAMES; i++) {
        char number[16] = "";
        if (i > 0) snprintf(number, sizeof number, ".%d", i);
        snprintf(file->temp, sizeof file->temp, "%.984s.%ld%s" TEMP_ENDING, file->path,
                 (long)getpid(), number);
        int descriptor = open(file->temp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (descriptor < 0 && errno != EEXIST) return -1;
        if (descriptor < 0) continue;
        if (hold(descriptor, file->temp)) return descriptor;
        close(descriptor);
    }
    errno = EEXIST;
    return -1;
}

// The owner, where that is allowed, and the mode of the file that is to be replaced.
static void take_mode(int descriptor, const struct stat *old)
{
    bool other = old->st_uid != geteuid() || old->st_gid != getegid();
    if (other && fchown(descriptor, old->st_uid, old->st_gid) != 0) errno = 0;
    fchmod(descriptor, old->st_mode & 0777);
}

static FacetStatus choose_path(AtomicFile *file, const char *path)
{
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
    bool fits = strlen(final) <= FILE_PATH_MAX - 40;
    if (fits) snprintf(file->path, sizeof file->path, "%s", final);
    free(target);
    return fits ? status_ok() : status_fail(FACET_BAD_FILE, "%.200s…: name too long", path);
}

FacetStatus atomic_begin(AtomicFile *file, const char *path)
{
    memset(file, 0, sizeof *file);
    TRY(choose_path(file, path));
    atomic_sweep(file->path);
    struct stat old;
    bool replaces = stat(file->path, &old) == 0;
    file->descriptor = create_temp(file, replaces ? 0600 : 0666);
    if (file->descriptor < 0) {
        file->temp[0] = '\0';
        return status_fail(status_errno(errno), "%s: cannot create: %s", path, strerror(errno));
    }
    if (replaces) take_mode(file->descriptor, &old);
    return status_ok();
}

FILE *atomic_stream(const AtomicFile *file)
{
    int copy = fcntl(file->descriptor, F_DUPFD_CLOEXEC, 0);
    FILE *stream = copy >= 0 ? fdopen(copy, "wb") : NULL;
    if (!stream && copy >= 0) close(copy);
    return stream;
}

static bool flush_to_disk(int descriptor)
{
    return fsync(descriptor) == 0 || errno == EINVAL; // some filesystems have nothing to sync
}

// Makes a new name survive a power cut. Where that is not allowed, the write has succeeded all the
// same.
static void flush_folder(const char *path)
{
    char folder[FILE_PATH_MAX];
    strcpy(folder, path);
    int descriptor = open(dirname(folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    flush_to_disk(descriptor);
    close(descriptor);
}

FacetStatus atomic_commit(AtomicFile *file)
{
    FacetStatus status = status_ok();
    if (!flush_to_disk(file->descriptor))
        status = status_fail(status_errno(errno), "%s: cannot write to disk: %s", file->path,
                             strerror(errno));
    else if (!is_still(file->temp, file->descriptor))
        status = status_fail(FACET_NO_ACCESS,
                             "%s: expected its temporary file %s, found another or none",
                             file->path, file->temp);
    else if (rename(file->temp, file->path) != 0)
        status = status_fail(status_errno(errno), "%s: cannot rename into place: %s", file->path,
                             strerror(errno));
    if (!status.ok) {
        atomic_abort(file);
        return status;
    }
    file->temp[0] = '\0';
    close(file->descriptor);
    flush_folder(file->path);
    return status_ok();
}

void atomic_abort(AtomicFile *file)
{
    if (!file->temp[0]) return;
    if (is_still(file->temp, file->descriptor)) unlink(file->temp);
    close(file->descriptor);
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
    if (!is_stream(path)) return atomic_check(path);
    return access(path, W_OK) == 0
               ? status_ok()
               : status_fail(status_errno(errno), "%s: cannot write: %s", path, strerror(errno));
}

// ---- Those left behind --------------------------------------------------------------------------

// Takes a point and digits off the text: the number, or -1 where they are not there.
static long take_number(const char **text)
{
    size_t digits = **text == '.' ? strspn(*text + 1, "0123456789") : 0;
    if (digits < 1 || digits > 18) return -1;
    long number = strtol(*text + 1, NULL, 10);
    *text += 1 + digits;
    return number;
}

// The process in the name of a temporary file, or 0 for another name.
static long temp_process(const char *entry, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(entry, name, length) != 0) return 0;
    entry += length;
    long process = take_number(&entry);
    take_number(&entry); // one more, or none
    return process > 0 && strcmp(entry, TEMP_ENDING) == 0 ? process : 0;
}

// Removes a temporary file that nobody writes: one that can be locked, or whose process is gone
// where files cannot be locked.
static void remove_abandoned(int folder, const char *entry, long process)
{
    int descriptor = openat(folder, entry, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat info;
    if (descriptor < 0) return;
    bool left = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    if (!left && errno != EWOULDBLOCK)
        left = process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH;
    if (left && fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) unlinkat(folder, entry, 0);
    close(descriptor);
}

void atomic_sweep(const char *path)
{
    char copy[FILE_PATH_MAX], folder[FILE_PATH_MAX], name[FILE_PATH_MAX];
    if (strlen(path) > FILE_PATH_MAX - 40) return;
    snprintf(folder, sizeof folder, "%s", dirname(strcpy(copy, path)));
    snprintf(name, sizeof name, "%s", basename(strcpy(copy, path)));
    DIR *stream = opendir(folder);
    if (!stream) return;
    for (struct dirent *entry; (entry = readdir(stream));) {
        long process = temp_process(entry->d_name, name);
        if (process) remove_abandoned(dirfd(stream), entry->d_name, process);
    }
    closedir(stream);
}

// ---- Whole files --------------------------------------------------------------------------------

// Writes the bytes and closes the stream, which may be NULL; `name` is what a message calls it.
static FacetStatus write_bytes(FILE *stream, const void *bytes, size_t size, const char *name)
{
    bool written = stream && fwrite(bytes, 1, size, stream) == size;
    int error = errno;
    if (stream && fclose(stream) != 0 && written) written = false, error = errno;
    return written
               ? status_ok()
               : status_fail(status_errno(error), "%s: cannot write: %s", name, strerror(error));
}

FacetStatus file_write(const char *path, const void *bytes, size_t size)
{
    if (is_stream(path)) return write_bytes(fopen(path, "wb"), bytes, size, path);
    AtomicFile file;
    TRY(atomic_begin(&file, path));
    FacetStatus status = write_bytes(atomic_stream(&file), bytes, size, path);
    if (status.ok) return atomic_commit(&file);
    atomic_abort(&file);
    return status;
}

// Opens a file without waiting for what is none.
static FacetStatus open_to_read(FILE **stream, const char *path)
{
    struct stat info;
    int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    *stream = NULL;
    if (descriptor >= 0 && fstat(descriptor, &info) == 0 && !S_ISREG(info.st_mode) &&
        !S_ISDIR(info.st_mode)) {
        close(descriptor);
        return status_fail(FACET_BAD_FILE, "%s: expected a file to read, found a device or a pipe",
                           path);
    }
    if (descriptor >= 0 && !(*stream = fdopen(descriptor, "rb"))) close(descriptor);
    return *stream ? status_ok()
                   : status_fail(status_errno(errno), "%s: cannot open: %s", path, strerror(errno));
}

FacetStatus file_read(char **text, size_t *size, const char *path)
{
    *text = NULL;
    *size = 0;
    FILE *stream;
    TRY(open_to_read(&stream, path));
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
