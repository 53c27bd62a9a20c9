// The quadrotor: parameters, state, Newton-Euler dynamics, motors and mixing.
//
// Frames: the world has z up; the body has x forward, y left, z up along the thrust. A state has
// the paper's 13 numbers (position, attitude quaternion, velocity, body rate) and the four motor
// thrusts, which lag behind their commands. Motors are in the order front left, rear left,
// rear right, front right; the first and the third push the body about +z with their drag.
//
// All of this is plain values: nothing but facet_quad_params_load allocates, and that only while it
// reads. Functions may be called from any thread.
#ifndef FACET_QUAD_H
#define FACET_QUAD_H

#include <facet/api.h>
#include <facet/status.h>
#include <facet/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { FACET_QUAD_MOTORS = 4 };

#define FACET_QUAD_RATE 600.0 // simulation steps a second

typedef struct FacetQuadParams {
    double mass;         // kg
    FacetVec3 inertia;   // kg m^2, about the body's principal axes
    double arm;          // m, from the centre to a rotor's axis
    double thrust_max;   // N a motor
    double torque_ratio; // m, a rotor's drag torque over its thrust
    double motor_lag;    // s, time constant of a motor's thrust; 0 is an ideal motor
    FacetVec3 drag;      // 1/s, linear drag along the body's axes, over mass
    double gravity;      // m/s^2
} FacetQuadParams;

// A 0.5 kg, 25 cm racing quadrotor. docs/quadrotor.md gives the source of every figure.
FACET_API FacetQuadParams facet_quad_params_default(void);

// Reads a JSON file; a field that is missing keeps its default. vehicles/racer.json shows all. The
// parameters are unspecified after a failure.
FACET_API FacetStatus facet_quad_params_load(FacetQuadParams *params, const char *file);

typedef struct FacetQuadState {
    FacetVec3 pos_world;  // m
    FacetQuat attitude;   // body to world, unit
    FacetVec3 vel_world;  // m/s
    FacetVec3 omega_body; // rad/s
    double thrust[4];     // N, as the motors turn now
} FacetQuadState;

// Parameters with what follows from them for one step length. Constant during a flight.
typedef struct FacetQuadModel {
    FacetQuadParams params;
    double step;                   // s
    double decay_half, decay_full; // of the motors' lag over half a step and a whole one
    double inverse_mass;           // 1/kg
    FacetVec3 inverse_inertia;     // 1/(kg m^2)
    FacetVec3 gyro;                // (J_y - J_z)/J_x and so on round
    double lever;                  // m, a rotor's distance from the roll and pitch axes
} FacetQuadModel;

// `step` is in s, 1 / FACET_QUAD_RATE in the study. The parameters are copied.
FACET_API FacetQuadModel facet_quad_model(const FacetQuadParams *params, double step);

// At rest in hover at a position (m), with a heading (rad from the world's x axis).
FACET_API FacetQuadState facet_quad_hover(const FacetQuadModel *model, FacetVec3 pos_world,
                                          double yaw);

// What the rotors exert on the body.
typedef struct FacetQuadWrench {
    double force;     // N, along the body's z axis
    FacetVec3 torque; // N m, about the body's axes
} FacetQuadWrench;

// Of four thrusts in N.
FACET_API FacetQuadWrench facet_quad_wrench(const FacetQuadModel *model, const double thrust[4]);

// The four thrusts (N) that give a wrench, within [0, thrust_max]. When they do not fit, roll and
// pitch come first, then the collective, then yaw: a vehicle that tilts right can still save
// itself.
FACET_API void facet_quad_mix(double thrust[4], const FacetQuadModel *model,
                              FacetQuadWrench wanted);

// One step of RK4 with the commanded thrusts (N) held and the wind (m/s) constant.
FACET_API void facet_quad_step(FacetQuadState *state, const FacetQuadModel *model,
                               const double command[4], FacetVec3 wind_world);

#ifdef __cplusplus
}
#endif

#endif
