// Verification before flight: a plan is simulated, and slowed where it would miss (see
// facet/race.h).
//
// The path stays as the policy made it; only speeds go down. Slowing around a gate at arc length
// s_g to the speed v puts a cap on the speed that rises away from the gate as a steady acceleration
// a allows,
//
//   v(s)^2 <= v^2 + 2 a |s - s_g|
//
// so that the vehicle can brake towards the gate and gather speed after it. Gates are taken in the
// order they are flown. For the first one that misses its margin, v comes down from the speed the
// plan has there in steps of a twentieth to the first at which this gate, and all before it, keep
// the margin; bisection between that step and the one before it then slows no more than needed. A
// miss does not grow with speed everywhere (the carrot cuts corners inwards, speed drifts
// outwards), so the steps are what finds a passage and bisection only refines it. Where no step
// down to the floor helps, a gentler a is tried, which slows a longer stretch, and at last a = 0,
// which slows all of the plan. When all fail the gate is blocked: its least miss is reported, the
// plan keeps the speeds that had it if they pass the gate at all, and the gates behind it are still
// looked after. A planner that depends on its seed is then asked for another plan.
#include <facet/race.h>

#include <stdlib.h>

static const double BRAKING[] = {4.0, 2.0, 1.0, 0.5, 0.0}; // m/s^2, the sharpest first
static const double LADDER = 0.95;    // of the speed, from one step to the next
static const double TOLERANCE = 0.01; // m/s, of the bisection

enum { BRAKINGS = sizeof BRAKING / sizeof *BRAKING };

// A simulated plan: what happened at the gates, and where on the plan.
typedef struct Prediction {
    Flight flight;
    int failed; // first of the gates flown that is not blocked and misses its margin; -1: none
    double arc[TRACK_GATES_MAX]; // m along the plan at the crossing, or where it came nearest
} Prediction;

typedef struct Verification {
    FlightSetup setup;
    QuadState start;
    double limit; // m, of a miss
    double floor; // m/s
    bool blocked[TRACK_GATES_MAX];
    VerifyReport *report;
} Verification;

VerifyOptions verify_defaults(void) { return (VerifyOptions){.margin = 0.1, .tries = 8}; }

static bool keeps_margin(const GateResult *gate, double limit)
{
    return gate->crossed && gate->miss <= limit;
}

static int first_failed(const Verification *v, const Flight *flight, int gates)
{
    for (int i = 0; i < gates; i++)
        if (!v->blocked[i] && !keeps_margin(&flight->gates[i], v->limit)) return i;
    return -1;
}

// Flies a plan in still air past `gates` gates. False when nothing can fly it.
static bool simulate(Prediction *out, Verification *v, const Keypoint chunk[CHUNK_KEYPOINTS],
                     int gates)
{
    Reference plan;
    FlightRun run;
    double seen[TRACK_GATES_MAX];
    *out = (Prediction){.failed = 0};
    if (!reference_from_chunk(&plan, chunk).ok) return false;
    for (int i = 0; i < TRACK_GATES_MAX; i++) seen[i] = INFINITY;
    flight_begin(&run, &v->setup, &plan, v->start);
    bool whole = gates == v->setup.track->gate_count;
    while (flight_step(&run) && (whole || run.referee.next < gates))
        for (int i = 0; i < v->setup.track->gate_count; i++) {
            const GateResult *gate = &run.referee.gates[i];
            if (gate->miss == seen[i]) continue; // it neither came nearer nor crossed
            seen[i] = gate->miss;
            out->arc[i] = run.carrot.arc;
        }
    out->flight = flight_result(&run);
    out->failed = first_failed(v, &out->flight, gates);
    v->report->rounds++;
    return true;
}

// How far from a gate's centre the path itself crosses its plane.
static double path_miss(const Verification *v, const Keypoint chunk[CHUNK_KEYPOINTS], int gate)
{
    Reference path;
    if (!reference_from_chunk(&path, chunk).ok) return HUGE_VAL;
    Referee referee = referee_make(v->setup.track, v->setup.half_width);
    for (int i = 1; i < REFERENCE_WAYPOINTS; i++)
        referee_watch(&referee, path.pos[i - 1], path.pos[i], i, 1.0);
    return referee.gates[gate].miss;
}

