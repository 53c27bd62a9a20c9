// How much of a size plans show in their speeds. The sizes of a track share one path, so that gates
// and metres cannot tell a policy that composes track and size from one that ignores the size.
//
// Of every two tasks of a track whose references differ, the log of the ratio of the plans' speeds
// is held against that of the references, by least squares: 1 is a policy that flies each size at
// its own speed, 0 one that ignores the size.
#ifndef FACET_PROGRAM_SPEED_SHARE_H
#define FACET_PROGRAM_SPEED_SHARE_H

#include "base/json.h"

#include <facet/course.h>

// Two tasks that training showed; or one that it showed and one that it did not.
typedef enum SpeedGroup { SPEED_LEARNED, SPEED_LEFT_OUT, SPEED_GROUPS } SpeedGroup;

typedef struct SpeedPlan {
    char track[FACET_COURSE_NAME_MAX];
    bool left_out;
    double planned, reference; // m/s, above 0
} SpeedPlan;

typedef struct SpeedShare {
    double shown[SPEED_GROUPS], wanted[SPEED_GROUPS]; // sums of products of logs
} SpeedShare;

// Adds the plans of one policy.
void speed_share_add(SpeedShare *share, const SpeedPlan *plans, int count);

// {"learned": 0.8, "left_out": 0.66}, null where no two references differ.
Json *json_from_speed_share(const SpeedShare *share);

#endif
