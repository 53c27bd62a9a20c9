// facet sample: plans of a policy for a task.
#include "args.h"
#include "base/json.h"
#include "commands.h"
#include "interrupt.h"
#include "policy/policy.h"
#include "report/table.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct SampleOptions {
    CommonOptions common;
    const char *policy, *task, *mode, *sampler;
    int steps, count;
    double temperature;
} SampleOptions;

static Json *json_from_plan(const double *actions, int horizon, int dim)
{
    Json *plan = json_array();
    for (int t = 0; t < horizon; t++) {
        Json *row = json_array();
        for (int d = 0; d < dim; d++) json_push_number(row, actions[t * dim + d]);
        json_push(plan, row);
    }
    return plan;
}

// {"actions": [T][D]}, or {"samples": [count][T][D]} for several, beside what was asked.
static Json *json_from_plans(const FacetPolicy *policy, const SampleOptions *options,
                             const FacetPolicySampling *how, FacetFactorTask task,
                             const double *actions)
{
    int horizon = policy_horizon(policy), dim = policy_dim(policy);
    char text[FACET_FACTOR_TASK_TEXT];
    facet_factor_task_format(text, facet_policy_space(policy), task, FACET_FACTOR_STYLE_VALUES);
    Json *document = json_object(), *samples = json_array();
    json_set_string(document, "policy", options->policy);
    json_set_string(document, "task", text);
    json_set_string(document, "mode", options->mode);
    json_set_string(document, "sampler", options->sampler);
    json_set_number(document, "steps", how->steps ? how->steps : policy_default_steps(policy));
    json_set_number(document, "temperature",
                    how->temperature > 0.0 ? how->temperature : policy_default_temperature(policy));
    json_set_number(document, "seed", (double)how->seed);
    for (int i = 0; i < options->count; i++) {
        Json *plan = json_from_plan(actions + i * horizon * dim, horizon, dim);
        if (options->count == 1)
            json_set(document, "actions", plan);
        else
            json_push(samples, plan);
    }
    if (options->count == 1)
        json_free(samples);
    else
        json_set(document, "samples", samples);
    return document;
}

static void show_plan(const FacetPolicy *policy, const double *actions)
{
    int dim = policy_dim(policy), shown = dim < 8 ? dim : 8;
    char names[8][16];
    TableColumn heads[9] = {{"step", TABLE_RIGHT}};
    for (int d = 0; d < shown; d++) {
        snprintf(names[d], sizeof names[d], "action %d", d);
        heads[1 + d] = (TableColumn){names[d], TABLE_RIGHT};
    }
    Table *table = table_create(heads, 1 + shown);
    for (int t = 0; t < policy_horizon(policy); t++) {
        table_cell(table, "%d", t);
        for (int d = 0; d < shown; d++) table_cell(table, "%.4f", actions[t * dim + d]);
    }
    table_print(table, stdout);
    table_destroy(table);
    if (shown < dim) printf("and %d more actions a step, which --json writes\n", dim - shown);
}

static FacetStatus sample_into(double *actions, FacetFactorTask *tasks, const FacetPolicy *policy,
                               const SampleOptions *options, const FacetPolicySampling *how)
{
    FacetFactorTask task;
    TRY(facet_factor_task_parse(&task, facet_policy_space(policy), options->task,
                                FACET_FACTOR_MISSING_NULL));
    for (int i = 0; i < options->count; i++) tasks[i] = task;
    FacetPool *pool;
    TRY(facet_pool_create(&pool, options->common.threads));
    FacetStatus status = facet_policy_sample(actions, policy, tasks, options->count, how, pool);
    facet_pool_destroy(pool);
    if (!status.ok) return status;
    if (options->common.json)
        return json_write(json_from_plans(policy, options, how, task, actions),
                          options->common.json);
    for (int i = 0; i < options->count; i++) {
        if (i > 0) printf("\n");
        show_plan(policy,
                  actions + (size_t)i * (size_t)(policy_horizon(policy) * policy_dim(policy)));
    }
    return status_ok();
}

static FacetStatus sample(const SampleOptions *options, const FacetPolicySampling *how)
{
    FacetPolicy *policy;
    TRY(facet_policy_load(&policy, options->policy));
    size_t size = (size_t)policy_horizon(policy) * (size_t)policy_dim(policy);
    double *actions = calloc((size_t)options->count * size, sizeof *actions);
    FacetFactorTask *tasks = calloc((size_t)options->count, sizeof *tasks);
    FacetStatus status =
        actions && tasks
            ? sample_into(actions, tasks, policy, options, how)
            : status_fail(FACET_NO_MEMORY, "out of memory for %d plans", options->count);
    free(actions);
    free(tasks);
    facet_policy_destroy(policy);
    return status;
}

int cmd_sample(int argc, char **argv)
{
    SampleOptions sampling = {
        .common = common_defaults(), .mode = "composed", .sampler = "ddim", .count = 1};
    const Option options[] = {
        reads(option_text("policy", &sampling.policy, "POLICY", "safetensors file of the policy")),
        option_text("task", &sampling.task, "TASK",
                    "as track=race1,size=wide or race1/wide; a factor left out, or *, is open"),
        option_text("mode", &sampling.mode, "NAME", mode_help("")),
        option_int("steps", &sampling.steps, "N", 0, 1000,
                   "denoising steps, 0 for the policy's own number"),
        option_double("temperature", &sampling.temperature, "X", 0.0, 10.0,
                      "scale of the starting noise, 0 for the policy's own"),
        option_text("sampler", &sampling.sampler, "NAME", "ddim or dpmpp"),
        option_int("count", &sampling.count, "N", 1, 10000, "plans to sample"),
    };
    const Usage usage = {
        .command = "sample",
        .description = "Samples action chunks for a task, in the units of the demonstrations, and "
                       "prints them as a table, or writes them with --json: \"actions\" [T][D], or "
                       "\"samples\" [N][T][D] for several.",
        .example = "facet sample --policy policy.safetensors --task race1/wide --json plan.json",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &sampling.common,
        .no_courses = true,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!sampling.policy)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --policy POLICY"));
    if (!sampling.task)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --task TASK"));
    FacetPolicySampling how = {
        .steps = sampling.steps, .temperature = sampling.temperature, .seed = sampling.common.seed};
    FacetStatus status = facet_policy_mode_parse(&how.mode, sampling.mode);
    if (status.ok) status = facet_policy_sampler_parse(&how.sampler, sampling.sampler);
    if (!status.ok) return command_misused(usage.command, status);
    interrupt_watch();
    status = sample(&sampling, &how);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
