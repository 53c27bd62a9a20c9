// Closed-loop flights: a plan, the carrot, the controller, the quadrotor, and the referee.
//
// Flying allocates nothing: facet_expert_chunk and facet_flight_repair allocate while they work,
// and facet_speed_map_create what it gives. A run points to its setup, the plan and all that the
// setup points to, which must outlive it and stay as they are. Different runs may be stepped by
// different threads at once.
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

// ---- Repair -----------------------------------------------------------------------------------

// What a plan must keep, and how far it may be changed for it.
typedef struct FacetRepairOptions {
    double margin;       // share of the half-width that a crossing in still air keeps free, [0, 1)
    double centre;       // crossings farther out than this share of it are centred as well; 1: none
    int flights;         // in gusts, from spread starts, that the plan is checked with; 0 for none
    int misses;          // of those, that may miss a gate
    double gusts;        // m/s, their standard deviation on each axis
    double start_spread; // m, standard deviation of the start's offset on each axis
    double start_least;  // of the start's speed, as a share; the most is 1
    uint64_t seed;       // of gusts and starts
    int steps;           // of Gauss-Newton, at each speed
    double shift_max;    // m that a keypoint may move
    double speed_least;  // share of its speed that a keypoint keeps, (0, 1]
    const FacetProgress *progress; // asked between flights whether to go on; NULL: nobody watches
} FacetRepairOptions;

FACET_API FacetRepairOptions facet_repair_defaults(void);

typedef struct FacetRepair {
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS]; // repaired; where it could not be, the best found
    bool good;                                 // it keeps the margin and passes the check
    bool changed;
    double shift;           // m, the largest of a keypoint
    double speed_factor;    // the least share of its speed that a keypoint keeps
    FacetFlight raw, still; // in still air from the start: before and after, single precision
    int raw_clear, clear;   // flights of the check through all gates: before and after
    int steps;              // of Gauss-Newton taken
    long flown;             // flights that it took
    char reason[120];       // why it is not good; empty when it is
} FacetRepair;

// Changes a plan as little as needed so that a vehicle flies it through every gate: first its path,
// by Gauss-Newton steps through the simulator that centre the crossings that would miss, and only
// where that is not enough its speed around those gates. It knows what the planner was not told:
// the course and a simulator of the vehicle. `start` is where the flight begins. Not being able to
// is data; fails when an option is out of range, without memory, when nothing can fly the plan, or
// when its options' progress says stop. What is refused gives an empty repair. Allocates while it
// works.
FACET_API FacetStatus facet_flight_repair(FacetRepair *out, const FacetFlightSetup *setup,
                                          const FacetKeypoint raw[FACET_CHUNK_KEYPOINTS],
                                          FacetQuadState start, const FacetRepairOptions *options,
                                          FacetPool *pool);

#ifdef __cplusplus
}
#endif

#endif
