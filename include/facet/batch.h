// Batches: the same quadrotor and the same closed loop, eight at a time in single precision.
//
// A batch is a structure of arrays: every number of a state is a vector of eight lanes, one lane a
// vehicle. Lanes do not see each other, so what a lane gives does not depend on its neighbours, on
// how many lanes are in use, or on threads. The double-precision code in facet/quad.h and
// facet/flight.h is the reference; the tests hold this one to it. Single precision places a vehicle
// to about 1e-7 of its distance from the origin, so arenas should be hundreds of metres at most.
#ifndef FACET_BATCH_H
#define FACET_BATCH_H

#include <facet/flight.h>
#include <facet/quad.h>

enum { BATCH_LANES = 8 };

// Eight floats. v[i] reads and writes lane i. A compiler without such registers splits it.
typedef float Lanes __attribute__((vector_size(BATCH_LANES * sizeof(float)), aligned(16)));

// ---- Dynamics ---------------------------------------------------------------------------------

// Eight quadrotors; the fields of QuadState.
typedef struct QuadBatch {
    Lanes pos_world[3];        // m
    Lanes attitude[4];         // w, x, y, z: body to world, unit
    Lanes vel_world[3];        // m/s
    Lanes omega_body[3];       // rad/s
    Lanes thrust[QUAD_MOTORS]; // N, as the motors turn now
} QuadBatch;

void quad_batch_set(QuadBatch *batch, int lane, const QuadState *state);
QuadState quad_batch_get(const QuadBatch *batch, int lane);

// The numbers of a model that a batched step uses, in single precision.
typedef struct QuadBatchModel {
    float step;                                // s
    float decay_start, decay_half, decay_full; // of the motors' lag within a step
    float mass, inverse_mass, gravity;
    float drag[3], inertia[3], inverse_inertia[3], gyro[3];
    float lever, torque_ratio, inverse_lever, inverse_torque_ratio; // m, 1/m
    float thrust_max;                                               // N
} QuadBatchModel;

QuadBatchModel quad_batch_model(const QuadModel *model);

// One step of quad_step in every lane: commanded thrusts (N), wind (m/s). `moved`, unless NULL,
// gets the motion (m), more exactly than the difference of two positions.
void quad_batch_step(QuadBatch *batch, const QuadBatchModel *model,
                     const Lanes command[QUAD_MOTORS], const Lanes wind_world[3], Lanes moved[3]);

// quad_mix in every lane: thrusts from a wanted force (N) and torque (N m).
void quad_batch_mix(Lanes thrust[QUAD_MOTORS], const QuadBatchModel *model, const Lanes *force,
                    const Lanes torque[3]);

// ---- Flights ----------------------------------------------------------------------------------

// One flight of many: what flight_fly gets, but for the parts that all flights share.
typedef struct FlightPlan {
    const Track *track;
    double half_width; // m
    double give_up;    // m: a gate missed by more than this ends the flight; 0 flies on
    Gusts gusts;
    const Reference *reference;
    QuadState start;
} FlightPlan;

// Flies every plan as flight_fly does: flights[i] is the outcome of plans[i]. A lane whose flight
// has ended takes the next plan, so that all eight stay busy.
void flight_fly_batch(Flight *flights, const QuadModel *model, const ControlPreset *preset,
                      const Arena *arena, const FlightPlan *plans, int count);

#endif
