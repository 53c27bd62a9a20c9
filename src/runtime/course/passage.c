// Passage and crash: what a flight's motion means for the gates and the arena.
//
// A crossing is where the straight line between two positions meets the gate's plane, in the
// gate's direction. Gates are taken in order. A crossing farther away than the capture radius is
// no attempt. A near crossing settles the gate, passed or missed. A gate that is passed while the
// one before it is still open settles that one as missed, so that one wild corner does not cost
// the rest of the race.
#include "course/course.h"
#include "math/geometry.h"
#include "quad/quad.h"

FacetReferee referee_make(const FacetTrack *track, double half_width)
{
    FacetReferee referee = {.track = track, .half_width = half_width};
    for (int i = 0; i < track->gate_count; i++) referee.gates[i].miss = INFINITY;
    return referee;
}

bool course_crossed(double *fraction, const FacetCourseGate *gate, FacetVec3 before,
                    FacetVec3 after)
{
    double d0 = vec3_dot(gate->normal, vec3_sub(before, gate->center));
    double d1 = vec3_dot(gate->normal, vec3_sub(after, gate->center));
    if (!(d0 < 0.0 && d1 >= 0.0)) return false;
    *fraction = d0 / (d0 - d1);
    return true;
}

// Where a point of the gate's plane lies as one flies through: to the left and up of the centre.
static void place_in_plane(double at[2], const FacetCourseGate *gate, FacetVec3 point)
{
    FacetVec3 left = vec3_unit(vec3_cross(vec3(0.0, 0.0, 1.0), gate->normal), vec3(1.0, 0.0, 0.0));
    FacetVec3 up = vec3_cross(gate->normal, left), offset = vec3_sub(point, gate->center);
    at[0] = vec3_dot(offset, left);
    at[1] = vec3_dot(offset, up);
}

// Settles gate `index` if the motion crosses it within `reach` of the centre.
static bool settle(FacetReferee *referee, int index, double reach, FacetVec3 before,
                   FacetVec3 after, double time, double step)
{
    const FacetCourseGate *gate = &referee->track->gates[index];
    double fraction;
    if (!course_crossed(&fraction, gate, before, after)) return false;
    FacetVec3 point = vec3_lerp(before, after, fraction);
    double miss = vec3_distance(point, gate->center);
    if (miss > reach) return false;
    referee->gates[index] = (FacetPassage){
        .crossed = true,
        .passed = miss <= referee->half_width,
        .miss = miss,
        .time = time + fraction * step,
        .speed = vec3_distance(before, after) / step,
    };
    place_in_plane(referee->gates[index].at, gate, point);
    referee->next = index + 1;
    return true;
}

void referee_watch(FacetReferee *referee, FacetVec3 before, FacetVec3 after, double time,
                   double step)
{
    int next = referee->next, count = referee->track->gate_count;
    if (next >= count) return;
    FacetPassage *open = &referee->gates[next];
    double distance = vec3_distance(after, referee->track->gates[next].center);
    if (distance < open->miss) open->miss = distance, open->time = time + step;
    if (settle(referee, next, greater(PASSAGE_CAPTURE_RADIUS, referee->half_width), before, after,
               time, step))
        return;
    if (next + 1 < count) settle(referee, next + 1, referee->half_width, before, after, time, step);
}

int referee_passed(const FacetReferee *referee)
{
    int passed = 0;
    for (int i = 0; i < referee->track->gate_count; i++) passed += referee->gates[i].passed;
    return passed;
}

FacetCrashKind crash_check(const FacetArena *arena, const FacetQuadState *state)
{
    FacetVec3 p = state->pos_world;
    FacetQuat q = state->attitude;
    if (!quad_finite(state)) return FACET_CRASH_NONFINITE;
    if (p.z < arena->min.z) return FACET_CRASH_GROUND;
    if (p.x < arena->min.x || p.x > arena->max.x || p.y < arena->min.y || p.y > arena->max.y ||
        p.z > arena->max.z)
        return FACET_CRASH_BOUNDS;
    double up = 1.0 - 2.0 * (q.x * q.x + q.y * q.y); // the world's z along the body's
    return up < -0.5 ? FACET_CRASH_ATTITUDE : FACET_CRASH_NONE;
}

const char *facet_crash_name(FacetCrashKind kind)
{
    static const char *const names[] = {"none", "ground", "bounds", "attitude", "non-finite state"};
    return names[kind];
}
