// The gates of one certified plan (see certify/gates.h).
#include "certify/gates.h"

#include "base/progress.h"
#include "base/status.h"
#include "policy/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_CHANGES = 16 }; // random changes of a plan that its gates' slopes are checked on

// Paces that a plan is tried at when it is not certified at its own.
static const double paces[] = {0.8, 0.65, 0.5, 0.4, 0.3};
enum { PACES = sizeof paces / sizeof *paces };

typedef struct GateWork {
    AttackTarget target;
    AttackRunner *runner;
    const CertifyOptions *options;
    CrossingSensitivity sensitivity;
    double rows[SCHEDULE_STEPS_MAX][2][PLAN_SIZE]; // B_k of one gate
    Progress *progress;
} GateWork;

// The changes of a plan that its slopes are checked on: the joint plan's difference from it, and
// random ones as long as the bound of that difference.
static FacetStatus check_slopes(CrossingCheck *check, const GateWork *work, double length)
{
    const AttackTarget *t = &work->target;
    const DenoisingPath *path = t->path;
    double changes[CHECK_CHANGES + 1][PLAN_SIZE];
    const double *end = path->nominal + (size_t)path->steps * PLAN_SIZE;
    for (int i = 0; i < PLAN_SIZE; i++) changes[0][i] = path->joint_end[i] - end[i];
    crossing_random_changes(changes[1], length, CHECK_CHANGES, work->options->seed);
    return crossing_check(check, &work->sensitivity, t->race, t->task, t->plan,
                          t->policy->normalizer, changes[0], CHECK_CHANGES + 1);
}

// The first order alone: what miss, radius and disturbance come to.
static FacetStatus apply_formula(GateRecord *gates, GateWork *work)
{
    const AttackTarget *t = &work->target;
    const DenoisingPath *path = t->path;
    double c2[SCHEDULE_STEPS_MAX], eps[SCHEDULE_STEPS_MAX], disturbance[FACET_TRACK_GATES_MAX];
    CrossingRadius radius[FACET_TRACK_GATES_MAX];
    for (int k = 0; k < path->steps; k++) {
        c2[k] = path->step[k].c2;
        eps[k] = path->step[k].mismatch;
    }
    crossing_radius(radius, &work->sensitivity, c2, path->transition, eps, path->steps);
    TRY(crossing_disturbance(disturbance, t->race, t->task, t->plan, work->options->gusts,
                             work->options->gust_flights, work->options->seed));
    for (int g = 0; g < work->sensitivity.gates; g++) {
        const CrossingSlope *slope = &work->sensitivity.gate[g];
        double r = radius[g].radius;
        gates[g] = (GateRecord){
            .crossed = slope->nominal.crossed,
            .miss = slope->nominal.miss,
            .radius = r,
            .disturbance = disturbance[g],
            .reach = radius[g].reach,
            .slope = slope->norm,
            .probe = nan(""),
            .bound = (1.0 + GATES_TRUST) * r,
            .attack = nan(""),
            .formula = crossing_certified(&work->sensitivity, g, r, disturbance[g]),
        };
    }
    return status_ok();
}

GateFinding gate_find(const GateRecord *gate, double fold, double limit)
{
    if (!((1.0 + GATES_TRUST) * fold < 1.0)) return GATE_FOLDS;
    if (!(gate->miss + gate->bound < limit)) return GATE_TIGHT;
    if (isnan(gate->probe)) return GATE_UNPROBED;
    if (gate->probe > GATES_TRUST) return GATE_BENT;
    if (isnan(gate->attack)) return GATE_UNATTACKED;
    if (gate->attack > 1.0) return GATE_BROKEN;
    bool room = gate->miss + gate->bound + gate->disturbance < limit;
    return room ? GATE_CERTIFIED : GATE_STILL;
}

FacetStatus gate_test(GateRecord *gate, AttackRunner *runner, const AttackTarget *target, int index,
                      double fold, double *rows)
{
    const CrossingSensitivity *s = target->sensitivity;
    const DenoisingPath *path = target->path;
    double shift;
    double limit = crossing_is_smooth(&s->gate[index]) ? s->half_width : 0.0;
    if (gate_find(gate, fold, limit) == GATE_UNPROBED) {
        attack_rows(rows, s->gate[index].slope[0], path->transition, 2, path->steps);
        TRY(attack_probe(&gate->probe, target, index, rows));
        if (target->progress) TRY(progress_add(target->progress, 0, NULL));
    }
    if (gate_find(gate, fold, limit) == GATE_UNATTACKED) {
        TRY(attack_gate(&shift, runner, target, index, rows, gate->bound));
        gate->attack = shift / gate->bound;
    }
    GateFinding found = gate_find(gate, fold, limit);
    gate->certified_still = found == GATE_STILL || found == GATE_CERTIFIED;
    gate->certified = found == GATE_CERTIFIED;
    return status_ok();
}

static bool formula_holds(const GateRecord *gates, int count)
{
    for (int g = 0; g < count; g++)
        if (!gates[g].formula) return false;
    return count > 0;
}

