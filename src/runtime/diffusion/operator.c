// What composition operators share (see diffusion/operator.h).
#include "diffusion/operator.h"

#include <stdio.h>

FacetStatus compose_refuse(const ComposeOperator *operator, const char * expected,
                           const double *given, int factors)
{
    char found[160] = "";
    for (int i = 0, used = 0; i < factors && used < 120; i++)
        used +=
            snprintf(found + used, sizeof found - (size_t)used, "%s%g", i ? ", " : "", given[i]);
    return status_fail(FACET_BAD_ARGUMENT, "%s: expected %s, found %s", operator->name, expected,
                       found);
}
