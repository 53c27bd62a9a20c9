// The one file that a page has: bytes that its script hands over. It stands behind base/file.h in
// place of base/file.c, for there is no disk.
#ifndef FACET_WASM_MEMORY_FILE_H
#define FACET_WASM_MEMORY_FILE_H

#include <stddef.h>

#define MEMORY_FILE "policy"

// The bytes are the caller's, and stay there as long as the file is read. NULL for no file.
void memory_file_set(const char *bytes, size_t size);

#endif
