// The state-based race study: tasks of a course, planners that fly them, results, demonstrations.
#ifndef FACET_RACE_H
#define FACET_RACE_H

#include <facet/factor.h>
#include <facet/flight.h>
#include <facet/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- A study ----------------------------------------------------------------------------------

typedef struct RaceOptions {
    const char *courses; // folder; NULL for the one that ships with Facet
    const char *quad;    // JSON file of the vehicle; NULL for the default
    const char *preset;  // of the controller; NULL for "race"
    int threads;         // 0 for all processors
    bool quiet;          // no progress
} RaceOptions;

// A course with its vehicle, controller and speed map. Constant once open, but for the pool.
typedef struct Race {
    Course *course;
    QuadModel model;
    ControlPreset preset;
    SpeedMap speeds;
    ThreadPool *pool;
    FactorSpace *factors; // track, size
} Race;

// Loads the course and searches its speed map.
Status race_open(Race **race, const RaceOptions *options);
void race_close(Race *race);

// The feasible tasks, track by track. `tasks` holds race_task_max; returns how many there are.
int race_task_max(const Race *race);
int race_feasible_tasks(CourseTask *tasks, const Race *race);
int race_feasible_count(const Race *race);

double race_reference_speed(const Race *race, CourseTask task); // m/s
FlightSetup race_setup(const Race *race, CourseTask task);
FactorTask race_factor_task(CourseTask task);

// ---- Planners ---------------------------------------------------------------------------------

// Anything that turns a task into a plan. `plan` may be called from several threads at once.
typedef struct Planner {
    const char *name;
    Status (*plan)(Keypoint chunk[CHUNK_KEYPOINTS], const Race *race, CourseTask task,
                   uint64_t seed, void *context);
    void *context;
} Planner;

// The expert at the speed map's speed.
Planner race_expert(void);

// The policy's task with the names of a course's. Refuses a policy that does not have the factors
// track and size with these names and chunks of 32 keypoints.
Status race_policy_task(FactorTask *out, const Policy *policy, const Race *race, CourseTask task);

// A policy's actions [32][4] as keypoints, and back.
void chunk_from_actions(Keypoint chunk[CHUNK_KEYPOINTS], const double *actions);
void chunk_to_actions(double *actions, const Keypoint chunk[CHUNK_KEYPOINTS]);

// A trained policy as a planner. All plans of the prepared tasks and seeds are sampled in one batch
// beforehand; a plan of another task or seed is sampled when it is asked for, alone and on one
// thread, and is the same as it would be in a batch.
typedef struct PolicyPlanner PolicyPlanner;

// The policy has the factors track and size, with the names of every task prepared, and chunks of
// 32 keypoints. It must outlive the planner. `how` gives mode, sampler, steps and weights; the
// seeds replace its seed, and its numbers must be NULL. With a single seed its path is filled with
// the way of the prepared plans.
Status policy_planner_create(PolicyPlanner **planner, const Policy *policy, const Race *race,
                             const PolicySampling *how, const CourseTask *tasks, int task_count,
                             const uint64_t *seeds, int seed_count);
void policy_planner_destroy(PolicyPlanner *planner);

// The planner lives as long as the PolicyPlanner.
Planner planner_from_policy(const PolicyPlanner *planner);

// Whether a policy was trained on the names of a task's track and size.
bool policy_knows_task(const Policy *policy, const Race *race, CourseTask task);

// ---- Flights ----------------------------------------------------------------------------------

typedef struct RaceResult {
    CourseTask task;
    bool held_out;
    uint64_t seed;
    Flight flight;
    double speed_generated; // m/s, mean over the plan's keypoints
    double speed_reference; // m/s, from the speed map
    double error;           // m, mean distance of the flown path from the expert's path
    Keypoint plan[CHUNK_KEYPOINTS];
} RaceResult;

// Plans and flies one task from its start, at the reference speed, in gusts of this strength.
Status race_fly(RaceResult *result, const Race *race, const Planner *planner, CourseTask task,
                uint64_t seed, double gusts);

// The same with a record of the flight.
Status race_fly_traced(RaceResult *result, FlightTrace *trace, const Race *race,
                       const Planner *planner, CourseTask task, uint64_t seed, double gusts);

// race_fly for many tasks, in parallel. Fails with the first planner's failure.
Status race_fly_all(RaceResult *results, const Race *race, const Planner *planner,
                    const CourseTask *tasks, int count, uint64_t seed, double gusts,
                    Progress *progress);

typedef struct RaceTally {
    int passed, gates;
} RaceTally;

typedef struct RaceTotals {
    RaceTally all, training, held_out;
    int crashes;
} RaceTotals;

RaceTotals race_totals(const RaceResult *results, int count);

// ---- Verification before flight ---------------------------------------------------------------

