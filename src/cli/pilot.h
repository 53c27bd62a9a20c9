// Who flies: the expert, or a policy with its plans made beforehand.
#ifndef FACET_CLI_PILOT_H
#define FACET_CLI_PILOT_H

#include "base/file.h"

#include <facet/race.h>

typedef struct Pilot {
    Planner planner;
    Policy *policy;       // NULL for the expert
    PolicyPlanner *plans; // of the tasks to be flown
} Pilot;

// The expert when `policy` is NULL. Takes the policy, also when it fails.
Status pilot_open(Pilot *pilot, Policy *policy, const Race *race, const PolicySampling *how,
                  const CourseTask *tasks, int count);
void pilot_close(Pilot *pilot);

// The file of the policy that ships with Facet. False when none does.
bool shipped_policy(char path[FILE_PATH_MAX]);

// ---- Several policies, one a method
// --------------------------------------------------------------

enum { POLICIES_MAX = 16 };

typedef struct PolicySet {
    int count;
    Policy *policies[POLICIES_MAX];
} PolicySet;

// Adds the policies of the files, or those that ship with Facet when there are none. Close the set
// also when this fails.
Status policies_open(PolicySet *set, const char *const *files, int count);
void policies_close(PolicySet *set);

// The policy of a method as eval_method names it, or NULL.
const Policy *policies_find(const PolicySet *set, const char *method);

#endif
