// A beacon: the position of the vehicle in the axes of the venue, as radio beacons or satellites
// tell it, with a bias that stays for a flight and white noise.
//
//   reading = position - origin + b + n,   b ~ N(0, bias^2) once a flight, n ~ N(0, noise^2)
//
// on each axis. The origin is where the venue's survey has its zero, which differs from venue to
// venue: of n venues that of number k lies `survey` m from the common one, at the angle 2 pi k / n.
// The gates stand in the same places in all venues, so that with one survey for all a beacon would
// tell the gates of a venue that nobody has seen.
#ifndef FACET_GATE_BEACON_H
#define FACET_GATE_BEACON_H

#include "base/rng.h"

#include <facet_study/gate.h>

typedef struct Beacon {
    FacetBeaconParams params;
    FacetRng rng;
    FacetVec3 origin, bias; // m
} Beacon;

FacetBeaconParams beacon_params_default(void);

// The origin of a venue's own axes, m.
FacetVec3 beacon_origin(const FacetGateWorld *world, int venue);

// In a venue. The bias is drawn from the stream, as is all noise after it.
Beacon beacon_make(const FacetGateWorld *world, int venue, uint64_t seed, uint64_t stream);

// The next reading, m in the venue's axes.
FacetVec3 beacon_read(Beacon *beacon, FacetVec3 pos_world);

// Marks of every venue's survey, in its axes: a grid around the gates, at their height.
enum { BEACON_COLUMNS = 8, BEACON_ROWS = 4, BEACON_MARKS = BEACON_COLUMNS * BEACON_ROWS };
FacetVec3 beacon_mark(int index); // column by column in each row, m

// What a policy is told: the offsets of the marks, R' (mark - reading) in the body's axes by the
// gyro's attitude R, each number x as asinh(x / 1 m), as plans are normalised. The offset of a gate
// is then near that of a mark, which one being a matter of venue and gate.
void beacon_numbers(double out[FACET_GATE_SENSED], FacetVec3 reading, FacetQuat attitude);

#endif
