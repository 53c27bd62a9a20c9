// An independent reader of PNG files: Python with zlib alone (tests/picture/read_png.py).
#ifndef FACET_TESTS_READ_PNG_H
#define FACET_TESTS_READ_PNG_H

#include "testing.h"

#include <stdlib.h>

// The pixels of a file of that size; the caller frees them. Leaves a file RAW behind.
static inline uint8_t *read_png(const char *path, const char *raw, int width, int height)
{
    char command[600];
    snprintf(command, sizeof command,
             "/usr/bin/python3 '%s/tests/picture/read_png.py' '%s' '%s' %d %d", TEST_SOURCE, path,
             raw, width, height);
    assert_int_equal(system(command), 0);
    size_t size = (size_t)width * (size_t)height * 3;
    uint8_t *rgb = malloc(size + 1);
    FILE *file = fopen(raw, "rb");
    assert_true(rgb);
    assert_true(file);
    assert_int_equal(fread(rgb, 1, size + 1, file), size);
    fclose(file);
    return rgb;
}

#endif
