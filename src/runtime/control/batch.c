// The carrot and the SE(3) controller, eight vehicles at a time: the laws of carrot.c and se3.c.
//
// The carrot. The scalar search looks at every segment within the window ahead at every step. Here
// a search finds the nearest segment b and the least distance `far` of all segments from b + 2 to
// some way beyond the window. A vehicle that moves by m comes no nearer to those than far - m. So
// as long as b or b + 1 is nearer than that, they are all there is to look at, and the answer is
// that of the whole search. A lane searches again only when the bound does not decide any more:
// every few steps, and then over eight segments at once.
//
// The controller. With set-points that have neither jerk nor yaw rate, b1d = (cos yaw, sin yaw, 0)
// stands still, and b2c is A x b1d normalised, whose derivatives are dA x b1d and ddA x b1d. For a
// unit vector u = v/|v| and any b across u,
//   b . du = b . dv / |v|,   b . ddu = (b . ddv - 2 (u . dv) (b . du)) / |v|
// and these are all that Wc and dWc need of the derivatives.
#include "lanes.h"
#include "quad/quad.h"

#include <string.h>

// ---- Carrot: plans ----------------------------------------------------------------------------

static const float OUT_OF_REACH = 1e30f;  // m, the arc length of a segment that does not exist
static const float SEARCH_BEYOND = 0.25f; // m, how far a search looks beyond the window
static const float FAR_MARGIN = 1e-5f;    // m, above the rounding of a distance

void carrot_lanes_init(CarrotLanes *carrot, const FacetCarrotParams *params)
{
    carrot->lookahead_time = (float)params->lookahead_time;
    carrot->lookahead_min = (float)params->lookahead_min;
    carrot->lookahead_max = (float)params->lookahead_max;
    carrot->window = (float)params->window;
    for (int lane = 0; lane < BATCH_LANES; lane++) carrot_lanes_load(carrot, lane, NULL);
}

static void store(float out[3], float change[3], FacetVec3 from, FacetVec3 to)
{
    FacetVec3 d = vec3_sub(to, from);
    out[0] = (float)from.x, out[1] = (float)from.y, out[2] = (float)from.z;
    change[0] = (float)d.x, change[1] = (float)d.y, change[2] = (float)d.z;
}

static Segment make_segment(const FacetReference *reference, int i)
{
    Segment segment = {
        .arc_start = (float)reference->arc[i],
        .arc_end = (float)reference->arc[i + 1],
        .yaw = (float)reference->yaw[i],
        .yaw_change = (float)(reference->yaw[i + 1] - reference->yaw[i]),
    };
    store(segment.pos, segment.edge, reference->pos[i], reference->pos[i + 1]);
    store(segment.vel, segment.vel_change, reference->vel[i], reference->vel[i + 1]);
    store(segment.acc, segment.acc_change, reference->acc[i], reference->acc[i + 1]);
    double length = reference->arc[i + 1] - reference->arc[i];
    segment.per_length = length > 1e-9 ? (float)(1.0 / length) : 0.0f;
    segment.per_square = segment.per_length * segment.per_length;
    return segment;
}

// Copies one segment into a lane.
static void load_segment(SegmentLanes *lanes_of, int lane, const Segment *segment)
{
    enum { NUMBERS = sizeof(Segment) / sizeof(float) };
    _Static_assert(sizeof(SegmentLanes) == NUMBERS * sizeof(Lanes), "the same numbers, wider");
    float from[NUMBERS], *to = (float *)lanes_of + lane;
    memcpy(from, segment, sizeof from);
    for (int i = 0; i < NUMBERS; i++) to[i * BATCH_LANES] = from[i];
}

static void load_near(CarrotLanes *carrot, int lane, int index)
{
    const Segment *segment = &carrot->plans[lane].segments[index];
    carrot->near_index[lane] = index;
    load_segment(&carrot->near[0], lane, segment);
    load_segment(&carrot->near[1], lane, segment + 1);
}

static void load_ahead(CarrotLanes *carrot, int lane, int index)
{
    carrot->ahead_index[lane] = index;
    load_segment(&carrot->ahead, lane, &carrot->plans[lane].segments[index]);
}

