// The version of the library (see facet/api.h).
#include <facet/api.h>

#define TEXT(number)    #number
#define DOTTED(a, b, c) TEXT(a) "." TEXT(b) "." TEXT(c)

const char *facet_version(void)
{
    return DOTTED(FACET_VERSION_MAJOR, FACET_VERSION_MINOR, FACET_VERSION_PATCH);
}
