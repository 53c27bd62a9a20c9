// Passage and crash: what a flight's motion means for the gates and the arena.
//
// A crossing is where the straight line between two positions meets the gate's plane, in the
// gate's direction. Gates are taken in order. A crossing farther away than the capture radius is
// no attempt. A near crossing settles the gate, passed or missed. A gate that is passed while the
// one before it is still open settles that one as missed, so that one wild corner does not cost
// the rest of the race.
#include <facet/course.h>

Referee referee_make(const Track *track, double half_width)
{
    Referee referee = {.track = track, .half_width = half_width};
    for (int i = 0; i < track->gate_count; i++) referee.gates[i].miss = INFINITY;
    return referee;
}

bool gate_crossed(double *fraction, const Gate *gate, Vec3 before, Vec3 after)
{
    double d0 = vec3_dot(gate->normal, vec3_sub(before, gate->center));
    double d1 = vec3_dot(gate->normal, vec3_sub(after, gate->center));
    if (!(d0 < 0.0 && d1 >= 0.0)) return false;
    *fraction = d0 / (d0 - d1);
    return true;
}

// Settles gate `index` if the motion crosses it within `reach` of the centre.
static bool settle(Referee *referee, int index, double reach, Vec3 before, Vec3 after, double time,
                   double step)
{
    const Gate *gate = &referee->track->gates[index];
    double fraction;
    if (!gate_crossed(&fraction, gate, before, after)) return false;
    double miss = vec3_distance(vec3_lerp(before, after, fraction), gate->center);
    if (miss > reach) return false;
    referee->gates[index] = (GateResult){
        .crossed = true,
        .passed = miss <= referee->half_width,
        .miss = miss,
        .time = time + fraction * step,
        .speed = vec3_distance(before, after) / step,
    };
    referee->next = index + 1;
    return true;
}

void referee_watch(Referee *referee, Vec3 before, Vec3 after, double time, double step)
{
    int next = referee->next, count = referee->track->gate_count;
    if (next >= count) return;
    GateResult *open = &referee->gates[next];
    double distance = vec3_distance(after, referee->track->gates[next].center);
    if (distance < open->miss) open->miss = distance, open->time = time + step;
    if (settle(referee, next, greater(GATE_CAPTURE_RADIUS, referee->half_width), before, after,
               time, step))
        return;
    if (next + 1 < count) settle(referee, next + 1, referee->half_width, before, after, time, step);
}

int referee_passed(const Referee *referee)
{
    int passed = 0;
    for (int i = 0; i < referee->track->gate_count; i++) passed += referee->gates[i].passed;
    return passed;
}

CrashKind crash_check(const Arena *arena, const QuadState *state)
{
    Vec3 p = state->pos_world;
    Quat q = state->attitude;
    if (!quad_finite(state)) return CRASH_NONFINITE;
    if (p.z < arena->min.z) return CRASH_GROUND;
    if (p.x < arena->min.x || p.x > arena->max.x || p.y < arena->min.y || p.y > arena->max.y ||
        p.z > arena->max.z)
        return CRASH_BOUNDS;
    double up = 1.0 - 2.0 * (q.x * q.x + q.y * q.y); // the world's z along the body's
    return up < -0.5 ? CRASH_ATTITUDE : CRASH_NONE;
}

const char *crash_name(CrashKind kind)
{
    static const char *const names[] = {"none", "ground", "bounds", "attitude", "non-finite state"};
    return names[kind];
}
