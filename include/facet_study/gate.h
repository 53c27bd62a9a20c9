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

#include <facet/api.h>
#include <facet/control.h>
#include <facet/factor.h>
#include <facet/flight.h>
#include <facet/policy.h>
#include <facet/pool.h>
#include <facet/progress.h>
#include <facet/quad.h>
#include <facet_study/camera.h>
#include <facet_study/train.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FACET_GATE_HORIZON = 16, FACET_GATE_DIM = 3 };
#define FACET_GATE_CHUNK_STEP    0.1  // s between offsets
#define FACET_GATE_RATE          10.0 // Hz, frames
#define FACET_GATE_BODY_RADIUS   0.12 // m, of the ball that must not touch anything
#define FACET_GATE_WAY_RADIUS    0.45 // m, that the expert's way keeps from anything solid
#define FACET_GATE_FIX_SHARE     0.25 // of its distance that a fix is expected to be off
#define FACET_GATE_FIX_FLOOR     1.5  // m, that a fix is off at least
#define FACET_GATE_OBSERVER_TIME 0.3  // s, time constant of the position's observer
#define FACET_GATE_VELOCITY_TIME 4.0  // s, of what it knows of the velocity

enum { FACET_GATE_REFUSE_MOST = 3 }; // fixes in a row

// The noise of a gyro: white on the rate, and a bias that walks.
typedef struct FacetGyroParams {
    const char *name;
    double noise_density; // rad/s/sqrt(Hz)
    double bias_walk;     // rad/s^2/sqrt(Hz)
    double bias_start;    // rad/s, standard deviation of the bias at the start on each axis
} FacetGyroParams;

// The errors of a beacon, which tells the position in the axes of a venue's own survey.
typedef struct FacetBeaconParams {
    double bias;   // m, standard deviation on each axis of what stays for a flight: 0.5
    double noise;  // m, standard deviation on each axis of each reading: 0.3
    double survey; // m, how far the origins of the venues' axes lie from a common one: 4; with 0
                   // all venues have the same
} FacetBeaconParams;

// ---- The world --------------------------------------------------------------------------------

// The order of the factors in a world's space.
enum {
    FACET_GATE_FACTOR_VENUE,
    FACET_GATE_FACTOR_COLOR,
    FACET_GATE_FACTOR_GATE,
    FACET_GATE_FACTOR_SIDE,
    FACET_GATE_FACTORS
};

// All venues of a folder of courses, the vehicle, the soft preset, and the task's settings.
// Constant while it is flown in; any number of threads may share it.
typedef struct FacetGateWorld {
    FacetFactorSpace *space; // venue, color, gate, side ("+1", "-1"), in that order
    int venue_count;
    FacetVenue **venues; // in the space's order
    FacetQuadModel model;
    FacetControlPreset preset;
    FacetCamera camera;
    FacetGyroParams gyro;
    FacetBeaconParams beacon;
    double distance_min, distance_max; // m, of the spawn from the gate: 3 and 10
    double azimuth_max;                // rad off the gate's axis: 45 degrees
    double rise_max;                   // m, of the spawn above or below the gate's centre: 0.7
    double heading_error;              // rad, the most that the spawn looks away: 35 degrees, or
                                       // what the venues' file says
    double speed;                      // m/s, of the expert's approach: 2
    double rate;                       // Hz, frames: 10
    double time_out;                   // s: 8
    double observer_time; // s, time constant of the position's observer: 0.3; at least a tenth of
                          // that of a frame
    double velocity_time; // s, where fixes are weighed, of what it knows of the velocity: 4; at
                          // least that of a frame, or 0, which does not forget it
    double fix_share; // of its distance that a fix is off: 0.25; 0 for one weight at all distances
    double fix_floor; // m, that a fix is off at least, where fixes are weighed, by fix_share or
                      // since a pilot says how sure it is: 1.5
    double refuse_sigma; // then a fix farther from the estimate than so many times what is expected
                         // is refused; 0 takes all: 0
    int refuse_most;     // at most so many in a row: 3
} FacetGateWorld;

// NULL takes the courses that ship with Facet. Every venue has the same gates and colours.
FACET_API FacetStatus facet_gate_world_create(FacetGateWorld **world, const char *courses);
FACET_API void facet_gate_world_destroy(FacetGateWorld *world);

FACET_API const FacetVenue *facet_gate_venue(const FacetGateWorld *world, FacetFactorTask task);

// The gate of a complete task, its normal turned along the flight.
FACET_API FacetCourseGate facet_gate_target(const FacetGateWorld *world, FacetFactorTask task);

// Whether a motion passes the square opening of a gate along its normal. `miss` gets the distance
// from the centre where the gate's plane is crossed that way; else it is left as it is.
FACET_API bool facet_gate_passed(double *miss, const FacetCourseGate *gate, double half_width,
                                 FacetVec3 before, FacetVec3 after);

