// Pictures as PNG files.
#ifndef FACET_BASE_PNG_H
#define FACET_BASE_PNG_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The bytes of the file for height rows of width pixels of red, green and blue; the caller frees
// them.
FacetStatus png_encode(uint8_t **bytes, size_t *size, const uint8_t *rgb, int width, int height);

// The pixels of such a file, as png_encode writes it; the caller frees them. False when the bytes
// are no such file, or memory runs out.
bool png_decode(uint8_t **rgb, int *width, int *height, const uint8_t *bytes, size_t size);

// Writes such a file, atomically.
FacetStatus png_write(const char *path, const uint8_t *rgb, int width, int height);

#endif
