// Results of operations that touch the outside world: files, arguments, memory.
//
// A Status is either ok or one line for a person: which file, which field, what was expected and
// what was found. Programmer mistakes are asserts, and outcomes of a flight are data; neither is
// a Status.
#ifndef FACET_STATUS_H
#define FACET_STATUS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct FacetStatus {
    bool ok;
    char text[511]; // one line, no newline; empty when ok
} FacetStatus;

#ifdef __cplusplus
}
#endif

#endif
