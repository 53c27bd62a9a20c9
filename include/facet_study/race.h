// The state-based race study: tasks of a course, planners that fly them, results, demonstrations.
//
// Work is shared out over the pool that the study was opened with, and watched by the `progress`
// that a function takes last, which may be NULL.
#ifndef FACET_RACE_H
#define FACET_RACE_H

#include <facet/api.h>
#include <facet/factor.h>
#include <facet/flight.h>
#include <facet/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- A study ----------------------------------------------------------------------------------

typedef struct FacetRaceOptions {
    const char *courses; // folder; NULL for the one that ships with Facet
    const char *quad;    // JSON file of the vehicle; NULL for the default
    const char *preset;  // of the controller; NULL for "race"
    const char *cache;   // folder that keeps speed maps for the next time; NULL for none
    bool search;         // the speed map is searched even if the cache has it
} FacetRaceOptions;

// A course with its vehicle, controller and speed map. Constant once open, but for the pool.
typedef struct FacetRace {
    FacetCourse *course;
    FacetQuadModel model;
    FacetControlPreset preset;
    FacetSpeedMap speeds;
    FacetPool *pool;           // the caller's; NULL for the calling thread alone
    FacetFactorSpace *factors; // track, size
} FacetRace;

// Loads the course and searches its speed map, or finds it in the cache: the same bits. A cache
// that cannot be read or written changes nothing else. The pool must outlive the study; it may be
// NULL.
FACET_API FacetStatus facet_race_open(FacetRace **race, const FacetRaceOptions *options,
                                      FacetPool *pool, const FacetProgress *progress);
FACET_API void facet_race_close(FacetRace *race);

// The feasible tasks, track by track. `tasks` holds facet_race_task_max; returns how many there
// are.
FACET_API int facet_race_task_max(const FacetRace *race);
FACET_API int facet_race_feasible_tasks(FacetCourseTask *tasks, const FacetRace *race);
FACET_API int facet_race_feasible_count(const FacetRace *race);

FACET_API double facet_race_reference_speed(const FacetRace *race, FacetCourseTask task); // m/s
FACET_API FacetFlightSetup facet_race_setup(const FacetRace *race, FacetCourseTask task);
FACET_API FacetFactorTask facet_race_factor_task(FacetCourseTask task);

// ---- Planners ---------------------------------------------------------------------------------

// Anything that turns a task into a plan. `plan` may be called from several threads at once.
// `plan_all` gives the same plans, chunks [count][32] for task i with seeds[i], and plans them
// together on the study's pool; it is NULL for a planner that has no better way than one by one.
// `held_out` tells whether a task is one that the planner did not learn from; it is NULL for one
// that did not learn, such as the expert.
typedef struct FacetPlanner {
    const char *name;
    FacetStatus (*plan)(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                        FacetCourseTask task, uint64_t seed, void *context);
    void *context;
    FacetStatus (*plan_all)(FacetKeypoint *chunks, const FacetRace *race,
                            const FacetCourseTask *tasks, const uint64_t *seeds, int count,
                            void *context, const FacetProgress *progress);
    bool (*held_out)(const FacetRace *race, FacetCourseTask task, void *context);
} FacetPlanner;

// The expert at the speed map's speed.
FACET_API FacetPlanner facet_race_expert(void);

// The policy's task with the names of a course's. Refuses a policy that does not have the factors
// track and size with these names and chunks of 32 keypoints.
FACET_API FacetStatus facet_race_policy_task(FacetFactorTask *out, const FacetPolicy *policy,
                                             const FacetRace *race, FacetCourseTask task);

// A trained policy as a planner. All plans of the prepared tasks and seeds are sampled together
// beforehand; a plan of another task or seed is sampled when it is asked for, and is the same as it
// would be among others.
typedef struct FacetPolicyPlanner FacetPolicyPlanner;

