// How far the speeds of plans of held-out tasks are off their references: gates alone hardly show
// that a size was heard.
#ifndef FACET_PROGRAM_SPEEDS_OFF_H
#define FACET_PROGRAM_SPEEDS_OFF_H

#include "base/json.h"

typedef struct SpeedsOff {
    double sum, count; // of |speed / reference - 1|
} SpeedsOff;

// Adds those of one method of a file of `facet eval`.
FacetStatus speeds_off_read(SpeedsOff *off, const JsonRef *root, const char *method);

#endif
