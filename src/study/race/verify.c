// Verification before flight: a plan is simulated, repaired where it would miss, and slowed where
// that is not enough (see facet_study/race.h).
//
// The repair is the runtime's (facet_flight_repair). Slowing leaves the path as it is; only speeds
// go down. Slowing around a gate at arc length
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
#include "base/pool.h"
#include "base/progress.h"
#include "base/status.h"
#include "course/course.h"
#include "math/geometry.h"

#include <facet_study/race.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double BRAKING[] = {4.0, 2.0, 1.0, 0.5, 0.0}; // m/s^2, the sharpest first
static const double LADDER = 0.95;    // of the speed, from one step to the next
static const double TOLERANCE = 0.01; // m/s, of the bisection

enum { BRAKINGS = sizeof BRAKING / sizeof *BRAKING };

// A simulated plan: what happened at the gates, and where on the plan.
typedef struct Prediction {
    FacetFlight flight;
    int failed; // first of the gates flown that is not blocked and misses its margin; -1: none
    double arc[FACET_TRACK_GATES_MAX]; // m along the plan at the crossing, or where it came nearest
} Prediction;

typedef struct Verification {
    FacetFlightSetup setup;
    FacetQuadState start;
    double limit; // m, of a miss
    double floor; // m/s
    bool blocked[FACET_TRACK_GATES_MAX];
    FacetVerifyReport *report;
    Progress progress; // asked before every flight
    bool stopped;
} Verification;

FacetVerifyOptions facet_verify_defaults(void)
{
    FacetRepairOptions repair = facet_repair_defaults();
    return (FacetVerifyOptions){.margin = repair.margin, .tries = 8, .repair = repair};
}

static bool keeps_margin(const FacetPassage *gate, double limit)
{
    return gate->crossed && gate->miss <= limit;
}

static int first_failed(const Verification *v, const FacetFlight *flight, int gates)
{
    for (int i = 0; i < gates; i++)
        if (!v->blocked[i] && !keeps_margin(&flight->gates[i], v->limit)) return i;
    return -1;
}

// Flies a plan in still air past `gates` gates. False when nothing can fly it, or after a stop.
static bool simulate(Prediction *out, Verification *v,
                     const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], int gates)
{
    FacetReference plan;
    FacetFlightRun run;
    double seen[FACET_TRACK_GATES_MAX];
    *out = (Prediction){.failed = 0};
    v->stopped = v->stopped || progress_stopped(&v->progress);
    if (v->stopped) return false;
    if (!facet_reference_from_chunk(&plan, chunk).ok) return false;
    for (int i = 0; i < FACET_TRACK_GATES_MAX; i++) seen[i] = INFINITY;
    facet_flight_begin(&run, &v->setup, &plan, v->start);
    bool whole = gates == v->setup.track->gate_count;
    while (facet_flight_step(&run) && (whole || run.referee.next < gates))
        for (int i = 0; i < v->setup.track->gate_count; i++) {
            const FacetPassage *gate = &run.referee.gates[i];
            if (gate->miss == seen[i]) continue; // it neither came nearer nor crossed
            seen[i] = gate->miss;
            out->arc[i] = run.carrot.arc;
        }
    out->flight = facet_flight_result(&run);
    out->failed = first_failed(v, &out->flight, gates);
    v->report->rounds++;
    return true;
}

// How far from a gate's centre the path itself crosses its plane.
static double path_miss(const Verification *v, const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS],
                        int gate)
{
    FacetReference path;
    if (!facet_reference_from_chunk(&path, chunk).ok) return HUGE_VAL;
    FacetReferee referee = referee_make(v->setup.track, v->setup.half_width);
    for (int i = 1; i < FACET_REFERENCE_WAYPOINTS; i++)
        referee_watch(&referee, path.pos[i - 1], path.pos[i], i, 1.0);
    return referee.gates[gate].miss;
}

// ---- Slowing ------------------------------------------------------------------------------------

