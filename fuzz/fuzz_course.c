// Courses: the file of a course, and a track of its own behind the first zero byte.
#include "fuzz.h"

#include <facet/course.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[128];
    const uint8_t *zero = size ? memchr(bytes, 0, size) : NULL;
    size_t first = zero ? (size_t)(zero - bytes) : size;
    snprintf(path, sizeof path, "%s/course.json", fuzz_folder());
    fuzz_write(path, bytes, first);
    snprintf(path, sizeof path, "%s/track.json", fuzz_folder());
    fuzz_write(path, zero ? zero + 1 : bytes, zero ? size - first - 1 : 0);
    FacetCourse *course;
    if (facet_course_load(&course, fuzz_folder()).ok) facet_course_destroy(course);
    return 0;
}
