// Where the user's caches belong (see cache.h).
#include "cache.h"

#include <stdio.h>
#include <stdlib.h>

static bool fits(int length) { return length > 0 && length < FILE_PATH_MAX; }

bool cache_folder(char out[FILE_PATH_MAX])
{
    const char *own = getenv("FACET_CACHE"), *caches = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    if (own) return fits(snprintf(out, FILE_PATH_MAX, "%s", own));
    // The XDG Base Directory Specification has relative paths ignored.
    if (caches && caches[0] == '/') return fits(snprintf(out, FILE_PATH_MAX, "%s/facet", caches));
    if (!home || !home[0]) return false;
    return fits(snprintf(out, FILE_PATH_MAX, "%s/.cache/facet", home));
}
