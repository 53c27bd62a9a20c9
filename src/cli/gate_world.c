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
