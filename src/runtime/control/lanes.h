// The carrot and the SE(3) controller on eight lanes, in single precision. batch.c says how.
#ifndef FACET_CONTROL_LANES_H
#define FACET_CONTROL_LANES_H

#include "control/control.h"
#include "math/lanes.h"
#include "quad/quad.h"

enum {
    PLAN_SEGMENTS = FACET_REFERENCE_WAYPOINTS - 1,
    PLAN_PADDED = FACET_REFERENCE_WAYPOINTS + BATCH_LANES
};

// The numbers of one segment of a reference, in the order of a row.
typedef struct Segment {
    float pos[3], edge[3];        // m: its start, and from there to its end
    float arc_start, arc_end;     // m
    float per_square, per_length; // 1/m^2, 1/m, of the edge; 0 where it has no length
    float vel[3], vel_change[3];  // m/s at the start, and from there to the end
    float acc[3], acc_change[3];  // m/s^2
    float yaw, yaw_change;        // rad
} Segment;

// The same with every number eight lanes wide.
typedef struct SegmentLanes {
    Lanes pos[3], edge[3];
    Lanes arc_start, arc_end;
    Lanes per_square, per_length;
    Lanes vel[3], vel_change[3];
    Lanes acc[3], acc_change[3];
    Lanes yaw, yaw_change;
} SegmentLanes;

// A reference as one lane reads it: whole segments, and once more what the search reads, by column.
// Beyond the last segment stand segments out of reach.
typedef struct LanePlan {
    Segment segments[PLAN_PADDED];
    float pos[3][PLAN_PADDED], edge[3][PLAN_PADDED];
    float arc_start[PLAN_PADDED], arc_end[PLAN_PADDED];
    float per_square[PLAN_PADDED], per_length[PLAN_PADDED];
} LanePlan;

typedef struct CarrotLanes {
    // Parameters, shared.
    float lookahead_time, lookahead_min, lookahead_max, window;
    // Progress.
    Lanes arc;      // m, of the nearest point
    Lanes distance; // m, from it
    Lanes length;   // m, of the whole reference
    // The search: the two segments at hand, a distance that every later segment keeps, and up to
    // which progress that holds.
    SegmentLanes near[2];
    Lanes far, far_until;
    // The segment of the point ahead.
    SegmentLanes ahead;
    int near_index[BATCH_LANES], ahead_index[BATCH_LANES];
    LanePlan plans[BATCH_LANES];
} CarrotLanes;

typedef struct SetpointLanes {
    Lanes3 pos, vel, acc;
    Lanes yaw;
} SetpointLanes;

void carrot_lanes_init(CarrotLanes *carrot, const FacetCarrotParams *params);

// Puts a lane at the start of a reference, or, with NULL, at rest at the origin.
void carrot_lanes_load(CarrotLanes *carrot, int lane, const FacetReference *reference);

// facet_carrot_advance in the lanes of `busy`. `moved` is how far (m) the vehicles went since the
// last call.
void carrot_lanes_advance(SetpointLanes *setpoint, CarrotLanes *carrot, const Lanes pos_world[3],
                          const Lanes *moved, unsigned busy);

// facet_se3_control in every lane, for set-points without jerk, snap, yaw rate and yaw
// acceleration.
void se3_lanes_control(Lanes *force, Lanes torque[3], const FacetSe3Gains *gains,
                       const QuadBatchModel *model, const QuadBatch *state,
                       const SetpointLanes *setpoint);

#endif
