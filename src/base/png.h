// Pictures as PNG files.
#ifndef FACET_BASE_PNG_H
#define FACET_BASE_PNG_H

#include <facet/status.h>
#include <stdint.h>

// Writes height rows of width pixels of red, green and blue, atomically.
Status png_write(const char *path, const uint8_t *rgb, int width, int height);

#endif
