// How far the speeds of plans of held-out tasks are off their references: gates alone hardly show
// that a size was heard.
#ifndef FACET_PROGRAM_SPEEDS_OFF_H
#define FACET_PROGRAM_SPEEDS_OFF_H

#include "base/json.h"

#include <facet/course.h>

enum { SPEEDS_TASK_SIZE = 2 * FACET_COURSE_NAME_MAX + 2 }; // of "TRACK/SIZE"

typedef struct SpeedsOff {
    double sum, count; // of |speed / reference - 1|
} SpeedsOff;

// Tells which tasks are meant.
typedef struct SpeedsTasks {
    bool (*has)(const void *context, const char *task);
    const void *context;
} SpeedsTasks;

// Adds those of one method of a file of `facet eval`, of some tasks or, with NULL, of all.
FacetStatus speeds_off_read(SpeedsOff *off, const JsonRef *root, const char *method,
                            const SpeedsTasks *tasks);

#endif
