// Who flies: the expert, or a policy with its plans made beforehand.
#ifndef FACET_CLI_PILOT_H
#define FACET_CLI_PILOT_H

#include "base/file.h"

#include <facet_study/race.h>

typedef struct Pilot {
    FacetPlanner planner;
    FacetPolicyPlanner *plans; // of the tasks to be flown; NULL for the expert
} Pilot;

// The expert when `policy` is NULL; a policy must outlive its pilot. `path` is as in
// race/planner.h.
FacetStatus pilot_open(Pilot *pilot, double *path, const FacetPolicy *policy, const FacetRace *race,
                       const FacetPolicySampling *how, const FacetCourseTask *tasks, int count);

// The same with plans of several seeds, all sampled together.
FacetStatus pilot_open_seeds(Pilot *pilot, const FacetPolicy *policy, const FacetRace *race,
                             const FacetPolicySampling *how, const FacetCourseTask *tasks,
                             int count, const uint64_t *seeds, int seed_count,
                             const FacetProgress *progress);
void pilot_close(Pilot *pilot);

// The file of the policy that ships with Facet, and that of the small one that a page carries.
// False when none does.
bool shipped_policy(char path[FILE_PATH_MAX]);
bool shipped_live(char path[FILE_PATH_MAX]);

// ---- Several policies, one a method -------------------------------------------------------------

enum { POLICIES_MAX = 16 };

typedef struct PolicySet {
    int count;
    FacetPolicy *policies[POLICIES_MAX];
} PolicySet;

// Adds the policies of the files, or those that ship with Facet when there are none. Close the set
// also when this fails.
FacetStatus policies_open(PolicySet *set, const char *const *files, int count);
void policies_close(PolicySet *set);

// The policy of a method as eval_method names it, or NULL.
const FacetPolicy *policies_find(const PolicySet *set, const char *method);

#endif
