// Bytes as text in base 64 (RFC 4648).
#ifndef FACET_PICTURE_BASE64_H
#define FACET_PICTURE_BASE64_H

#include <stddef.h>
#include <stdint.h>

// The caller frees the text. NULL when memory runs out.
char *base64_encode(const uint8_t *bytes, size_t size);

// The bytes of such a text; the caller frees them. NULL when it is none, or memory runs out.
uint8_t *base64_decode(size_t *size, const char *text);

#endif
