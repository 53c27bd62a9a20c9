// The tasks that --hold-out names: one by one, or with the word `course` all that the course lists.
#ifndef FACET_PROGRAM_HOLD_OUT_H
#define FACET_PROGRAM_HOLD_OUT_H

#include "args.h"

#include <facet/course.h>

typedef struct HoldOut {
    const char **tasks; // [count], as texts
    int count;
    char (*names)[2 * FACET_COURSE_NAME_MAX + 2]; // of those from the course
} HoldOut;

// `courses` is the folder of --courses, NULL for the course that ships with Facet; it is refused
// when nobody asks for the course's list.
FacetStatus hold_out_expand(HoldOut *out, const TextList *asked, const char *courses);
void hold_out_free(HoldOut *hold_out);

#endif
