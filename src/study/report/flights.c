// The flights of a report: plans from files and policies, flown again and recorded.
#include "base/pool.h"
#include "race/eval.h"
#include "report/gate_study.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PLAN_SIZE = FACET_CHUNK_KEYPOINTS * FACET_CHUNK_CHANNELS, SAMPLES_MAX = 5000 };

int report_task_index(const Report *report, FacetCourseTask task)
{
    return task.track * report->race->course->opening_count + task.opening;
}

static ReportFlight *flight_at(const Report *report, int method, FacetCourseTask task)
{
    return &report->flights[method * report->task_count + report_task_index(report, task)];
}

const ReportFlight *report_flight(const Report *report, int method, FacetCourseTask task)
{
    return flight_at(report, method, task);
}

bool report_has_method(const Report *report, int method)
{
    for (int i = 0; i < report->task_count; i++)
        if (report->flights[method * report->task_count + i].flown) return true;
    return false;
}

int report_main_method(const Report *report)
{
    static const char *const order[] = {"ours_composed", "factored_composed", "oracle", "knet",
                                        "baseline"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (report_has_method(report, report_method(order[i]))) return report_method(order[i]);
    return METHOD_EXPERT;
}

int report_policy_method(const FacetPolicy *policy, FacetPolicyMode mode)
{
    char id[64];
    const char *method = eval_method(policy);
    bool either = strcmp(method, "factored") == 0 || strcmp(method, "ours") == 0;
    snprintf(id, sizeof id, "%s%s", method,
             !either                      ? ""
             : mode == FACET_POLICY_JOINT ? "_joint"
                                          : "_composed");
    return report_method(id);
}

// ---- One flight ---------------------------------------------------------------------------------

// A planner that has the plan already.
static FacetStatus plan_given(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                              FacetCourseTask task, uint64_t seed, void *context)
{
    (void)race, (void)task, (void)seed;
    memcpy(chunk, context, FACET_CHUNK_KEYPOINTS * sizeof *chunk);
    return status_ok();
}

static void flight_free(ReportFlight *flight)
{
    free(flight->positions);
    free(flight->attitudes);
    free(flight->speeds);
    *flight = (ReportFlight){0};
}

static FacetStatus keep_samples(ReportFlight *flight, const FacetFlightTrace *trace)
{
    size_t count = (size_t)trace->count + 1;
    flight->positions = calloc(3 * count, sizeof(double));
    flight->attitudes = calloc(4 * count, sizeof(double));
    flight->speeds = calloc(count, sizeof(double));
    if (!flight->positions || !flight->attitudes || !flight->speeds)
        return status_fail(FACET_NO_MEMORY, "out of memory for a flight");
    flight->samples = trace->count;
    for (int i = 0; i < trace->count; i++) {
        const FacetQuadState *state = &trace->states[i];
        const double position[] = {state->pos_world.x, state->pos_world.y, state->pos_world.z};
        const FacetQuat q = state->attitude;
        const double attitude[] = {q.w, q.x, q.y, q.z};
        memcpy(flight->positions + 3 * i, position, sizeof position);
        memcpy(flight->attitudes + 4 * i, attitude, sizeof attitude);
        flight->speeds[i] = vec3_norm(state->vel_world);
    }
    return status_ok();
}

static FacetStatus fly_plan(ReportFlight *flight, const FacetRace *race,
                            const FacetPlanner *planner, FacetCourseTask task, uint64_t seed)
{
    FacetFlightTrace trace = {.interval = 1.0 / REPORT_RATE,
                              .capacity = SAMPLES_MAX,
                              .times = calloc(SAMPLES_MAX, sizeof(double)),
                              .states = calloc(SAMPLES_MAX, sizeof(FacetQuadState)),
                              .arcs = calloc(SAMPLES_MAX, sizeof(double))};
    flight_free(flight);
    FacetStatus status =
        trace.times && trace.states && trace.arcs
            ? facet_race_fly_traced(&flight->result, &trace, race, planner, task, seed, 0.0)
            : status_fail(FACET_NO_MEMORY, "out of memory for a flight");
    if (status.ok) status = keep_samples(flight, &trace);
    if (status.ok) flight->flown = true;
    free(trace.times);
    free(trace.states);
    free(trace.arcs);
    return status;
}

// ---- Many flights -------------------------------------------------------------------------------

typedef struct FlyWork {
    Report *report;
    int method;
    const FacetRaceResult *results; // whose plans are flown; NULL for the expert's
    const FacetCourseTask *tasks;
} FlyWork;

static FacetStatus fly_one(void *context, int index, int worker)
{
    (void)worker;
    const FlyWork *work = context;
    FacetKeypoint plan[FACET_CHUNK_KEYPOINTS];
    FacetPlanner planner = facet_race_expert();
    uint64_t seed = work->report->seed;
    FacetCourseTask task = work->tasks[index];
    if (work->results) {
        memcpy(plan, work->results[index].plan, sizeof plan);
        planner = (FacetPlanner){.name = "given", .plan = plan_given, .context = plan};
        seed = work->results[index].seed;
    }
    return fly_plan(flight_at(work->report, work->method, task), work->report->race, &planner, task,
                    seed);
}

// `results` is NULL for the expert.
static FacetStatus fly_many(Report *report, int method, const FacetRaceResult *results,
                            const FacetCourseTask *tasks, int count)
{
    FlyWork work = {report, method, results, tasks};
    return pool_try(report->race->pool, count, fly_one, &work);
}

FacetStatus report_add_results(Report *report, int method, const FacetRaceResult *results,
                               int count)
{
    FacetCourseTask *tasks = calloc((size_t)count + 1, sizeof *tasks);
    if (!tasks) return status_fail(FACET_NO_MEMORY, "out of memory for %d flights", count);
    for (int i = 0; i < count; i++) tasks[i] = results[i].task;
    for (int i = 0; i < report->task_count; i++)
        flight_free(&report->flights[method * report->task_count + i]);
    FacetStatus status = fly_many(report, method, results, tasks, count);
    report->origins[method] = "flights";
    free(tasks);
    return status;
}

// ---- Plans of files -----------------------------------------------------------------------------

static bool read_keypoint(FacetKeypoint *out, const JsonRef *at)
{
    double value[FACET_CHUNK_CHANNELS];
    if (input_length(at) != FACET_CHUNK_CHANNELS) return false;
    for (int i = 0; i < FACET_CHUNK_CHANNELS; i++) {
        JsonRef element = input_element(at, i);
        if (!element.node || !json_number(&value[i], &element, -1e9, 1e9).ok) return false;
    }
    *out = (FacetKeypoint){vec3(value[0], value[1], value[2]), value[3]};
    return true;
}

// A plan of a feasible task of the course. One that is not is left out, with a note if it is
// broken.
static bool read_plan(FacetRaceResult *out, Report *report, const JsonRef *plan, uint64_t seed)
{
    *out = (FacetRaceResult){.seed = seed};
    if (!facet_course_find_task(&out->task, report->race->course, json_key(plan)).ok) return false;
    if (!facet_speed_map_at(&report->race->speeds, out->task)->feasible) return false;
    bool whole = json_is_array(plan) && input_length(plan) == FACET_CHUNK_KEYPOINTS;
    for (int i = 0; whole && i < FACET_CHUNK_KEYPOINTS; i++) {
        JsonRef keypoint = input_element(plan, i);
        whole = read_keypoint(&out->plan[i], &keypoint);
    }
    if (!whole)
        report_note(report, "%s: %s: not a plan of %d x %d numbers, not flown", plan->file,
                    plan->path, FACET_CHUNK_KEYPOINTS, FACET_CHUNK_CHANNELS);
    return whole;
}

static FacetStatus fly_file(Report *report, InputKind kind)
{
    JsonRef root = input_root(report, kind), methods = input_member(&root, "plans");
    double seed = input_number(report, &root, "seed");
    FacetRaceResult *results = calloc((size_t)report->task_count, sizeof *results);
    if (!results)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d flights", report->task_count);
    FacetStatus status = status_ok();
    for (int m = 0; m < input_length(&methods) && status.ok; m++) {
        JsonRef plans = input_element(&methods, m);
        int method = report_method(json_key(&plans)), count = 0;
        if (method < 0)
            report_note(report, "%s: %s: no such method, left out", plans.file, plans.path);
        if (method <= METHOD_EXPERT || report_has_method(report, method)) continue;
        for (int i = 0; i < input_length(&plans) && count < report->task_count; i++) {
            JsonRef plan = input_element(&plans, i);
            count += read_plan(&results[count], report, &plan, seed >= 0.0 ? (uint64_t)seed : 0);
        }
        if (count == 0) continue;
        status = report_add_results(report, method, results, count);
        report->origins[method] = input_name(kind);
    }
    free(results);
    return status;
}

// ---- Plans of policies --------------------------------------------------------------------------

void report_denoising_free(ReportDenoising *denoising)
{
    free(denoising->tasks);
    free(denoising->levels);
    free(denoising->path);
    *denoising = (ReportDenoising){0};
}

void report_set_denoising(Report *report, ReportDenoising denoising)
{
    report_denoising_free(&report->denoising);
    report->denoising = denoising;
}

FacetStatus report_denoising_begin(ReportDenoising *out, const FacetPolicy *policy,
                                   FacetPolicySampling *how, const FacetCourseTask *tasks,
                                   int count)
{
    int steps = policy_sampling_steps(policy, how);
    *out = (ReportDenoising){.method = report_policy_method(policy, how->mode),
                             .steps = steps,
                             .count = count,
                             .tasks = calloc((size_t)count + 1, sizeof *out->tasks)};
    out->levels = calloc((size_t)steps + 1, sizeof *out->levels);
    out->path = calloc((size_t)(steps + 1) * (size_t)count * PLAN_SIZE, sizeof *out->path);
    if (!out->tasks || !out->levels || !out->path)
        return status_fail(FACET_NO_MEMORY, "out of memory for %d plans", count);
    memcpy(out->tasks, tasks, (size_t)count * sizeof *tasks);
    how->path = out->path;
    return policy_noise_levels(out->levels, policy, how);
}

static FacetStatus plan_all(FacetRaceResult *results, Report *report, const FacetPolicy *policy,
                            const FacetPolicySampling *how, const FacetCourseTask *tasks, int count)
{
    FacetPolicyPlanner *prepared;
    TRY(facet_policy_planner_create(&prepared, policy, report->race, how, tasks, count,
                                    &report->seed, 1, NULL));
    FacetPlanner planner = facet_planner_from_policy(prepared);
    FacetStatus status = status_ok();
    for (int i = 0; i < count && status.ok; i++) {
        results[i] = (FacetRaceResult){.task = tasks[i], .seed = report->seed};
        status =
            planner.plan(results[i].plan, report->race, tasks[i], report->seed, planner.context);
    }
    facet_policy_planner_destroy(prepared);
    return status;
}

FacetStatus report_add_policy(Report *report, const FacetPolicy *policy, FacetPolicyMode mode,
                              bool denoising)
{
    int method = report_policy_method(policy, mode);
    assert(method > METHOD_EXPERT);
    size_t room = (size_t)report->task_count;
    FacetRaceResult *results = calloc(room, sizeof *results);
    FacetCourseTask *tasks = calloc(room, sizeof *tasks);
    FacetStatus status = results && tasks
                             ? status_ok()
                             : status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    int feasible = status.ok ? facet_race_feasible_tasks(tasks, report->race) : 0, count = 0;
    for (int i = 0; i < feasible; i++)
        if (facet_policy_knows_task(policy, report->race, tasks[i])) tasks[count++] = tasks[i];
    FacetPolicySampling how = {.mode = mode, .seed = report->seed};
    ReportDenoising way = {0};
    if (status.ok && denoising && count > 0)
        status = report_denoising_begin(&way, policy, &how, tasks, count);
    if (status.ok && count > 0) status = plan_all(results, report, policy, &how, tasks, count);
    if (status.ok && count > 0 && !report_has_method(report, method))
        status = report_add_results(report, method, results, count);
    free(results);
    free(tasks);
    if (status.ok && way.count > 0)
        report_set_denoising(report, way);
    else
        report_denoising_free(&way);
    return status;
}

// ---- A report -----------------------------------------------------------------------------------

static FacetStatus fill_race(Report *report)
{
    size_t room = (size_t)report->task_count;
    report->flights = calloc(REPORT_METHODS * room, sizeof *report->flights);
    FacetCourseTask *tasks = calloc(room, sizeof *tasks);
    FacetStatus status = report->flights && tasks
                             ? status_ok()
                             : status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    if (status.ok) {
        int count = facet_race_feasible_tasks(tasks, report->race);
        status = fly_many(report, METHOD_EXPERT, NULL, tasks, count);
        report->origins[METHOD_EXPERT] = "flights";
    }
    if (status.ok) status = fly_file(report, INPUT_EVAL);
    if (status.ok) status = fly_file(report, INPUT_RACE);
    free(tasks);
    return status;
}

static FacetStatus fill(Report *report, const ReportSetup *setup)
{
    for (InputKind kind = 0; kind < INPUT_KINDS; kind++)
        if (report->race || kind == INPUT_GATE || kind == INPUT_GATE_STUDY)
            TRY(input_read(report, kind, setup));
    report->gate = gate_study_read(report);
    return report->race ? fill_race(report) : status_ok();
}

FacetStatus report_open(Report **out, const FacetRace *race, const ReportSetup *setup)
{
    *out = NULL;
    Report *report = calloc(1, sizeof *report);
    if (!report) return status_fail(FACET_NO_MEMORY, "out of memory for a report");
    report->race = race;
    report->version = setup->version;
    report->command = setup->command;
    report->seed = setup->seed;
    report->task_count = race ? facet_race_task_max(race) : 0;
    FacetStatus status = fill(report, setup);
    if (!status.ok) {
        report_close(report);
        return status;
    }
    *out = report;
    return status;
}

void report_close(Report *report)
{
    if (!report) return;
    for (int i = 0; report->flights && i < REPORT_METHODS * report->task_count; i++)
        flight_free(&report->flights[i]);
    free(report->flights);
    gate_study_free(report->gate);
    for (InputKind kind = 0; kind < INPUT_KINDS; kind++) json_free(report->inputs[kind].document);
    report_denoising_free(&report->denoising);
    free(report);
}
