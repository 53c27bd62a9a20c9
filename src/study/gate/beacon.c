// The beacon (see gate/beacon.h).
#include "gate/beacon.h"

#include "math/geometry.h"

#include <assert.h>

// The opening leaves 0.64 m on each side of the body. A pilot without another error passes when the
// bias stays within that both across and up: with 0.5 m in about 64 of 100 flights, less than the
// camera's policy does in the venues of training. The survey's circle is wider than the gates are
// apart, 3.6 m.
FacetBeaconParams beacon_params_default(void)
{
    return (FacetBeaconParams){.bias = 0.5, .noise = 0.3, .survey = 4.0};
}

FacetVec3 beacon_origin(const FacetGateWorld *world, int venue)
{
    double angle = 2.0 * FACET_PI * venue / world->venue_count;
    return vec3_scale(vec3(cos(angle), sin(angle), 0.0), world->beacon.survey);
}

static FacetVec3 normal_vec3(FacetRng *rng, double scale)
{
    double x = rng_normal(rng), y = rng_normal(rng), z = rng_normal(rng);
    return vec3_scale(vec3(x, y, z), scale);
}

Beacon beacon_make(const FacetGateWorld *world, int venue, uint64_t seed, uint64_t stream)
{
    Beacon beacon = {.params = world->beacon,
                     .rng = rng_make(seed, stream),
                     .origin = beacon_origin(world, venue)};
    beacon.bias = normal_vec3(&beacon.rng, world->beacon.bias);
    return beacon;
}

FacetVec3 beacon_read(Beacon *beacon, FacetVec3 pos_world)
{
    FacetVec3 noise = normal_vec3(&beacon->rng, beacon->params.noise);
    FacetVec3 place = vec3_sub(pos_world, beacon->origin);
    return vec3_add(vec3_add(place, beacon->bias), noise);
}

FacetVec3 beacon_mark(int index)
{
    int column = index % BEACON_COLUMNS, row = index / BEACON_COLUMNS;
    return vec3(-10.5 + 3.0 * column, -6.0 + 3.5 * row, 1.8);
}

void beacon_numbers(double out[FACET_GATE_SENSED], FacetVec3 reading, FacetQuat attitude)
{
    static_assert(FACET_GATE_SENSED == 3 * BEACON_MARKS, "three numbers a mark");
    Mat3 body = quat_to_mat3(attitude);
    for (int i = 0; i < BEACON_MARKS; i++) {
        FacetVec3 offset = mat3_tmul_vec3(body, vec3_sub(beacon_mark(i), reading));
        out[3 * i] = asinh(offset.x);
        out[3 * i + 1] = asinh(offset.y);
        out[3 * i + 2] = asinh(offset.z);
    }
}
