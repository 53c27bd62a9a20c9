// The carrot: a point ahead on the reference that the controller chases.
//
//   s* = argmin |p(s) - x| over [s*, s* + window], so progress never runs back
//   L  = clamp(speed(s*) T, L_min, L_max)
//   setpoint = p(s* + L) less its lead along the tangent, velocity v(s*), acceleration a(s*)
//
// The pull of a point ahead would make the vehicle too fast by about k_x L / k_v, so the lead along
// the tangent is taken out of the wanted position. (Taking k_x L / k_v out of the wanted velocity
// gives the same force, but the controller reads a lasting velocity error as a force that changes,
// and tilts the vehicle back for it.) What is left is the sideways pull: on a curve of curvature c
// the vehicle settles c L^2 / 2 inside it. With a least look-ahead L_min it cuts corners at any
// speed.
#include "control/control.h"
#include "math/geometry.h"

// The first segment from `from` on that reaches `arc`, sought from the guess `near`.
static int segment_at(const FacetReference *reference, double arc, int from, int near)
{
    int i = near > from ? near : from;
    while (i > from && reference->arc[i] >= arc) i--;
    while (i < FACET_REFERENCE_WAYPOINTS - 2 && reference->arc[i + 1] < arc) i++;
    return i;
}

static double fraction_at(const FacetReference *reference, double arc, int segment)
{
    double length = reference->arc[segment + 1] - reference->arc[segment];
    return length > 0.0 ? clamp((arc - reference->arc[segment]) / length, 0.0, 1.0) : 0.0;
}

// The nearest point among those with an arc length in [from, to], where `segment` holds `from`.
static FacetCarrot nearest(const FacetReference *reference, FacetVec3 x, double from, double to,
                           int segment)
{
    FacetCarrot best = {.arc = from, .segment = segment, .distance = HUGE_VAL};
    for (int i = segment; i < FACET_REFERENCE_WAYPOINTS - 1 && reference->arc[i] < to; i++) {
        FacetVec3 edge = vec3_sub(reference->pos[i + 1], reference->pos[i]);
        FacetVec3 to_x = vec3_sub(x, reference->pos[i]);
        double square = vec3_dot(edge, edge), along = vec3_dot(to_x, edge);
        double t = along <= 0.0 ? 0.0 : along >= square ? 1.0 : along / square;
        double arc = reference->arc[i] + t * (reference->arc[i + 1] - reference->arc[i]);
        if (arc < from) {
            arc = from;
            t = fraction_at(reference, arc, i);
        }
        FacetVec3 gap = vec3_axpy(to_x, -t, edge);
        double distance = vec3_dot(gap, gap); // squared until the end
        if (distance < best.distance) best = (FacetCarrot){arc, i, distance, i};
    }
    best.distance = sqrt(best.distance);
    return best;
}

FacetCarrot facet_carrot_locate(const FacetReference *reference, FacetVec3 x, double from,
                                double to)
{
    from = clamp(from, 0.0, facet_reference_length(reference));
    return nearest(reference, x, from, fmax(to, from + 1e-9), segment_at(reference, from, 0, 0));
}

FacetSetpoint facet_carrot_advance(FacetCarrot *carrot, const FacetCarrotParams *params,
                                   const FacetReference *reference, FacetVec3 x)
{
    int ahead_before = carrot->ahead;
    *carrot = nearest(reference, x, carrot->arc, carrot->arc + params->window, carrot->segment);
    int i = carrot->segment;
    double t = fraction_at(reference, carrot->arc, i);
    FacetVec3 here = vec3_lerp(reference->pos[i], reference->pos[i + 1], t);
    FacetVec3 vel = vec3_lerp(reference->vel[i], reference->vel[i + 1], t);
    FacetVec3 acc = vec3_lerp(reference->acc[i], reference->acc[i + 1], t);
    double yaw = reference->yaw[i] + t * (reference->yaw[i + 1] - reference->yaw[i]);
    double speed = vec3_norm(vel);

    double lookahead =
        clamp(speed * params->lookahead_time, params->lookahead_min, params->lookahead_max);
    double arc = lesser(carrot->arc + lookahead, facet_reference_length(reference));
    int j = carrot->ahead = segment_at(reference, arc, i, ahead_before);
    FacetVec3 ahead =
        vec3_lerp(reference->pos[j], reference->pos[j + 1], fraction_at(reference, arc, j));

    double per_speed = speed > 1e-9 ? 1.0 / speed : 0.0;
    FacetVec3 tangent = vec3_scale(vel, per_speed);
    double lead = vec3_dot(vec3_sub(ahead, here), tangent);
    return (FacetSetpoint){
        .pos = vec3_axpy(ahead, -lead, tangent), .vel = vel, .acc = acc, .yaw = yaw};
}
