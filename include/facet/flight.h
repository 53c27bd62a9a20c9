// Closed-loop flights: a plan, the carrot, the controller, the quadrotor, and the referee.
//
// Flying allocates nothing: facet_expert_chunk allocates while it works, and facet_speed_map_create
// what it gives. A run points to its setup, the plan and all that the setup points to, which must
// outlive it and stay as they are. Different runs may be stepped by different threads at once.
#ifndef FACET_FLIGHT_H
#define FACET_FLIGHT_H

#include <facet/api.h>
#include <facet/control.h>
#include <facet/course.h>
#include <facet/pool.h>
#include <facet/progress.h>
#include <facet/quad.h>
#include <facet/types.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- One flight -------------------------------------------------------------------------------

// Wind that changes: a first-order Gauss-Markov process on each axis.
typedef struct FacetGusts {
    double speed; // m/s, standard deviation on each axis; 0 is still air
    double time;  // s, correlation time
    uint64_t seed, stream;
} FacetGusts;

// What a flight takes place in. All of it is constant during the flight.
typedef struct FacetFlightSetup {
    const FacetQuadModel *model;
    const FacetControlPreset *preset;
    const FacetArena *arena;
    const FacetTrack *track;
    double half_width; // m
    double give_up;    // m: a gate missed by more than this ends the flight; 0 flies on
    FacetGusts gusts;
} FacetFlightSetup;

typedef enum FacetFlightEnd {
    FACET_FLIGHT_FINISHED, // reached the end of its plan
    FACET_FLIGHT_CRASHED,
    FACET_FLIGHT_TIMED_OUT,
    FACET_FLIGHT_GIVEN_UP, // missed a gate by more than the setup allows
} FacetFlightEnd;

typedef struct FacetFlight {
    FacetFlightEnd end;
    FacetCrashKind crash;
    int gate_count, passed;
    FacetPassage gates[FACET_TRACK_GATES_MAX];
    double duration;   // s
    double speed_mean; // m/s, flown
    double error_mean; // m, distance from the plan's path
    double error_max;  // m
    long steps;
} FacetFlight;

// A record of a flight at equal steps of time, when the caller wants one. The arrays are the
// caller's, of `capacity` each; what comes when they are full is left out.
typedef struct FacetFlightTrace {
    double interval; // s between samples, at least a simulation step
    int capacity, count;
    double *times; // s
    FacetQuadState *states;
    double *arcs; // m, progress along the plan
} FacetFlightTrace;

// A flight in progress, for a caller that steps it itself.
typedef struct FacetFlightRun {
    const FacetFlightSetup *setup;
    const FacetReference *plan;
    FacetQuadState state;
    FacetCarrot carrot;
    FacetReferee referee;
    FacetVec3 wind; // m/s
    FacetRng rng;
    long limit;             // steps until it times out
    double path, error_sum; // m
    FacetFlight flight;     // so far; facet_flight_result completes it
} FacetFlightRun;

// Puts the vehicle at the start of a run. The run is the caller's and needs no end.
FACET_API void facet_flight_begin(FacetFlightRun *run, const FacetFlightSetup *setup,
                                  const FacetReference *plan, FacetQuadState start);

// One step of the model, 1/600 s in the study. False when the flight is over: at the end of its
// plan, by a crash, or after twice the plan's duration plus two seconds.
FACET_API bool facet_flight_step(FacetFlightRun *run);

// Adds the state of a run to a record if a sample is due. NULL records nothing.
FACET_API void facet_flight_record(FacetFlightTrace *trace, const FacetFlightRun *run);

// Goes on along another plan, from the point of it that is nearest at about the same progress.
FACET_API void facet_flight_replan(FacetFlightRun *run, const FacetReference *plan);

// The outcome of a run that is over, or of the part that is flown.
FACET_API FacetFlight facet_flight_result(const FacetFlightRun *run);

// All of it at once: flies a plan from a state to the end. `trace` may be NULL.
FACET_API FacetFlight facet_flight_fly(const FacetFlightSetup *setup, const FacetReference *plan,
                                       FacetQuadState start, FacetFlightTrace *trace);

// On the first waypoint of a plan, moving along it at a speed (m/s), heading along it.
FACET_API FacetQuadState facet_flight_start(const FacetQuadModel *model, const FacetReference *plan,
                                            double speed);

// ---- Many flights -----------------------------------------------------------------------------

// The same closed loop, eight flights at a time in single precision. Lanes do not see each other,
// so what a lane gives does not depend on its neighbours, on how many lanes are in use, or on
// threads. facet_flight_fly in double is the reference; the tests hold this one to it. Single
// precision places a vehicle to about 1e-7 of its distance from the origin, so arenas should be
// hundreds of metres at most.

// One flight of many: what facet_flight_fly gets, but for the parts that all flights share.
typedef struct FacetFlightPlan {
    const FacetTrack *track;
    double half_width; // m
    double give_up;    // m: a gate missed by more than this ends the flight; 0 flies on
    FacetGusts gusts;
    const FacetReference *reference;
    FacetQuadState start;
} FacetFlightPlan;

// Flies every plan as facet_flight_fly does: flights[i] is the outcome of plans[i]. A lane whose
// flight has ended takes the next plan, so that all eight stay busy. Works on the calling thread
// alone; several threads may each fly a part of the plans. Takes about 300 KB of stack.
FACET_API void facet_flight_fly_batch(FacetFlight *flights, const FacetQuadModel *model,
                                      const FacetControlPreset *preset, const FacetArena *arena,
                                      const FacetFlightPlan *plans, int count);

// ---- The expert -------------------------------------------------------------------------------

// The expert's command from `start` (the track's own, or where the vehicle is): the spline through
// the rest of the track's path, at one speed (m/s).
FACET_API FacetStatus facet_expert_chunk(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS],
                                         const FacetTrack *track, FacetVec3 start, double speed);

typedef struct FacetSpeedCell {
    bool feasible;
    double speed;      // m/s, the highest feasible; 0 when there is none
    double best_ratio; // the least worst miss over the half-width, over all candidates
} FacetSpeedCell;

// The speed map of a course: cells[track * openings + opening]. The cells are the map's, and go
// with its destroy.
typedef struct FacetSpeedMap {
    int tracks, openings;
    FacetSpeedCell *cells;
} FacetSpeedMap;

// Searches every cell: the stage "speed map". A failure leaves nothing to destroy.
FACET_API FacetStatus facet_speed_map_create(FacetSpeedMap *map, const FacetCourse *course,
                                             const FacetQuadModel *model,
                                             const FacetControlPreset *preset, FacetPool *pool,
                                             const FacetProgress *progress);
FACET_API void facet_speed_map_destroy(FacetSpeedMap *map);
FACET_API const FacetSpeedCell *facet_speed_map_at(const FacetSpeedMap *map, FacetCourseTask task);

#ifdef __cplusplus
}
#endif

#endif
