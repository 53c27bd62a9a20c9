// Repair of a plan (see facet/flight.h).
//
// Let c_g be the point where a flight crosses gate g, two numbers in the gate's plane, and S its
// derivative by the 96 coordinates of the plan's keypoints, by differences of whole flights. The
// change of the path that centres the crossings of some gates and leaves those of the others is, to
// first order, the smallest one d with
//
//   S d = r,   r_g = -mean c_g where the gate is to be centred, 0 elsewhere
//   d = W^-1 S^T (S W^-1 S^T + mu I)^-1 r,   |d|_W^2 = sum |d_i|^2 + bend sum |d_i+1 - 2 d_i +
//   d_i-1|^2
//
// The metric is in metres and alike on all axes, so that it needs nothing of the planner; the
// second differences keep the change from being a kink at one keypoint, which no vehicle follows.
// (The spread of a policy's own plans would be no metric: it is a few centimetres, and smallest
// just where a plan that was never shown is wrong.) The mean is over a panel of flights, one in
// still air and the others in gusts from spread starts, since a slow start may well cross
// elsewhere. Several lengths of d are flown at once, each by a panel, and the best is taken; steps
// repeat until the crossings are near the centre.
//
// Which gates are to be centred: those that a flight in still air misses, and those that flights in
// gusts from spread starts miss. Where the path alone does not cure them, the speed is capped about
// them,
//
//   v(s)^2 <= v_g^2 + 2 a |s - s_g|
//
// with v_g 15 % less each time, and the path is repaired anew at the new speed. The constants were
// chosen on the 14 training pairs of the race study.
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "course/course.h"
#include "flight/many.h"
#include "math/cholesky.h"
#include "math/geometry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    POINTS = FACET_CHUNK_KEYPOINTS,
    UNKNOWNS = 3 * POINTS,
    ROWS_MAX = 2 * FACET_TRACK_GATES_MAX,
    LENGTHS = 8, // of a step, flown at once
    PANEL = 16,  // flights that a step is judged by: one in still air, the others in gusts
    HALVES = 3,  // of the way back from a centred path that gusts do not spare
};

static const double STEP = 0.1;     // m, of the differences: shorter ones see the path's corners
static const double BEND = 1.0;     // of the metric
static const double DAMPING = 1e-3; // mu over the mean of the diagonal that it is added to
static const double CENTRED = 0.1;  // of the half-width: near enough to the centre
static const double LOST = 10.0;    // half-widths that a gate not crossed counts as
static const double BRAKING = 1.0;  // m/s^2, a
static const double SLOWER = 0.85;  // from one cap to the next
static const double length_of[LENGTHS] = {1.0, 0.75, 0.5, 0.35, 0.25, 0.15, 0.08, 0.04};

typedef struct Repair {
    const FacetFlightSetup *setup;
    FacetQuadState start;
    const FacetRepairOptions *options;
    FacetPool *pool;
    Progress *progress;
    const FacetKeypoint *raw;
    FacetRepair *out;
    int gates;
    FacetKeypoint plan[POINTS];            // in work
    FacetFlight still;                     // of it
    double cost;                           // of its panel
    double mean[FACET_TRACK_GATES_MAX][2]; // m, of the panel's crossings
    int clear;                             // of its flights in gusts
    int missed[FACET_TRACK_GATES_MAX];     // of those, at each gate
    bool centre[FACET_TRACK_GATES_MAX];    // gates that are to be centred
    double share[FACET_TRACK_GATES_MAX];   // of the raw speed, that the cap at a gate is
    double metric[POINTS][POINTS];         // the factor of W on one axis
    double slope[ROWS_MAX][UNKNOWNS];      // S, [gate][left, up][keypoint][x, y, z]
    double spread[ROWS_MAX][UNKNOWNS];     // W^-1 S^T, by rows
    double change[UNKNOWNS];               // d
    FacetFlight *flights;
} Repair;

