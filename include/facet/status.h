// Results of operations that touch the outside world: files, arguments, memory.
//
// A FacetStatus is either ok or a failure: a code for the program that calls, and one line for a
// person that says which file, which field, what was expected and what was found. Programmer
// mistakes are asserts, and outcomes of a flight are data; neither is a status.
#ifndef FACET_STATUS_H
#define FACET_STATUS_H

#include <facet/api.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum FacetCode {
    FACET_OK,
    FACET_BAD_ARGUMENT, // a value given by the caller
    FACET_BAD_FILE,     // what stands in a file
    FACET_NOT_FOUND,    // no such file, or no such name
    FACET_NO_ACCESS,    // a file or folder that cannot be read or written
    FACET_NO_MEMORY,
    FACET_NO_THREAD,
    FACET_NOT_FINITE,  // numbers stopped being finite
    FACET_INTERRUPTED, // the caller's progress callback said stop
} FacetCode;

typedef struct FacetStatus {
    bool ok;        // code == FACET_OK
    FacetCode code; // may grow with later versions
    char text[504]; // one line, no newline; empty when ok
} FacetStatus;

// "ok", "bad argument", "bad file", "not found", … A constant text.
FACET_API const char *facet_code_name(FacetCode code);

#ifdef __cplusplus
}
#endif

#endif
