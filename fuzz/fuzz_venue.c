// Venues: the common file or that of one venue, by the first byte.
#include "camera/scene.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size == 0) return 0;
    const char *path = fuzz_file(bytes + 1, size - 1);
    FacetVenue *venue = calloc(1, sizeof *venue);
    if (!venue) abort();
    char scenes[200];
    if (bytes[0] == 'c') {
        (void)venue_parse_common(venue, path);
        (void)venue_parse_scenes(scenes, sizeof scenes, path);
    } else {
        (void)venue_parse(venue, path);
    }
    facet_venue_destroy(venue);
    return 0;
}
