// The certificates of a race study (see certify/study.h).
#include "certify/study.h"

#include "base/progress.h"
#include "certify/path.h"
#include "policy/parts.h"
#include "ranks/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_CHANGES = 16 }; // random changes of a plan that its gates' slopes are checked on

// ---- The flight ---------------------------------------------------------------------------------

enum { TUBE_SAMPLES = 4096 };
#define TUBE_INTERVAL 0.05 // s

typedef struct TubeTrace {
    double times[TUBE_SAMPLES], arcs[TUBE_SAMPLES];
    FacetQuadState states[TUBE_SAMPLES];
    FacetFlightTrace trace;
} TubeTrace;

static FacetStatus fly_normalised(TubeTrace *out, const FacetRace *race, FacetCourseTask task,
                                  const FacetPolicy *policy, const double *plan)
{
    double actions[PLAN_SIZE];
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    FacetReference reference;
    FacetQuadState start;
    normalizer_invert(actions, policy->normalizer, plan, FACET_CHUNK_KEYPOINTS);
    facet_chunk_from_actions(chunk, actions);
    TRY(facet_reference_from_chunk(&reference, chunk));
    TRY(task_start(&start, race, task));
    out->trace = (FacetFlightTrace){.interval = TUBE_INTERVAL,
                                    .capacity = TUBE_SAMPLES,
                                    .times = out->times,
                                    .states = out->states,
                                    .arcs = out->arcs};
    FacetFlightSetup setup = facet_race_setup(race, task);
    facet_flight_fly(&setup, &reference, start, &out->trace);
    return status_ok();
}

// max_t |x_t - x_t'| of the composed and the joint plan's flights (paper, Table "DDIM step sweep"),
// as long as both fly. A plan that cannot be flown has no tube.
static FacetStatus measure_tube(double *tube, const FacetRace *race, FacetCourseTask task,
                                const FacetPolicy *policy, const DenoisingPath *path)
{
    TubeTrace *traces = calloc(2, sizeof *traces);
    *tube = nan("");
    if (!traces) return status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    const double *end = path->nominal + (size_t)path->steps * PLAN_SIZE;
    if (fly_normalised(&traces[0], race, task, policy, end).ok &&
        fly_normalised(&traces[1], race, task, policy, path->joint_end).ok) {
        *tube = 0.0;
        for (int i = 0; i < traces[0].trace.count && i < traces[1].trace.count; i++)
            *tube = fmax(*tube, vec3_norm(vec3_sub(traces[0].states[i].pos_world,
                                                   traces[1].states[i].pos_world)));
    }
    free(traces);
    return status_ok();
}

// The changes of a plan that its slopes are checked on: the joint plan's difference from it, and
// random ones as long as the bound of that difference.
static FacetStatus check_gates(CrossingCheck *check, const CrossingSensitivity *sensitivity,
                               const FacetRace *race, const CertifyRecord *record,
                               const FacetKeypoint *chunk, const FacetPolicy *policy,
                               const DenoisingPath *path, uint64_t seed)
{
    double *changes = calloc((size_t)(CHECK_CHANGES + 1) * PLAN_SIZE, sizeof *changes);
    if (!changes) return status_fail(FACET_NO_MEMORY, "out of memory for changed plans");
    const double *end = path->nominal + (size_t)path->steps * PLAN_SIZE;
    for (int i = 0; i < PLAN_SIZE; i++) changes[i] = path->joint_end[i] - end[i];
    crossing_random_changes(changes + PLAN_SIZE, record->plan.path.value, CHECK_CHANGES, seed);
    FacetStatus status = crossing_check(check, sensitivity, race, record->task, chunk,
                                        policy->normalizer, changes, CHECK_CHANGES + 1);
    free(changes);
    return status;
}

// Paces that a plan is tried at when it is not certified at its own.
static const double paces[] = {0.8, 0.65, 0.5, 0.4, 0.3};
enum { PACES = sizeof paces / sizeof *paces };