// The plan with the cap of one gate on its speeds. A raw speed below the cap stays.
static void slow_plan(FacetKeypoint out[FACET_CHUNK_KEYPOINTS],
                      const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], double gate_arc,
                      double gate_speed, double braking)
{
    double arc = 0.0;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) {
        if (i > 0) arc += vec3_distance(chunk[i].pos, chunk[i - 1].pos);
        double cap = sqrt(gate_speed * gate_speed + 2.0 * braking * fabs(arc - gate_arc));
        out[i] = chunk[i];
        out[i].speed = lesser(chunk[i].speed, cap);
    }
}

// The plan's own speed at an arc length.
static double speed_at(const FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], double arc)
{
    double reached = 0.0;
    for (int i = 1; i < FACET_CHUNK_KEYPOINTS; i++) {
        double length = vec3_distance(chunk[i].pos, chunk[i - 1].pos);
        if (reached + length >= arc && length > 0.0) {
            double t = clamp((arc - reached) / length, 0.0, 1.0);
            return chunk[i - 1].speed + t * (chunk[i].speed - chunk[i - 1].speed);
        }
        reached += length;
    }
    return chunk[FACET_CHUNK_KEYPOINTS - 1].speed;
}

// The search around one gate.
typedef struct Search {
    Verification *v;
    const FacetKeypoint *from; // the plan before this gate was slowed
    int gate;
    double arc;
    FacetKeypoint
        best[FACET_CHUNK_KEYPOINTS]; // with the least miss at the gate, while those before it hold
    double best_miss, best_speed;
} Search;

// Whether the gate and all before it keep the margin with this speed at the gate.
static bool cures(FacetKeypoint slowed[FACET_CHUNK_KEYPOINTS], Search *s, double speed,
                  double braking)
{
    Prediction seen;
    slow_plan(slowed, s->from, s->arc, speed, braking);
    if (!simulate(&seen, s->v, slowed, s->gate + 1)) return false;
    double miss = seen.flight.gates[s->gate].miss;
    if ((seen.failed < 0 || seen.failed == s->gate) && miss < s->best_miss) {
        s->best_miss = miss;
        s->best_speed = speed;
        for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) s->best[i] = slowed[i];
    }
    return seen.failed < 0;
}

// Steps down from the plan's speed, then bisects. False when no step helps.
static bool search_speed(FacetKeypoint out[FACET_CHUNK_KEYPOINTS], Search *s, double braking)
{
    double failed = speed_at(s->from, s->arc), speed = failed;
    FacetKeypoint slowed[FACET_CHUNK_KEYPOINTS];
    do {
        if (speed <= s->v->floor) return false;
        failed = speed;
        speed = greater(LADDER * speed, s->v->floor);
    } while (!cures(out, s, speed, braking));
    while (failed - speed > TOLERANCE) {
        double middle = 0.5 * (failed + speed);
        if (cures(slowed, s, middle, braking)) {
            speed = middle;
            for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) out[i] = slowed[i];
        } else {
            failed = middle;
        }
    }
    return true;
}

// Slows the plan around the first gate that fails, or finds the gate blocked.
static void mend_gate(FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], Verification *v,
                      const Prediction *seen)
{
    FacetKeypoint mended[FACET_CHUNK_KEYPOINTS];
    int gate = seen->failed;
    Search search = {.v = v,
                     .from = plan,
                     .gate = gate,
                     .arc = seen->arc[gate],
                     .best_miss = seen->flight.gates[gate].miss,
                     .best_speed = speed_at(plan, seen->arc[gate])};
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) search.best[i] = plan[i];
    bool cured = false;
    for (int b = 0; b < BRAKINGS && !cured; b++) cured = search_speed(mended, &search, BRAKING[b]);
    FacetVerifyReport *report = v->report;
    const FacetKeypoint *better = cured ? mended : search.best;
    if (cured || search.best_miss <= v->setup.half_width) {
        report->slowed_gates += cured || search.best_speed < speed_at(plan, search.arc);
        for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) plan[i] = better[i];
    }
    if (cured) return;
    v->blocked[gate] = true;
    report->blocked[report->blocked_count++] =
        (FacetVerifyBlock){gate, search.best_miss, search.best_speed, path_miss(v, plan, gate)};
}

// ---- Plans --------------------------------------------------------------------------------------

