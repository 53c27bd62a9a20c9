// Many closed-loop flights, eight at a time (see facet/flight.h).
//
// All lanes run the same step together: carrot, controller, mixer, RK4. What happens seldom is
// found by a mask and handled one lane at a time with the scalar code: a gate's plane comes near
// (referee_watch), a limit of the arena or of the attitude is passed (crash_check), the wind
// changes, a flight ends and the lane takes the next plan. Sums over a flight are compensated
// (Kahan), because single precision would lose their small terms.
#include "base/rng.h"
#include "control/lanes.h"
#include "course/course.h"
#include "flight/flight.h"
#include "quad/quad.h"
#include "rules.h"

#include <limits.h>
#include <stddef.h>

// m: a gate's plane is near enough for the referee to look. Single precision places a vehicle to
// about 1e-6 m, so no crossing escapes.
static const float PLANE_MARGIN = 1e-4f;

// A sum and what rounding has kept out of it so far.
typedef struct Sum {
    Lanes value, lost;
} Sum;

LANES_INLINE void sum_add(Sum *sum, Lanes term)
{
    Lanes corrected = term - sum->lost, value = sum->value + corrected;
    sum->lost = (value - sum->value) - corrected;
    sum->value = value;
}

// Stands where a track has no more gates: out of reach.
static const FacetCourseGate NO_GATE = {.center = {1e6, 0.0, 0.0}, .normal = {1.0, 0.0, 0.0}};

// A gate that a lane watches for.
typedef struct GateLanes {
    Lanes center[3], normal[3];
} GateLanes;

// The part of a lane's flight that changes seldom.
typedef struct Seat {
    int plan;   // which of the plans, or -1 when the lane is idle
    long begin; // the batch's step at which this flight took its first
    long limit; // steps it may take
    long wake;  // the batch's step at which something is due
    FacetReferee referee;
    FacetVec3 wind; // m/s
    FacetRng rng;
} Seat;

typedef struct Batch {
    const FacetQuadModel *model;
    const FacetControlPreset *preset;
    const FacetArena *arena;
    const FacetFlightPlan *plans;
    FacetFlight *flights;
    QuadBatchModel numbers;
    long now, wake; // steps of the batch; the next step at which some lane has something due
    unsigned busy;  // lanes in flight
    QuadBatch state;
    Lanes wind[3], moved;
    Lanes end_of_path, error_max;
    Lanes steps; // taken in this flight
    Sum error, path;
    GateLanes gates[2];            // the next to be crossed, and the one after
    Lanes open_square, open_steps; // least squared distance from the next gate, and when
    CarrotLanes carrot;
    Seat seats[BATCH_LANES];
} Batch;

static void set3(Lanes out[3], int lane, FacetVec3 v)
{
    out[0][lane] = (float)v.x, out[1][lane] = (float)v.y, out[2][lane] = (float)v.z;
}

static FacetVec3 get3(const Lanes v[3], int lane)
{
    return vec3((double)v[0][lane], (double)v[1][lane], (double)v[2][lane]);
}

// Lets a lane watch the gates that its referee waits for.
static void watch_gates(Batch *batch, int lane)
{
    const FacetReferee *referee = &batch->seats[lane].referee;
    for (int k = 0; k < 2; k++) {
        int index = referee->next + k;
        bool exists = referee->track && index < referee->track->gate_count;
        const FacetCourseGate *gate = exists ? &referee->track->gates[index] : &NO_GATE;
        set3(batch->gates[k].center, lane, gate->center);
        set3(batch->gates[k].normal, lane, gate->normal);
    }
    batch->open_square[lane] = INFINITY;
    batch->open_steps[lane] = 0.0f;
}

// Tells the referee how near the vehicle has come to the next gate.
static void report_approach(Batch *batch, int lane)
{
    FacetReferee *referee = &batch->seats[lane].referee;
    if (referee->next >= referee->track->gate_count) return;
    FacetPassage *open = &referee->gates[referee->next];
    double distance = (double)sqrtf(batch->open_square[lane]);
    if (!(distance < open->miss)) return;
    open->miss = distance;
    open->time = (double)batch->open_steps[lane] * batch->model->step;
}

