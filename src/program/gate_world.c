// What the sub-commands of `facet gate` share (see gate_world.h).
#include "gate_world.h"

#include "bar.h"
#include "factor/factor.h"
#include "places.h"

#include <stdio.h>
#include <unistd.h>

bool shipped_gate_policy(char path[FILE_PATH_MAX])
{
    char folder[FILE_PATH_MAX];
    if (!file_shipped(folder, "models").ok) return false;
    snprintf(path, FILE_PATH_MAX, "%.900s/gate-factored.safetensors", folder);
    return access(path, R_OK) == 0;
}

FacetStatus gate_policy_default(const char **name, char path[FILE_PATH_MAX], const Usage *usage)
{
    if (*name) return status_ok();
    if (!shipped_gate_policy(path))
        return status_fail(FACET_BAD_ARGUMENT, "no policy ships with this copy: name one");
    *name = path;
    return places_apart(usage, path);
}

FacetStatus gate_policy_load(FacetPolicy **policy, const FacetGateWorld *world, const char *path)
{
    TRY(facet_policy_load(policy, path));
    FacetStatus status = facet_gate_check_policy(world, *policy);
    if (status.ok) return status;
    facet_policy_destroy(*policy);
    *policy = NULL;
    return status_fail(FACET_BAD_FILE, "%s: %s", path, status.text);
}

static FacetStatus add_patterns(FacetFactorSplit *tasks, const FacetGateWorld *world,
                                const TextList *patterns)
{
    for (int i = 0; i < patterns->count; i++) {
        FacetFactorTask task;
        TRY(facet_factor_task_parse(&task, world->space, patterns->items[i],
                                    FACET_FACTOR_MISSING_NULL));
        TRY(factor_split_add_matching(tasks, task));
    }
    return status_ok();
}

FacetStatus gate_tasks_matching(FacetFactorSplit **tasks, const FacetGateWorld *world,
                                const TextList *patterns)
{
    TRY(factor_split_create(tasks, world->space));
    FacetStatus status = add_patterns(*tasks, world, patterns);
    if (status.ok) return status;
    factor_split_destroy(*tasks);
    *tasks = NULL;
    return status;
}

FacetStatus gate_trials_fly(GateTrials *trials, FacetGateFlyer *flyer, FacetGatePurpose purpose,
                            const FacetGateWatch *watches, const CommonOptions *common)
{
    FacetPool *pool;
    TRY(facet_pool_create(&pool, common->threads));
    FacetGateCrew crew = facet_gate_flyer_crew(flyer);
    FacetStatus status = facet_gate_evaluate(trials->flights, flyer->world, &crew, trials->tasks,
                                             trials->count, trials->count, purpose, common->seed,
                                             watches, pool, bar_open(common->quiet));
    facet_pool_destroy(pool);
    return status;
}