void carrot_lanes_load(CarrotLanes *carrot, int lane, const FacetReference *reference)
{
    LanePlan *plan = &carrot->plans[lane];
    for (int i = 0; i < PLAN_PADDED; i++) {
        Segment s = {0};
        if (reference && i < PLAN_SEGMENTS)
            s = make_segment(reference, i);
        else if (i > 0)
            s.arc_start = s.arc_end = OUT_OF_REACH;
        plan->segments[i] = s;
        for (int k = 0; k < 3; k++) plan->pos[k][i] = s.pos[k], plan->edge[k][i] = s.edge[k];
        plan->arc_start[i] = s.arc_start, plan->arc_end[i] = s.arc_end;
        plan->per_square[i] = s.per_square, plan->per_length[i] = s.per_length;
    }
    carrot->arc[lane] = 0.0f;
    carrot->distance[lane] = 0.0f;
    carrot->length[lane] = reference ? (float)facet_reference_length(reference) : 0.0f;
    carrot->far[lane] = 0.0f; // decides nothing, so that the first step searches
    carrot->far_until[lane] = 0.0f;
    load_near(carrot, lane, 0);
    load_ahead(carrot, lane, 0);
}

// ---- Carrot: search ---------------------------------------------------------------------------

// Where on a segment the nearest point lies, as a fraction, not before the progress `arc`; and the
// squared distance from it.
LANES_INLINE Lanes nearest_on(Lanes *square, Lanes3 to_x, Lanes3 edge, Lanes per_square,
                              Lanes since_start, Lanes per_length)
{
    Lanes least = lanes_clamp(since_start * per_length, lanes(0.0f), lanes(1.0f));
    Lanes t = lanes_clamp(lanes3_dot(to_x, edge) * per_square, least, lanes(1.0f));
    Lanes3 gap = lanes3_axpy(to_x, -t, edge);
    *square = lanes3_dot(gap, gap);
    return t;
}

// The whole search of one lane: finds the segment nearest to x, and the bound on the rest.
static void search(CarrotLanes *carrot, int lane, const Lanes pos_world[3])
{
    const LanePlan *plan = &carrot->plans[lane];
    const float arc = carrot->arc[lane], limit = arc + carrot->window;
    const float until = limit + SEARCH_BEYOND;
    const int start = carrot->near_index[lane];
    float squares[PLAN_PADDED + BATCH_LANES];
    Lanes x = lanes(pos_world[0][lane]), y = lanes(pos_world[1][lane]),
          z = lanes(pos_world[2][lane]), best = lanes(INFINITY);
    int count = 0;
    do {
        int i = start + count;
        Lanes arc_start = lanes_load(&plan->arc_start[i]);
        Lanes3 to_x = lanes3(x - lanes_load(&plan->pos[0][i]), y - lanes_load(&plan->pos[1][i]),
                             z - lanes_load(&plan->pos[2][i]));
        Lanes3 edge = lanes3(lanes_load(&plan->edge[0][i]), lanes_load(&plan->edge[1][i]),
                             lanes_load(&plan->edge[2][i]));
        Lanes square;
        nearest_on(&square, to_x, edge, lanes_load(&plan->per_square[i]), arc - arc_start,
                   lanes_load(&plan->per_length[i]));
        LanesMask ahead = lanes_at_most(lanes(arc), lanes_load(&plan->arc_end[i]));
        square = lanes_select(ahead & lanes_less(arc_start, lanes(until)), square, lanes(INFINITY));
        lanes_store(&squares[count], square);
        best = lanes_min(lanes_select(lanes_less(arc_start, lanes(limit)), square, lanes(INFINITY)),
                         best);
        count += BATCH_LANES;
    } while (start + count < PLAN_SEGMENTS && plan->arc_start[start + count] < until);
    lanes_store(&squares[count], lanes(INFINITY));

    // The first segment with the least distance. Without one (x is not a number) all stays.
    const float least = lanes_least(best);
    int nearest = 0;
    for (int i = 0; i < count && least < INFINITY; i += BATCH_LANES) {
        unsigned found = lanes_bits(lanes_equal(lanes_load(&squares[i]), lanes(least)));
        if (found) {
            nearest = i + __builtin_ctz(found);
            break;
        }
    }
    Lanes rest = lanes(INFINITY);
    for (int i = nearest + 2; i < count; i += BATCH_LANES)
        rest = lanes_min(lanes_load(&squares[i]), rest);
    carrot->far[lane] = sqrtf(lanes_least(rest)) - FAR_MARGIN;
    carrot->far_until[lane] = arc + SEARCH_BEYOND;
    if (nearest > 0) load_near(carrot, lane, start + nearest);
}

