// The quadrotor beyond facet/quad.h: tangent coordinates, the derivative of a step, and eight
// vehicles at a time.
#ifndef FACET_QUAD_QUAD_H
#define FACET_QUAD_QUAD_H

#include "math/lanes.h"

#include <facet/quad.h>

enum { QUAD_TANGENT = 16 };

// The derivative of one step in tangent coordinates, in this order: position, attitude (a small
// rotation in the body's frame), velocity, body rate, motor thrusts.
//   jacobian[i][j] = d out_i / d in_j,  by_command[i][j] = d out_i / d command_j
void quad_step_jacobian(double jacobian[QUAD_TANGENT][QUAD_TANGENT],
                        double by_command[QUAD_TANGENT][FACET_QUAD_MOTORS],
                        const FacetQuadState *state, const FacetQuadModel *model,
                        const double command[4], FacetVec3 wind_world);

// Moves a state along tangent coordinates, and the tangent coordinates between two states.
FacetQuadState quad_retract(const FacetQuadState *state, const double tangent[QUAD_TANGENT]);
void quad_local(double tangent[QUAD_TANGENT], const FacetQuadState *from, const FacetQuadState *to);

bool quad_finite(const FacetQuadState *state);

// Eight quadrotors; the fields of FacetQuadState.
typedef struct QuadBatch {
    Lanes pos_world[3];              // m
    Lanes attitude[4];               // w, x, y, z: body to world, unit
    Lanes vel_world[3];              // m/s
    Lanes omega_body[3];             // rad/s
    Lanes thrust[FACET_QUAD_MOTORS]; // N, as the motors turn now
} QuadBatch;

void quad_batch_set(QuadBatch *batch, int lane, const FacetQuadState *state);
FacetQuadState quad_batch_get(const QuadBatch *batch, int lane);

// The numbers of a model that a batched step uses, in single precision.
typedef struct QuadBatchModel {
    float step;                                // s
    float decay_start, decay_half, decay_full; // of the motors' lag within a step
    float mass, inverse_mass, gravity;
    float drag[3], inertia[3], inverse_inertia[3], gyro[3];
    float lever, torque_ratio, inverse_lever, inverse_torque_ratio; // m, 1/m
    float thrust_max;                                               // N
} QuadBatchModel;

QuadBatchModel quad_batch_model(const FacetQuadModel *model);

// One step of facet_quad_step in every lane: commanded thrusts (N), wind (m/s). `moved`, unless
// NULL, gets the motion (m), more exactly than the difference of two positions.
void quad_batch_step(QuadBatch *batch, const QuadBatchModel *model,
                     const Lanes command[FACET_QUAD_MOTORS], const Lanes wind_world[3],
                     Lanes moved[3]);

// facet_quad_mix in every lane: thrusts from a wanted force (N) and torque (N m).
void quad_batch_mix(Lanes thrust[FACET_QUAD_MOTORS], const QuadBatchModel *model,
                    const Lanes *force, const Lanes torque[3]);

#endif
