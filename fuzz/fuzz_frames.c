// Camera frames in HDF5 files: opened, and some frames read.
#include "fuzz.h"

#include <facet_study/image_set.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file(bytes, size);
    FacetImageSet *set;
    if (!facet_image_set_open(&set, &path, 1).ok) return 0;
    FacetFrameShape shape = facet_image_set_shape(set);
    size_t frame_bytes = (size_t)shape.width * (size_t)shape.height * 3;
    int64_t last = facet_image_set_count(set) - 1;
    uint8_t *rgb = frame_bytes < 1 << 24 ? malloc(2 * frame_bytes) : NULL;
    if (rgb) (void)facet_image_set_read(rgb, set, (const int64_t[]){0, last}, 2, NULL);
    free(rgb);
    facet_image_set_close(set);
    return 0;
}