// ---- Trials -----------------------------------------------------------------------------------

// What makes a flight harder than a trial is. All zero for none.
typedef struct FacetGateDisturbance {
    double gust_speed; // m/s, standard deviation of the wind on each axis
    double fix_error;  // standard deviation of a wandering error of the position fix, as a share
                       // of the distance from the gate
    double time;       // s, correlation time of both
} FacetGateDisturbance;

// What a flight is for. Those of one purpose have numbers that no other has: with whatever seed,
// nothing that a policy is judged by was drawn for its training, or for a choice before it.
typedef enum FacetGatePurpose {
    FACET_GATE_FOR_TRAINING,   // the expert's flights and, with seeds of their own, DAgger's
    FACET_GATE_FOR_VALIDATION, // trials that settings are chosen by
    FACET_GATE_FOR_RESULTS,    // the trials of a table
    FACET_GATE_FOR_SHOW,       // `facet gate`
    FACET_GATE_FOR_CERTIFICATE,
    FACET_GATE_PURPOSES,
} FacetGatePurpose;

// The number of flight `index` (less than 2^40) of a purpose.
FACET_API uint64_t facet_gate_number(FacetGatePurpose purpose, uint64_t index);

// A spawn: drawn from (seed, number), rejected until the way from it to the gate is free and the
// gate's centre is in the frame.
typedef struct FacetGateTrial {
    FacetFactorTask task; // complete
    FacetQuadState start; // level and at rest
    uint64_t look;        // 0, or the number of another look of the venue (FacetCameraShot.look)
    uint64_t seed,
        number; // also of the noise of gyro, beacon and camera, and the other gates' colours
    FacetGateDisturbance disturbance;
} FacetGateTrial;

// Fails when the task is not complete, or no spawn of it has a free way.
FACET_API FacetStatus facet_gate_trial(FacetGateTrial *trial, const FacetGateWorld *world,
                                       FacetFactorTask task, uint64_t seed, uint64_t number);

// The colours of the gates in a trial: the target's is the task's, the others have other ones.
FACET_API void facet_gate_paint(FacetCameraShot *shot, const FacetGateWorld *world,
                                const FacetGateTrial *trial);

enum { FACET_GATE_SENSED = 96 };

// What a pilot is shown, and may know.
typedef struct FacetGateView {
    const uint8_t *rgb; // camera.height rows of camera.width pixels; NULL for a pilot without sight
    const FacetGateTrial *trial;
    int frame;                   // from 0
    const FacetQuadState *truth; // for the expert and for labels alone
    double variance;             // for a watch: what the pilot said of this frame's plan, or 0
    const double *sensed; // [FACET_GATE_SENSED], of beacon and gyro: where marks of the venue's
                          // survey are seen from the vehicle, asinh(x / 1 m) in the body's axes
} FacetGateView;

// Answers with offsets [FACET_GATE_HORIZON][FACET_GATE_DIM].
typedef struct FacetGatePilot {
    FacetStatus (*plan)(double *offsets, void *context, const FacetGateView *view);
    void *context;
    bool sees;              // false: no frame is drawn for it
    const double *variance; // m^2, the expected squared error of the last plan's first offset, with
                            // which its fix is weighed; NULL: all fixes weigh the same
} FacetGatePilot;

// The pilot that flies by the true state.
FACET_API FacetGatePilot facet_gate_expert(const FacetGateWorld *world);

// What the expert would do from a state: the labels of training.
FACET_API void facet_gate_expert_offsets(double *offsets, const FacetGateWorld *world,
                                         FacetFactorTask task, const FacetQuadState *state);

typedef enum FacetGateEnd {
    FACET_GATE_SUCCESS, // through the opening, in the right direction
    FACET_GATE_CRASH,   // frame, ground, obstacle or lost attitude
    FACET_GATE_TIMEOUT,
    FACET_GATE_ENDS,
} FacetGateEnd;

FACET_API const char *facet_gate_end_name(FacetGateEnd end); // "success", "crash", "timeout"

typedef struct FacetGateFlight {
    FacetGateEnd end;
    double duration;       // s
    double miss;           // m from the centre at the crossing, or the least distance
    double estimate_error; // m, mean distance of the position estimates from the truth, at frames
    int frames;
    int refused; // fixes
} FacetGateFlight;

// What a caller may want to keep of a flight.
typedef struct FacetGateWatch {
    // Called at each frame, before the vehicle moves on. `estimate` is the position flown by.
    FacetStatus (*frame)(void *context, const FacetGateView *view, const double *offsets,
                         FacetVec3 estimate);
    void *context;
    bool sees; // true: frames are drawn for it even if the pilot does without
} FacetGateWatch;