// The nearest point on the two segments at hand.
typedef struct Nearest {
    Lanes t, arc, distance;
    LanesMask second; // on the second of the two
} Nearest;

// Compiled once, not inlined: a lane must round the same whether or not a neighbour's search makes
// it look twice.
static __attribute__((noinline)) void nearest_at_hand(Nearest *out, const CarrotLanes *carrot,
                                                      const Lanes pos_world[3])
{
    Lanes3 x = lanes3_load(pos_world);
    const SegmentLanes *a = &carrot->near[0], *b = &carrot->near[1];
    Lanes arc = carrot->arc, square_a, square_b;
    Lanes t_a = nearest_on(&square_a, lanes3_sub(x, lanes3_load(a->pos)), lanes3_load(a->edge),
                           a->per_square, arc - a->arc_start, a->per_length);
    Lanes t_b = nearest_on(&square_b, lanes3_sub(x, lanes3_load(b->pos)), lanes3_load(b->edge),
                           b->per_square, arc - b->arc_start, b->per_length);
    square_a = lanes_select(lanes_at_most(arc, a->arc_end), square_a, lanes(INFINITY));
    square_b =
        lanes_select(lanes_less(b->arc_start, arc + carrot->window), square_b, lanes(INFINITY));
    LanesMask second = lanes_less(square_b, square_a);
    Lanes t = lanes_select(second, t_b, t_a);
    Lanes from = lanes_select(second, b->arc_start, a->arc_start);
    Lanes to = lanes_select(second, b->arc_end, a->arc_end);
    Lanes reached = lanes_min(from + t * (to - from), to);
    *out = (Nearest){t, lanes_max(reached, arc), lanes_sqrt(lanes_min(square_b, square_a)), second};
}

// A number that runs along both segments at hand, at the nearest point.
LANES_INLINE Lanes blend(LanesMask second, Lanes t, const Lanes *a, const Lanes *a_change,
                         const Lanes *b, const Lanes *b_change)
{
    return lanes_select(second, *b, *a) + t * lanes_select(second, *b_change, *a_change);
}

#define BLEND(field, change, i)                                                                    \
    blend(n.second, n.t, &a->field i, &a->change i, &b->field i, &b->change i)
#define BLEND3(field, change)                                                                      \
    lanes3(BLEND(field, change, [0]), BLEND(field, change, [1]), BLEND(field, change, [2]))

void carrot_lanes_advance(SetpointLanes *setpoint, CarrotLanes *carrot, const Lanes pos_world[3],
                          const Lanes *moved, unsigned busy)
{
    const SegmentLanes *a = &carrot->near[0], *b = &carrot->near[1], *c = &carrot->ahead;
    Nearest n;
    carrot->far -= *moved;
    nearest_at_hand(&n, carrot, pos_world);
    unsigned decided = lanes_bits(lanes_less(n.distance, carrot->far) &
                                  lanes_at_most(carrot->arc, carrot->far_until));
    unsigned open = busy & ~decided;
    if (open) {
        for (; open; open &= open - 1) search(carrot, __builtin_ctz(open), pos_world);
        nearest_at_hand(&n, carrot, pos_world);
    }
    carrot->arc = n.arc;
    carrot->distance = n.distance;

    Lanes3 here = BLEND3(pos, edge), vel = BLEND3(vel, vel_change);
    Lanes speed = lanes3_norm(vel);
    Lanes lookahead = lanes_clamp(speed * carrot->lookahead_time, lanes(carrot->lookahead_min),
                                  lanes(carrot->lookahead_max));
    Lanes target = lanes_min(n.arc + lookahead, carrot->length);
    unsigned off =
        busy & ~lanes_bits(lanes_at_most(c->arc_start, target) & lanes_at_most(target, c->arc_end));
    for (; off; off &= off - 1) {
        int lane = __builtin_ctz(off), i = carrot->ahead_index[lane];
        const LanePlan *plan = &carrot->plans[lane];
        while (i > 0 && plan->arc_start[i] > target[lane]) i--;
        while (i < PLAN_SEGMENTS - 1 && plan->arc_end[i] < target[lane]) i++;
        load_ahead(carrot, lane, i);
    }
    Lanes t = lanes_min((target - c->arc_start) * c->per_length, lanes(1.0f));
    Lanes3 ahead = lanes3_axpy(lanes3_load(c->pos), t, lanes3_load(c->edge));

    Lanes3 tangent = lanes3_scale(vel, lanes_keep(lanes_less(lanes(1e-9f), speed), 1.0f / speed));
    Lanes lead = lanes3_dot(lanes3_sub(ahead, here), tangent);
    *setpoint = (SetpointLanes){.pos = lanes3_axpy(ahead, -lead, tangent),
                                .vel = vel,
                                .acc = BLEND3(acc, acc_change),
                                .yaw = BLEND(yaw, yaw_change, )};
}

