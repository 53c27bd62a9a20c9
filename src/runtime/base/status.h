// Making a FacetStatus (facet/status.h), and passing a failure on.
#ifndef FACET_BASE_STATUS_H
#define FACET_BASE_STATUS_H

#include <facet/status.h>

FacetStatus status_ok(void);
FacetStatus status_fail(FacetCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The code of a failed call that left this errno.
FacetCode status_errno(int error);

// Returns from the calling function when `expression` is not ok.
#define TRY(expression)                                                                            \
    do {                                                                                           \
        FacetStatus try_status_ = (expression);                                                    \
        if (!try_status_.ok) return try_status_;                                                   \
    } while (0)

#endif