static FacetStatus check_options(const FacetVerifyOptions *options)
{
    if (!(options->margin >= 0.0 && options->margin < 1.0))
        return status_fail(FACET_BAD_ARGUMENT,
                           "verify: expected a margin of at least 0 and below 1, found %g",
                           options->margin);
    if (!(options->speed_floor >= 0.0 && isfinite(options->speed_floor)))
        return status_fail(FACET_BAD_ARGUMENT,
                           "verify: expected a floor of 0 m/s or more, found %g",
                           options->speed_floor);
    if (options->tries < 1)
        return status_fail(FACET_BAD_ARGUMENT, "verify: expected 1 or more tries, found %d",
                           options->tries);
    return status_ok();
}

// The least share of its speed that a keypoint kept.
static double slowest_factor(const FacetKeypoint *plan, const FacetKeypoint *raw)
{
    double least = 1.0;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        if (raw[i].speed > 0.0) least = lesser(least, plan[i].speed / raw[i].speed);
    return least;
}

// Flies the plan that is kept in gusts, when it is not the one that a repair has just flown.
static FacetStatus check_again(Verification *v, const FacetVerifyOptions *options, FacetPool *pool)
{
    FacetVerifyReport *report = v->report;
    FacetRepairOptions how = options->repair;
    FacetRepair repair;
    how.margin = options->margin;
    how.steps = 0; // it only looks
    how.speed_least = 1.0;
    TRY(facet_flight_repair(&repair, &v->setup, report->plan, v->start, &how, pool));
    report->clear = repair.clear;
    report->flown += repair.flown;
    memcpy(report->reason, repair.reason, sizeof report->reason);
    return status_ok();
}

// Repairs the plan, and takes what came of it where it is no worse in still air.
static FacetStatus repair_plan(Verification *v, const FacetKeypoint *raw,
                               const FacetVerifyOptions *options, FacetPool *pool)
{
    FacetVerifyReport *report = v->report;
    FacetRepairOptions how = options->repair;
    FacetRepair repair;
    how.margin = options->margin;
    TRY(facet_flight_repair(&repair, &v->setup, raw, v->start, &how, pool));
    report->checked = how.flights;
    report->raw_clear = repair.raw_clear;
    report->flown = repair.flown;
    if (repair.still.passed < report->raw.passed) return check_again(v, options, pool);
    report->clear = repair.clear;
    memcpy(report->reason, repair.reason, sizeof report->reason);
    memcpy(report->plan, repair.plan, sizeof report->plan);
    return status_ok();
}

// Slows the plan where it misses. Speeds that lost more at the gates behind a blocked one than they
// won are not worth it.
static void slow_where_needed(Prediction *seen, Verification *v)
{
    FacetVerifyReport *report = v->report;
    FacetKeypoint before[FACET_CHUNK_KEYPOINTS];
    int gates = v->setup.track->gate_count;
    simulate(seen, v, report->plan, gates);
    const Prediction first = *seen;
    memcpy(before, report->plan, sizeof before);
    // Each round mends or blocks a gate, and none before it fails again.
    while (seen->failed >= 0 && !v->stopped) {
        mend_gate(report->plan, v, seen);
        simulate(seen, v, report->plan, gates);
    }
    if (seen->flight.passed >= first.flight.passed) return;
    memcpy(report->plan, before, sizeof before);
    *seen = first;
}

static double largest_shift(const FacetKeypoint *plan, const FacetKeypoint *raw)
{
    double most = 0.0;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        most = greater(most, vec3_distance(plan[i].pos, raw[i].pos));
    return most;
}

static bool same_plan(const FacetKeypoint *a, const FacetKeypoint *b)
{
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        if (a[i].pos.x != b[i].pos.x || a[i].pos.y != b[i].pos.y || a[i].pos.z != b[i].pos.z ||
            a[i].speed != b[i].speed)
            return false;
    return true;
}

// The repair's reason is about the plan that it left; what is taken in the end may be another.
static void give_reason(FacetVerifyReport *report)
{
    if (report->good)
        report->reason[0] = '\0';
    else if (!report->reason[0])
        snprintf(report->reason, sizeof report->reason, "a gate does not keep its margin");
}

