// The tasks that --hold-out names (see hold_out.h).
#include "hold_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char word[] = "course";

static bool asks_for_course(const TextList *asked)
{
    for (int i = 0; i < asked->count; i++)
        if (strcmp(asked->items[i], word) == 0) return true;
    return false;
}

static FacetStatus add_all(HoldOut *out, const TextList *asked, const FacetCourse *course)
{
    int listed = course ? course->held_out_count : 0;
    out->tasks = calloc((size_t)(asked->count + listed) + 1, sizeof *out->tasks);
    out->names = calloc((size_t)listed + 1, sizeof *out->names);
    if (!out->tasks || !out->names)
        return status_fail(FACET_NO_MEMORY, "out of memory for the tasks held out");
    for (int i = 0; i < asked->count; i++)
        if (strcmp(asked->items[i], word) != 0) out->tasks[out->count++] = asked->items[i];
    for (int i = 0; i < listed; i++) {
        FacetCourseTask task = course->held_out[i];
        snprintf(out->names[i], sizeof *out->names, "%s/%s", course->tracks[task.track].name,
                 course->openings[task.opening].name);
        out->tasks[out->count++] = out->names[i];
    }
    return status_ok();
}

FacetStatus hold_out_expand(HoldOut *out, const TextList *asked, const char *courses)
{
    *out = (HoldOut){0};
    FacetCourse *course = NULL;
    bool wanted = asks_for_course(asked);
    if (courses && !wanted)
        return status_fail(
            FACET_BAD_ARGUMENT,
            "--courses: expected --hold-out course beside it, without which it means "
            "nothing");
    if (wanted) TRY(facet_course_load(&course, courses));
    FacetStatus status = add_all(out, asked, course);
    if (status.ok && wanted && course->held_out_count == 0)
        status = status_fail(FACET_BAD_ARGUMENT,
                             "--hold-out course: expected tasks that the course holds out, found "
                             "none");
    facet_course_destroy(course);
    if (!status.ok) hold_out_free(out);
    return status;
}

void hold_out_free(HoldOut *hold_out)
{
    free(hold_out->tasks);
    free(hold_out->names);
    *hold_out = (HoldOut){0};
}
