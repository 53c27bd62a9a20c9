// Many flights: the same closed loop as facet/flight.h, eight at a time in single precision.
//
// Lanes do not see each other, so what a lane gives does not depend on its neighbours, on how many
// lanes are in use, or on threads. The double-precision code in facet/flight.h is the reference;
// the tests hold this one to it. Single precision places a vehicle to about 1e-7 of its distance
// from the origin, so arenas should be hundreds of metres at most.
#ifndef FACET_BATCH_H
#define FACET_BATCH_H

#include <facet/flight.h>

#ifdef __cplusplus
extern "C" {
#endif

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
// has ended takes the next plan, so that all eight stay busy. Takes about 300 KB of stack.
void flight_fly_batch(Flight *flights, const QuadModel *model, const ControlPreset *preset,
                      const Arena *arena, const FlightPlan *plans, int count);

#ifdef __cplusplus
}
#endif

#endif
