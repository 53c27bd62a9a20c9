// Tracking: the SE(3) geometric controller, references, and the carrot between them.
//
// All of this is plain values in SI units and the world's frame: nothing allocates, and functions
// may be called from any thread. A FacetReference has 22 kB: mind small stacks.
#ifndef FACET_CONTROL_H
#define FACET_CONTROL_H

#include <facet/api.h>
#include <facet/quad.h>
#include <facet/status.h>
#include <facet/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- SE(3) controller (Lee, Leok and McClamroch, CDC 2010) ------------------------------------

// What the vehicle is to do now, with the derivatives that the feed-forward uses.
typedef struct FacetSetpoint {
    FacetVec3 pos, vel, acc, jerk, snap; // world: m, m/s, m/s^2, …
    double yaw, yaw_rate, yaw_acc;       // rad, rad/s, rad/s^2
} FacetSetpoint;

// Gains over mass and over inertia, so that one preset suits any vehicle.
typedef struct FacetSe3Gains {
    double position; // 1/s^2
    double velocity; // 1/s
    double attitude; // 1/s^2
    double rate;     // 1/s
} FacetSe3Gains;

typedef struct FacetSe3Output {
    FacetQuadWrench wrench;   // wanted, before the motors' limits
    FacetVec3 position_error; // m, world
    FacetVec3 velocity_error; // m/s, world
    FacetVec3 attitude_error; // e_R
    FacetVec3 rate_error;     // rad/s, body
    double attitude_error_2;  // Psi = tr(I - Rc^T R)/2, in [0, 2]
} FacetSe3Output;

// The wrench that tracks the setpoint from the state. It has no memory of earlier calls.
FACET_API void facet_se3_control(FacetSe3Output *out, const FacetSe3Gains *gains,
                                 const FacetQuadParams *params, const FacetQuadState *state,
                                 const FacetSetpoint *setpoint);

// ---- Action chunks and dense references -------------------------------------------------------

enum { FACET_CHUNK_KEYPOINTS = 32, FACET_CHUNK_CHANNELS = 4, FACET_REFERENCE_WAYPOINTS = 256 };

// One action: where to be, and how fast.
typedef struct FacetKeypoint {
    FacetVec3 pos; // m, world
    double speed;  // m/s
} FacetKeypoint;

// The dense reference of a chunk, ready for the carrot.
typedef struct FacetReference {
    FacetVec3 pos[FACET_REFERENCE_WAYPOINTS];
    FacetVec3 vel[FACET_REFERENCE_WAYPOINTS]; // unit tangent times speed
    FacetVec3 acc[FACET_REFERENCE_WAYPOINTS]; // of a vehicle that keeps to the path and its speeds
    double yaw[FACET_REFERENCE_WAYPOINTS];    // atan2(v_y, v_x), without jumps of a full turn
    double arc[FACET_REFERENCE_WAYPOINTS];    // m along the waypoints, from 0
} FacetReference;

// A policy's actions, 32 times x, y, z (m) and speed (m/s), as keypoints, and back.
FACET_API void facet_chunk_from_actions(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS],
                                        const double *actions);
FACET_API void facet_chunk_to_actions(double *actions,
                                      const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS]);

// Linear interpolation of the keypoints to dense waypoints. A speed below zero counts as zero.
// Fails when a keypoint is not finite, or the chunk has no length or more than 1000 km.
FACET_API FacetStatus facet_reference_from_chunk(FacetReference *reference,
                                                 const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS]);

FACET_API double facet_reference_length(const FacetReference *reference); // m
// s, at the reference speeds, but at no less than 0.1 m/s.
FACET_API double facet_reference_duration(const FacetReference *reference);

// ---- Carrot -----------------------------------------------------------------------------------

// Which point ahead on the reference the controller chases.
typedef struct FacetCarrotParams {
    double lookahead_time; // s: the carrot runs speed * time ahead …
    double lookahead_min;  // m: … but never less than this
    double lookahead_max;  // m: … nor more than this
    double window;         // m: how far ahead the nearest point is searched for
} FacetCarrotParams;

typedef struct FacetCarrot {
    double arc;      // m: progress, the arc length of the nearest point; never decreases
    int segment;     // the segment of the reference it lies on
    double distance; // m, of the vehicle from that nearest point
    int ahead;       // the segment the chased point lies on
} FacetCarrot;

// The carrot whose progress is the point of the reference nearest to a position (m), among those
// with an arc length in [from, to] (m). A zeroed carrot stands at the start.
FACET_API FacetCarrot facet_carrot_locate(const FacetReference *reference, FacetVec3 pos_world,
                                          double from, double to);

// Advances the progress to the nearest point ahead and returns the setpoint to chase.
FACET_API FacetSetpoint facet_carrot_advance(FacetCarrot *carrot, const FacetCarrotParams *params,
                                             const FacetReference *reference, FacetVec3 pos_world);

// ---- Presets ----------------------------------------------------------------------------------

typedef struct FacetControlPreset {
    const char *name;
    FacetSe3Gains gains;
    FacetCarrotParams carrot;
} FacetControlPreset;

// "race" or "soft". The message of a failure names the known ones. The preset's name is a constant
// text.
FACET_API FacetStatus facet_control_preset(FacetControlPreset *preset, const char *name);

#ifdef __cplusplus
}
#endif

#endif
