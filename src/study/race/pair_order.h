// Which pairs of track and size a policy is trained on when it is trained on fewer.
#ifndef FACET_RACE_PAIR_ORDER_H
#define FACET_RACE_PAIR_ORDER_H

#include <facet_study/race.h>

// The feasible tasks in an order whose first `least` show every track and every size that is
// feasible at all: of the orders number 0, 1, 2, ... that follow from the seed, each a shuffle of
// all, the first such one. Training on its first n pairs, n >= least, leaves out the others; sets
// of one order are nested. `tasks` holds facet_race_task_max; `count` gets how many there are.
// Fails when `least` pairs cannot show all values, or none of many orders does.
FacetStatus pair_order(FacetCourseTask *tasks, int *count, const FacetRace *race, uint64_t seed,
                       int least);

#endif