// Puts a lane at the start of a plan, or, with -1, into an idle hover at the origin.
static void take_seat(Batch *batch, int lane, int plan)
{
    Seat *seat = &batch->seats[lane];
    FacetQuadState start = facet_quad_hover(batch->model, vec3(0.0, 0.0, 0.0), 0.0);
    const FacetReference *reference = NULL;
    *seat = (Seat){.plan = plan, .wake = LONG_MAX};
    batch->end_of_path[lane] = INFINITY;
    if (plan >= 0) {
        const FacetFlightPlan *p = &batch->plans[plan];
        reference = p->reference;
        start = p->start;
        seat->begin = batch->now;
        seat->limit = step_limit(reference, batch->model);
        seat->referee = referee_make(p->track, p->half_width);
        seat->rng = rng_make(p->gusts.seed, p->gusts.stream);
        seat->wake = p->gusts.speed > 0.0 ? batch->now : batch->now + seat->limit;
        batch->end_of_path[lane] = (float)end_of_path(reference);
        batch->busy |= 1u << lane;
    }
    quad_batch_set(&batch->state, lane, &start);
    carrot_lanes_load(&batch->carrot, lane, reference);
    set3(batch->wind, lane, vec3(0.0, 0.0, 0.0));
    batch->moved[lane] = batch->error_max[lane] = batch->steps[lane] = 0.0f;
    batch->error.value[lane] = batch->error.lost[lane] = 0.0f;
    batch->path.value[lane] = batch->path.lost[lane] = 0.0f;
    watch_gates(batch, lane);
}

// Writes down the outcome of a lane's flight and leaves the lane free.
static void leave_seat(Batch *batch, int lane, FacetFlightEnd end, FacetCrashKind crash)
{
    const Seat *seat = &batch->seats[lane];
    report_approach(batch, lane);
    FacetFlight flight = {.end = end,
                          .crash = crash,
                          .gate_count = seat->referee.track->gate_count,
                          .passed = referee_passed(&seat->referee),
                          .steps = batch->now - seat->begin,
                          .error_max = (double)batch->error_max[lane]};
    if (flight.steps > 0) {
        flight.duration = (double)flight.steps * batch->model->step;
        flight.speed_mean = (double)batch->path.value[lane] / flight.duration;
        flight.error_mean = (double)batch->error.value[lane] / (double)flight.steps;
    }
    for (int i = 0; i < flight.gate_count; i++) flight.gates[i] = seat->referee.gates[i];
    batch->flights[seat->plan] = flight;
    batch->busy &= ~(1u << lane);
}

// What is due before a step: time is up, or the wind changes.
static void wake_lanes(Batch *batch)
{
    batch->wake = LONG_MAX;
    for (int lane = 0; lane < BATCH_LANES; lane++) {
        Seat *seat = &batch->seats[lane];
        if (!(batch->busy >> lane & 1)) continue;
        if (seat->wake == batch->now) {
            long end = seat->begin + seat->limit;
            if (batch->now == end) {
                leave_seat(batch, lane, FACET_FLIGHT_TIMED_OUT, FACET_CRASH_NONE);
                continue;
            }
            const FacetGusts *gusts = &batch->plans[seat->plan].gusts;
            seat->wind = gust_next(seat->wind, gusts, GUST_STEPS * batch->model->step, &seat->rng);
            set3(batch->wind, lane, seat->wind);
            long next = batch->now + GUST_STEPS;
            seat->wake = next < end ? next : end;
        }
        if (seat->wake < batch->wake) batch->wake = seat->wake;
    }
}

LANES_INLINE LanesMask within(Lanes x, double least, double most)
{
    return lanes_at_most(lanes((float)least), x) & lanes_at_most(x, lanes((float)most));
}

// Lanes that may have crashed in this step: crash_check decides. A number that is not finite has
// reached the position or the attitude within the step, and fails every comparison.
LANES_INLINE unsigned suspects(const Batch *batch)
{
    const Lanes *p = batch->state.pos_world, *q = batch->state.attitude;
    const FacetArena *arena = batch->arena;
    LanesMask sound = lanes_at_most(q[1] * q[1] + q[2] * q[2], lanes(0.75f)) &
                      within(p[0], arena->min.x, arena->max.x) &
                      within(p[1], arena->min.y, arena->max.y) &
                      within(p[2], arena->min.z, arena->max.z);
    return batch->busy & ~lanes_bits(sound);
}

