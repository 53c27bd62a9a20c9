// Bytes as text in base 64 (see base64.h).
#include "picture/base64.h"

#include <stdlib.h>
#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const uint8_t *bytes, size_t size)
{
    char *text = malloc((size + 2) / 3 * 4 + 1), *to = text;
    if (!text) return NULL;
    for (size_t i = 0; i < size; i += 3) {
        unsigned group = 0, have = size - i < 3 ? (unsigned)(size - i) : 3;
        for (unsigned k = 0; k < 3; k++) group = group << 8 | (k < have ? bytes[i + k] : 0u);
        for (unsigned k = 0; k < 4; k++)
            *to++ = k <= have ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
    *to = '\0';
    return text;
}

uint8_t *base64_decode(size_t *size, const char *text)
{
    size_t used = strspn(text, digits), padding = strspn(text + used, "=");
    if (text[used + padding] || padding > 2 || (used + padding) % 4) return NULL;
    *size = used / 4 * 3 + (used % 4 ? used % 4 - 1 : 0);
    uint8_t *bytes = malloc(*size + 1), *to = bytes;
    unsigned group = 0;
    for (size_t i = 0; bytes && i < used; i++) {
        group = group << 6 | (unsigned)(strchr(digits, text[i]) - digits);
        if (i % 4) *to++ = (uint8_t)(group >> (6 - 2 * (i % 4)));
    }
    return bytes;
}