typedef struct VerifyOptions {
    double margin;      // share of the half-width that a predicted crossing must keep free, [0, 1)
    double speed_floor; // m/s: no keypoint is slowed below it; 0 for the course's least speed
    int tries;          // plans, with the seeds that follow, where slowing does not cure; 1 or more
} VerifyOptions;

VerifyOptions verify_defaults(void); // a margin of 0.1, 8 tries

// A gate that slowing does not bring within its margin.
typedef struct VerifyBlock {
    int gate;
    double miss;  // m, the least found …
    double speed; // m/s, … with this wanted speed at the gate
    double path;  // m, the miss of a vehicle that keeps to the path: what no speed can change
} VerifyBlock;

// What became of a plan that was simulated and slowed. Flights are predictions in still air from
// the task's start.
typedef struct VerifyReport {
    Keypoint plan[CHUNK_KEYPOINTS]; // the same points as the raw plan's, none faster
    Flight raw, verified;
    bool within_margin;    // every gate of `verified` keeps the margin, and nothing crashed
    double slowest_factor; // least speed over raw speed of all keypoints; 1 when nothing is slowed
    int slowed_gates;      // around which the plan was slowed
    int rounds;            // simulations of this plan
    int tries;             // plans looked at before this one was taken, with it
    int blocked_count;     // gates that slowing does not cure
    VerifyBlock blocked[TRACK_GATES_MAX];
} VerifyReport;

// Simulates a plan and, gate by gate, slows it around a gate whose predicted miss is more than
// (1 - margin) of the half-width, no more than needed, until all gates keep the margin or the gate
// is blocked. A plan that cannot be flown is returned as it is, with no rounds. Fails when an
// option is out of range.
Status race_verify(VerifyReport *report, const Race *race, const Keypoint raw[CHUNK_KEYPOINTS],
                   CourseTask task, const VerifyOptions *options);

// Plans a task, verifies the plan and, where that does not cure it, goes on with the next seeds:
// the first plan that keeps the margin is taken, or else the one that passes most gates. `raw` is
// the plan of `seed` itself.
Status race_plan_verified(VerifyReport *report, Keypoint raw[CHUNK_KEYPOINTS], const Race *race,
                          const Planner *planner, CourseTask task, uint64_t seed,
                          const VerifyOptions *options);

// A planner that verifies the plans of another, which it must not outlive.
typedef struct VerifiedPlanner {
    Planner inner;
    VerifyOptions options;
} VerifiedPlanner;

Planner race_verified(const VerifiedPlanner *planner);

// Plans and verifies every task, and flies the raw and the verified plan in the same gusts, in
// parallel: the results of both are those that race_fly_all gives. All have room for
// `count`.
Status race_fly_verified(RaceResult *raw, RaceResult *verified, VerifyReport *reports,
                         const Race *race, const Planner *planner, const VerifyOptions *options,
                         const CourseTask *tasks, int count, uint64_t seed, double gusts,
                         Progress *progress);

// ---- Demonstrations ---------------------------------------------------------------------------

typedef struct DemoOptions {
    int rollouts; // a feasible task
    uint64_t seed;
    double start_spread;  // m, standard deviation of the start's offset on each axis
    double speed_least;   // of the start speed, as a share of the reference; the most is 1
    double gust_speed;    // m/s
    const Planner *pilot; // flies stretches in the expert's stead; NULL for none
    double pilot_share;   // of the stretches
} DemoOptions;

DemoOptions demo_defaults(void);

// Flies rollouts of every feasible task and writes them with the expert's commands as labels.
// docs/demonstrations.md describes the file. The same options give the same bytes at any number
// of threads.
Status race_write_demos(const char *path, const Race *race, const DemoOptions *options, bool quiet);

// ---- The paper's figures ----------------------------------------------------------------------

// The paper's highest feasible speed of a task by name, m/s: 0 for infeasible, -1 when the paper
// has no such task.
double paper_speed(const char *track, const char *size);

// Gates passed by a row of the paper's comparison: "baseline", "knet", "factored", "factored_joint"
// or "oracle". Gates are 0 where the paper gives no number.
RaceTotals paper_totals(const char *method);

// Mean distance from the expert's path of such a row, m; NaN where the paper gives none.
double paper_error(const char *method);

// Gates that the paper's factored policy passed on a task, out of all; -1 when it has no such task.
int paper_passed(const char *track, const char *size);

// Table "Held-out tasks": generated and reference mean speed, m/s. False when it has no such task.
bool paper_held_out_speeds(double *generated, double *reference, const char *track,
                           const char *size);

// Table "DDIM step sweep": share of gates passed, composed on all and on held-out tasks, and joint.
typedef struct PaperSweep {
    int steps;
    double composed_all, composed_held_out, joint_all;
} PaperSweep;

enum { PAPER_SWEEP_ROWS = 4 };
extern const PaperSweep paper_sweep[PAPER_SWEEP_ROWS];

#ifdef __cplusplus
}
#endif

#endif