// ---- Slowing ------------------------------------------------------------------------------------

// The plan with the cap of one gate on its speeds. A raw speed below the cap stays.
static void slow_plan(Keypoint out[CHUNK_KEYPOINTS], const Keypoint chunk[CHUNK_KEYPOINTS],
                      double gate_arc, double gate_speed, double braking)
{
    double arc = 0.0;
    for (int i = 0; i < CHUNK_KEYPOINTS; i++) {
        if (i > 0) arc += vec3_distance(chunk[i].pos, chunk[i - 1].pos);
        double cap = sqrt(gate_speed * gate_speed + 2.0 * braking * fabs(arc - gate_arc));
        out[i] = chunk[i];
        out[i].speed = lesser(chunk[i].speed, cap);
    }
}

// The plan's own speed at an arc length.
static double speed_at(const Keypoint chunk[CHUNK_KEYPOINTS], double arc)
{
    double reached = 0.0;
    for (int i = 1; i < CHUNK_KEYPOINTS; i++) {
        double length = vec3_distance(chunk[i].pos, chunk[i - 1].pos);
        if (reached + length >= arc && length > 0.0) {
            double t = clamp((arc - reached) / length, 0.0, 1.0);
            return chunk[i - 1].speed + t * (chunk[i].speed - chunk[i - 1].speed);
        }
        reached += length;
    }
    return chunk[CHUNK_KEYPOINTS - 1].speed;
}

// The search around one gate.
typedef struct Search {
    Verification *v;
    const Keypoint *from; // the plan before this gate was slowed
    int gate;
    double arc;
    Keypoint best[CHUNK_KEYPOINTS]; // with the least miss at the gate, while those before it hold
    double best_miss, best_speed;
} Search;

// Whether the gate and all before it keep the margin with this speed at the gate.
static bool cures(Keypoint slowed[CHUNK_KEYPOINTS], Search *s, double speed, double braking)
{
    Prediction seen;
    slow_plan(slowed, s->from, s->arc, speed, braking);
    if (!simulate(&seen, s->v, slowed, s->gate + 1)) return false;
    double miss = seen.flight.gates[s->gate].miss;
    if ((seen.failed < 0 || seen.failed == s->gate) && miss < s->best_miss) {
        s->best_miss = miss;
        s->best_speed = speed;
        for (int i = 0; i < CHUNK_KEYPOINTS; i++) s->best[i] = slowed[i];
    }
    return seen.failed < 0;
}

// Steps down from the plan's speed, then bisects. False when no step helps.
static bool search_speed(Keypoint out[CHUNK_KEYPOINTS], Search *s, double braking)
{
    double failed = speed_at(s->from, s->arc), speed = failed;
    Keypoint slowed[CHUNK_KEYPOINTS];
    do {
        if (speed <= s->v->floor) return false;
        failed = speed;
        speed = greater(LADDER * speed, s->v->floor);
    } while (!cures(out, s, speed, braking));
    while (failed - speed > TOLERANCE) {
        double middle = 0.5 * (failed + speed);
        if (cures(slowed, s, middle, braking)) {
            speed = middle;
            for (int i = 0; i < CHUNK_KEYPOINTS; i++) out[i] = slowed[i];
        } else {
            failed = middle;
        }
    }
    return true;
}

