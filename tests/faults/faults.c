// Faults on demand: in a program linked with these, the n-th call of a kind fails.
//
// FACET_FAULT=KIND:N chooses it, with KIND alloc, write, sync, rename or thread; N counts from 1,
// and 0 lets none fail. FACET_FAULT_LOG=FILE gets a line for every call of that kind but alloc, and
// at the end how many calls there were. What the C library and other libraries call within
// themselves is theirs, but cJSON asks here for memory.
#include <cjson/cJSON.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum Kind { NONE, ALLOC, WRITE, SYNC, RENAME, THREAD } Kind;

static Kind chosen;
static long failing;
static atomic_long calls;
static int log_to = -1;

static void log_line(const char *what, const char *about)
{
    char line[600];
    int size = snprintf(line, sizeof line, "%s %s\n", what, about);
    if (log_to >= 0 && write(log_to, line, (size_t)size) < 0) _exit(99);
}

static int fails(Kind kind) { return kind == chosen && atomic_fetch_add(&calls, 1) + 1 == failing; }

// ---- Memory -------------------------------------------------------------------------------------

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);

static void *no_memory(void) { return errno = ENOMEM, NULL; }

void *__wrap_malloc(size_t size) { return fails(ALLOC) ? no_memory() : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size)
{
    return fails(ALLOC) ? no_memory() : __real_calloc(count, size);
}
void *__wrap_realloc(void *old, size_t size)
{
    return fails(ALLOC) ? no_memory() : __real_realloc(old, size);
}
void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return fails(ALLOC) ? no_memory() : __real_aligned_alloc(alignment, size);
}
char *__wrap_strdup(const char *text) { return fails(ALLOC) ? no_memory() : __real_strdup(text); }

// ---- Files --------------------------------------------------------------------------------------

size_t __real_fwrite(const void *bytes, size_t size, size_t count, FILE *stream);
int __real_fclose(FILE *stream);
int __real_fflush(FILE *stream);
ssize_t __real_pwrite(int descriptor, const void *bytes, size_t size, off_t at);
int __real_fsync(int descriptor);
int __real_rename(const char *from, const char *to);
size_t __wrap_fwrite(const void *bytes, size_t size, size_t count, FILE *stream);
int __wrap_fclose(FILE *stream);
int __wrap_fflush(FILE *stream);
ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t size, off_t at);
int __wrap_fsync(int descriptor);
int __wrap_rename(const char *from, const char *to);

// The name that a descriptor was opened by.
static const char *name_of(int descriptor, char out[512])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, out, 511);
    out[size > 0 ? size : 0] = '\0';
    return out;
}

// What the C library does when a write of its own fails; ferror tells.
static void mark_failed(FILE *stream)
{
#ifdef __GLIBC__
    enum { SEEN = 0x20 };
    stream->_flags |= SEEN;
#else
    (void)stream;
#endif
}

static int full(void) { return errno = ENOSPC, -1; }

size_t __wrap_fwrite(const void *bytes, size_t size, size_t count, FILE *stream)
{
    if (stream == stdout || stream == stderr) return __real_fwrite(bytes, size, count, stream);
    if (!fails(WRITE)) return __real_fwrite(bytes, size, count, stream);
    mark_failed(stream);
    full();
    return 0;
}

int __wrap_fclose(FILE *stream)
{
    int descriptor = fileno(stream);
    char name[512] = "";
    if (log_to >= 0 && chosen != ALLOC && descriptor >= 0)
        log_line("close", name_of(descriptor, name));
    int failed = fails(WRITE), closed = __real_fclose(stream);
    return failed ? full() : closed;
}

int __wrap_fflush(FILE *stream)
{
    if (!stream || stream == stdout || stream == stderr) return __real_fflush(stream);
    return fails(WRITE) ? full() : __real_fflush(stream);
}

ssize_t __wrap_pwrite(int descriptor, const void *bytes, size_t size, off_t at)
{
    return fails(WRITE) ? full() : __real_pwrite(descriptor, bytes, size, at);
}

int __wrap_fsync(int descriptor)
{
    char name[512];
    if (chosen != ALLOC) log_line("sync", name_of(descriptor, name));
    return fails(SYNC) ? (errno = EIO, -1) : __real_fsync(descriptor);
}

int __wrap_rename(const char *from, const char *to)
{
    if (chosen != ALLOC) log_line("rename", to);
    return fails(RENAME) ? (errno = EACCES, -1) : __real_rename(from, to);
}

// ---- Threads ------------------------------------------------------------------------------------

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *context);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *context);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *),
                          void *context)
{
    return fails(THREAD) ? EAGAIN : __real_pthread_create(thread, how, run, context);
}

// ---- Beginning and end --------------------------------------------------------------------------

static void count_calls(void)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", atomic_load(&calls));
    log_line("calls", text);
}

__attribute__((constructor)) static void choose(void)
{
    static const char *const names[] = {"none", "alloc", "write", "sync", "rename", "thread"};
    const char *text = getenv("FACET_FAULT"), *file = getenv("FACET_FAULT_LOG");
    char kind[16] = "";
    if (!text || sscanf(text, "%15[a-z]:%ld", kind, &failing) != 2) return;
    for (int i = 0; i < 6; i++)
        if (strcmp(kind, names[i]) == 0) chosen = (Kind)i;
    FILE *log = file ? fopen(file, "w") : NULL;
    if (log) {
        log_to = dup(fileno(log));
        __real_fclose(log);
        atexit(count_calls);
    }
    cJSON_Hooks hooks = {__wrap_malloc, free};
    cJSON_InitHooks(&hooks);
    atomic_store(&calls, 0);
}
