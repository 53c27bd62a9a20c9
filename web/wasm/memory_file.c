// The one file that a page has (see memory_file.h).
#include "memory_file.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

static const char *file_bytes;
static size_t file_size;

void memory_file_set(const char *bytes, size_t size)
{
    file_bytes = bytes;
    file_size = size;
}

FacetStatus file_read(char **text, size_t *size, const char *path)
{
    *text = NULL;
    if (!file_bytes || strcmp(path, MEMORY_FILE) != 0)
        return status_fail(FACET_NOT_FOUND, "%s: no such file in the page", path);
    char *copy = malloc(file_size + 1);
    if (!copy) return status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    memcpy(copy, file_bytes, file_size);
    copy[file_size] = '\0';
    *text = copy;
    *size = file_size;
    return status_ok();
}