FacetRepairOptions facet_repair_defaults(void)
{
    return (FacetRepairOptions){.margin = 0.1,
                                .centre = 1.0,
                                .flights = 128,
                                .misses = 1,
                                .gusts = 0.5,
                                .start_spread = 0.15,
                                .start_least = 0.7,
                                .seed = UINT64_C(0x726570616972), // no other flights' gusts
                                .steps = 2,
                                .shift_max = 2.0,
                                .speed_least = 0.2};
}

// ---- Flights ------------------------------------------------------------------------------------

static void move_keypoints(FacetKeypoint chunk[POINTS], const double *change, double length)
{
    for (int i = 0; i < POINTS; i++, change += 3)
        chunk[i].pos = vec3_axpy(chunk[i].pos, length, vec3(change[0], change[1], change[2]));
}

static void make_same(FacetKeypoint chunk[POINTS], FacetQuadState *start, FacetGusts *gusts,
                      const void *context, int index)
{
    (void)start, (void)gusts, (void)index;
    const Repair *r = context;
    memcpy(chunk, r->plan, sizeof r->plan);
}

// Two a coordinate: one more and one less.
static void make_difference(FacetKeypoint chunk[POINTS], FacetQuadState *start, FacetGusts *gusts,
                            const void *context, int index)
{
    make_same(chunk, start, gusts, context, index);
    int unknown = index / 2;
    FacetVec3 *pos = &chunk[unknown / 3].pos;
    double step = index % 2 ? -STEP : STEP;
    *(unknown % 3 == 0 ? &pos->x : unknown % 3 == 1 ? &pos->y : &pos->z) += step;
}

static void make_gusty(FacetKeypoint chunk[POINTS], FacetQuadState *start, FacetGusts *gusts,
                       const void *context, int index)
{
    const Repair *r = context;
    const FacetRepairOptions *o = r->options;
    make_same(chunk, start, gusts, context, index);
    FacetRng rng = rng_make(o->seed, 2 * (uint64_t)index);
    double x = rng_normal(&rng), y = rng_normal(&rng), z = rng_normal(&rng);
    start->pos_world = vec3_axpy(start->pos_world, o->start_spread, vec3(x, y, z));
    start->pos_world.z = greater(start->pos_world.z, r->setup->arena->min.z + 0.25);
    start->vel_world = vec3_scale(start->vel_world, rng_range(&rng, o->start_least, 1.0));
    *gusts = (FacetGusts){o->gusts, 1.0, o->seed, 2 * (uint64_t)index + 1};
}

static void make_panel(FacetKeypoint chunk[POINTS], FacetQuadState *start, FacetGusts *gusts,
                       const void *context, int index)
{
    if (index == 0)
        make_same(chunk, start, gusts, context, 0);
    else
        make_gusty(chunk, start, gusts, context, index - 1);
}

// A panel a length of the change: [length][PANEL].
static void make_length(FacetKeypoint chunk[POINTS], FacetQuadState *start, FacetGusts *gusts,
                        const void *context, int index)
{
    const Repair *r = context;
    make_panel(chunk, start, gusts, context, index % PANEL);
    move_keypoints(chunk, r->change, length_of[index / PANEL]);
}

static FacetStatus fly(Repair *r, ManyMake make, int count)
{
    r->out->flown += count;
    TRY(progress_add(r->progress, 0, NULL));
    return many_fly(r->flights, count, r->setup, r->start, make, r, r->pool);
}

// ---- What a flight is worth ---------------------------------------------------------------------

// A miss over the half-width.
static double ratio_of(const Repair *r, const FacetFlight *flight, int gate)
{
    const FacetPassage *passage = &flight->gates[gate];
    return passage->crossed ? lesser(passage->miss / r->setup->half_width, LOST) : LOST;
}

static bool keeps_margin(const Repair *r, const FacetFlight *flight)
{
    bool keeps = flight->end != FACET_FLIGHT_CRASHED;
    for (int g = 0; g < r->gates; g++) keeps &= ratio_of(r, flight, g) <= 1.0 - r->options->margin;
    return keeps;
}

