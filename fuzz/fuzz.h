// What the fuzz targets share: bytes as a file, and a folder of files, that readers open by name.
#ifndef FACET_FUZZ_H
#define FACET_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline void fuzz_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        abort();
    }
}

static char fuzz_folder_name[64];

static inline void fuzz_sweep(void)
{
    char line[128];
    snprintf(line, sizeof line, "rm -rf '%s'", fuzz_folder_name);
    if (system(line) != 0) perror(line);
}

// A folder of this process, in memory where there is one; it goes with the process.
static inline const char *fuzz_folder(void)
{
    if (fuzz_folder_name[0]) return fuzz_folder_name;
    snprintf(fuzz_folder_name, sizeof fuzz_folder_name, "%s/facet-fuzz-%d",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
    if (mkdir(fuzz_folder_name, 0700) != 0) {
        perror(fuzz_folder_name);
        abort();
    }
    atexit(fuzz_sweep);
    return fuzz_folder_name;
}

// The path of a file of these bytes.
static inline const char *fuzz_file(const uint8_t *bytes, size_t size)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/input", fuzz_folder());
    fuzz_write(path, bytes, size);
    return path;
}

// The bytes as a text, which the caller frees.
static inline char *fuzz_text(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    if (!text) abort();
    for (size_t i = 0; i < size; i++) text[i] = (char)bytes[i];
    text[size] = '\0';
    return text;
}

#endif
