// Who flies (see pilot.h).
#include "pilot.h"

#include <stdio.h>
#include <unistd.h>

Status pilot_open(Pilot *pilot, Policy *policy, const Race *race, const PolicySampling *how,
                  const CourseTask *tasks, int count)
{
    *pilot = (Pilot){.planner = race_expert(), .policy = policy};
    if (!policy) return status_ok();
    TRY(policy_planner_create(&pilot->plans, policy, race, how, tasks, count, &how->seed, 1));
    pilot->planner = planner_from_policy(pilot->plans);
    return status_ok();
}

void pilot_close(Pilot *pilot)
{
    policy_planner_destroy(pilot->plans);
    policy_destroy(pilot->policy);
}

bool shipped_policy(char path[FILE_PATH_MAX])
{
    char folder[FILE_PATH_MAX];
    if (!file_shipped(folder, "models").ok) return false;
    snprintf(path, FILE_PATH_MAX, "%.900s/race-factored.safetensors", folder);
    return access(path, R_OK) == 0;
}

static bool knows(const Policy *policy, const char *factor_name, const char *value_name)
{
    int factor, value;
    return factor_find(&factor, policy_space(policy), factor_name).ok &&
           factor_find_value(&value, policy_space(policy), factor, value_name).ok &&
           policy_knows(policy, factor, value);
}

bool policy_knows_task(const Policy *policy, const Race *race, CourseTask task)
{
    return knows(policy, "track", race->course->tracks[task.track].name) &&
           knows(policy, "size", race->course->openings[task.opening].name);
}
