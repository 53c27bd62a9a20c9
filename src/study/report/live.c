// The policy that the page carries: its bytes, for the page's live tab, and what it passes here, so
// that the page states it.
#include "picture/base64.h"
#include "policy/policy.h"
#include "race/planner.h"
#include "report/document.h"

#include <stdlib.h>
#include <string.h>

void report_live_free(ReportLive *live)
{
    free(live->weights);
    free(live->results);
    *live = (ReportLive){0};
}

// Samples and flies the tasks that the policy knows.
static FacetStatus fly_live(ReportLive *live, const Report *report, const FacetPolicy *policy)
{
    size_t room = (size_t)report->task_count + 1;
    FacetCourseTask *tasks = calloc(room, sizeof *tasks);
    live->results = calloc(room, sizeof *live->results);
    if (!tasks || !live->results) {
        free(tasks);
        return status_fail(FACET_NO_MEMORY, "out of memory for the flights");
    }
    int feasible = facet_race_feasible_tasks(tasks, report->race);
    for (int i = 0; i < feasible; i++)
        if (facet_policy_knows_task(policy, report->race, tasks[i]))
            tasks[live->count++] = tasks[i];
    const FacetPolicySampling how = {.seed = report->seed};
    FacetPolicyPlanner *plans = NULL;
    FacetStatus status = planner_create_path(&plans, NULL, policy, report->race, &how, tasks,
                                             live->count, report->progress);
    if (status.ok) {
        const FacetPlanner planner = facet_planner_from_policy(plans);
        status = facet_race_fly_all(live->results, report->race, &planner, tasks, live->count,
                                    report->seed, 0.0, report->progress);
    }
    facet_policy_planner_destroy(plans);
    free(tasks);
    return status;
}

FacetStatus report_add_live(Report *report, const char *path)
{
    ReportLive live = {0};
    FacetPolicy *policy;
    char *bytes;
    size_t size;
    TRY(facet_policy_load(&policy, path));
    FacetStatus status = file_read(&bytes, &size, path);
    if (status.ok) {
        live.weights = base64_encode((const uint8_t *)bytes, size);
        free(bytes);
        if (!live.weights) status = status_fail(FACET_NO_MEMORY, "%s: out of memory", path);
    }
    const char *name = strrchr(path, '/');
    snprintf(live.name, sizeof live.name, "%.100s", name ? name + 1 : path);
    live.parameters = facet_policy_info(policy).parameters;
    live.steps = facet_policy_info(policy).default_steps;
    if (status.ok) status = fly_live(&live, report, policy);
    facet_policy_destroy(policy);
    if (!status.ok || live.count == 0) {
        report_live_free(&live);
        return status;
    }
    report_live_free(&report->live);
    report->live = live;
    return status;
}

Json *document_live(const Report *report)
{
    const ReportLive *live = &report->live;
    Json *out = json_object(), *results = json_array();
    json_set_string(out, "policy", live->name);
    json_set_number(out, "parameters", (double)live->parameters);
    json_set_number(out, "steps", live->steps);
    json_set_uint64(out, "seed", report->seed);
    for (int i = 0; i < live->count; i++) {
        const FacetRaceResult *result = &live->results[i];
        Json *entry = json_object();
        json_set_number(entry, "task", report_task_index(report, result->task));
        json_set_bool(entry, "held_out", result->held_out);
        json_set_number(entry, "passed", result->flight.passed);
        json_set_number(entry, "gates", result->flight.gate_count);
        json_set(entry, "plan", document_plan(result->plan, 5));
        json_push(results, entry);
    }
    json_set(out, "results", results);
    json_set_string(out, "weights", live->weights);
    return out;
}
