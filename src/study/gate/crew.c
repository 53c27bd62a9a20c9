// The pilots of a crew (see gate/crew.h).
#include "gate/crew.h"

#include "base/status.h"

#include <stdlib.h>

FacetStatus pilots_make(Pilots *out, const FacetGateCrew *crew, int threads)
{
    *out = (Pilots){.crew = crew, .pilots = calloc((size_t)threads, sizeof *out->pilots)};
    if (!out->pilots) return status_fail(FACET_NO_MEMORY, "out of memory for %d pilots", threads);
    for (; out->count < threads; out->count++) {
        FacetStatus status = crew->make(&out->pilots[out->count], crew->context, out->count);
        if (status.ok) continue;
        pilots_release(out);
        return status;
    }
    return status_ok();
}

void pilots_release(Pilots *pilots)
{
    for (int i = 0; i < pilots->count; i++)
        if (pilots->crew->release) pilots->crew->release(&pilots->pilots[i], pilots->crew->context);
    free(pilots->pilots);
    *pilots = (Pilots){0};
}
