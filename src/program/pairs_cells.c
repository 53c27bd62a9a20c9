// Reading the cells of the study of pairs (see pairs_cells.h).
#include "pairs_cells.h"

#include "base/json.h"

#include <stdio.h>
#include <string.h>

static int place_of(const PairsSplit *split, const char *name)
{
    for (int i = 0; i < split->count; i++)
        if (strcmp(split->names[i], name) == 0) return i;
    return -1;
}

static FacetStatus count_task(EvidenceCounts *counts, bool *seen, const JsonRef *at,
                              const PairsPlace *place, double plans)
{
    char track[FACET_COURSE_NAME_MAX], size[FACET_COURSE_NAME_MAX], name[PAIRS_NAME_SIZE];
    double gates, share;
    bool held_out;
    TRY(json_member_string(track, sizeof track, at, "track"));
    TRY(json_member_string(size, sizeof size, at, "size"));
    TRY(json_member_number(&gates, at, "gates", 1.0, FACET_TRACK_GATES_MAX));
    TRY(json_member_number(&share, at, "share_all_seeds", 0.0, 1.0));
    TRY(json_member_bool(&held_out, at, "held_out"));
    snprintf(name, sizeof name, "%s/%s", track, size);
    int pair = place_of(place->split, name), counted = place_of(place->first, name);
    bool left_out = pair >= place->trained;
    if (pair < 0 || counted < 0 || seen[pair] || held_out != left_out)
        return json_wrong(at, "a pair of this split");
    seen[pair] = true;
    const bool belongs[PAIRS_GROUPS] = {!held_out, held_out, held_out && !json_has(at, "same_as"),
                                        pair >= place->most};
    for (int g = 0; g < PAIRS_GROUPS; g++)
        if (belongs[g])
            evidence_count(&counts[g], counted, place->number, share * gates * plans,
                           gates * plans);
    return status_ok();
}

static FacetStatus count_tasks(EvidenceCounts *counts, const JsonRef *method,
                               const PairsPlace *place)
{
    JsonRef tasks, at = {0};
    bool seen[PAIRS_TASKS_MAX] = {false};
    double plans;
    int count;
    TRY(json_member(&tasks, method, "tasks"));
    TRY(json_member_number(&plans, method, "seeds", 1.0, 1000.0));
    TRY(json_length(&count, &tasks));
    if (count != place->split->count) return json_wrong(&tasks, "the pairs of this split");
    while (json_next(&at, &tasks)) TRY(count_task(counts, seen, &at, place, plans));
    return status_ok();
}

static bool is_last(const void *context, const char *task)
{
    const PairsPlace *place = context;
    return place_of(place->split, task) >= place->most;
}

FacetStatus pairs_cell_read(EvidenceCounts *counts, PairsSpeeds *speeds, const char *path,
                            const char *key, const PairsPlace *place)
{
    Json *document;
    JsonRef methods, method;
    const SpeedsTasks last = {is_last, place};
    TRY(json_read(&document, path));
    JsonRef root = json_root(document, path);
    FacetStatus status = json_member(&methods, &root, "methods");
    if (status.ok) status = json_member(&method, &methods, key);
    if (status.ok) status = count_tasks(counts, &method, place);
    if (status.ok) status = speeds_off_read(&speeds->held_out, &root, key, NULL);
    if (status.ok) status = speeds_off_read(&speeds->last, &root, key, &last);
    json_free(document);
    return status;
}