// Slows the plan around the first gate that fails, or finds the gate blocked.
static void mend_gate(Keypoint plan[CHUNK_KEYPOINTS], Verification *v, const Prediction *seen)
{
    Keypoint mended[CHUNK_KEYPOINTS];
    int gate = seen->failed;
    Search search = {.v = v,
                     .from = plan,
                     .gate = gate,
                     .arc = seen->arc[gate],
                     .best_miss = seen->flight.gates[gate].miss,
                     .best_speed = speed_at(plan, seen->arc[gate])};
    for (int i = 0; i < CHUNK_KEYPOINTS; i++) search.best[i] = plan[i];
    bool cured = false;
    for (int b = 0; b < BRAKINGS && !cured; b++) cured = search_speed(mended, &search, BRAKING[b]);
    VerifyReport *report = v->report;
    const Keypoint *better = cured ? mended : search.best;
    if (cured || search.best_miss <= v->setup.half_width) {
        report->slowed_gates += cured || search.best_speed < speed_at(plan, search.arc);
        for (int i = 0; i < CHUNK_KEYPOINTS; i++) plan[i] = better[i];
    }
    if (cured) return;
    v->blocked[gate] = true;
    report->blocked[report->blocked_count++] =
        (VerifyBlock){gate, search.best_miss, search.best_speed, path_miss(v, plan, gate)};
}

// ---- Plans --------------------------------------------------------------------------------------

static Status check_options(const VerifyOptions *options)
{
    if (!(options->margin >= 0.0 && options->margin < 1.0))
        return status_fail("verify: expected a margin of at least 0 and below 1, found %g",
                           options->margin);
    if (!(options->speed_floor >= 0.0 && isfinite(options->speed_floor)))
        return status_fail("verify: expected a floor of 0 m/s or more, found %g",
                           options->speed_floor);
    if (options->tries < 1)
        return status_fail("verify: expected 1 or more tries, found %d", options->tries);
    return status_ok();
}

// The least share of its speed that a keypoint kept.
static double slowest_factor(const Keypoint *plan, const Keypoint *raw)
{
    double least = 1.0;
    for (int i = 0; i < CHUNK_KEYPOINTS; i++)
        if (raw[i].speed > 0.0) least = lesser(least, plan[i].speed / raw[i].speed);
    return least;
}

Status race_verify(VerifyReport *report, const Race *race, const Keypoint raw[CHUNK_KEYPOINTS],
                   CourseTask task, const VerifyOptions *options)
{
    TRY(check_options(options));
    Keypoint expert[CHUNK_KEYPOINTS];
    Reference truth;
    Planner pilot = race_expert();
    TRY(pilot.plan(expert, race, task, 0, NULL));
    TRY(reference_from_chunk(&truth, expert));
    Verification v = {.setup = race_setup(race, task), .report = report};
    v.start = flight_start(&race->model, &truth, race_reference_speed(race, task));
    v.limit = (1.0 - options->margin) * v.setup.half_width;
    v.floor = options->speed_floor > 0.0 ? options->speed_floor : race->course->speed_min;

    *report = (VerifyReport){.slowest_factor = 1.0, .tries = 1};
    for (int i = 0; i < CHUNK_KEYPOINTS; i++) report->plan[i] = raw[i];
    Prediction seen;
    int gates = v.setup.track->gate_count;
    if (!simulate(&seen, &v, raw, gates)) return status_ok();
    report->raw = seen.flight;
    while (seen.failed >= 0) { // each round mends or blocks a gate, and none before it fails again
        mend_gate(report->plan, &v, &seen);
        simulate(&seen, &v, report->plan, gates);
    }
    // Speeds that lost more at the gates behind a blocked one than they won are not worth it.
    if (seen.flight.passed < report->raw.passed) {
        for (int i = 0; i < CHUNK_KEYPOINTS; i++) report->plan[i] = raw[i];
        seen.flight = report->raw;
    }
    report->verified = seen.flight;
    report->within_margin = seen.flight.end != FLIGHT_CRASHED;
    for (int i = 0; i < seen.flight.gate_count; i++)
        report->within_margin &= keeps_margin(&seen.flight.gates[i], v.limit);
    report->slowest_factor = slowest_factor(report->plan, raw);
    return status_ok();
}

// Whether a plan is to be taken rather than another.
static bool better_report(const VerifyReport *report, const VerifyReport *other)
{
    if (report->within_margin != other->within_margin) return report->within_margin;
    return report->verified.passed > other->verified.passed;
}