// The gates of the plan flown at a pace, with the check of their slopes. The plan's error moves the
// speeds that are flown by `pace` times as much, and so does the slope by them.
static FacetStatus certify_gates(GateRecord *gates, CrossingCheck *check,
                                 CrossingSensitivity *sensitivity, const CertifyRecord *record,
                                 const FacetKeypoint plan[FACET_CHUNK_KEYPOINTS], double pace,
                                 const DenoisingPath *path, const FacetRace *race,
                                 const FacetPolicy *policy, const CertifyOptions *options)
{
    double c2[SCHEDULE_STEPS_MAX], eps[SCHEDULE_STEPS_MAX], disturbance[FACET_TRACK_GATES_MAX];
    CrossingRadius radius[FACET_TRACK_GATES_MAX];
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    for (int i = 0; i < FACET_CHUNK_KEYPOINTS; i++)
        chunk[i] = (FacetKeypoint){plan[i].pos, pace * plan[i].speed};
    for (int k = 0; k < path->steps; k++) {
        c2[k] = path->step[k].c2;
        eps[k] = path->step[k].mismatch;
    }
    TRY(crossing_sensitivity(sensitivity, race, record->task, chunk, policy->normalizer,
                             CROSSING_STEP));
    TRY(check_gates(check, sensitivity, race, record, chunk, policy, path, options->seed));
    for (int g = 0; g < sensitivity->gates; g++)
        for (int i = 0; i < 2 * PLAN_SIZE; i++)
            if (i % FACET_CHUNK_CHANNELS == FACET_CHUNK_CHANNELS - 1)
                sensitivity->gate[g].slope[i / PLAN_SIZE][i % PLAN_SIZE] *= pace;
    crossing_radius(radius, sensitivity, c2, path->transition, eps, path->steps);
    TRY(crossing_disturbance(disturbance, race, record->task, chunk, options->gusts,
                             options->gust_flights, options->seed));
    for (int g = 0; g < sensitivity->gates; g++) {
        const CrossingSlope *slope = &sensitivity->gate[g];
        gates[g] = (GateRecord){
            .crossed = slope->nominal.crossed,
            .miss = slope->nominal.miss,
            .radius = radius[g].radius,
            .disturbance = disturbance[g],
            .reach = radius[g].reach,
            .slope = slope->norm,
            .certified = crossing_certified(sensitivity, g, radius[g].radius, disturbance[g]),
            .certified_still = crossing_certified(sensitivity, g, radius[g].radius, 0.0),
        };
    }
    return status_ok();
}

// What depends on the flight of the plan: its gates, at its own speed and slower, and the closed
// loop along it.
static FacetStatus certify_flight(CertifyRecord *record, CrossingSensitivity *sensitivity,
                                  const FacetCertifier *certifier, const FacetRace *race,
                                  const FacetPolicy *policy, const CertifyOptions *options,
                                  Progress *progress)
{
    const DenoisingPath *path = certifier_path(certifier);
    double actions[PLAN_SIZE];
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    PaceRecord *paced = &record->paced;
    facet_certifier_actions(actions, certifier);
    facet_chunk_from_actions(chunk, actions);
    TRY(certify_gates(record->gates, &record->check, sensitivity, record, chunk, 1.0, path, race,
                      policy, options));
    record->gate_count = sensitivity->gates;
    memcpy(paced->gates, record->gates, sizeof paced->gates);
    paced->check = record->check;
    paced->pace = 1.0;
    for (int i = 0; i < PACES && paces[i] >= options->slowest; i++) {
        if (gates_certified(paced->gates, record->gate_count)) break;
        paced->pace = paces[i];
        TRY(progress_add(progress, 0, NULL));
        TRY(certify_gates(paced->gates, &paced->check, sensitivity, record, chunk, paced->pace,
                          path, race, policy, options));
    }
    paced->time = sensitivity->gate[record->gate_count - 1].nominal.time;
    if (!gates_certified(paced->gates, record->gate_count)) paced->pace = 0.0;
    TRY(progress_add(progress, 0, NULL));
    ClosedLoopOptions loop = closed_loop_defaults();
    loop.gusts = options->gusts;
    loop.draws = options->gust_flights;
    loop.seed = options->seed;
    // A flight too short to measure does not contract as far as one can tell.
    if (!closed_loop_measure(&record->loop, race, record->task, chunk, policy->normalizer, &loop)
             .ok)
        record->loop = (ClosedLoop){.constants = {1.0, INFINITY, INFINITY}};
    return status_ok();
}

