// Tracking: the SE(3) geometric controller, references, and the carrot between them.
#ifndef FACET_CONTROL_H
#define FACET_CONTROL_H

#include <facet/math.h>
#include <facet/quad.h>
#include <facet/status.h>

// ---- SE(3) controller (Lee, Leok and McClamroch, CDC 2010) ------------------------------------

// What the vehicle is to do now, with the derivatives that the feed-forward uses.
typedef struct Setpoint {
    Vec3 pos, vel, acc, jerk, snap; // world: m, m/s, m/s^2, …
    double yaw, yaw_rate, yaw_acc;  // rad, rad/s, rad/s^2
} Setpoint;

// Gains over mass and over inertia, so that one preset suits any vehicle.
typedef struct Se3Gains {
    double position; // 1/s^2
    double velocity; // 1/s
    double attitude; // 1/s^2
    double rate;     // 1/s
} Se3Gains;

typedef struct Se3Output {
    QuadWrench wrench;       // wanted, before the motors' limits
    Vec3 position_error;     // m, world
    Vec3 velocity_error;     // m/s, world
    Vec3 attitude_error;     // e_R
    Vec3 rate_error;         // rad/s, body
    double attitude_error_2; // Psi = tr(I - Rc^T R)/2, in [0, 2]
} Se3Output;

void se3_control(Se3Output *out, const Se3Gains *gains, const QuadParams *params,
                 const QuadState *state, const Setpoint *setpoint);

// ---- Paths ------------------------------------------------------------------------------------

// A twice continuously differentiable cubic spline through points, read by arc length.
typedef struct Spline Spline;

// At least two points, all finite, no two neighbours coincident.
Status spline_create(Spline **spline, const Vec3 *points, int count);
void spline_destroy(Spline *spline);
double spline_length(const Spline *spline);             // m
double spline_knot(const Spline *spline, int point);    // arc length at a point it goes through
Vec3 spline_position(const Spline *spline, double arc); // arc in [0, length]
// Derivatives by the spline's own parameter u, in which the points stand at spline_parameter.
double spline_parameter(const Spline *spline, int point);
Vec3 spline_derivative(const Spline *spline, double parameter, int order); // 0 to 2

// ---- Action chunks and dense references -------------------------------------------------------

enum { CHUNK_KEYPOINTS = 32, CHUNK_CHANNELS = 4, REFERENCE_WAYPOINTS = 256 };

// One action: where to be, and how fast.
typedef struct Keypoint {
    Vec3 pos;     // m, world
    double speed; // m/s
} Keypoint;

// The dense reference of a chunk, ready for the carrot.
typedef struct Reference {
    Vec3 pos[REFERENCE_WAYPOINTS];
    Vec3 vel[REFERENCE_WAYPOINTS];   // unit tangent times speed
    Vec3 acc[REFERENCE_WAYPOINTS];   // of a vehicle that keeps to the path and its speeds
    double yaw[REFERENCE_WAYPOINTS]; // atan2(v_y, v_x), without jumps of a full turn
    double arc[REFERENCE_WAYPOINTS]; // m along the waypoints, from 0
} Reference;

// Keypoints at equal steps of arc length along a spline, all at one speed.
void chunk_from_spline(Keypoint chunk[CHUNK_KEYPOINTS], const Spline *spline, double speed);

// Linear interpolation of the keypoints to dense waypoints. Fails when a keypoint is not finite,
// or the chunk has no length or more than 1000 km.
Status reference_from_chunk(Reference *reference, const Keypoint chunk[CHUNK_KEYPOINTS]);

double reference_length(const Reference *reference);
double reference_duration(const Reference *reference); // s, at the reference speeds

// ---- Carrot -----------------------------------------------------------------------------------

// Which point ahead on the reference the controller chases.
typedef struct CarrotParams {
    double lookahead_time; // s: the carrot runs speed * time ahead …
    double lookahead_min;  // m: … but never less than this
    double lookahead_max;  // m: … nor more than this
    double window;         // m: how far ahead the nearest point is searched for
} CarrotParams;

typedef struct Carrot {
    double arc;      // m: progress, the arc length of the nearest point; never decreases
    int segment;     // the segment of the reference it lies on
    double distance; // m, of the vehicle from that nearest point
    int ahead;       // the segment the chased point lies on
} Carrot;

// The carrot whose progress is the point of the reference nearest to a position, among those with
// an arc length in [from, to].
Carrot carrot_locate(const Reference *reference, Vec3 pos_world, double from, double to);

// Advances the progress to the nearest point ahead and returns the setpoint to chase.
Setpoint carrot_advance(Carrot *carrot, const CarrotParams *params, const Reference *reference,
                        Vec3 pos_world);

// ---- Presets ----------------------------------------------------------------------------------

typedef struct ControlPreset {
    const char *name;
    Se3Gains gains;
    CarrotParams carrot;
} ControlPreset;

// "race" or "soft". The message of a failure names the known ones.
Status control_preset(ControlPreset *preset, const char *name);

#endif
