// The flights of a report: those it is given, and plans from files and policies that are flown
// here.
#include "paper/paper.h"
#include "race/eval.h"
#include "race/planner.h"
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

bool report_held_out(const Report *report, FacetCourseTask task)
{
    const ReportFlight *flight = report_flight(report, report_main_method(report), task);
    return flight->flown && flight->result.held_out;
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

// ---- Flights ------------------------------------------------------------------------------------

void report_flights_free(ReportFlight *flights, int count)
{
    for (int i = 0; flights && i < count; i++) {
        free(flights[i].positions);
        free(flights[i].attitudes);
        free(flights[i].speeds);
        flights[i] = (ReportFlight){0};
    }
}

static FacetStatus keep_flight(ReportFlight *flight, const FacetRaceResult *result,
                               const FacetFlightTrace *trace)
{
    size_t count = (size_t)trace->count + 1;
    *flight = (ReportFlight){.result = *result,
                             .positions = calloc(3 * count, sizeof(double)),
                             .attitudes = calloc(4 * count, sizeof(double)),
                             .speeds = calloc(count, sizeof(double))};
    if (!flight->positions || !flight->attitudes || !flight->speeds)
        return status_fail(FACET_NO_MEMORY, "out of memory for a flight");
    flight->flown = true;
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

static bool trace_begin(FacetFlightTrace *trace)
{
    *trace = (FacetFlightTrace){.interval = 1.0 / REPORT_RATE,
                                .capacity = SAMPLES_MAX,
                                .times = calloc(SAMPLES_MAX, sizeof(double)),
                                .states = calloc(SAMPLES_MAX, sizeof(FacetQuadState)),
                                .arcs = calloc(SAMPLES_MAX, sizeof(double))};
    return trace->times && trace->states && trace->arcs;
}

static void trace_free(FacetFlightTrace *trace)
{
    free(trace->times);
    free(trace->states);
    free(trace->arcs);
}

FacetStatus report_fly(ReportFlight *flights, const FacetRace *race, const FacetPlanner *planner,
                       const FacetCourseTask *tasks, int count, uint64_t seed,
                       const FacetProgress *progress)
{
    FacetRaceResult *results = calloc((size_t)count + 1, sizeof *results);
    FacetFlightTrace *traces = calloc((size_t)count + 1, sizeof *traces);
    bool room = results && traces;
    for (int i = 0; i < count && room; i++) room = trace_begin(&traces[i]);
    FacetStatus status = room ? facet_race_fly_all_traced(results, traces, race, planner, tasks,
                                                          count, seed, 0.0, progress)
                              : status_fail(FACET_NO_MEMORY, "out of memory for %d flights", count);
    int kept = 0;
    while (kept < count && status.ok) {
        status = keep_flight(&flights[kept], &results[kept], &traces[kept]);
        kept++;
    }
    if (!status.ok) report_flights_free(flights, kept);
    for (int i = 0; traces && i < count; i++) trace_free(&traces[i]);
    free(results);
    free(traces);
    return status;
}

void report_give_flights(Report *report, int method, ReportFlight *flights, int count)
{
    report_flights_free(&report->flights[method * report->task_count], report->task_count);
    for (int i = 0; i < count; i++) {
        ReportFlight *flight = flight_at(report, method, flights[i].result.task);
        report_flights_free(flight, 1); // a file may hold a task twice
        *flight = flights[i];
        flights[i] = (ReportFlight){0};
    }
    report->origins[method] = "flights";
}

static FacetStatus fly_method(Report *report, int method, const FacetPlanner *planner,
                              const FacetCourseTask *tasks, int count, uint64_t seed)
{
    ReportFlight *flights = calloc((size_t)count + 1, sizeof *flights);
    FacetStatus status =
        flights ? report_fly(flights, report->race, planner, tasks, count, seed, report->progress)
                : status_fail(FACET_NO_MEMORY, "out of memory for %d flights", count);
    if (status.ok) report_give_flights(report, method, flights, count);
    free(flights);
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

// The plans of a file, one a task.
typedef struct FilePlans {
    int count;
    FacetCourseTask *tasks;
    FacetKeypoint (*plans)[FACET_CHUNK_KEYPOINTS];
    const Report *report;
    JsonRef results; // of the method, with what its policy held out
} FilePlans;

static bool file_holds_out(const FacetRace *race, FacetCourseTask task, void *context)
{
    (void)race;
    const FilePlans *file = context;
    JsonRef entry = input_find_task(file->report, &file->results, task);
    return input_flag(&entry, "held_out");
}

// A planner that has the plans already.
static FacetStatus plan_of_file(FacetKeypoint chunk[FACET_CHUNK_KEYPOINTS], const FacetRace *race,
                                FacetCourseTask task, uint64_t seed, void *context)
{
    (void)race, (void)seed;
    const FilePlans *file = context;
    for (int i = 0; i < file->count; i++)
        if (file->tasks[i].track == task.track && file->tasks[i].opening == task.opening) {
            memcpy(chunk, file->plans[i], sizeof file->plans[i]);
            return status_ok();
        }
    return status_fail(FACET_NOT_FOUND, "no plan of the task");
}

// Adds the plan of a feasible task of the course. One that is not is left out, with a note if it
// is broken.
static void read_plan(FilePlans *file, Report *report, const JsonRef *plan)
{
    FacetCourseTask task;
    if (!facet_course_find_task(&task, report->race->course, json_key(plan)).ok) return;
    if (!facet_speed_map_at(&report->race->speeds, task)->feasible) return;
    bool whole = json_is_array(plan) && input_length(plan) == FACET_CHUNK_KEYPOINTS;
    for (int i = 0; whole && i < FACET_CHUNK_KEYPOINTS; i++) {
        JsonRef keypoint = input_element(plan, i);
        whole = read_keypoint(&file->plans[file->count][i], &keypoint);
    }
    if (!whole) {
        report_note(report, "%s: %s: not a plan of %d x %d numbers, not flown", plan->file,
                    plan->path, FACET_CHUNK_KEYPOINTS, FACET_CHUNK_CHANNELS);
        return;
    }
    file->tasks[file->count++] = task;
}

// Flies the plans of one method.
static FacetStatus fly_plans(FilePlans *file, Report *report, const JsonRef *plans, InputKind kind,
                             uint64_t seed)
{
    int method = report_method(json_key(plans));
    if (method < 0)
        report_note(report, "%s: %s: no such method, left out", plans->file, plans->path);
    if (method <= METHOD_EXPERT || report_has_method(report, method)) return status_ok();
    file->count = 0;
    for (int i = 0; i < input_length(plans) && file->count < report->task_count; i++) {
        JsonRef plan = input_element(plans, i);
        read_plan(file, report, &plan);
    }
    if (file->count == 0) return status_ok();
    JsonRef root = input_root(report, kind), methods = input_member(&root, "methods");
    JsonRef entry = kind == INPUT_EVAL ? input_member(&methods, json_key(plans)) : root;
    file->results = input_member(&entry, "tasks");
    const FacetPlanner planner = {
        .name = "file", .plan = plan_of_file, .context = file, .held_out = file_holds_out};
    FacetStatus status = fly_method(report, method, &planner, file->tasks, file->count, seed);
    report->origins[method] = input_name(kind);
    return status;
}

static FacetStatus fly_file(Report *report, InputKind kind)
{
    JsonRef root = input_root(report, kind), methods = input_member(&root, "plans");
    double seed = input_number(report, &root, "seed");
    size_t room = (size_t)report->task_count;
    FilePlans file = {.report = report,
                      .tasks = calloc(room, sizeof *file.tasks),
                      .plans = calloc(room, sizeof *file.plans)};
    FacetStatus status =
        file.tasks && file.plans
            ? status_ok()
            : status_fail(FACET_NO_MEMORY, "out of memory for %d flights", report->task_count);
    for (int m = 0; m < input_length(&methods) && status.ok; m++) {
        JsonRef plans = input_element(&methods, m);
        status = fly_plans(&file, report, &plans, kind, seed >= 0.0 ? (uint64_t)seed : 0);
    }
    free(file.tasks);
    free(file.plans);
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

void report_give_denoising(Report *report, ReportDenoising *denoising)
{
    report_denoising_free(&report->denoising);
    report->denoising = *denoising;
    *denoising = (ReportDenoising){0};
}

FacetStatus report_denoising_begin(ReportDenoising *out, const FacetPolicy *policy,
                                   const FacetPolicySampling *how, const FacetCourseTask *tasks,
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
    return policy_noise_levels(out->levels, policy, how);
}

// Samples the plans of tasks, and flies them unless the report has the method already.
static FacetStatus add_tasks(Report *report, double *path, const FacetPolicy *policy,
                             const FacetPolicySampling *how, const FacetCourseTask *tasks,
                             int count)
{
    int method = report_policy_method(policy, how->mode);
    FacetPolicyPlanner *prepared;
    TRY(planner_create_path(&prepared, path, policy, report->race, how, tasks, count,
                            report->progress));
    FacetPlanner planner = facet_planner_from_policy(prepared);
    FacetStatus status = status_ok();
    if (!report_has_method(report, method))
        status = fly_method(report, method, &planner, tasks, count, how->seed);
    facet_policy_planner_destroy(prepared);
    return status;
}

FacetStatus report_add_policy(Report *report, const FacetPolicy *policy, FacetPolicyMode mode,
                              bool denoising)
{
    assert(report_policy_method(policy, mode) > METHOD_EXPERT);
    FacetCourseTask *tasks = calloc((size_t)report->task_count, sizeof *tasks);
    if (!tasks) return status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    int feasible = facet_race_feasible_tasks(tasks, report->race), count = 0;
    for (int i = 0; i < feasible; i++)
        if (facet_policy_knows_task(policy, report->race, tasks[i])) tasks[count++] = tasks[i];
    const FacetPolicySampling how = {.mode = mode, .steps = PAPER_STEPS, .seed = report->seed};
    ReportDenoising way = {0};
    FacetStatus status = status_ok();
    if (denoising && count > 0) status = report_denoising_begin(&way, policy, &how, tasks, count);
    if (status.ok && count > 0) status = add_tasks(report, way.path, policy, &how, tasks, count);
    if (status.ok && way.count > 0) report_give_denoising(report, &way);
    report_denoising_free(&way);
    free(tasks);
    return status;
}

// ---- A report -----------------------------------------------------------------------------------

FacetStatus report_fly_files(Report *report)
{
    if (!report->race) return status_ok();
    if (!report_has_method(report, METHOD_EXPERT)) {
        FacetCourseTask *tasks = calloc((size_t)report->task_count, sizeof *tasks);
        if (!tasks) return status_fail(FACET_NO_MEMORY, "out of memory for the flights");
        const FacetPlanner expert = facet_race_expert();
        int count = facet_race_feasible_tasks(tasks, report->race);
        FacetStatus status = fly_method(report, METHOD_EXPERT, &expert, tasks, count, report->seed);
        free(tasks);
        TRY(status);
    }
    TRY(fly_file(report, INPUT_EVAL));
    return fly_file(report, INPUT_RACE);
}

static FacetStatus read_training(Report *report, const ReportSetup *setup)
{
    if (setup->training_count == 0) return status_ok();
    report->training = calloc((size_t)setup->training_count, sizeof *report->training);
    if (!report->training) return status_fail(FACET_NO_MEMORY, "out of memory for trainings");
    for (; report->training_count < setup->training_count; report->training_count++)
        TRY(training_log_read(&report->training[report->training_count],
                              setup->training[report->training_count]));
    return status_ok();
}

static FacetStatus read_inputs(Report *report, const ReportSetup *setup)
{
    for (InputKind kind = 0; kind < INPUT_KINDS; kind++)
        if (report->race || kind >= INPUT_GATE) TRY(input_read(report, kind, setup));
    TRY(read_training(report, setup));
    report->gate = gate_study_read(report);
    if (!report->race) return status_ok();
    report->flights = calloc(REPORT_METHODS * (size_t)report->task_count, sizeof *report->flights);
    return report->flights ? status_ok()
                           : status_fail(FACET_NO_MEMORY, "out of memory for the flights");
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
    report->progress = setup->progress;
    report->task_count = race ? facet_race_task_max(race) : 0;
    FacetStatus status = read_inputs(report, setup);
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
    report_flights_free(report->flights, REPORT_METHODS * report->task_count);
    free(report->flights);
    gate_study_free(report->gate);
    for (InputKind kind = 0; kind < INPUT_KINDS; kind++) json_free(report->inputs[kind].document);
    report_denoising_free(&report->denoising);
    report_live_free(&report->live);
    free(report->training);
    free(report);
}