// The policy has the factors track and size, with the names of every task prepared, and chunks of
// 32 keypoints. It must outlive the planner. `how` gives mode, sampler, steps and weights; the
// seeds replace its seed, and its seeds and numbers must be NULL. Sampling is the stage "plans", an
// item a plan.
FACET_API FacetStatus facet_policy_planner_create(FacetPolicyPlanner **planner,
                                                  const FacetPolicy *policy, const FacetRace *race,
                                                  const FacetPolicySampling *how,
                                                  const FacetCourseTask *tasks, int task_count,
                                                  const uint64_t *seeds, int seed_count,
                                                  const FacetProgress *progress);
FACET_API void facet_policy_planner_destroy(FacetPolicyPlanner *planner);

// The planner lives as long as the FacetPolicyPlanner.
FACET_API FacetPlanner facet_planner_from_policy(const FacetPolicyPlanner *planner);

// Whether a policy was trained on the names of a task's track and size.
FACET_API bool facet_policy_knows_task(const FacetPolicy *policy, const FacetRace *race,
                                       FacetCourseTask task);

// Whether the policy's own record does not list the task among those that it was trained on. What a
// course lists as held out is what `facet train --hold-out course` leaves out, and no more.
FACET_API bool facet_policy_holds_out(const FacetPolicy *policy, const FacetRace *race,
                                      FacetCourseTask task);

// ---- Flights ----------------------------------------------------------------------------------

typedef struct FacetRaceResult {
    FacetCourseTask task;
    bool held_out; // the planner did not learn from this task
    uint64_t seed;
    FacetFlight flight;
    double speed_generated; // m/s, mean over the plan's keypoints
    double speed_reference; // m/s, from the speed map
    double error;           // m, mean distance of the flown path from the expert's path
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS];
} FacetRaceResult;

// Plans and flies one task from its start, at the reference speed, in gusts of this strength.
FACET_API FacetStatus facet_race_fly(FacetRaceResult *result, const FacetRace *race,
                                     const FacetPlanner *planner, FacetCourseTask task,
                                     uint64_t seed, double gusts);

// The same with a record of the flight.
FACET_API FacetStatus facet_race_fly_traced(FacetRaceResult *result, FacetFlightTrace *trace,
                                            const FacetRace *race, const FacetPlanner *planner,
                                            FacetCourseTask task, uint64_t seed, double gusts);

// facet_race_fly for many tasks, in parallel: the stage "flights". Fails with the first planner's
// failure.
FACET_API FacetStatus facet_race_fly_all(FacetRaceResult *results, const FacetRace *race,
                                         const FacetPlanner *planner, const FacetCourseTask *tasks,
                                         int count, uint64_t seed, double gusts,
                                         const FacetProgress *progress);

// The same with a record of every flight, traces [count].
FACET_API FacetStatus facet_race_fly_all_traced(FacetRaceResult *results, FacetFlightTrace *traces,
                                                const FacetRace *race, const FacetPlanner *planner,
                                                const FacetCourseTask *tasks, int count,
                                                uint64_t seed, double gusts,
                                                const FacetProgress *progress);

typedef struct FacetRaceTally {
    int passed, gates;
} FacetRaceTally;

typedef struct FacetRaceTotals {
    FacetRaceTally all, training, held_out;
    int crashes;
} FacetRaceTotals;

FACET_API FacetRaceTotals facet_race_totals(const FacetRaceResult *results, int count);

// ---- Verification before flight ---------------------------------------------------------------

typedef struct FacetVerifyOptions {
    double margin;      // share of the half-width that a predicted crossing must keep free, [0, 1)
    double speed_floor; // m/s: no keypoint is slowed below it; 0 for the course's least speed
    int tries;          // plans, with the seeds that follow, where nothing cures; 1 or more
    bool slow_only;     // leaves the path as it is, and looks at still air alone
    FacetRepairOptions repair; // its margin is the one above
} FacetVerifyOptions;

FACET_API FacetVerifyOptions facet_verify_defaults(void); // a margin of 0.1, 8 tries, repair's own

// A gate that neither repair nor slowing brings within its margin.
typedef struct FacetVerifyBlock {
    int gate;
    double miss;  // m, the least found …
    double speed; // m/s, … with this wanted speed at the gate
    double path;  // m, the miss of a vehicle that keeps to the path: what no speed can change
} FacetVerifyBlock;

