// Results of operations that touch the outside world (see facet/status.h).
#include <facet/status.h>

#include <stdarg.h>
#include <stdio.h>

Status status_ok(void) { return (Status){.ok = true}; }

Status status_fail(const char *format, ...)
{
    Status status = {.ok = false};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(status.text, sizeof status.text, format, arguments);
    va_end(arguments);
    // What a file or an argument holds may be quoted in the text, line breaks and all.
    for (char *c = status.text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) *c = ' ';
    return status;
}
