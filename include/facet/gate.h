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
#include <facet/flight.h>
#include <facet/gyro.h>
#include <facet/policy.h>
#include <facet/pool.h>
#include <facet/progress.h>
#include <facet/quad.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GATE_HORIZON = 16, GATE_DIM = 3 };
#define GATE_CHUNK_STEP  0.1  // s between offsets
#define GATE_BODY_RADIUS 0.12 // m, of the ball that must not touch anything
#define GATE_WAY_RADIUS  0.45 // m, that the expert's way keeps from anything solid

// ---- The world --------------------------------------------------------------------------------

// The order of the factors in a world's space.
enum { GATE_FACTOR_VENUE, GATE_FACTOR_COLOR, GATE_FACTOR_GATE, GATE_FACTOR_SIDE, GATE_FACTORS };

// All venues of a folder of courses, the vehicle, the soft preset, and the task's settings.
// Constant while it is flown in; any number of threads may share it.
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
    double rise_max;                   // m, of the spawn above or below the gate's centre: 0.7
    double heading_error;              // rad, the most that the spawn looks away: 35 degrees
    double speed;                      // m/s, of the expert's approach: 2
    double rate;                       // Hz, frames: 10
    double time_out;                   // s: 8
    double observer_time;              // s, time constant of the position's observer: 0.5
} GateWorld;

// NULL takes the courses that ship with Facet. Every venue has the same gates and colours.
Status gate_world_create(GateWorld **world, const char *courses);
void gate_world_destroy(GateWorld *world);

const Venue *gate_venue(const GateWorld *world, FactorTask task);

// The gate of a complete task, its normal turned along the flight.
Gate gate_target(const GateWorld *world, FactorTask task);

// Whether a motion passes the square opening of a gate along its normal. `miss` gets the distance
// from the centre where the gate's plane is crossed that way; else it is left as it is.
bool gate_passed(double *miss, const Gate *gate, double half_width, Vec3 before, Vec3 after);

// ---- Trials -----------------------------------------------------------------------------------

// What makes a flight harder than a trial is. All zero for none.
typedef struct GateDisturbance {
    double gust_speed; // m/s, standard deviation of the wind on each axis
    double fix_error;  // standard deviation of a wandering error of the position fix, as a share
                       // of the distance from the gate
    double time;       // s, correlation time of both
} GateDisturbance;

// A spawn: drawn from (seed, number), rejected until the way from it to the gate is free and the
// gate's centre is in the frame.
typedef struct GateTrial {
    FactorTask task; // complete
    QuadState start; // level and at rest
    uint64_t look;   // 0, or the number of another look of the venue (CameraShot.look)
    uint64_t seed,
        number; // also of the gyro's and the camera's noise, and the other gates' colours
    GateDisturbance disturbance;
} GateTrial;

// Fails when the task is not complete, or no spawn of it has a free way.
Status gate_trial(GateTrial *trial, const GateWorld *world, FactorTask task, uint64_t seed,
                  uint64_t number);

// The colours of the gates in a trial: the target's is the task's, the others have other ones.
void gate_paint(CameraShot *shot, const GateWorld *world, const GateTrial *trial);

// What a pilot is shown, and may know.
typedef struct GateView {
    const uint8_t *rgb; // camera.height rows of camera.width pixels; NULL for a pilot without sight
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
    GATE_ENDS,
} GateEnd;

const char *gate_end_name(GateEnd end); // "success", "crash", "timeout"

typedef struct GateFlight {
    GateEnd end;
    double duration;       // s
    double miss;           // m from the centre at the crossing, or the least distance
    double estimate_error; // m, mean distance of the position estimates from the truth, at frames
    int frames;
} GateFlight;

// What a caller may want to keep of a flight.
typedef struct GateWatch {
    // Called at each frame, before the vehicle moves on. `estimate` is the position flown by.
    Status (*frame)(void *context, const GateView *view, const double *offsets, Vec3 estimate);
    void *context;
    bool sees; // true: frames are drawn for it even if the pilot does without
} GateWatch;

// Flies one trial. `watch` may be NULL. Allocates nothing but the frame. Fails when the pilot or
// the watch does, or an offset is not finite.
Status gate_fly(GateFlight *flight, const GateWorld *world, const GateTrial *trial,
                const GatePilot *pilot, const GateWatch *watch);

// The frame [height][width][3] that a pilot of this trial sees first.
void gate_first_frame(uint8_t *rgb, const GateWorld *world, const GateTrial *trial);

// ---- Many trials ------------------------------------------------------------------------------

// Makes a pilot for each thread, since a pilot has room for one flight at a time. `release` may be
// NULL.
typedef struct GateCrew {
    Status (*make)(GatePilot *pilot, void *context, int worker);
    void (*release)(GatePilot *pilot, void *context);
    void *context;
} GateCrew;