// What a step is to make small: the misses of the gates that are to be centred, and what the others
// lack of half the opening.
static double flight_cost(const Repair *r, const FacetFlight *flight)
{
    double cost = flight->end == FACET_FLIGHT_CRASHED ? LOST * LOST : 0.0;
    for (int g = 0; g < r->gates; g++) {
        double ratio = ratio_of(r, flight, g);
        double over = r->centre[g] ? ratio : greater(ratio - 0.5, 0.0);
        cost += over * over;
    }
    return cost;
}

static double cost_of(const Repair *r, const FacetFlight panel[PANEL])
{
    double cost = 0.0;
    for (int i = 0; i < PANEL; i++) cost += flight_cost(r, &panel[i]) / PANEL;
    return cost;
}

// Flies the plan in work in still air and in gusts.
static FacetStatus check_plan(Repair *r)
{
    TRY(fly(r, make_same, 1));
    r->still = r->flights[0];
    TRY(fly(r, make_gusty, r->options->flights));
    r->clear = 0;
    for (int g = 0; g < r->gates; g++) r->missed[g] = 0;
    for (int i = 0; i < r->options->flights; i++) {
        const FacetFlight *flight = &r->flights[i];
        r->clear += flight->passed == flight->gate_count;
        for (int g = 0; g < r->gates; g++) r->missed[g] += !flight->gates[g].passed;
    }
    return status_ok();
}

static bool good(const Repair *r)
{
    return keeps_margin(r, &r->still) && r->clear + r->options->misses >= r->options->flights;
}

// ---- Steps --------------------------------------------------------------------------------------

// W on one axis, factored: the same for all three.
static void make_metric(Repair *r)
{
    for (int i = 0; i < POINTS; i++) r->metric[i][i] = 1.0;
    for (int i = 1; i < POINTS - 1; i++) { // each second difference is a row (1, -2, 1)
        const double row[3] = {1.0, -2.0, 1.0};
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++) r->metric[i - 1 + a][i - 1 + b] += BEND * row[a] * row[b];
    }
    cholesky_factor(r->metric[0], POINTS, POINTS);
}

// The mean crossing of each gate over the panel, of the flights that cross.
static void note_panel(Repair *r, const FacetFlight panel[PANEL])
{
    r->still = panel[0];
    r->cost = cost_of(r, panel);
    for (int g = 0; g < r->gates; g++) {
        int crossed = 0;
        r->mean[g][0] = r->mean[g][1] = 0.0;
        for (int i = 0; i < PANEL; i++) {
            const FacetPassage *passage = &panel[i].gates[g];
            crossed += passage->crossed;
            for (int k = 0; k < 2 && passage->crossed; k++) r->mean[g][k] += passage->at[k];
        }
        for (int k = 0; k < 2 && crossed > 0; k++) r->mean[g][k] /= crossed;
    }
}

static FacetStatus fly_panel(Repair *r)
{
    TRY(fly(r, make_panel, PANEL));
    note_panel(r, r->flights);
    return status_ok();
}

// S by central differences. A crossing that a changed flight does not make has no part in it.
static FacetStatus find_slopes(Repair *r)
{
    TRY(fly(r, make_difference, 2 * UNKNOWNS));
    for (int g = 0; g < r->gates; g++)
        for (int u = 0; u < UNKNOWNS; u++) {
            const FacetPassage *more = &r->flights[2 * u].gates[g];
            const FacetPassage *less = &r->flights[2 * u + 1].gates[g];
            bool both = more->crossed && less->crossed && r->still.gates[g].crossed;
            for (int i = 0; i < 2; i++)
                r->slope[2 * g + i][u] = both ? (more->at[i] - less->at[i]) / (2.0 * STEP) : 0.0;
        }
    return status_ok();
}

// row [96] = W^-1 row, axis by axis.
static void apply_metric(double *row, const Repair *r)
{
    for (int axis = 0; axis < 3; axis++) {
        double x[POINTS];
        for (int i = 0; i < POINTS; i++) x[i] = row[3 * i + axis];
        cholesky_solve(x, r->metric[0], POINTS, POINTS);
        for (int i = 0; i < POINTS; i++) row[3 * i + axis] = x[i];
    }
}