// ---- What there is to do ------------------------------------------------------------------------

typedef struct Job {
    FacetCourseTask task;
    int steps, turn;
} Job;

// All of a study: the tasks with the first seed, then the other seeds, then the sweep.
static Job *list_jobs(int *count, const CertifyOptions *options)
{
    int each = options->task_count, rounds = options->seeds + options->sweep_count;
    Job *jobs = calloc((size_t)(each * rounds) + 1, sizeof *jobs);
    *count = 0;
    for (int r = 0; jobs && r < rounds; r++) {
        bool sweep = r >= options->seeds;
        int steps = sweep ? options->sweep[r - options->seeds] : options->steps;
        if (sweep && steps == options->steps) continue;
        for (int t = 0; t < each; t++)
            jobs[(*count)++] = (Job){options->tasks[t], steps, sweep ? 0 : r};
    }
    return jobs;
}

static bool same_job(const CertifyRecord *record, FacetCourseTask task, int steps, int turn)
{
    return record->task.track == task.track && record->task.opening == task.opening &&
           record->steps == steps && record->turn == turn;
}

const CertifyRecord *certify_study_record(const CertifyStudy *study, FacetCourseTask task,
                                          int steps, int turn)
{
    for (int i = 0; i < study->count; i++)
        if (same_job(&study->records[i], task, steps, turn)) return &study->records[i];
    return NULL;
}

void certify_study_free(CertifyStudy *study)
{
    free(study->records);
    *study = (CertifyStudy){0};
}

// ---- Running ------------------------------------------------------------------------------------

static FacetStatus certify_job(CertifyRecord *record, const Job *job, FacetCertifier *certifier,
                               const FacetRace *race, const FacetPolicy *policy,
                               const CertifyOptions *options, Progress *progress)
{
    FacetFactorTask task;
    *record = (CertifyRecord){.task = job->task, .steps = job->steps, .turn = job->turn};
    TRY(facet_race_policy_task(&task, policy, race, job->task));
    TRY(policy_check_task(policy, task));
    const FacetProgress part = progress_part(progress);
    FacetStatus status = facet_certifier_plan(&record->plan, certifier, task,
                                              options->seed + (uint64_t)job->turn, &part);
    if (status.code == FACET_INTERRUPTED) return status;
    if (!status.ok) { // sampling that leaves the finite numbers is a result
        TRY(progress_add(progress, job->steps - progress->part, NULL));
        snprintf(record->failure, sizeof record->failure, "%.190s", status.text);
        const FacetCertifyBound none = {nan(""), 0};
        record->tube = nan("");
        record->plan = (FacetPlanCertificate){.steps = job->steps,
                                              .ltv = none,
                                              .ode = none,
                                              .product = none,
                                              .path = none,
                                              .eps_s = nan(""),
                                              .actual = nan(""),
                                              .linear = nan(""),
                                              .amplification = nan("")};
        return status_ok();
    }
    record->tube = nan("");
    if (job->turn > 0) return status_ok();
    TRY(measure_tube(&record->tube, race, job->task, policy, certifier_path(certifier)));
    if (job->steps != options->steps) return status_ok();
    CrossingSensitivity *sensitivity = calloc(1, sizeof *sensitivity);
    if (!sensitivity) return status_fail(FACET_NO_MEMORY, "out of memory for the gates");
    status = certify_flight(record, sensitivity, certifier, race, policy, options, progress);
    free(sensitivity);
    return status;
}