static FacetStatus mend_plan(Verification *v, const FacetKeypoint *raw,
                             const FacetVerifyOptions *options, FacetPool *pool)
{
    FacetVerifyReport *report = v->report;
    FacetKeypoint repaired[FACET_CHUNK_KEYPOINTS];
    Prediction seen;
    if (!options->slow_only) TRY(repair_plan(v, raw, options, pool));
    memcpy(repaired, report->plan, sizeof repaired);
    slow_where_needed(&seen, v);
    if (v->stopped) return status_fail(FACET_INTERRUPTED, "interrupted");
    if (!options->slow_only && !same_plan(repaired, report->plan))
        TRY(check_again(v, options, pool));
    report->verified = seen.flight;
    report->within_margin = seen.flight.end != FACET_FLIGHT_CRASHED;
    for (int i = 0; i < seen.flight.gate_count; i++)
        report->within_margin &= keeps_margin(&seen.flight.gates[i], v->limit);
    report->good =
        report->within_margin && report->clear + options->repair.misses >= report->checked;
    give_reason(report);
    report->slowest_factor = slowest_factor(report->plan, raw);
    report->shift = largest_shift(report->plan, raw);
    return status_ok();
}

static FacetStatus verify_plan(FacetVerifyReport *report, const FacetRace *race,
                               const FacetKeypoint raw[FACET_CHUNK_KEYPOINTS], FacetCourseTask task,
                               const FacetVerifyOptions *options, FacetPool *pool)
{
    TRY(check_options(options));
    FacetKeypoint expert[FACET_CHUNK_KEYPOINTS];
    FacetReference truth;
    FacetPlanner pilot = facet_race_expert();
    TRY(pilot.plan(expert, race, task, 0, NULL));
    TRY(facet_reference_from_chunk(&truth, expert));
    Verification v = {.setup = facet_race_setup(race, task), .report = report};
    v.start = facet_flight_start(&race->model, &truth, facet_race_reference_speed(race, task));
    v.limit = (1.0 - options->margin) * v.setup.half_width;
    v.floor = options->speed_floor > 0.0 ? options->speed_floor : race->course->speed_min;

    *report = (FacetVerifyReport){.slowest_factor = 1.0, .tries = 1};
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) report->plan[i] = raw[i];
    progress_begin(&v.progress, options->repair.progress, "verification", 0);
    Prediction seen;
    FacetStatus status = status_ok();
    if (simulate(&seen, &v, raw, v.setup.track->gate_count)) {
        report->raw = seen.flight;
        status = mend_plan(&v, raw, options, pool);
    } else if (v.stopped) {
        status = status_fail(FACET_INTERRUPTED, "interrupted");
    } else {
        snprintf(report->reason, sizeof report->reason, "nothing can fly this plan");
    }
    progress_end(&v.progress);
    return status;
}

FacetStatus facet_race_verify(FacetVerifyReport *report, const FacetRace *race,
                              const FacetKeypoint raw[FACET_CHUNK_KEYPOINTS], FacetCourseTask task,
                              const FacetVerifyOptions *options)
{
    return verify_plan(report, race, raw, task, options, race->pool);
}

// Whether a plan is to be taken rather than another.
static bool better_report(const FacetVerifyReport *report, const FacetVerifyReport *other)
{
    if (report->within_margin != other->within_margin) return report->within_margin;
    if (report->clear != other->clear) return report->clear > other->clear;
    return report->verified.passed > other->verified.passed;
}

// Verifies the plan of try `number`, from 0 on, and takes it if it is the best so far.
static FacetStatus consider(FacetVerifyReport *report, const FacetRace *race,
                            const FacetKeypoint *chunk, FacetCourseTask task,
                            const FacetVerifyOptions *options, int number, FacetPool *pool)
{
    FacetVerifyReport other;
    TRY(verify_plan(&other, race, chunk, task, options, pool));
    if (number == 0 || better_report(&other, report)) *report = other;
    report->tries = number + 1;
    return status_ok();
}

