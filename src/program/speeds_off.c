// Speeds of held-out plans (see speeds_off.h).
#include "speeds_off.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static FacetStatus is_meant(bool *meant, const JsonRef *at, const SpeedsTasks *tasks)
{
    char track[FACET_COURSE_NAME_MAX], size[FACET_COURSE_NAME_MAX], task[SPEEDS_TASK_SIZE];
    *meant = true;
    if (!tasks) return status_ok();
    TRY(json_member_string(track, sizeof track, at, "track"));
    TRY(json_member_string(size, sizeof size, at, "size"));
    snprintf(task, sizeof task, "%s/%s", track, size);
    *meant = tasks->has(tasks->context, task);
    return status_ok();
}

FacetStatus speeds_off_read(SpeedsOff *off, const JsonRef *root, const char *method,
                            const SpeedsTasks *tasks)
{
    JsonRef list, at = {0};
    char name[64];
    TRY(json_member(&list, root, "heldout"));
    while (json_next(&at, &list)) {
        double speed, reference;
        bool meant;
        TRY(json_member_string(name, sizeof name, &at, "method"));
        if (strcmp(name, method) != 0) continue;
        TRY(is_meant(&meant, &at, tasks));
        if (!meant) continue;
        TRY(json_member_number(&speed, &at, "speed_generated", 0.0, 1e6));
        TRY(json_member_number(&reference, &at, "speed_reference", 1e-3, 1e6));
        off->sum += fabs(speed / reference - 1.0);
        off->count += 1.0;
    }
    return status_ok();
}
