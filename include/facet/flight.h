// Closed-loop flights: a plan, the carrot, the controller, the quadrotor, and the referee.
#ifndef FACET_FLIGHT_H
#define FACET_FLIGHT_H

#include <facet/control.h>
#include <facet/course.h>
#include <facet/pool.h>
#include <facet/progress.h>
#include <facet/quad.h>
#include <facet/rng.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- One flight -------------------------------------------------------------------------------

// Wind that changes: a first-order Gauss-Markov process on each axis.
typedef struct Gusts {
    double speed; // m/s, standard deviation on each axis; 0 is still air
    double time;  // s, correlation time
    uint64_t seed, stream;
} Gusts;

// The wind after one more interval (s), exactly discretised.
Vec3 gust_next(Vec3 wind, const Gusts *gusts, double interval, Rng *rng);

// What a flight takes place in. All of it is constant during the flight.
typedef struct FlightSetup {
    const QuadModel *model;
    const ControlPreset *preset;
    const Arena *arena;
    const Track *track;
    double half_width; // m
    double give_up;    // m: a gate missed by more than this ends the flight; 0 flies on
    Gusts gusts;
} FlightSetup;

typedef enum FlightEnd {
    FLIGHT_FINISHED, // reached the end of its plan
    FLIGHT_CRASHED,
    FLIGHT_TIMED_OUT,
    FLIGHT_GIVEN_UP, // missed a gate by more than the setup allows
} FlightEnd;

typedef struct Flight {
    FlightEnd end;
    CrashKind crash;
    int gate_count, passed;
    GateResult gates[TRACK_GATES_MAX];
    double duration;   // s
    double speed_mean; // m/s, flown
    double error_mean; // m, distance from the plan's path
    double error_max;  // m
    long steps;
} Flight;

// A record of a flight at equal steps of time, when the caller wants one.
typedef struct FlightTrace {
    double interval; // s between samples, at least a simulation step
    int capacity, count;
    double *times;
    QuadState *states;
    double *arcs; // m, progress along the plan
} FlightTrace;

// A flight in progress, for a caller that steps it itself.
typedef struct FlightRun {
    const FlightSetup *setup;
    const Reference *plan;
    QuadState state;
    Carrot carrot;
    Referee referee;
    Vec3 wind; // m/s
    Rng rng;
    long limit;             // steps until it times out
    double path, error_sum; // m
    Flight flight;          // complete once the run is over
} FlightRun;

void flight_begin(FlightRun *run, const FlightSetup *setup, const Reference *plan, QuadState start);

// One step of the model, 1/600 s in the study. False when the flight is over: at the end of its
// plan, by a crash, or after twice the plan's duration plus two seconds.
bool flight_step(FlightRun *run);

// Adds the state of a run to a record if a sample is due. NULL records nothing.
void flight_record(FlightTrace *trace, const FlightRun *run);

// Goes on along another plan, from the point of it that is nearest at about the same progress.
void flight_replan(FlightRun *run, const Reference *plan);

Flight flight_result(const FlightRun *run);

// All of it at once: flies a plan from a state to the end. `trace` may be NULL.
Flight flight_fly(const FlightSetup *setup, const Reference *plan, QuadState start,
                  FlightTrace *trace);

// On the first waypoint of a plan, moving along it at a speed, heading along it.
QuadState flight_start(const QuadModel *model, const Reference *plan, double speed);

// ---- The expert -------------------------------------------------------------------------------

// The share of a half-width within which the expert wants to cross: the rest is its reserve.
#define EXPERT_RESERVE 0.25

// The expert's command from `start` (the track's own, or where the vehicle is): the spline through
// the rest of the track's path, at one speed.
Status expert_chunk(Keypoint chunk[CHUNK_KEYPOINTS], const Track *track, Vec3 start, double speed);

typedef struct SpeedCell {
    bool feasible;
    double speed;      // m/s, the highest feasible; 0 when there is none
    double best_ratio; // the least worst miss over the half-width, over all candidates
} SpeedCell;

// The highest feasible speed of one task: candidates from the slowest up, then bisection.
SpeedCell expert_search(const FlightSetup *setup, double speed_min, double speed_max);

// The speed map of a course: cells[track * openings + opening].
typedef struct SpeedMap {
    int tracks, openings;
    SpeedCell *cells;
} SpeedMap;

Status speed_map_create(SpeedMap *map, const Course *course, const QuadModel *model,
                        const ControlPreset *preset, ThreadPool *pool, Progress *progress);
void speed_map_destroy(SpeedMap *map);
const SpeedCell *speed_map_at(const SpeedMap *map, CourseTask task);

#ifdef __cplusplus
}
#endif

#endif