// Flies one trial. `watch` may be NULL. Allocates nothing but the frame. Fails when the pilot or
// the watch does, or an offset is not finite.
FACET_API FacetStatus facet_gate_fly(FacetGateFlight *flight, const FacetGateWorld *world,
                                     const FacetGateTrial *trial, const FacetGatePilot *pilot,
                                     const FacetGateWatch *watch);

// The frame [height][width][3] that a pilot of this trial sees first.
FACET_API void facet_gate_first_frame(uint8_t *rgb, const FacetGateWorld *world,
                                      const FacetGateTrial *trial);

// ---- Many trials ------------------------------------------------------------------------------

// Makes a pilot for each thread, since a pilot has room for one flight at a time. `release` may be
// NULL.
typedef struct FacetGateCrew {
    FacetStatus (*make)(FacetGatePilot *pilot, void *context, int worker);
    void (*release)(FacetGatePilot *pilot, void *context);
    void *context;
} FacetGateCrew;

FACET_API FacetGateCrew
facet_gate_expert_crew(const FacetGateWorld *world); // must not outlive the world

// Flies `count` trials of a purpose, the i-th with the task tasks[i % task_count], in parallel: the
// same flights at any number of threads. Trial i has watches[i] (NULL for none), called by
// whichever thread flies it. Fails with the first trial's failure. The stage is "flights". Both
// here and below pool and progress may be NULL.
FACET_API FacetStatus facet_gate_evaluate(FacetGateFlight *flights, const FacetGateWorld *world,
                                          const FacetGateCrew *crew, const FacetFactorTask *tasks,
                                          int task_count, int count, FacetGatePurpose purpose,
                                          uint64_t seed, const FacetGateWatch *watches,
                                          FacetPool *pool, const FacetProgress *progress);

typedef struct FacetGateTally {
    int trials;
    int ends[FACET_GATE_ENDS];                          // flights that ended so
    double low[FACET_GATE_ENDS], high[FACET_GATE_ENDS]; // 95 % interval of each share (Wilson)
    double duration, miss; // s and m, means over the successes; 0 without any
    double estimate_error; // m, mean over all flights
    int frames, refused;   // of all flights: plans, and fixes that were refused
} FacetGateTally;

FACET_API FacetGateTally facet_gate_tally(const FacetGateFlight *flights, int count);
FACET_API void facet_gate_tally_intervals(FacetGateTally *tally); // from the counts

// ---- Collecting -------------------------------------------------------------------------------

// Frames with the expert's labels. A pilot flies and the expert labels every frame (DAgger; Ross et
// al., 2011), or the expert flies itself, disturbed so that it shows how to recover.
typedef struct FacetGateCollection {
    const FacetFactorTask *tasks; // flight i has the task tasks[i % task_count]
    int task_count;
    int flights;
    uint64_t seed;
    double expert_share;              // of the flights, flown by the expert; 1 without a crew
    FacetGateDisturbance disturbance; // of the expert's flights
    double start_speed;               // m/s, the most that an expert's flight starts with
    double start_tilt;                // rad, the most that it is tilted at the start
    double redrawn;                   // share of the flights in a venue with another look
    double near;                      // share of the flights that start 1 to 3 m from the gate
    int shrink;                       // frames are averaged over shrink x shrink pixels
    bool blind;                       // no frames are drawn
    FacetRanks *ranks;                // share the flights; the sink of rank 0 gets them all
} FacetGateCollection;

FACET_API FacetGateCollection facet_gate_collection_defaults(void); // one flight, no task

// The frames of one flight, in order: rgb [count][height][width][3] after shrinking, offsets
// [count][FACET_GATE_HORIZON][FACET_GATE_DIM], sensed [count][FACET_GATE_SENSED].
typedef struct FacetGateFrames {
    FacetFactorTask task;
    int flight, count;
    int width, height;  // pixels; 0 of a blind collection
    const uint8_t *rgb; // NULL of a blind collection
    const double *offsets;
    const double *sensed;
    bool expert; // flew it
    FacetGateFlight result;
} FacetGateFrames;

// Where the frames go: called for one flight after the other, in order, from the calling thread.
typedef struct FacetGateSink {
    FacetStatus (*add)(void *context, const FacetGateFrames *frames);
    void *context;
} FacetGateSink;

// Flies and labels; the same frames at any number of threads. Frames from behind the gate are left
// out: it is out of sight for good. Without a crew (NULL) the expert flies all. All fixes have one
// weight here, and the observer's time is 0.5 s, whatever the world says. The stage is "flights".
FACET_API FacetStatus facet_gate_collect(const FacetGateSink *sink, const FacetGateWorld *world,
                                         const FacetGateCollection *collection,
                                         const FacetGateCrew *crew, FacetPool *pool,
                                         const FacetProgress *progress);