// ---- SE(3) controller -------------------------------------------------------------------------

static const float PSI_HALF_TURN = 1.999f; // as in se3.c
static const float NO_LENGTH = 1e-6f;      // of A, or of b3c x b1d

LANES_INLINE Lanes3 keep3(LanesMask mask, Lanes3 v)
{
    return lanes3(lanes_keep(mask, v.x), lanes_keep(mask, v.y), lanes_keep(mask, v.z));
}

// v over its length, or `fallback` in the lanes where it has none.
LANES_INLINE Lanes3 unit_or(Lanes3 v, Lanes3 fallback)
{
    Lanes norm = lanes3_norm(v);
    return lanes3_select(lanes_less(lanes(1e-12f), norm), lanes3_scale(v, 1.0f / norm), fallback);
}

// e_R at a half turn: the axis of the rotation with the rows m, on the side of e_R. As in se3.c it
// is read from the column of m + m^T - 2 cos I in which it is longest.
LANES_INLINE Lanes3 half_turn_error(Lanes3 m1, Lanes3 m2, Lanes3 m3, Lanes cosine, Lanes3 e_r)
{
    Lanes xy = m1.y + m2.x, xz = m1.z + m3.x, yz = m2.z + m3.y, twice = 2.0f * cosine;
    LanesMask first = lanes_less(m2.y, m1.x);
    Lanes3 column = lanes3_select(first, lanes3(2.0f * m1.x - twice, xy, xz),
                                  lanes3(xy, 2.0f * m2.y - twice, yz));
    LanesMask third = lanes_less(lanes_select(first, m1.x, m2.y), m3.z);
    column = lanes3_select(third, lanes3(xz, yz, 2.0f * m3.z - twice), column);
    Lanes3 axis = unit_or(column, lanes3(lanes(1.0f), lanes(0.0f), lanes(0.0f)));
    Lanes side =
        lanes_select(lanes_less(lanes3_dot(e_r, axis), lanes(0.0f)), lanes(-1.0f), lanes(1.0f));
    return lanes3_scale(axis, side);
}

// v x (c, s, 0)
LANES_INLINE Lanes3 cross_heading(Lanes3 v, Lanes c, Lanes s)
{
    return lanes3(-v.z * s, v.z * c, v.x * s - v.y * c);
}

