// Who flies (see pilot.h).
#include "pilot.h"

#include "interrupt.h"
#include "race/eval.h"
#include "race/planner.h"
#include "team.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

FacetStatus pilot_open(Pilot *pilot, double *path, const FacetPolicy *policy, const FacetRace *race,
                       const FacetPolicySampling *how, const FacetCourseTask *tasks, int count)
{
    *pilot = (Pilot){.planner = facet_race_expert()};
    if (!policy) return status_ok();
    TRY(planner_create_path(&pilot->plans, path, policy, race, how, tasks, count,
                            interrupt_progress()));
    pilot->planner = facet_planner_from_policy(pilot->plans);
    return status_ok();
}

FacetStatus pilot_open_seeds(Pilot *pilot, const FacetPolicy *policy, const FacetRace *race,
                             const FacetPolicySampling *how, const FacetCourseTask *tasks,
                             int count, const uint64_t *seeds, int seed_count,
                             const FacetProgress *progress)
{
    *pilot = (Pilot){.planner = facet_race_expert()};
    if (!policy) return status_ok();
    TRY(facet_policy_planner_create(&pilot->plans, policy, race, how, tasks, count, seeds,
                                    seed_count, progress));
    pilot->planner = facet_planner_from_policy(pilot->plans);
    return status_ok();
}

void pilot_close(Pilot *pilot) { facet_policy_planner_destroy(pilot->plans); }

static bool shipped_model(char path[FILE_PATH_MAX], const char *name)
{
    char folder[FILE_PATH_MAX];
    if (!file_shipped(folder, "models").ok) return false;
    snprintf(path, FILE_PATH_MAX, "%.900s/%s.safetensors", folder, name);
    return access(path, R_OK) == 0;
}

bool shipped_policy(char path[FILE_PATH_MAX]) { return shipped_model(path, "race-factored"); }
bool shipped_live(char path[FILE_PATH_MAX]) { return shipped_model(path, "live"); }

// ---- Several policies ---------------------------------------------------------------------------

void policies_close(PolicySet *set)
{
    for (int i = 0; i < set->count; i++) facet_policy_destroy(set->policies[i]);
    set->count = 0;
}

static FacetStatus add_policy(PolicySet *set, const char *file)
{
    if (set->count == POLICIES_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "expected at most %d policies", POLICIES_MAX);
    FacetPolicy *policy;
    TRY(ranks_same_file(team_ranks(), file));
    TRY(facet_policy_load(&policy, file));
    for (int i = 0; i < set->count; i++)
        if (strcmp(eval_method(set->policies[i]), eval_method(policy)) == 0) {
            FacetStatus status =
                status_fail(FACET_BAD_FILE, "%s: there is already a policy of the method '%s'",
                            file, eval_method(policy));
            facet_policy_destroy(policy);
            return status;
        }
    set->policies[set->count++] = policy;
    return status_ok();
}

static int is_race_policy(const struct dirent *entry)
{
    const char *suffix = ".safetensors";
    size_t length = strlen(entry->d_name), tail = strlen(suffix);
    return strncmp(entry->d_name, "race-", 5) == 0 && length > tail &&
           strcmp(entry->d_name + length - tail, suffix) == 0;
}

static FacetStatus add_shipped(PolicySet *set)
{
    char folder[FILE_PATH_MAX], file[2 * FILE_PATH_MAX];
    TRY(file_shipped(folder, "models"));
    struct dirent **entries;
    int count = scandir(folder, &entries, is_race_policy, alphasort);
    if (count < 0) return status_fail(FACET_BAD_FILE, "%s: cannot read the folder", folder);
    FacetStatus status =
        count > 0 ? status_ok()
                  : status_fail(FACET_BAD_FILE, "%s: expected policies, found none", folder);
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof file, "%s/%s", folder, entries[i]->d_name);
        if (status.ok) status = add_policy(set, file);
        free(entries[i]);
    }
    free(entries);
    return status;
}

FacetStatus policies_open(PolicySet *set, const char *const *files, int count)
{
    if (count == 0) return add_shipped(set);
    for (int i = 0; i < count; i++) TRY(add_policy(set, files[i]));
    return status_ok();
}

const FacetPolicy *policies_find(const PolicySet *set, const char *method)
{
    for (int i = 0; i < set->count; i++)
        if (strcmp(eval_method(set->policies[i]), method) == 0) return set->policies[i];
    return NULL;
}
