// facet certify --data: does composition work, for any policy and its demonstrations.
#ifndef FACET_PROGRAM_CERTIFY_DATA_H
#define FACET_PROGRAM_CERTIFY_DATA_H

#include "args.h"

#include <facet/policy.h>

// Measures, prints and writes what the common options say.
FacetStatus certify_data_run(const FacetPolicy *policy, const char *policy_file, const char *data,
                             const char *command, const CommonOptions *common);

#endif
