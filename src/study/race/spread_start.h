// Starts that are spread as the demonstrations' are.
#ifndef FACET_RACE_SPREAD_START_H
#define FACET_RACE_SPREAD_START_H

#include <facet_study/race.h>

// Off the track's start by `spread` m on each axis, along the expert's path from there, at a speed
// between `least` of the reference and all of it.
FacetStatus spread_start(FacetQuadState *start, const FacetRace *race, FacetCourseTask task,
                         double spread, double least, FacetRng *rng);

#endif