static FacetStatus plan_and_verify(FacetVerifyReport *report,
                                   FacetKeypoint raw[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                                   const FacetPlanner *planner, FacetCourseTask task, uint64_t seed,
                                   const FacetVerifyOptions *options, FacetPool *pool)
{
    TRY(planner->plan(raw, race, task, seed, planner->context));
    TRY(consider(report, race, raw, task, options, 0, pool));
    for (int i = 1; i < options->tries && !report->good; i++) {
        FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
        TRY(planner->plan(chunk, race, task, seed + (uint64_t)i, planner->context));
        TRY(consider(report, race, chunk, task, options, i, pool));
    }
    return status_ok();
}

FacetStatus facet_race_plan_verified(FacetVerifyReport *report,
                                     FacetKeypoint raw[FACET_CHUNK_KEYPOINTS],
                                     const FacetRace *race, const FacetPlanner *planner,
                                     FacetCourseTask task, uint64_t seed,
                                     const FacetVerifyOptions *options)
{
    return plan_and_verify(report, raw, race, planner, task, seed, options, race->pool);
}

static FacetStatus plan_verified(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                                 FacetCourseTask task, uint64_t seed, void *context)
{
    const FacetVerifiedPlanner *planner = context;
    FacetKeypoint raw[FACET_CHUNK_KEYPOINTS];
    FacetVerifyReport report;
    // A planner may be called from the threads of the study's own pool, so it uses none.
    TRY(plan_and_verify(&report, raw, race, &planner->inner, task, seed, &planner->options, NULL));
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i] = report.plan[i];
    return status_ok();
}

static bool inner_holds_out(const FacetRace *race, FacetCourseTask task, void *context)
{
    const FacetPlanner *inner = &((const FacetVerifiedPlanner *)context)->inner;
    return inner->held_out && inner->held_out(race, task, inner->context);
}

FacetPlanner facet_race_verified(const FacetVerifiedPlanner *planner)
{
    // Planning only reads; the context of a planner is not const because others may write.
    return (FacetPlanner){.name = "verified",
                          .plan = plan_verified,
                          .held_out = inner_holds_out,
                          .context = (void *)(uintptr_t)planner};
}

// ---- Flights ------------------------------------------------------------------------------------

// A plan that is there already, as a planner.
static FacetStatus plan_given(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                              FacetCourseTask task, uint64_t seed, void *context)
{
    (void)race, (void)task, (void)seed;
    const FacetKeypoint *given = context;
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++) chunk[i] = given[i];
    return status_ok();
}

typedef struct VerifyWork {
    FacetRaceResult *raw, *verified;
    FacetVerifyReport *reports;
    const FacetRace *race;
    const FacetPlanner *planner;
    const FacetVerifyOptions *options;
    const FacetCourseTask *tasks;
    uint64_t seed;
    double gusts;
    Progress *progress;

    // Of the round: try number `round` of the tasks that are not settled.
    int round, count;
    int *open;                // [count], which tasks
    FacetCourseTask *wanted;  // [count]
    uint64_t *seeds;          // [count]
    FacetKeypoint *chunks;    // [count][32]
    FacetKeypoint *raw_plans; // [tasks][32], of the first round
} VerifyWork;

static FacetKeypoint *chunk_at(FacetKeypoint *chunks, int index)
{
    return chunks + (size_t)index * FACET_CHUNK_KEYPOINTS;
}

static FacetStatus fly_both(void *context, int index, int worker)
{
    (void)worker;
    const VerifyWork *work = context;
    const FacetRace *race = work->race;
    FacetCourseTask task = work->tasks[index];
    FacetPlanner raw = {.name = work->planner->name,
                        .plan = plan_given,
                        .context = chunk_at(work->raw_plans, index)};
    FacetPlanner verified = {
        .name = "verified", .plan = plan_given, .context = work->reports[index].plan};
    const FacetPlanner *planner = work->planner;
    bool held_out = planner->held_out && planner->held_out(race, task, planner->context);
    TRY(facet_race_fly(&work->raw[index], race, &raw, task, work->seed, work->gusts));
    TRY(facet_race_fly(&work->verified[index], race, &verified, task, work->seed, work->gusts));
    work->raw[index].held_out = work->verified[index].held_out = held_out;
    return status_ok();
}