// The same into a file of facet_study/image_set.h, of which a stop leaves nothing.
FACET_API FacetStatus facet_gate_collect_file(const char *path, const FacetGateWorld *world,
                                              const FacetGateCollection *collection,
                                              const FacetGateCrew *crew, FacetPool *pool,
                                              const FacetProgress *progress);

// ---- Policies ---------------------------------------------------------------------------------

enum { FACET_GATE_SAMPLES_MAX = 32 };

// Who flies: a policy that sees, or the expert. What the policy never saw of a task, and the factor
// named by `open`, is the null token to it.
//
// With a policy beside it, which is told what the beacon senses, both denoise one plan by the
// prediction  weight s_policy + (1 - weight) s_beside  (Modality-Composable Diffusion Policy),
// each composed over its own factors. With the weight 0 no frame is drawn.
//
// With several samples of a frame the offsets are their mean, and the pilot says how far they are
// apart: the variance of the first offset, over the square of the temperature, which had narrowed
// the samples by itself.
typedef struct FacetGateFlyer {
    const FacetGateWorld *world;
    const FacetPolicy *policy; // NULL for the expert
    FacetPolicySampling how;   // its seed and numbers follow from the trial
    const char *open;          // a factor that is never shown, or NULL
    int samples;               // of a frame, up to FACET_GATE_SAMPLES_MAX; 0 for 1
    const FacetPolicy *beside; // NULL for none
    double weight;             // of `policy` beside it, from 0 to 1
} FacetGateFlyer;

// Whether a policy can fly in this world: it sees the world's frames, has the world's factors, and
// answers with offsets. The refusal says what it is instead.
FACET_API FacetStatus facet_gate_check_policy(const FacetGateWorld *world,
                                              const FacetPolicy *policy);

// Whether a policy can fly beside another: it takes what the beacon senses, and has the other's
// factors, training tasks, ranges, noise and way of sampling.
FACET_API FacetStatus facet_gate_check_beside(const FacetPolicy *policy, const FacetPolicy *beside,
                                              const FacetPolicySampling *how);

FACET_API FacetGateCrew facet_gate_flyer_crew(FacetGateFlyer *flyer); // must not outlive the flyer

// Which noise of the trial's seed the plan at a frame starts from (FacetPolicySampling.numbers), of
// several samples the first.
FACET_API uint64_t facet_gate_plan_number(const FacetGateTrial *trial, int frame);

// ---- Training -----------------------------------------------------------------------------------

enum { FACET_GATE_ROUNDS_MAX = 8 };

typedef struct FacetGateTraining {
    FacetTrainOptions train; // `updates` in all; `until` is not used
    int rounds;              // of DAgger
    int flights;             // a round
    double expert_share;     // of the flights of a round, flown by the expert
    double redrawn;          // of the flights of a round, in a venue with another look
    double near;             // of the flights of a round, 1 to 3 m from the gate at the start
} FacetGateTraining;

// Trains a policy on the expert's frames in `demos` with rounds of DAgger on the tasks it is
// trained on, and writes it to `out`. The stages are "train" and, for the flights of a round,
// "dagger". A stop keeps what is there, with a line that says so; with `resume` the training goes
// on.
FACET_API FacetStatus facet_gate_train(FacetTrainSummary *summary, const FacetGateWorld *world,
                                       const char *demos, const char *out,
                                       const FacetGateTraining *training, FacetPool *pool,
                                       const FacetProgress *progress);

// Whether the training of `out` has ended and left nothing behind: the policy is there, and neither
// its checkpoint nor frames of a round. One that was ended just before its last files were removed
// is not complete; with `resume` facet_gate_train removes them.
FACET_API bool facet_gate_train_is_complete(const char *out);

// How a policy that flies by the beacon is trained.
typedef struct FacetGateBeaconTraining {
    FacetTrainOptions train; // how long, how large, the seed; `drop` NULL for that of `like`
    int flights;             // of the expert
    double seconds;          // s, that each takes at most
    double near;             // of the flights, 1 to 3 m from the gate at the start
} FacetGateBeaconTraining;

// Trains the policy that stands beside `like`: on its training tasks, with its method, its losses,
// its ranges of offsets and its noise, from the numbers that beacon and gyro tell instead of
// frames. The expert's flights are flown for it, without frames, and are not kept. The stages are
// "flights" and "train". It stops and resumes as facet_policy_train does.
FACET_API FacetStatus facet_gate_train_beacon(FacetTrainSummary *summary,
                                              const FacetGateWorld *world, const FacetPolicy *like,
                                              const char *out,
                                              const FacetGateBeaconTraining *training,
                                              FacetPool *pool, const FacetProgress *progress);

#ifdef __cplusplus
}
#endif

#endif
