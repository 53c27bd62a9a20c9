// Results of operations that touch the outside world (see facet/status.h).
#include "base/status.h"

#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

FacetStatus status_ok(void) { return (FacetStatus){.ok = true}; }

FacetStatus status_fail(const char *format, ...)
{
    FacetStatus status = {.ok = false};
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(status.text, sizeof status.text, format, arguments);
    va_end(arguments);
    if (length >= (int)sizeof status.text) {
        // A message that is too long ends in "…", after the last whole character that fits.
        static const char ellipsis[] = "…";
        size_t end = sizeof status.text - sizeof ellipsis;
        while (((unsigned char)status.text[end] & 0xC0) == 0x80) end--;
        strcpy(status.text + end, ellipsis);
    }
    text_clean(status.text);
    return status;
}