static double row_product(const double *a, const double *b)
{
    double sum = 0.0;
    for (int u = 0; u < UNKNOWNS; u++) sum += a[u] * b[u];
    return sum;
}

// The smallest change that centres what is to be centred, to first order. False when no gate has a
// slope.
static bool find_change(Repair *r)
{
    double gram[ROWS_MAX][ROWS_MAX], right[ROWS_MAX], mean = 0.0;
    int rows = 2 * r->gates;
    for (int i = 0; i < rows; i++) {
        memcpy(r->spread[i], r->slope[i], sizeof r->spread[i]);
        apply_metric(r->spread[i], r);
        right[i] = r->centre[i / 2] ? -r->mean[i / 2][i % 2] : 0.0;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j <= i; j++) {
            gram[i][j] = row_product(r->spread[i], r->slope[j]);
            if (i == j) mean += gram[i][i] / rows;
        }
    if (!(mean > 0.0)) return false;
    for (int i = 0; i < rows; i++) gram[i][i] += DAMPING * mean;
    if (!cholesky_factor(gram[0], rows, ROWS_MAX)) return false;
    cholesky_solve(right, gram[0], rows, ROWS_MAX);
    for (int u = 0; u < UNKNOWNS; u++) {
        r->change[u] = 0.0;
        for (int i = 0; i < rows; i++) r->change[u] += r->spread[i][u] * right[i];
    }
    return true;
}

// The largest shift of a keypoint from the raw plan, m.
static double shift_of(const FacetKeypoint *plan, const FacetKeypoint *raw)
{
    double most = 0.0;
    for (int i = 0; i < POINTS; i++) most = greater(most, vec3_distance(plan[i].pos, raw[i].pos));
    return most;
}

// Takes the best length of the change within the limit of shifts. False when none is better than
// staying.
static FacetStatus take_step(bool *better, Repair *r)
{
    double least = r->cost;
    int best = -1;
    TRY(fly(r, make_length, LENGTHS * PANEL));
    for (int i = 0; i < LENGTHS; i++) {
        FacetKeypoint moved[POINTS];
        memcpy(moved, r->plan, sizeof moved);
        move_keypoints(moved, r->change, length_of[i]);
        double cost = cost_of(r, &r->flights[i * PANEL]);
        if (cost >= least || shift_of(moved, r->raw) > r->options->shift_max) continue;
        least = cost;
        best = i;
    }
    *better = best >= 0;
    if (!*better) return status_ok();
    move_keypoints(r->plan, r->change, length_of[best]);
    note_panel(r, &r->flights[best * PANEL]);
    r->out->steps++;
    return status_ok();
}

static bool centred(const Repair *r)
{
    for (int g = 0; g < r->gates; g++)
        if (r->centre[g] && hypot(r->mean[g][0], r->mean[g][1]) > CENTRED * r->setup->half_width)
            return false;
    return true;
}

// Repairs the path at the speeds that it has.
static FacetStatus mend_path(Repair *r)
{
    bool better = true;
    TRY(fly_panel(r));
    for (int i = 0; i < r->options->steps && better && !centred(r); i++) {
        TRY(find_slopes(r));
        better = find_change(r);
        if (better) TRY(take_step(&better, r));
    }
    return status_ok();
}

// ---- Speed --------------------------------------------------------------------------------------

// Where the path comes to each gate, m along its keypoints.
static void find_arcs(double arcs[FACET_TRACK_GATES_MAX], const Repair *r)
{
    FacetReference path;
    if (!facet_reference_from_chunk(&path, r->plan).ok) return;
    FacetReferee referee = referee_make(r->setup->track, r->setup->half_width);
    for (int i = 1; i < FACET_REFERENCE_WAYPOINTS; i++)
        referee_watch(&referee, path.pos[i - 1], path.pos[i], i - 1, 1.0);
    for (int g = 0; g < r->gates; g++) arcs[g] = path.arc[(int)referee.gates[g].time];
}

