// The certificates of a race study (see certify/study.h).
#include "certify/study.h"

#include "base/progress.h"
#include "certify/gates.h"
#include "certify/path.h"
#include "policy/parts.h"
#include "ranks/watch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    TRY(task_start(&start, race, task, 1.0));
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
    FacetStatus status = fly_normalised(&traces[0], race, task, policy, end);
    if (status.ok) status = fly_normalised(&traces[1], race, task, policy, path->joint_end);
    if (status.ok) {
        *tube = 0.0;
        for (int i = 0; i < traces[0].trace.count && i < traces[1].trace.count; i++)
            *tube = fmax(*tube, vec3_norm(vec3_sub(traces[0].states[i].pos_world,
                                                   traces[1].states[i].pos_world)));
    }
    free(traces);
    return status.code == FACET_NO_MEMORY ? status : status_ok();
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

// What certifies plans of a number of steps.
typedef struct Bench {
    FacetCertifier *certifier;
    AttackRunner *runner;
    int steps;
} Bench;

static FacetStatus certify_job(CertifyRecord *record, const Job *job, Bench *bench,
                               const FacetRace *race, const FacetPolicy *policy,
                               const CertifyOptions *options, Progress *progress)
{
    FacetCertifier *certifier = bench->certifier;
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
    TRY(progress_add(progress, 0, NULL));
    TRY(measure_tube(&record->tube, race, job->task, policy, certifier_path(certifier)));
    if (job->steps != options->steps) return status_ok();
    double actions[PLAN_SIZE];
    FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS];
    facet_certifier_actions(actions, certifier);
    facet_chunk_from_actions(chunk, actions);
    return gates_certify(record, certifier_path(certifier), chunk, bench->runner, race, policy,
                         options, progress);
}

static FacetStatus interrupted(const CertifyStudy *study, int count, const CertifyOptions *options)
{
    if (!options->state)
        return status_fail(FACET_INTERRUPTED,
                           "interrupted with %d of %d plans certified and none kept: --json FILE "
                           "keeps them",
                           study->count, count);
    return status_fail(FACET_INTERRUPTED,
                       "interrupted with %d of %d plans certified; the same command goes on from "
                       "%s",
                       study->count, count, options->state);
}

static void bench_free(Bench *bench)
{
    facet_certifier_destroy(bench->certifier);
    attack_runner_destroy(bench->runner);
    *bench = (Bench){0};
}

static FacetStatus run_job(CertifyRecord *record, Bench *bench, const Job *job,
                           const FacetRace *race, const FacetPolicy *policy,
                           const CertifyOptions *options, Progress *progress)
{
    TRY(progress_add(progress, 0, NULL));
    if (bench->steps != job->steps) {
        bench_free(bench);
        bench->steps = job->steps;
        TRY(facet_certifier_create(&bench->certifier, policy, job->steps, race->pool));
        TRY(attack_runner_create(&bench->runner, policy, job->steps, race->pool));
    }
    return certify_job(record, job, bench, race, policy, options, progress);
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
    bench_free(&bench);
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
