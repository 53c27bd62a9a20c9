// Results of operations that touch the outside world (see facet/status.h).
#include "base/status.h"

#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef status_ok // as the analyzer knows them
#undef status_fail

FacetStatus status_ok(void) { return (FacetStatus){.ok = true}; }

FacetStatus status_fail(FacetCode code, const char *format, ...)
{
    FacetStatus status = {.ok = false, .code = code};
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

FacetCode status_errno(int error)
{
    switch (error) {
    case ENOENT:
        return FACET_NOT_FOUND;
    case ENOMEM:
        return FACET_NO_MEMORY;
    default:
        return FACET_NO_ACCESS;
    }
}

const char *facet_code_name(FacetCode code)
{
    static const char *const names[] = {"ok",        "bad argument", "bad file",
                                        "not found", "no access",    "no memory",
                                        "no thread", "not finite",   "interrupted"};
    bool known = (unsigned)code < sizeof names / sizeof *names;
    return known ? names[code] : "unknown";
}
