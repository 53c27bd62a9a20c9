// Where the user's caches belong.
#ifndef FACET_CLI_CACHE_H
#define FACET_CLI_CACHE_H

#include "base/file.h"

#include <stdbool.h>

// The folder FACET_CACHE names, or facet under XDG_CACHE_HOME, or under ~/.cache. False when there
// is to be none: FACET_CACHE is empty, or there is no home. The folder need not exist.
bool cache_folder(char out[FILE_PATH_MAX]);

#endif