// The gates of the target. `all_or_none` attacks none when the formula does not hold for all.
static FacetStatus certify_gates(GateRecord *gates, CrossingCheck *check, double *fold,
                                 GateWork *work, double length, bool all_or_none)
{
    AttackTarget *t = &work->target;
    CrossingSensitivity *s = &work->sensitivity;
    t->sensitivity = s;
    TRY(progress_add(work->progress, 0, NULL));
    TRY(crossing_sensitivity(s, t->race, t->task, t->plan, t->policy->normalizer, CROSSING_STEP));
    TRY(progress_add(work->progress, 0, NULL));
    TRY(check_slopes(check, work, length));
    TRY(apply_formula(gates, work));
    TRY(progress_add(work->progress, 0, NULL));
    TRY(attack_fold(fold, t));
    bool attacked = !all_or_none || formula_holds(gates, s->gates);
    for (int g = 0; g < s->gates; g++) {
        if (attacked) TRY(gate_test(&gates[g], work->runner, t, g, *fold, work->rows[0][0]));
        // Where one gate breaks, the others of a slower plan no longer matter.
        if (all_or_none) attacked &= gates[g].certified;
    }
    return status_ok();
}

// ---- Repaired and slower ------------------------------------------------------------------------

FacetStatus gates_centre(double *shift, FacetKeypoint out[FACET_CHUNK_KEYPOINTS],
                         const FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                         FacetCourseTask task, double pace, const FacetProgress *progress)
{
    FacetRepairOptions how = facet_repair_defaults();
    FacetFlightSetup setup = facet_race_setup(race, task);
    FacetKeypoint paced[FACET_CHUNK_KEYPOINTS];
    FacetQuadState start;
    FacetRepair repair;
    how.centre = 0.1;
    how.steps = 4;
    how.progress = progress;
    how.speed_least = 1.0; // a slowed plan has no certificate at its own speed
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        paced[i] = (FacetKeypoint){plan[i].pos, pace * plan[i].speed};
    TRY(task_start(&start, race, task, pace));
    TRY(facet_flight_repair(&repair, &setup, paced, start, &how, race->pool));
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        out[i] = (FacetKeypoint){repair.plan[i].pos, plan[i].speed};
    *shift = repair.shift;
    return status_ok();
}

// The highest pace at which the plan is certified whole.
static FacetStatus certify_paces(CertifyRecord *record, FacetKeypoint *flown,
                                 const FacetKeypoint *plan, GateWork *work)
{
    PaceRecord *paced = &record->paced;
    const FacetProgress aside = progress_aside(work->progress);
    const CertifyOptions *options = work->options;
    double length = record->plan.path.value;
    memcpy(paced->gates, record->gates, sizeof paced->gates);
    paced->check = record->check;
    paced->fold = record->fold;
    paced->shift = record->shift;
    paced->pace = 1.0;
    for (int i = 0; i < PACES && paces[i] >= options->slowest; i++) {
        if (gates_certified(paced->gates, record->gate_count)) break;
        work->target.plan.pace = paced->pace = paces[i];
        TRY(progress_add(work->progress, 0, NULL));
        if (options->repair)
            TRY(gates_centre(&paced->shift, flown, plan, work->target.race, record->task, paces[i],
                             &aside));
        TRY(certify_gates(paced->gates, &paced->check, &paced->fold, work, length, true));
    }
    paced->time = work->sensitivity.gate[record->gate_count - 1].nominal.time;
    if (!gates_certified(paced->gates, record->gate_count)) paced->pace = 0.0;
    return status_ok();
}

static FacetStatus measure_loop(CertifyRecord *record, const FacetKeypoint *plan,
                                const GateWork *work)
{
    ClosedLoopOptions loop = closed_loop_defaults();
    loop.gusts = work->options->gusts;
    loop.draws = work->options->gust_flights;
    loop.seed = work->options->seed;
    loop.progress = work->progress;
    FacetStatus status = closed_loop_measure(&record->loop, work->target.race, record->task, plan,
                                             work->target.policy->normalizer, &loop);
    if (status.code == FACET_NO_MEMORY || status.code == FACET_INTERRUPTED) return status;
    // A flight too short to measure does not contract as far as one can tell.
    if (!status.ok) record->loop = (ClosedLoop){.constants = {1.0, INFINITY, INFINITY}};
    return progress_add(work->progress, 0, NULL);
}

FacetStatus gates_certify(CertifyRecord *record, const DenoisingPath *path,
                          const FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], AttackRunner *runner,
                          const FacetRace *race, const FacetPolicy *policy,
                          const CertifyOptions *options, Progress *progress)
{
    FacetKeypoint flown[FACET_CHUNK_KEYPOINTS];
    memcpy(flown, plan, sizeof flown);
    record->shift = 0.0;
    const FacetProgress aside = progress_aside(progress);
    if (options->repair)
        TRY(gates_centre(&record->shift, flown, plan, race, record->task, 1.0, &aside));
    GateWork *work = calloc(1, sizeof *work);
    if (!work) return status_fail(FACET_NO_MEMORY, "out of memory for the gates");
    work->runner = runner;
    work->options = options;
    work->progress = progress;
    work->target = (AttackTarget){.race = race,
                                  .task = record->task,
                                  .plan = {flown, 1.0},
                                  .policy = policy,
                                  .seed = options->seed,
                                  .path = path,
                                  .progress = progress};
    FacetStatus status = facet_race_policy_task(&work->target.factors, policy, race, record->task);
    if (status.ok)
        status = certify_gates(record->gates, &record->check, &record->fold, work,
                               record->plan.path.value, false);
    record->gate_count = work->sensitivity.gates;
    if (status.ok) status = certify_paces(record, flown, plan, work);
    if (status.ok) status = measure_loop(record, plan, work);
    free(work);
    return status;
}