// Whether a gate fails in still air, or in more of the gusty flights than may.
static bool fails(const Repair *r, int gate)
{
    return ratio_of(r, &r->still, gate) > 1.0 - r->options->margin ||
           r->missed[gate] > r->options->misses;
}

// Puts the caps of all gates on the raw plan's speeds.
static void cap_speeds(Repair *r)
{
    double arcs[FACET_TRACK_GATES_MAX] = {0.0}, arc = 0.0;
    find_arcs(arcs, r);
    for (int i = 0; i < POINTS; i++) {
        if (i > 0) arc += vec3_distance(r->plan[i].pos, r->plan[i - 1].pos);
        double speed = greater(r->raw[i].speed, 0.0), cap = speed;
        for (int g = 0; g < r->gates; g++) {
            double at_gate = r->share[g] * speed;
            if (r->share[g] < 1.0)
                cap = lesser(cap, sqrt(at_gate * at_gate + 2.0 * BRAKING * fabs(arc - arcs[g])));
        }
        r->plan[i].speed = r->raw[i].speed > 0.0 ? cap : r->raw[i].speed;
    }
}

// Slows the plan about the gates that fail. False at the end of what is allowed.
static bool slow_down(Repair *r)
{
    bool slower = false;
    for (int g = 0; g < r->gates; g++) {
        if (!fails(r, g) || r->share[g] * SLOWER < r->options->speed_least) continue;
        r->share[g] *= SLOWER;
        slower = true;
    }
    if (slower) cap_speeds(r);
    return slower;
}

// ---- All of it ----------------------------------------------------------------------------------

static double worst_ratio(const Repair *r, const FacetFlight *flight)
{
    double worst = 0.0;
    for (int g = 0; g < r->gates; g++) worst = greater(worst, ratio_of(r, flight, g));
    return worst;
}

// Whether the plan in work is better than the best so far: good, then more flights through, then
// more gates, then the least miss.
static bool is_better(const Repair *r)
{
    const FacetRepair *out = r->out;
    if (good(r) != out->good) return good(r);
    if (!out->good && r->clear != out->clear) return r->clear > out->clear;
    if (r->still.passed != out->still.passed) return r->still.passed > out->still.passed;
    return worst_ratio(r, &r->still) < worst_ratio(r, &out->still);
}

static void keep_best(Repair *r, bool first)
{
    FacetRepair *out = r->out;
    if (!first && !is_better(r)) return;
    memcpy(out->plan, r->plan, sizeof out->plan);
    out->still = r->still;
    out->clear = r->clear;
    out->good = good(r);
}

// Whether a gate is crossed farther from its centre than the options want.
static bool far_out(const Repair *r, int gate)
{
    return r->options->centre < 1.0 && ratio_of(r, &r->still, gate) > r->options->centre;
}

static bool wants_centring(const Repair *r)
{
    for (int g = 0; g < r->gates; g++)
        if (far_out(r, g)) return true;
    return false;
}

// A centred path may lie where gusts take flights from it though the raw one did not: goes back by
// halves towards the best plan, which is good, until this one is too.
static FacetStatus go_back(Repair *r)
{
    for (int i = 0; i < HALVES && r->out->good && !good(r); i++) {
        for (int k = 0; k < POINTS; k++)
            r->plan[k].pos = vec3_scale(vec3_add(r->plan[k].pos, r->out->plan[k].pos), 0.5);
        TRY(check_plan(r));
        keep_best(r, false);
    }
    return status_ok();
}

// Repairs the path, checks, and slows until it is good or nothing more is allowed.
static FacetStatus mend(Repair *r)
{
    TRY(check_plan(r));
    keep_best(r, true);
    r->out->raw = r->still;
    r->out->raw_clear = r->clear;
    while (!r->out->good || wants_centring(r)) {
        for (int g = 0; g < r->gates; g++) r->centre[g] |= fails(r, g) || far_out(r, g);
        TRY(mend_path(r));
        TRY(check_plan(r));
        keep_best(r, false);
        TRY(go_back(r));
        if (r->out->good || !slow_down(r)) break;
    }
    return status_ok();
}