Status race_plan_verified(VerifyReport *report, Keypoint raw[CHUNK_KEYPOINTS], const Race *race,
                          const Planner *planner, CourseTask task, uint64_t seed,
                          const VerifyOptions *options)
{
    TRY(planner->plan(raw, race, task, seed, planner->context));
    TRY(race_verify(report, race, raw, task, options));
    for (int i = 1; i < options->tries && !report->within_margin; i++) {
        Keypoint chunk[CHUNK_KEYPOINTS];
        VerifyReport other;
        TRY(planner->plan(chunk, race, task, seed + (uint64_t)i, planner->context));
        TRY(race_verify(&other, race, chunk, task, options));
        if (better_report(&other, report)) *report = other;
        report->tries = i + 1;
    }
    return status_ok();
}

static Status plan_verified(Keypoint chunk[CHUNK_KEYPOINTS], const Race *race, CourseTask task,
                            uint64_t seed, void *context)
{
    const VerifiedPlanner *planner = context;
    Keypoint raw[CHUNK_KEYPOINTS];
    VerifyReport report;
    TRY(race_plan_verified(&report, raw, race, &planner->inner, task, seed, &planner->options));
    for (int i = 0; i < CHUNK_KEYPOINTS; i++) chunk[i] = report.plan[i];
    return status_ok();
}

Planner race_verified(const VerifiedPlanner *planner)
{
    // Planning only reads; the context of a planner is not const because others may write.
    return (Planner){
        .name = "verified", .plan = plan_verified, .context = (void *)(uintptr_t)planner};
}

// ---- Flights ------------------------------------------------------------------------------------

// A plan that is there already, as a planner.
static Status plan_given(Keypoint chunk[CHUNK_KEYPOINTS], const Race *race, CourseTask task,
                         uint64_t seed, void *context)
{
    (void)race, (void)task, (void)seed;
    const Keypoint *given = context;
    for (int i = 0; i < CHUNK_KEYPOINTS; i++) chunk[i] = given[i];
    return status_ok();
}

typedef struct VerifyWork {
    RaceResult *raw, *verified;
    VerifyReport *reports;
    Status *statuses;
    const Race *race;
    const Planner *planner;
    const VerifyOptions *options;
    const CourseTask *tasks;
    uint64_t seed;
    double gusts;
    Progress *progress;
} VerifyWork;

static Status fly_both(const VerifyWork *work, int index)
{
    const Race *race = work->race;
    CourseTask task = work->tasks[index];
    VerifyReport *report = &work->reports[index];
    Keypoint chunk[CHUNK_KEYPOINTS];
    TRY(race_plan_verified(report, chunk, race, work->planner, task, work->seed, work->options));
    Planner raw = {.name = work->planner->name, .plan = plan_given, .context = chunk};
    Planner verified = {.name = "verified", .plan = plan_given, .context = report->plan};
    TRY(race_fly(&work->raw[index], race, &raw, task, work->seed, work->gusts));
    return race_fly(&work->verified[index], race, &verified, task, work->seed, work->gusts);
}

static void fly_one(void *context, int index, int worker)
{
    (void)worker;
    const VerifyWork *work = context;
    work->statuses[index] = fly_both(work, index);
    progress_add(work->progress, 1, NULL);
}

Status race_fly_verified(RaceResult *raw, RaceResult *verified, VerifyReport *reports,
                         const Race *race, const Planner *planner, const VerifyOptions *options,
                         const CourseTask *tasks, int count, uint64_t seed, double gusts,
                         Progress *progress)
{
    TRY(check_options(options));
    Status *statuses = calloc((size_t)count + 1, sizeof *statuses);
    if (!statuses) return status_fail("out of memory for %d flights", count);
    VerifyWork work = {raw,     verified, reports, statuses, race,    planner,
                       options, tasks,    seed,    gusts,    progress};
    pool_for(race->pool, count, fly_one, &work);
    Status status = status_ok();
    for (int i = count - 1; i >= 0; i--)
        if (!statuses[i].ok) status = statuses[i];
    free(statuses);
    return status;
}
