// The records of certificates that a study keeps while it goes on.
#include "certify/record.h"
#include "fuzz.h"

#include <facet/course.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static FacetCourse *course;
    if (!course && !facet_course_load(&course, FUZZ_SOURCE "/courses").ok) abort();
    CertifyRecord *records = NULL;
    int count;
    if (records_read(&records, &count, fuzz_file(bytes, size), "key", course).ok) free(records);
    return 0;
}
