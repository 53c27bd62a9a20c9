// What the sub-commands of `facet gate` share (see gate_world.h).
#include "gate_world.h"

#include <stdio.h>
#include <unistd.h>

bool shipped_gate_policy(char path[FILE_PATH_MAX])
{
    char folder[FILE_PATH_MAX];
    if (!file_shipped(folder, "models").ok) return false;
    snprintf(path, FILE_PATH_MAX, "%.900s/gate-factored.safetensors", folder);
    return access(path, R_OK) == 0;
}

Status gate_policy_load(Policy **policy, const GateWorld *world, const char *path)
{
    TRY(policy_load(policy, path));
    Status status = gate_check_policy(world, *policy);
    if (status.ok) return status;
    policy_destroy(*policy);
    *policy = NULL;
    return status_fail("%s: %s", path, status.text);
}

static Status add_patterns(FactorSplit *tasks, const GateWorld *world, const TextList *patterns)
{
    for (int i = 0; i < patterns->count; i++) {
        FactorTask task;
        TRY(factor_task_parse(&task, world->space, patterns->items[i], FACTOR_MISSING_NULL));
        TRY(factor_split_add_matching(tasks, task));
    }
    return status_ok();
}

Status gate_tasks_matching(FactorSplit **tasks, const GateWorld *world, const TextList *patterns)
{
    TRY(factor_split_create(tasks, world->space));
    Status status = add_patterns(*tasks, world, patterns);
    if (status.ok) return status;
    factor_split_destroy(*tasks);
    *tasks = NULL;
    return status;
}

Status gate_trials_fly(GateTrials *trials, GateFlyer *flyer, const GateWatch *watches,
                       const CommonOptions *common)
{
    ThreadPool *pool;
    TRY(pool_create(&pool, common->threads));
    GateCrew crew = gate_flyer_crew(flyer);
    Progress *progress = progress_begin("flights", trials->count, common->quiet);
    Status status =
        gate_evaluate(trials->flights, flyer->world, &crew, trials->tasks, trials->count,
                      trials->count, common->seed, watches, pool, progress);
    progress_end(progress);
    pool_destroy(pool);
    return status;
}
