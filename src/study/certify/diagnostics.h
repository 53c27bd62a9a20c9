// Diagnostics of any policy over its demonstrations, with what it observes (see
// facet_study/certify.h).
#ifndef FACET_CERTIFY_DIAGNOSTICS_H
#define FACET_CERTIFY_DIAGNOSTICS_H

#include <facet_study/certify.h>

// facet_certify_diagnostics of chunks in contexts [tasks][context], NULL for a policy that acts
// blind.
FacetStatus certify_diagnose(FacetCertifyDiagnostics *diagnostics, const FacetPolicy *policy,
                             const FacetFactorTask *tasks, const double *actions,
                             const float *contexts, int task_count, int samples, uint64_t seed,
                             FacetPool *pool, const FacetProgress *progress);

// The same over the chunks of a file of demonstrations: of the policy's training tasks, or of the
// others. *chunks is how many there were; 0 leaves the diagnostics as they are.
FacetStatus certify_data(FacetCertifyDiagnostics *diagnostics, int *chunks,
                         const FacetPolicy *policy, const char *data, bool training, int samples,
                         uint64_t seed, FacetPool *pool, const FacetProgress *progress);

#endif
