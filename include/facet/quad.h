// The quadrotor: parameters, state, Newton-Euler dynamics, motors and mixing.
//
// Frames: the world has z up; the body has x forward, y left, z up along the thrust. A state has
// the paper's 13 numbers (position, attitude quaternion, velocity, body rate) and the four motor
// thrusts, which lag behind their commands.
#ifndef FACET_QUAD_H
#define FACET_QUAD_H

#include <facet/math.h>
#include <facet/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { QUAD_MOTORS = 4, QUAD_TANGENT = 16 };

#define QUAD_RATE 600.0 // simulation steps a second

typedef struct QuadParams {
    double mass;         // kg
    Vec3 inertia;        // kg m^2, about the body's principal axes
    double arm;          // m, from the centre to a rotor's axis
    double thrust_max;   // N a motor
    double torque_ratio; // m, a rotor's drag torque over its thrust
    double motor_lag;    // s, time constant of a motor's thrust; 0 is an ideal motor
    Vec3 drag;           // 1/s, linear drag along the body's axes, over mass
    double gravity;      // m/s^2
} QuadParams;

// A 0.5 kg, 25 cm racing quadrotor. docs/quadrotor.md gives the source of every figure.
QuadParams quad_params_default(void);

// Reads a JSON file; a field that is missing keeps its default. vehicles/racer.json shows all.
Status quad_params_load(QuadParams *params, const char *file);

typedef struct QuadState {
    Vec3 pos_world;   // m
    Quat attitude;    // body to world, unit
    Vec3 vel_world;   // m/s
    Vec3 omega_body;  // rad/s
    double thrust[4]; // N, as the motors turn now
} QuadState;

// Parameters with what follows from them for one step length. Constant during a flight.
typedef struct QuadModel {
    QuadParams params;
    double step;                   // s
    double decay_half, decay_full; // of the motors' lag over half a step and a whole one
    double inverse_mass;           // 1/kg
    Vec3 inverse_inertia;          // 1/(kg m^2)
    Vec3 gyro;                     // (J_y - J_z)/J_x and so on round
    double lever;                  // m, a rotor's distance from the roll and pitch axes
} QuadModel;

QuadModel quad_model(const QuadParams *params, double step);

// At rest in hover at a position, with a heading.
QuadState quad_hover(const QuadModel *model, Vec3 pos_world, double yaw);

// What the rotors exert on the body.
typedef struct QuadWrench {
    double force; // N, along the body's z axis
    Vec3 torque;  // N m, about the body's axes
} QuadWrench;

QuadWrench quad_wrench(const QuadModel *model, const double thrust[4]);

// The four thrusts that give a wrench, within [0, thrust_max]. When they do not fit, roll and pitch
// come first, then the collective, then yaw: a vehicle that tilts right can still save itself.
void quad_mix(double thrust[4], const QuadModel *model, QuadWrench wanted);

// One step of RK4 with the commanded thrusts held and the wind (m/s) constant.
void quad_step(QuadState *state, const QuadModel *model, const double command[4], Vec3 wind_world);

// The derivative of one step in tangent coordinates, in this order: position, attitude (a small
// rotation in the body's frame), velocity, body rate, motor thrusts.
//   jacobian[i][j] = d out_i / d in_j,  by_command[i][j] = d out_i / d command_j
void quad_step_jacobian(double jacobian[QUAD_TANGENT][QUAD_TANGENT],
                        double by_command[QUAD_TANGENT][QUAD_MOTORS], const QuadState *state,
                        const QuadModel *model, const double command[4], Vec3 wind_world);

// Moves a state along tangent coordinates, and the tangent coordinates between two states.
QuadState quad_retract(const QuadState *state, const double tangent[QUAD_TANGENT]);
void quad_local(double tangent[QUAD_TANGENT], const QuadState *from, const QuadState *to);

bool quad_finite(const QuadState *state);

// ---- Eight at a time ----------------------------------------------------------------------------

// The same in single precision, one vehicle a lane. Lanes do not see each other. quad_step and
// quad_mix in double are the reference; the tests hold these to them.

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

#ifdef __cplusplus
}
#endif

#endif
