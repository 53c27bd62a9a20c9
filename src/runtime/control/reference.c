// Action chunks and the dense references made from them (paper, Section 4.1).
//
// 32 keypoints (x, y, z, speed) become 256 waypoints by linear interpolation; velocity is the
// unit tangent times the speed, and yaw = atan2(v_y, v_x). The polygon turns only at its keypoints;
// the tangent at a waypoint is that of a chord one keypoint interval long about it, which spreads
// each turn over its neighbourhood. Where the path is vertical or stands still, the last tangent
// and yaw stay; before its first heading a path has that one. A learned plan may ask for a speed a
// little below zero; nobody flies a path backwards, so that counts as zero.
#include "base/status.h"
#include "control/control.h"
#include "math/geometry.h"

static const double LENGTH_MAX = 1e6; // m: keeps durations and step counts within reason

enum {
    CHORD_REACH = FACET_REFERENCE_WAYPOINTS / FACET_CHUNK_KEYPOINTS / 2
}; // waypoints to either side

static int chord_start(int i) { return i > CHORD_REACH ? i - CHORD_REACH : 0; }

static int chord_end(int i)
{
    return i < FACET_REFERENCE_WAYPOINTS - 1 - CHORD_REACH ? i + CHORD_REACH
                                                           : FACET_REFERENCE_WAYPOINTS - 1;
}

void chunk_from_spline(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const Spline *spline,
                       double speed)
{
    double length = spline_length(spline);
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i] = (FacetKeypoint){
            spline_position(spline, length * i / (FACET_CHUNK_KEYPOINTS - 1)), speed};
}

// The tangent at the first waypoint from which the path goes anywhere.
static FacetVec3 first_tangent(const FacetReference *reference)
{
    for (int i = 1; i < FACET_REFERENCE_WAYPOINTS; i++) {
        FacetVec3 chord = vec3_sub(reference->pos[i], reference->pos[0]);
        if (vec3_norm(chord) > 1e-6) return vec3_unit(chord, vec3(1.0, 0.0, 0.0));
    }
    return vec3(1.0, 0.0, 0.0);
}

static FacetVec3 chord_at(const FacetReference *reference, int i)
{
    return vec3_sub(reference->pos[chord_end(i)], reference->pos[chord_start(i)]);
}

// Whether a unit tangent is far enough from the vertical to have a heading.
static bool has_heading(FacetVec3 tangent) { return hypot(tangent.x, tangent.y) > 1e-3; }

// The heading where the path first has one; 0 when it is vertical all along.
static double first_heading(const FacetReference *reference)
{
    for (int i = 0; i < FACET_REFERENCE_WAYPOINTS; i++) {
        FacetVec3 chord = chord_at(reference, i);
        if (vec3_norm(chord) > 1e-6 && has_heading(vec3_unit(chord, chord)))
            return atan2(chord.y, chord.x);
    }
    return 0.0;
}

// acc = speed dv/ds, by a difference over the same chord.
static void fill_acceleration(FacetReference *reference, const double *speed)
{
    for (int i = 0; i < FACET_REFERENCE_WAYPOINTS; i++) {
        int before = chord_start(i), after = chord_end(i);
        double length = reference->arc[after] - reference->arc[before];
        FacetVec3 change = vec3_sub(reference->vel[after], reference->vel[before]);
        reference->acc[i] = vec3_scale(change, length > 1e-6 ? speed[i] / length : 0.0);
    }
}

FacetStatus facet_reference_from_chunk(FacetReference *reference,
                                       const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS])
{
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        if (!vec3_finite(chunk[i].pos) || !isfinite(chunk[i].speed))
            return status_fail(FACET_NOT_FINITE, "keypoint %d of the plan is not finite", i);

    double speed[FACET_REFERENCE_WAYPOINTS];
    const int last = FACET_REFERENCE_WAYPOINTS - 1;
    for (int i = 0; i <= last; i++) {
        double u = (double)(i * (FACET_CHUNK_KEYPOINTS - 1)) / last;
        int k = u < FACET_CHUNK_KEYPOINTS - 1 ? (int)u : FACET_CHUNK_KEYPOINTS - 2;
        double t = u - k;
        double from = greater(chunk[k].speed, 0.0), to = greater(chunk[k + 1].speed, 0.0);
        reference->pos[i] = vec3_lerp(chunk[k].pos, chunk[k + 1].pos, t);
        speed[i] = from + t * (to - from);
        reference->arc[i] =
            i ? reference->arc[i - 1] + vec3_distance(reference->pos[i], reference->pos[i - 1])
              : 0.0;
    }
    if (reference->arc[last] < 1e-3) return status_fail(FACET_NOT_FOUND, "the plan has no length");
    if (!(reference->arc[last] <= LENGTH_MAX))
        return status_fail(FACET_BAD_ARGUMENT, "the plan is %.3g m long, expected at most %.3g m",
                           reference->arc[last], LENGTH_MAX);

    FacetVec3 tangent = first_tangent(reference);
    double yaw = first_heading(reference);
    for (int i = 0; i <= last; i++) {
        FacetVec3 chord = chord_at(reference, i);
        if (vec3_norm(chord) > 1e-6) tangent = vec3_unit(chord, tangent);
        reference->vel[i] = vec3_scale(tangent, speed[i]);
        if (has_heading(tangent)) {
            double turn = atan2(tangent.y, tangent.x) - yaw;
            yaw += turn - 2.0 * FACET_PI * floor(0.5 + turn / (2.0 * FACET_PI));
        }
        reference->yaw[i] = yaw;
    }
    fill_acceleration(reference, speed);
    return status_ok();
}

double facet_reference_length(const FacetReference *reference)
{
    return reference->arc[FACET_REFERENCE_WAYPOINTS - 1];
}

double facet_reference_duration(const FacetReference *reference)
{
    double duration = 0.0;
    for (int i = 1; i < FACET_REFERENCE_WAYPOINTS; i++) {
        double speed = 0.5 * (vec3_norm(reference->vel[i]) + vec3_norm(reference->vel[i - 1]));
        duration += (reference->arc[i] - reference->arc[i - 1]) / fmax(speed, 0.1);
    }
    return duration;
}

void facet_chunk_from_actions(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const double *actions)
{
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++, actions += FACET_CHUNK_CHANNELS)
        chunk[i] = (FacetKeypoint){vec3(actions[0], actions[1], actions[2]), actions[3]};
}

void facet_chunk_to_actions(double *actions, const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS])
{
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++, actions += FACET_CHUNK_CHANNELS) {
        actions[0] = chunk[i].pos.x;
        actions[1] = chunk[i].pos.y;
        actions[2] = chunk[i].pos.z;
        actions[3] = chunk[i].speed;
    }
}
