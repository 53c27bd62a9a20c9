// What the certificates' flights share: where a task's flight starts, and plans changed in the
// policy's normalised units.
#ifndef FACET_CERTIFY_TASK_FLIGHT_H
#define FACET_CERTIFY_TASK_FLIGHT_H

#include "policy/normalizer.h"

#include <facet_study/race.h>

enum { PLAN_SIZE = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS };

// Where facet_race_fly starts a task: on the expert's path, at the reference speed times the pace
// that the plan is flown at.
FacetStatus task_start(FacetQuadState *start, const FacetRace *race, FacetCourseTask task,
                       double pace);

// A plan moved by `change` [128] in normalised units, [keypoint][x, y, z, speed]: what the
// normalizer makes of the plan's own normalised values plus the change. Without a normalizer the
// units are the plan's own, m and m/s. `out` may not be `chunk`.
void plan_change(FacetKeypoint out[FACET_CHUNK_KEYPOINTS],
                 const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const Normalizer *normalizer,
                 const double *change);

#endif