static FacetStatus interrupted(const CertifyStudy *study, int count, const CertifyOptions *options)
{
    if (!options->state)
        return status_fail(FACET_INTERRUPTED, "interrupted with %d of %d plans certified",
                           study->count, count);
    return status_fail(FACET_INTERRUPTED,
                       "interrupted with %d of %d plans certified; the same command goes on from "
                       "%s",
                       study->count, count, options->state);
}

// A certifier and the number of steps that it is for.
typedef struct Bench {
    FacetCertifier *certifier;
    int steps;
} Bench;

static FacetStatus run_job(CertifyRecord *record, Bench *bench, const Job *job,
                           const FacetRace *race, const FacetPolicy *policy,
                           const CertifyOptions *options, Progress *progress)
{
    TRY(progress_add(progress, 0, NULL));
    if (bench->steps != job->steps) {
        facet_certifier_destroy(bench->certifier);
        *bench = (Bench){.steps = job->steps};
        TRY(facet_certifier_create(&bench->certifier, policy, job->steps, race->pool));
    }
    return certify_job(record, job, bench->certifier, race, policy, options, progress);
}

// The jobs that are not done yet come in turns, one a rank, so that all have all records after each
// and the state file is that of one rank.
static FacetStatus run_turn(CertifyStudy *study, Bench *bench, const Job *jobs, int count,
                            const FacetRace *race, const FacetPolicy *policy,
                            const CertifyOptions *options, Progress *progress)
{
    FacetRanks *ranks = options->ranks;
    CertifyRecord *records = study->records + study->count;
    FacetStatus status = status_ok();
    for (int i = 0; i < count && status.ok; i++)
        if (ranks_mine(ranks, i))
            status = run_job(&records[i], bench, &jobs[i], race, policy, options, progress);
    TRY(ranks_agree(ranks, status));
    ranks_collect(ranks, records, sizeof *records, count);
    study->count += count;
    if (options->state && ranks_lead(ranks))
        status = records_write(options->state, options->study, study->records, study->count,
                               race->course);
    return ranks_agree(ranks, status);
}

// `jobs` are those that are left.
static FacetStatus run_jobs(CertifyStudy *study, const Job *jobs, int count, const FacetRace *race,
                            const FacetPolicy *policy, const CertifyOptions *options,
                            Progress *progress)
{
    Bench bench = {0};
    FacetStatus status = status_ok();
    int all = study->count + count, each = facet_ranks_count(options->ranks);
    for (int i = 0; i < count && status.ok; i += each)
        status = run_turn(study, &bench, jobs + i, count - i < each ? count - i : each, race,
                          policy, options, progress);
    facet_certifier_destroy(bench.certifier);
    return status.code == FACET_INTERRUPTED ? interrupted(study, all, options) : status;
}

// Drops the jobs whose records are there. Returns how many are left.
static int drop_done(Job *jobs, int count, const CertifyStudy *study)
{
    int left = 0;
    for (int i = 0; i < count; i++)
        if (!certify_study_record(study, jobs[i].task, jobs[i].steps, jobs[i].turn))
            jobs[left++] = jobs[i];
    return left;
}

// Reads what earlier runs did and keeps of it what is among the jobs.
static FacetStatus resume(CertifyStudy *study, const Job *jobs, int count, const FacetRace *race,
                          const CertifyOptions *options)
{
    CertifyRecord *found;
    int found_count;
    TRY(records_read(&found, &found_count, options->state, options->study, race->course));
    for (int i = 0; i < count; i++)
        for (int k = 0; k < found_count; k++)
            if (same_job(&found[k], jobs[i].task, jobs[i].steps, jobs[i].turn)) {
                study->records[study->count++] = found[k];
                break;
            }
    study->resumed = study->count;
    free(found);
    return status_ok();
}

