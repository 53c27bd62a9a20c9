// What the page's live tab calls (web/src/live/runtime.ts): a policy from bytes, plans with their
// way from noise, and flights along them.
//
// There is one policy, one track and one flight at a time. A function that can fail returns 0 then,
// and live_message says why. Numbers pass as doubles in SI units; the pointers that come back are
// good until the next call of the same function.
#ifndef FACET_WASM_LIVE_H
#define FACET_WASM_LIVE_H

#define LIVE_API(name) __attribute__((export_name(#name)))

LIVE_API(live_message) const char *live_message(void);

// Room for what a call takes: bytes of a file, a text, numbers.
LIVE_API(live_allocate) void *live_allocate(int bytes);
LIVE_API(live_free) void live_free(void *block);

// ---- The policy ---------------------------------------------------------------------------------

// Reads a safetensors file from memory, which it does not keep.
LIVE_API(live_open) int live_open(const char *bytes, int size);

LIVE_API(live_default_steps) int live_default_steps(void);
LIVE_API(live_most_steps) int live_most_steps(void);
LIVE_API(live_parameters) double live_parameters(void);

// Chooses the task that plans are for, such as "race1/wide": 1 if the policy was trained on it, 2
// if it was not.
LIVE_API(live_task) int live_task(const char *name);

// Samples a plan of the task, composed with a weight a factor: [steps + 1][32][4], x, y, z and
// speed of each keypoint, from noise to the plan.
LIVE_API(live_plan) const double *live_plan(double seed, int steps, const double *weights);

// ---- The flight ---------------------------------------------------------------------------------

// The arena [6], the points of the track's path [points][3], and its gates [gates][6]: centre and
// direction of passage.
LIVE_API(live_track)
int live_track(const double *arena, const double *points, int point_count, const double *gates,
               int gate_count);

// Flies a plan [32][4] along the track in still air, as facet fly does; the flight begins on the
// track's path at `speed`. The number of samples, `interval` seconds apart.
LIVE_API(live_fly)
int live_fly(const double *plan, double half_width, double speed, double interval);

// Of the last flight: [samples][8], x y z, attitude w x y z, speed; [gates][4], crossed, passed,
// miss, time; and [4], gates passed, how it ended (FacetFlightEnd), what crashed it
// (FacetCrashKind), duration.
LIVE_API(live_samples) const double *live_samples(void);
LIVE_API(live_gates) const double *live_gates(void);
LIVE_API(live_outcome) const double *live_outcome(void);

#endif