static bool settled(const VerifyWork *work, int index)
{
    return work->reports[index].good || work->round + 1 == work->options->tries;
}

static FacetStatus plan_one(void *context, int slot, int worker)
{
    (void)worker;
    const VerifyWork *work = context;
    const FacetPlanner *planner = work->planner;
    return planner->plan(chunk_at(work->chunks, slot), work->race, work->wanted[slot],
                         work->seeds[slot], planner->context);
}

// The flights of a repair are shared out over the pool, so plans are verified one after the other.
static FacetStatus verify_one(const VerifyWork *work, int slot)
{
    int index = work->open[slot];
    const FacetKeypoint *chunk = chunk_at(work->chunks, slot);
    const FacetProgress aside = progress_aside(work->progress);
    FacetVerifyOptions options = *work->options;
    options.repair.progress = &aside;
    for (int i = 0; work->round == 0 && i < FACET_CHUNK_KEYPOINTS; i++)
        chunk_at(work->raw_plans, index)[i] = chunk[i];
    TRY(consider(&work->reports[index], work->race, chunk, work->wanted[slot], &options,
                 work->round, work->race->pool));
    return progress_add(work->progress, settled(work, index) ? 1 : 0, NULL);
}

// The next try of every task that is not settled: all are planned together.
static FacetStatus verify_round(VerifyWork *work)
{
    const FacetPlanner *planner = work->planner;
    const FacetProgress aside = progress_aside(work->progress);
    for (int i = 0; i < work->count; i++) {
        work->wanted[i] = work->tasks[work->open[i]];
        work->seeds[i] = work->seed + (uint64_t)work->round;
    }
    if (planner->plan_all)
        TRY(planner->plan_all(work->chunks, work->race, work->wanted, work->seeds, work->count,
                              planner->context, &aside));
    else
        TRY(pool_try(work->race->pool, work->count, plan_one, work));
    for (int i = 0; i < work->count; i++) TRY(verify_one(work, i));
    int left = 0;
    for (int i = 0; i < work->count; i++)
        if (!settled(work, work->open[i])) work->open[left++] = work->open[i];
    work->count = left;
    return status_ok();
}

static FacetStatus verify_rounds(VerifyWork *work, int count)
{
    size_t room = (size_t)count + 1, keypoints = room * FACET_CHUNK_KEYPOINTS;
    work->open = calloc(room, sizeof *work->open);
    work->wanted = calloc(room, sizeof *work->wanted);
    work->seeds = calloc(room, sizeof *work->seeds);
    work->chunks = calloc(keypoints, sizeof *work->chunks);
    work->raw_plans = calloc(keypoints, sizeof *work->raw_plans);
    if (!work->open || !work->wanted || !work->seeds || !work->chunks || !work->raw_plans)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", count);
    for (int i = 0; i < count; i++) work->open[i] = i;
    for (work->count = count; work->count > 0; work->round++) TRY(verify_round(work));
    return pool_try(work->race->pool, count, fly_both, work);
}

FacetStatus facet_race_fly_verified(FacetRaceResult *raw, FacetRaceResult *verified,
                                    FacetVerifyReport *reports, const FacetRace *race,
                                    const FacetPlanner *planner, const FacetVerifyOptions *options,
                                    const FacetCourseTask *tasks, int count, uint64_t seed,
                                    double gusts, const FacetProgress *progress)
{
    TRY(check_options(options));
    Progress flights;
    progress_begin(&flights, progress, "verified", count);
    VerifyWork work = {.raw = raw,
                       .verified = verified,
                       .reports = reports,
                       .race = race,
                       .planner = planner,
                       .options = options,
                       .tasks = tasks,
                       .seed = seed,
                       .gusts = gusts,
                       .progress = &flights};
    FacetStatus status = verify_rounds(&work, count);
    progress_end(&flights);
    free(work.open);
    free(work.wanted);
    free(work.seeds);
    free(work.chunks);
    free(work.raw_plans);
    return status;
}
