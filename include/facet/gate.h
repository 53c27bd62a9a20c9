// The single gate: a quadrotor flies through one of a venue's gates by its camera and a gyro.
//
// Paper, Section 4.2 and Appendix C. A task is (venue, colour, gate, side). A pilot is shown a
// frame every 1/rate s and answers with T = 16 offsets: where the target gate will be, seen from
// where the expert would be at 0, 0.1, ..., 1.5 s from now, all in the body's axes of now. The
// first offset and the gyro's attitude give a position in the world, through the known place of
// the gate; how the offsets shrink gives the approach its speed. The same approach flown on the
// true state is the expert.
#ifndef FACET_GATE_H
#define FACET_GATE_H

#include <facet/camera.h>
#include <facet/control.h>
#include <facet/factor.h>
#include <facet/gyro.h>
#include <facet/quad.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GATE_HORIZON = 16, GATE_DIM = 3 };
#define GATE_CHUNK_STEP 0.1 // s between offsets

// ---- The world --------------------------------------------------------------------------------

// All venues of a folder of courses, the vehicle, the soft preset, and the task's settings.
typedef struct GateWorld {
    FactorSpace *space; // venue, color, gate, side ("+1", "-1"), in that order
    int venue_count;
    Venue **venues; // in the space's order
    QuadModel model;
    ControlPreset preset;
    Camera camera;
    GyroParams gyro;
    double distance_min, distance_max; // m, of the spawn from the gate: 3 and 10
    double azimuth_max;                // rad off the gate's axis: 45 degrees
    double heading_error;              // rad, the most that the spawn looks away from the gate
    double speed;                      // m/s, of the expert's approach
    double rate;                       // Hz, frames
    double time_out;                   // s
} GateWorld;

// NULL takes the courses that ship with Facet.
Status gate_world_create(GateWorld **world, const char *courses);
void gate_world_destroy(GateWorld *world);

// ---- Trials -----------------------------------------------------------------------------------

// A spawn: drawn from (seed, number), rejected until the way from it to the gate is free.
typedef struct GateTrial {
    FactorTask task; // complete
    QuadState start;
    uint64_t seed, number; // also of the gyro's and the camera's noise
} GateTrial;

Status gate_trial(GateTrial *trial, const GateWorld *world, FactorTask task, uint64_t seed,
                  uint64_t number);

// What a pilot is shown, and may know.
typedef struct GateView {
    const uint8_t *rgb; // camera.height rows of camera.width pixels
    const GateTrial *trial;
    int frame;              // from 0
    const QuadState *truth; // for the expert and for labels alone
} GateView;

// Answers with offsets [GATE_HORIZON][GATE_DIM].
typedef struct GatePilot {
    Status (*plan)(double *offsets, void *context, const GateView *view);
    void *context;
    bool sees; // false: no frame is drawn for it
} GatePilot;

// The pilot that flies by the true state.
GatePilot gate_expert(const GateWorld *world);

// What the expert would do from a state: the labels of training.
void gate_expert_offsets(double *offsets, const GateWorld *world, FactorTask task,
                         const QuadState *state);

typedef enum GateEnd {
    GATE_SUCCESS, // through the opening, in the right direction
    GATE_CRASH,   // frame, ground, obstacle or lost attitude
    GATE_TIMEOUT,
} GateEnd;

const char *gate_end_name(GateEnd end); // "success", "crash", "timeout"

typedef struct GateFlight {
    GateEnd end;
    double duration;       // s
    double miss;           // m from the centre at the crossing, or the least distance
    double estimate_error; // m, mean distance of the position estimates from the truth
    int frames;
} GateFlight;

// What a caller may want to keep of a flight; NULL members are left out.
typedef struct GateWatch {
    // Called at each frame, before the vehicle moves on.
    Status (*frame)(void *context, const GateView *view, const double *offsets, Vec3 estimate);
    void *context;
} GateWatch;

// Flies one trial. `watch` may be NULL. Allocates nothing but the frame.
Status gate_fly(GateFlight *flight, const GateWorld *world, const GateTrial *trial,
                const GatePilot *pilot, const GateWatch *watch);

#ifdef __cplusplus
}
#endif

#endif
