// Speed maps kept in a folder.
#include "fuzz.h"
#include "race/speed_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[128];
    FacetSpeedMap map;
    snprintf(path, sizeof path, "%s/speeds-0000000000000001.txt", fuzz_folder());
    fuzz_write(path, bytes, size);
    if (speed_cache_read(&map, fuzz_folder(), 1, 2, 2)) facet_speed_map_destroy(&map);
    return 0;
}
