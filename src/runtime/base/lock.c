// One process at a time (see lock.h).
#define _GNU_SOURCE // flock, realpath

#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static FacetStatus refuse(int descriptor, const char *place)
{
    char text[24] = "";
    long process = 0;
    ssize_t size = pread(descriptor, text, sizeof text - 1, 0);
    if (size <= 0 || sscanf(text, "%18ld", &process) != 1) process = 0;
    return status_fail(FACET_NO_ACCESS,
                       "%s: expected no other process that writes there, found %ld: wait for it, "
                       "or choose another place",
                       place, process);
}

// Who has it, for whom it keeps out. A lock without it still locks.
static void write_process(int descriptor)
{
    char text[24];
    int size = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, text, (size_t)size, 0) < 0) errno = 0;
}

// Whether the file is still there: who had it before may have removed it.
static bool is_there(const char *path, int descriptor)
{
    struct stat named, held;
    return lstat(path, &named) == 0 && fstat(descriptor, &held) == 0 &&
           named.st_dev == held.st_dev && named.st_ino == held.st_ino;
}

FacetStatus lock_take(FileLock *lock, const char *place)
{
    enum { TRIES = 100 };
    *lock = (FileLock){.descriptor = -1};
    char path[FILE_PATH_MAX];
    struct stat info;
    bool is_link = lstat(place, &info) == 0 && S_ISLNK(info.st_mode);
    char *real = is_link ? realpath(place, NULL) : NULL; // what is written through it is locked
    const char *final = real ? real : place;
    bool fits = strlen(final) <= sizeof path - 40;
    if (fits) snprintf(path, sizeof path, "%s.lock", final);
    free(real);
    if (!fits) return status_fail(FACET_BAD_FILE, "%.200s…: name too long", place);
    for (int i = 0; i < TRIES; i++) {
        int descriptor = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (descriptor < 0)
            return status_fail(status_errno(errno), "%s: cannot create: %s", path, strerror(errno));
        if (flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            FacetStatus status = refuse(descriptor, place);
            close(descriptor);
            return status;
        }
        if (is_there(path, descriptor)) {
            write_process(descriptor);
            lock->descriptor = descriptor;
            strcpy(lock->path, path);
            return status_ok();
        }
        close(descriptor);
    }
    return status_fail(FACET_NO_ACCESS, "%s: cannot lock: it comes and goes", path);
}

void lock_drop(FileLock *lock)
{
    if (!lock->path[0]) return;
    if (is_there(lock->path, lock->descriptor)) unlink(lock->path);
    close(lock->descriptor);
    lock->path[0] = '\0';
}