FacetStatus certify_study(CertifyStudy *study, const FacetRace *race, const FacetPolicy *policy,
                          const CertifyOptions *options, const FacetProgress *progress)
{
    *study = (CertifyStudy){0};
    int count;
    Job *jobs = list_jobs(&count, options);
    study->records = calloc((size_t)count + 1, sizeof *study->records);
    FacetStatus status = jobs && study->records
                             ? certify_check_blind(policy)
                             : status_fail(FACET_NO_MEMORY, "out of memory for the study");
    if (status.ok && options->state && ranks_lead(options->ranks))
        status = resume(study, jobs, count, race, options);
    status = ranks_agree(options->ranks, status);
    if (status.ok) {
        ranks_broadcast(options->ranks, 0, &study->count, sizeof study->count);
        ranks_broadcast(options->ranks, 0, study->records,
                        (size_t)study->count * sizeof *study->records);
        int left = drop_done(jobs, count, study);
        long steps = 0;
        for (int i = 0; i < left; i++) steps += jobs[i].steps;
        RanksWatch watch;
        Progress done;
        ranks_watch_begin(&watch, options->ranks, steps > 0 ? progress : NULL);
        progress_begin(&done, &watch.progress, "denoising steps", steps);
        status = run_jobs(study, jobs, left, race, policy, options, &done);
        progress_end(&done);
        if (status.ok) ranks_watch_end(&watch);
    }
    free(jobs);
    if (!status.ok) certify_study_free(study);
    return status;
}

// ---- The policy as a whole ----------------------------------------------------------------------

void certify_study_policy_name(char out[24], const FacetPolicy *policy)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); // FNV-1a
    for (size_t i = 0; i < policy->net->table.size; i++) {
        uint32_t bits;
        memcpy(&bits, &policy->params[0][i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    }
    const int settings[] = {(int)policy->prediction, (int)policy->spacing,
                            (int)(policy->clip * 1e6), policy->schedule.steps,
                            (int)(policy->temperature * 1e6)};
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        hash = (hash ^ (uint64_t)settings[i]) * UINT64_C(0x100000001b3);
    snprintf(out, 24, "%016llx", (unsigned long long)hash);
}

FacetStatus certify_study_diagnostics(FacetCertifyDiagnostics *out, const FacetRace *race,
                                      const FacetPolicy *policy, int samples, uint64_t seed,
                                      const FacetProgress *progress)
{
    size_t room = (size_t)facet_race_task_max(race);
    FacetCourseTask *all = calloc(room, sizeof *all);
    FacetFactorTask *tasks = calloc(room, sizeof *tasks);
    double *actions = calloc(room * PLAN_SIZE, sizeof *actions);
    FacetStatus status = all && tasks && actions
                             ? status_ok()
                             : status_fail(FACET_NO_MEMORY, "out of memory for the tasks");
    int feasible = status.ok ? facet_race_feasible_tasks(all, race) : 0, count = 0;
    for (int i = 0; i < feasible && status.ok; i++) {
        if (!facet_race_policy_task(&tasks[count], policy, race, all[i]).ok ||
            !facet_factor_split_contains(policy->training, tasks[count]))
            continue;
        FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
        FacetPlanner expert = facet_race_expert();
        status = expert.plan(chunk, race, all[i], 0, expert.context);
        facet_chunk_to_actions(actions + (size_t)count++ * PLAN_SIZE, chunk);
    }
    if (status.ok && count == 0)
        status = status_fail(FACET_BAD_ARGUMENT,
                             "the policy was trained on none of the course's feasible tasks");
    if (status.ok)
        status = facet_certify_diagnostics(out, policy, tasks, actions, count, samples, seed,
                                           race->pool, progress);
    free(all);
    free(tasks);
    free(actions);
    return status;
}