// What became of a plan that was simulated, repaired and slowed. Flights are predictions in still
// air from the task's start.
typedef struct FacetVerifyReport {
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS]; // none faster than the raw plan's
    FacetFlight raw, verified;
    bool good;             // within_margin, and all but a few of the flights in gusts pass
    bool within_margin;    // every gate of `verified` keeps the margin, and nothing crashed
    double shift;          // m, the largest of a keypoint
    int raw_clear, clear;  // flights in gusts from spread starts through all gates: before, after
    int checked;           // those flights; 0 with slow_only
    long flown;            // flights that the repair took
    char reason[120];      // why the plan is not good; empty when it is
    double slowest_factor; // least speed over raw speed of all keypoints; 1 when nothing is slowed
    int slowed_gates;      // around which the plan was slowed
    int rounds;            // simulations of this plan
    int tries;             // plans looked at before this one was taken, with it
    int blocked_count;     // gates that nothing cures
    FacetVerifyBlock blocked[FACET_TRACK_GATES_MAX];
} FacetVerifyReport;

// Simulates a plan and repairs it where it would miss (facet_flight_repair). What is left then is
// slowed, gate by gate, around a gate whose predicted miss is more than (1 - margin) of the
// half-width, no more than needed, until all gates keep the margin or the gate is blocked. A plan
// that cannot be flown is returned as it is, with no rounds. Fails when an option is out of range.
// It shares its flights out over the study's pool.
FACET_API FacetStatus facet_race_verify(FacetVerifyReport *report, const FacetRace *race,
                                        const FacetKeypoint raw[FACET_CHUNK_KEYPOINTS],
                                        FacetCourseTask task, const FacetVerifyOptions *options);

// Plans a task, verifies the plan and, where that does not cure it, goes on with the next seeds:
// the first good plan is taken, or else the best: with its margin, then with most flights in gusts
// through, then with most gates. `raw` is the plan of `seed` itself.
FACET_API FacetStatus facet_race_plan_verified(FacetVerifyReport *report,
                                               FacetKeypoint raw[FACET_CHUNK_KEYPOINTS],
                                               const FacetRace *race, const FacetPlanner *planner,
                                               FacetCourseTask task, uint64_t seed,
                                               const FacetVerifyOptions *options);

// A planner that verifies the plans of another, which it must not outlive.
typedef struct FacetVerifiedPlanner {
    FacetPlanner inner;
    FacetVerifyOptions options;
} FacetVerifiedPlanner;

FACET_API FacetPlanner facet_race_verified(const FacetVerifiedPlanner *planner);

// Plans and verifies every task, and flies the raw and the verified plan in the same gusts, in
// parallel: the results of both are those that facet_race_fly_all gives. All have room for
// `count`. The stage is "verified".
FACET_API FacetStatus facet_race_fly_verified(FacetRaceResult *raw, FacetRaceResult *verified,
                                              FacetVerifyReport *reports, const FacetRace *race,
                                              const FacetPlanner *planner,
                                              const FacetVerifyOptions *options,
                                              const FacetCourseTask *tasks, int count,
                                              uint64_t seed, double gusts,
                                              const FacetProgress *progress);

// ---- Demonstrations ---------------------------------------------------------------------------

typedef struct FacetDemoOptions {
    int rollouts; // a feasible task
    uint64_t seed;
    double start_spread;       // m, standard deviation of the start's offset on each axis
    double speed_least;        // of the start speed, as a share of the reference; the most is 1
    double gust_speed;         // m/s
    const FacetPlanner *pilot; // flies stretches in the expert's stead; NULL for none
    double pilot_share;        // of the stretches
} FacetDemoOptions;

FACET_API FacetDemoOptions facet_demo_defaults(void);

// Flies rollouts of every feasible task and writes them with the expert's commands as labels.
// docs/demonstrations.md describes the file. The same options give the same bytes at any number
// of threads. The stage is "demos"; a stop leaves no file.
FACET_API FacetStatus facet_race_write_demos(const char *path, const FacetRace *race,
                                             const FacetDemoOptions *options,
                                             const FacetProgress *progress);

#ifdef __cplusplus
}
#endif

#endif