// Says what the best plan lacks.
static void give_reason(Repair *r)
{
    FacetRepair *out = r->out;
    if (out->good) return;
    int worst = 0;
    for (int g = 1; g < r->gates; g++)
        if (ratio_of(r, &out->still, g) > ratio_of(r, &out->still, worst)) worst = g;
    const FacetPassage *gate = &out->still.gates[worst];
    const char *name = r->setup->track->gates[worst].name;
    if (out->still.end == FACET_FLIGHT_CRASHED)
        snprintf(out->reason, sizeof out->reason, "it crashes in still air: %s",
                 facet_crash_name(out->still.crash));
    else if (!gate->crossed)
        snprintf(out->reason, sizeof out->reason, "it never crosses gate %.31s", name);
    else if (!keeps_margin(r, &out->still))
        snprintf(out->reason, sizeof out->reason,
                 "gate %.31s is crossed %.2f m from its centre, expected %.2f m or less", name,
                 gate->miss, (1.0 - r->options->margin) * r->setup->half_width);
    else
        snprintf(out->reason, sizeof out->reason,
                 "%d of %d flights in gusts miss a gate, expected %d or fewer",
                 r->options->flights - out->clear, r->options->flights, r->options->misses);
}

static FacetStatus check_options(const FacetRepairOptions *o)
{
    if (!(o->margin >= 0.0 && o->margin < 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "repair: expected a margin of at least 0 and below 1, found %g",
                           o->margin);
    if (!(o->centre > 0.0 && o->centre <= 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "repair: expected a share to centre in (0, 1], found %g", o->centre);
    if (o->flights < 0 || o->flights > 100000 || o->misses < 0 || o->steps < 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "repair: expected 0 to 100000 flights, 0 or more misses and steps, "
                           "found %d, %d and %d",
                           o->flights, o->misses, o->steps);
    if (!(o->gusts >= 0.0 && o->start_spread >= 0.0 && o->shift_max >= 0.0 &&
          o->start_least >= 0.0 && o->start_least <= 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "repair: expected gusts, spread and shift of 0 or more and a least "
                           "start speed in [0, 1], found %g, %g, %g and %g",
                           o->gusts, o->start_spread, o->shift_max, o->start_least);
    if (!(o->speed_least > 0.0 && o->speed_least <= 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "repair: expected a least share of speed in (0, 1], found %g",
                           o->speed_least);
    return status_ok();
}

FacetStatus facet_flight_repair(FacetRepair *out, const FacetFlightSetup *setup,
                                const FacetKeypoint raw[FACET_CHUNK_KEYPOINTS],
                                FacetQuadState start, const FacetRepairOptions *options,
                                FacetPool *pool)
{
    FacetReference path;
    *out = (FacetRepair){.speed_factor = 1.0};
    TRY(check_options(options));
    TRY(facet_reference_from_chunk(&path, raw));
    int room = options->flights > 2 * UNKNOWNS ? options->flights : 2 * UNKNOWNS;
    Repair *r = calloc(1, sizeof *r);
    FacetFlight *flights = calloc((size_t)room, sizeof *flights);
    FacetStatus status =
        r && flights ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for a repair");
    Progress progress;
    progress_begin(&progress, options->progress, "repair", 0);
    if (status.ok) {
        *r = (Repair){.setup = setup,
                      .start = start,
                      .options = options,
                      .pool = pool,
                      .progress = &progress,
                      .raw = raw,
                      .out = out,
                      .gates = setup->track->gate_count,
                      .flights = flights};
        memcpy(r->plan, raw, sizeof r->plan);
        for (int g = 0; g < r->gates; g++) r->share[g] = 1.0;
        make_metric(r);
        status = mend(r);
        give_reason(r);
        out->shift = shift_of(out->plan, raw);
        for (int i = 0; i < POINTS; i++)
            if (raw[i].speed > 0.0)
                out->speed_factor = lesser(out->speed_factor, out->plan[i].speed / raw[i].speed);
        out->changed = out->shift > 0.0 || out->speed_factor < 1.0;
    }
    progress_end(&progress);
    free(flights);
    free(r);
    return status;
}
