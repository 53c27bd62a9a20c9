// The approach to a gate (see gate/approach.h).
#include "gate/approach.h"

#include "math/geometry.h"

#include <assert.h>

#define APEX     0.5 // m behind the gate, where the curve meets the axis
#define RUN_OUT  4.5 // m behind the gate, where the path ends
#define HURRY    0.8 // m/s, the most that is asked for above the present speed
#define BRAKING  1.5 // m/s^2, towards the path's end
#define LOOK     1.0 // m: the vehicle looks at a point on the axis this far behind the gate
#define CLEAR    0.4 // m from the axis: nearer, the way through the opening is free
#define BACK_OFF 1.5 // m before the apex, the farthest that the way is led round the frame

// The curve's middle point on the axis, as a distance before the apex.
static double middle_before_apex(double before_apex, double off_axis)
{
    return greater(0.5 * before_apex, clamp(2.0 * (off_axis - CLEAR), 0.0, BACK_OFF));
}

static FacetVec3 on_axis(const FacetCourseGate *gate, double beyond)
{
    return vec3_axpy(gate->center, beyond, gate->normal);
}

// The curve from a position to the apex. Past the apex it is a straight line to the path's end.
typedef struct Curve {
    FacetVec3 from, middle, to;
    double beyond; // m behind the gate, of `to`
} Curve;

static Curve curve_from(const FacetCourseGate *gate, FacetVec3 pos)
{
    double before_apex = approach_ahead(gate, pos) + APEX;
    if (before_apex < 0.1) { // nothing left to bend
        FacetVec3 end = on_axis(gate, RUN_OUT);
        return (Curve){pos, vec3_lerp(pos, end, 0.5), end, RUN_OUT};
    }
    FacetVec3 foot = on_axis(gate, APEX - before_apex);
    double back = middle_before_apex(before_apex, vec3_distance(pos, foot));
    return (Curve){pos, on_axis(gate, APEX - back), on_axis(gate, APEX), APEX};
}

static FacetVec3 curve_at(const Curve *curve, double t)
{
    return vec3_lerp(vec3_lerp(curve->from, curve->middle, t),
                     vec3_lerp(curve->middle, curve->to, t), t);
}

// Points of the curve, and then of the axis as far as `beyond` m behind the gate.
static void lay_out(FacetVec3 *points, int count, const FacetCourseGate *gate, const Curve *curve,
                    double beyond)
{
    double length =
        vec3_distance(curve->from, curve->middle) + vec3_distance(curve->middle, curve->to);
    double rest = greater(beyond - curve->beyond, 0.0);
    int bent = rest > 0.0 ? (int)(count * length / (length + rest)) : count;
    bent = bent < 2 ? 2 : bent;
    for (int i = 0; i < count; i++)
        points[i] = i < bent
                        ? curve_at(curve, (double)i / (bent - 1))
                        : on_axis(gate, curve->beyond + rest * (i - bent + 1) / (count - bent));
}

void approach_way(FacetVec3 *points, int count, const FacetCourseGate *gate, FacetVec3 pos,
                  double beyond)
{
    Curve curve = curve_from(gate, pos);
    lay_out(points, count, gate, &curve, beyond);
}

void approach_build(Approach *approach, const FacetCourseGate *gate, FacetVec3 pos, FacetVec3 vel,
                    double speed)
{
    approach->gate = *gate;
    approach->carrot = (FacetCarrot){0};
    double left = RUN_OUT + approach_ahead(gate, pos);
    approach->done = left < 0.3;
    if (approach->done) return;

    FacetVec3 points[FACET_CHUNK_KEYPOINTS];
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    Curve curve = curve_from(gate, pos);
    lay_out(points, FACET_CHUNK_KEYPOINTS, gate, &curve, RUN_OUT);
    FacetVec3 tangent = vec3_unit(vec3_sub(curve.middle, curve.from), gate->normal);
    speed = lesser(speed, greater(vec3_dot(vel, tangent), 0.0) + HURRY);
    speed = lesser(speed, sqrt(2.0 * BRAKING * left));
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i] = (FacetKeypoint){points[i], speed};
    FacetStatus built = facet_reference_from_chunk(&approach->reference, chunk);
    assert(built.ok && "a finite position not far away has a path");
    (void)built;
}

// The heading towards a point on the axis that is always ahead.
static double heading(const FacetCourseGate *gate, FacetVec3 pos)
{
    FacetVec3 to = vec3_sub(on_axis(gate, LOOK + greater(-approach_ahead(gate, pos), 0.0)), pos);
    return atan2(to.y, to.x);
}

FacetSetpoint approach_setpoint(Approach *approach, const FacetCarrotParams *params, FacetVec3 pos)
{
    FacetSetpoint setpoint = {.pos = on_axis(&approach->gate, RUN_OUT)};
    if (!approach->done)
        setpoint = facet_carrot_advance(&approach->carrot, params, &approach->reference, pos);
    setpoint.yaw = heading(&approach->gate, pos);
    return setpoint;
}