// Lanes whose last motion comes near the plane of one of the two gates they watch for.
LANES_INLINE unsigned near_planes(Batch *batch, Lanes3 moved)
{
    Lanes3 x = lanes3_load(batch->state.pos_world);
    LanesMask near = {0};
    for (int k = 0; k < 2; k++) {
        const GateLanes *gate = &batch->gates[k];
        Lanes3 from_center = lanes3_sub(x, lanes3_load(gate->center));
        Lanes3 normal = lanes3_load(gate->normal);
        Lanes after = lanes3_dot(normal, from_center), before = after - lanes3_dot(normal, moved);
        near |= lanes_less(before, lanes(PLANE_MARGIN)) & lanes_less(lanes(-PLANE_MARGIN), after);
        if (k > 0) continue;
        Lanes square = lanes3_dot(from_center, from_center);
        LanesMask nearer = lanes_less(square, batch->open_square);
        batch->open_square = lanes_select(nearer, square, batch->open_square);
        batch->open_steps = lanes_select(nearer, batch->steps, batch->open_steps);
    }
    return batch->busy & lanes_bits(near);
}

// Shows a lane's last step to its referee.
static void show_referee(Batch *batch, int lane, const Lanes before[3])
{
    Seat *seat = &batch->seats[lane];
    int next = seat->referee.next;
    double step = batch->model->step, time = (double)(batch->now - 1 - seat->begin) * step;
    report_approach(batch, lane);
    referee_watch(&seat->referee, get3(before, lane), get3(batch->state.pos_world, lane), time,
                  step);
    if (seat->referee.next == next) return;
    watch_gates(batch, lane);
    if (gives_up(&seat->referee, batch->plans[seat->plan].give_up))
        leave_seat(batch, lane, FACET_FLIGHT_GIVEN_UP, FACET_CRASH_NONE);
}

// One step of every lane.
static void step_lanes(Batch *batch)
{
    SetpointLanes setpoint;
    carrot_lanes_advance(&setpoint, &batch->carrot, batch->state.pos_world, &batch->moved,
                         batch->busy);
    unsigned arrived =
        batch->busy & lanes_bits(lanes_at_most(batch->end_of_path, batch->carrot.arc));
    for (; arrived; arrived &= arrived - 1)
        leave_seat(batch, __builtin_ctz(arrived), FACET_FLIGHT_FINISHED, FACET_CRASH_NONE);
    sum_add(&batch->error, batch->carrot.distance);
    batch->error_max = lanes_max(batch->carrot.distance, batch->error_max);

    Lanes force, torque[3], command[FACET_QUAD_MOTORS], moved[3];
    se3_lanes_control(&force, torque, &batch->preset->gains, &batch->numbers, &batch->state,
                      &setpoint);
    quad_batch_mix(command, &batch->numbers, &force, torque);
    const Lanes before[3] = {batch->state.pos_world[0], batch->state.pos_world[1],
                             batch->state.pos_world[2]};
    quad_batch_step(&batch->state, &batch->numbers, command, batch->wind, moved);
    batch->now++;
    batch->steps += 1.0f;

    for (unsigned odd = suspects(batch); odd; odd &= odd - 1) {
        int lane = __builtin_ctz(odd);
        FacetQuadState state = quad_batch_get(&batch->state, lane);
        FacetCrashKind crash = crash_check(batch->arena, &state);
        if (crash != FACET_CRASH_NONE) leave_seat(batch, lane, FACET_FLIGHT_CRASHED, crash);
    }
    batch->moved = lanes3_norm(lanes3_load(moved));
    sum_add(&batch->path, batch->moved);
    for (unsigned near = near_planes(batch, lanes3_load(moved)); near; near &= near - 1)
        show_referee(batch, __builtin_ctz(near), before);
}

void facet_flight_fly_batch(FacetFlight *flights, const FacetQuadModel *model,
                            const FacetControlPreset *preset, const FacetArena *arena,
                            const FacetFlightPlan *plans, int count)
{
    Batch batch = {.model = model,
                   .preset = preset,
                   .arena = arena,
                   .plans = plans,
                   .flights = flights,
                   .numbers = quad_batch_model(model)};
    carrot_lanes_init(&batch.carrot, &preset->carrot);
    int next = 0;
    unsigned seated = LANES_ALL; // so that every lane counts as just left
    for (;;) {
        unsigned left = seated & ~batch.busy;
        for (unsigned free = left; free; free &= free - 1) {
            int lane = __builtin_ctz(free);
            take_seat(&batch, lane, next < count ? next++ : -1);
        }
        seated = batch.busy;
        if (!seated) return;
        if (left || batch.now == batch.wake) wake_lanes(&batch);
        step_lanes(&batch);
    }
}