GateCrew gate_expert_crew(const GateWorld *world); // must not outlive the world

// Flies `count` trials, number i with the task tasks[i % task_count], in parallel: the same
// flights at any number of threads. Trial i has watches[i] (NULL for none), called by whichever
// thread flies it. Fails with the first trial's failure, or when interrupted.
Status gate_evaluate(GateFlight *flights, const GateWorld *world, const GateCrew *crew,
                     const FactorTask *tasks, int task_count, int count, uint64_t seed,
                     const GateWatch *watches, ThreadPool *pool, Progress *progress);

typedef struct GateTally {
    int trials;
    int ends[GATE_ENDS];                    // flights that ended so
    double low[GATE_ENDS], high[GATE_ENDS]; // 95 % interval of each share (Wilson)
    double duration, miss;                  // s and m, means over the successes; 0 without any
    double estimate_error;                  // m, mean over all flights
} GateTally;

GateTally gate_tally(const GateFlight *flights, int count);
void gate_tally_intervals(GateTally *tally); // from the counts

// ---- Collecting -------------------------------------------------------------------------------

// Frames with the expert's labels. A pilot flies and the expert labels every frame (DAgger; Ross et
// al., 2011), or the expert flies itself, disturbed so that it shows how to recover.
typedef struct GateCollection {
    const FactorTask *tasks; // flight i has the task tasks[i % task_count]
    int task_count;
    int flights;
    uint64_t seed;
    double expert_share;         // of the flights, flown by the expert; 1 without a crew
    GateDisturbance disturbance; // of the expert's flights
    double start_speed;          // m/s, the most that an expert's flight starts with
    double start_tilt;           // rad, the most that it is tilted at the start
    double redrawn;              // share of the flights in a venue with another look
    int shrink;                  // frames are averaged over shrink x shrink pixels
} GateCollection;

GateCollection gate_collection_defaults(void); // one flight, no task

// The frames of one flight, in order: rgb [count][height][width][3] after shrinking, offsets
// [count][GATE_HORIZON][GATE_DIM].
typedef struct GateFrames {
    FactorTask task;
    int flight, count;
    int width, height; // pixels
    const uint8_t *rgb;
    const double *offsets;
    bool expert; // flew it
    GateFlight result;
} GateFrames;

// Where the frames go: called for one flight after the other, in order, from the calling thread.
typedef struct GateSink {
    Status (*add)(void *context, const GateFrames *frames);
    void *context;
} GateSink;

// Flies and labels; the same frames at any number of threads. Frames from behind the gate are left
// out: it is out of sight for good. Without a crew (NULL) the expert flies all.
Status gate_collect(const GateSink *sink, const GateWorld *world, const GateCollection *collection,
                    const GateCrew *crew, ThreadPool *pool, Progress *progress);

// The same into a file of facet/image_set.h.
Status gate_collect_file(const char *path, const GateWorld *world, const GateCollection *collection,
                         const GateCrew *crew, ThreadPool *pool, Progress *progress);

// ---- Policies ---------------------------------------------------------------------------------

// Who flies: a policy that sees, or the expert. What the policy never saw of a task, and the factor
// named by `open`, is the null token to it.
typedef struct GateFlyer {
    const GateWorld *world;
    const Policy *policy; // NULL for the expert
    PolicySampling how;   // its seed and numbers follow from the trial
    const char *open;     // a factor that is never shown, or NULL
} GateFlyer;

// Whether a policy can fly in this world: it sees the world's frames, has the world's factors, and
// answers with offsets. The refusal says what it is instead.
Status gate_check_policy(const GateWorld *world, const Policy *policy);

GateCrew gate_flyer_crew(GateFlyer *flyer); // must not outlive the flyer

// Which noise of the trial's seed the plan at a frame starts from (PolicySampling.numbers).
uint64_t gate_plan_number(const GateTrial *trial, int frame);

// ---- Training -----------------------------------------------------------------------------------

enum { GATE_ROUNDS_MAX = 8 };

typedef struct GateTraining {
    TrainOptions train;  // `updates` in all; `until` is not used
    int rounds;          // of DAgger
    int flights;         // a round
    double expert_share; // of the flights of a round, flown by the expert
    double redrawn;      // of the flights of a round, in a venue with another look
} GateTraining;

// Trains a policy on the expert's frames in `demos` with rounds of DAgger on the tasks it is
// trained on, and writes it to `out`. With `resume` an interrupted training goes on.
Status gate_train(TrainSummary *summary, const GateWorld *world, const char *demos, const char *out,
                  const GateTraining *training);

#ifdef __cplusplus
}
#endif

#endif
