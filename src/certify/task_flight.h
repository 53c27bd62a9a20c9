// What the certificates' flights share: where a task's flight starts, and plans changed in the
// policy's normalised units.
#ifndef FACET_CERTIFY_TASK_FLIGHT_H
#define FACET_CERTIFY_TASK_FLIGHT_H

#include <facet/race.h>

enum { PLAN_SIZE = CHUNK_KEYPOINTS * CHUNK_CHANNELS };

// Where race_fly starts a task: on the expert's path, at the reference speed.
Status task_start(QuadState *start, const Race *race, CourseTask task);

// A stream of random numbers for a task; the 2^32 streams from it on are the task's.
uint64_t task_stream(const Race *race, CourseTask task);

// A plan moved by `change` [128] in normalised units, [keypoint][x, y, z, speed]. Without a
// normalizer the units are the plan's own, m and m/s. `out` may not be `chunk`.
void plan_change(Keypoint out[CHUNK_KEYPOINTS], const Keypoint chunk[CHUNK_KEYPOINTS],
                 const Normalizer *normalizer, const double *change);

#endif
