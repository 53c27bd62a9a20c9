// Making a FacetStatus (facet/status.h), and passing a failure on.
#ifndef FACET_BASE_STATUS_H
#define FACET_BASE_STATUS_H

#include <facet/status.h>

FacetStatus status_ok(void);
FacetStatus status_fail(FacetCode code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__ // it reads one file at a time, and learns here which of the two is ok
static inline FacetStatus status_with(bool ok, FacetStatus status)
{
    status.ok = ok;
    return status;
}
#define status_ok()      status_with(true, status_ok())
#define status_fail(...) status_with(false, status_fail(__VA_ARGS__))
#endif

// The code of a failed call that left this errno.
FacetCode status_errno(int error);

// Returns from the calling function when `expression` is not ok.
#define TRY(expression)                                                                            \
    do {                                                                                           \
        FacetStatus try_status_ = (expression);                                                    \
        if (!try_status_.ok) return try_status_;                                                   \
    } while (0)

#endif
