// A policy's plans beyond facet_study/race.h: their way from noise.
#ifndef FACET_RACE_PLANNER_H
#define FACET_RACE_PLANNER_H

#include <facet_study/race.h>

// facet_policy_planner_create with the one seed of `how`. It also gives the way of the plans from
// noise: path [steps + 1][tasks][32][4], NULL for none.
FacetStatus planner_create_path(FacetPolicyPlanner **planner, double *path,
                                const FacetPolicy *policy, const FacetRace *race,
                                const FacetPolicySampling *how, const FacetCourseTask *tasks,
                                int task_count, const FacetProgress *progress);

#endif
