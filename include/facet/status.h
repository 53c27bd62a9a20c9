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

typedef struct Status {
    bool ok;
    char text[511]; // one line, no newline; empty when ok
} Status;

Status status_ok(void);
Status status_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Returns from the calling function when `expression` is not ok.
#define TRY(expression)                                                                            \
    do {                                                                                           \
        Status try_status_ = (expression);                                                         \
        if (!try_status_.ok) return try_status_;                                                   \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