void se3_lanes_control(Lanes *force, Lanes torque[3], const FacetSe3Gains *gains,
                       const QuadBatchModel *model, const QuadBatch *state, const SetpointLanes *to)
{
    const Lanes kx = lanes((float)gains->position), kv = lanes((float)gains->velocity);
    const Lanes zero = lanes(0.0f), one = lanes(1.0f);
    const Lanes *q = state->attitude;
    LanesFrame r = lanes_frame(q[0], q[1], q[2], q[3]);
    Lanes3 w = lanes3_load(state->omega_body), vel = lanes3_load(state->vel_world);
    Lanes3 db3 = lanes3_axpy(lanes3_scale(r.b1, w.y), -w.x, r.b2);

    // Forces over mass.
    Lanes3 e_x = lanes3_sub(lanes3_load(state->pos_world), to->pos), e_v = lanes3_sub(vel, to->vel);
    Lanes3 air = lanes_to_body(r, vel);
    Lanes3 level = lanes_to_world(
        r, lanes3(model->drag[0] * air.x, model->drag[1] * air.y, model->drag[2] * air.z));
    level.z += model->gravity;
    Lanes3 a = lanes3_add(lanes3_axpy(lanes3_axpy(to->acc, -kx, e_x), -kv, e_v), level);
    Lanes f = lanes3_dot(a, r.b3);
    Lanes3 e_a = lanes3_sub(lanes3_sub(lanes3_scale(r.b3, f), level), to->acc);
    Lanes3 da = lanes3_axpy(lanes3_scale(e_v, -kx), -kv, e_a);
    Lanes df = lanes3_dot(da, r.b3) + lanes3_dot(a, db3);
    Lanes3 e_j = lanes3_axpy(lanes3_scale(r.b3, df), f, db3);
    Lanes3 dda = lanes3_axpy(lanes3_scale(e_a, -kx), -kv, e_j);

    // The wanted attitude. Where A has no length, the present b3 stands in and stands still.
    Lanes norm = lanes3_norm(a);
    LanesMask pulls = lanes_at_most(lanes(NO_LENGTH), norm);
    a = lanes3_select(pulls, a, r.b3), da = keep3(pulls, da), dda = keep3(pulls, dda);
    norm = lanes_select(pulls, norm, one);
    Lanes per_norm = 1.0f / norm;
    Lanes3 b3c = lanes3_scale(a, per_norm);
    Lanes sine, cosine;
    lanes_sincos(&sine, &cosine, to->yaw);
    Lanes3 side = cross_heading(a, cosine, sine), dside = cross_heading(da, cosine, sine);
    Lanes3 ddside = cross_heading(dda, cosine, sine);
    Lanes width = lanes3_norm(side);
    LanesMask spans = lanes_at_most(NO_LENGTH * norm, width);
    Lanes per_width = lanes_keep(spans, 1.0f / width);
    Lanes3 b2c = lanes3_scale(side, per_width);
    if (lanes_bits(spans) != LANES_ALL) {
        Lanes3 b2_across = lanes3_axpy(r.b2, -lanes3_dot(r.b2, b3c), b3c);
        b2c = lanes3_select(spans, b2c, unit_or(b2_across, lanes3(zero, one, zero)));
    }
    Lanes3 b1c = lanes3_cross(b2c, b3c);

    // The wanted body rate and its derivative, in the wanted frame.
    Lanes grows = lanes3_dot(b3c, da), widens = lanes3_dot(b2c, dside);
    Lanes3 wc = lanes3(-lanes3_dot(b2c, da) * per_norm, lanes3_dot(b1c, da) * per_norm,
                       -lanes3_dot(b1c, dside) * per_width);
    Lanes3 dwc = lanes3(wc.y * wc.z - (lanes3_dot(b2c, dda) + 2.0f * grows * wc.x) * per_norm,
                        (lanes3_dot(b1c, dda) - 2.0f * grows * wc.y) * per_norm - wc.x * wc.z,
                        wc.x * wc.y - (lanes3_dot(b1c, ddside) + 2.0f * widens * wc.z) * per_width);

    // Rows of Rc^T R, the attitude error and the torque.
    Lanes3 m1 = lanes_to_body(r, b1c), m2 = lanes_to_body(r, b2c), m3 = lanes_to_body(r, b3c);
    Lanes psi = 0.5f * (3.0f - m1.x - m2.y - m3.z);
    Lanes3 e_r = lanes3_scale(lanes3(m3.y - m2.z, m1.z - m3.x, m2.x - m1.y), lanes(0.5f));
    LanesMask half_turn = lanes_less(lanes(PSI_HALF_TURN), psi);
    if (lanes_bits(half_turn))
        e_r = lanes3_select(half_turn, half_turn_error(m1, m2, m3, 1.0f - psi, e_r), e_r);
    Lanes3 wc_body = lanes3_axpy(lanes3_axpy(lanes3_scale(m1, wc.x), wc.y, m2), wc.z, m3);
    Lanes3 dwc_body = lanes3_axpy(lanes3_axpy(lanes3_scale(m1, dwc.x), dwc.y, m2), dwc.z, m3);
    Lanes3 e_w = lanes3_sub(w, wc_body);
    Lanes3 turn = lanes3_sub(dwc_body, lanes3_cross(w, wc_body));
    turn = lanes3_axpy(turn, lanes((float)-gains->attitude), e_r);
    turn = lanes3_axpy(turn, lanes((float)-gains->rate), e_w);
    const float *j = model->inertia;
    Lanes3 spin = lanes3_cross(w, lanes3(j[0] * w.x, j[1] * w.y, j[2] * w.z));
    torque[0] = j[0] * turn.x + spin.x;
    torque[1] = j[1] * turn.y + spin.y;
    torque[2] = j[2] * turn.z + spin.z;
    *force = model->mass * f;
}
