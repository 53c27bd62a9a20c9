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

// Whether a policy was trained on the names of a task's track and size.
bool policy_knows_task(const Policy *policy, const Race *race, CourseTask task);

#endif
