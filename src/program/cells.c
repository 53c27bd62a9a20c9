// Cells of a study (see cells.h).
#include "cells.h"

#include "base/file.h"
#include "base/progress.h"
#include "commands.h"
#include "ranks/watch.h"
#include "team.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

FacetStatus cells_losses(double *losses, int *count, const TextList *texts, int most)
{
    if (texts->count > most)
        return status_fail(FACET_BAD_ARGUMENT, "--composed-loss: expected at most %d, found %d",
                           most, texts->count);
    for (*count = 0; *count < texts->count; ++*count) {
        char *end;
        const char *text = texts->items[*count];
        double weight = strtod(text, &end);
        if (end == text || *end || !(weight >= 0.0 && weight <= 1e6))
            return status_fail(FACET_BAD_ARGUMENT,
                               "--composed-loss: expected a number from 0 to 1e6, found '%.40s'",
                               text);
        for (int i = 0; i < *count; i++)
            if (losses[i] == weight)
                return status_fail(FACET_BAD_ARGUMENT,
                                   "--composed-loss: expected %g once, found it again", weight);
        losses[*count] = weight;
    }
    return status_ok();
}

int cells_demos(const char *path, const CommonOptions *common)
{
    static Step step;
    if (step_is_there(path)) return EXIT_DONE;
    step_begin(&step, "demos");
    step_pair(&step, "--out", path);
    if (common->courses) step_pair(&step, "--courses", common->courses);
    step_common(&step, common);
    return step_run_alone(&step, cmd_demos);
}

// Shows how many are done, of all ranks, and what is left at that pace.
static bool show_left(void *context, const FacetProgressEvent *event)
{
    const double *start = context;
    if (event->done == 0) return true;
    printf("%ld of %ld %s done, about %.0f min left\n", event->done, event->total, event->stage,
           (step_clock() - *start) * (double)(event->total - event->done) / (double)event->done /
               60.0);
    fflush(stdout);
    return true;
}

int cells_make(const Cells *cells)
{
    int missing = 0, turn = 0, code = EXIT_DONE;
    bool done[CELLS_MAX] = {false};
    FacetRanks *ranks = team_ranks();
    double start = step_clock();
    assert(cells->count <= CELLS_MAX);
    for (int i = 0; i < cells->count; i++) {
        char file[STEP_WORD_SIZE];
        cells->file(file, cells->study, i);
        done[i] = file_exists(file);
    }
    ranks_broadcast(ranks, 0, done, sizeof done);
    for (int i = 0; i < cells->count; i++) missing += !done[i];
    RanksWatch watch;
    Progress progress;
    ranks_watch_begin(&watch, ranks, &(FacetProgress){show_left, &start});
    progress_begin(&progress, &watch.progress, cells->name, missing);
    team_part();
    for (int i = 0; i < cells->count && code == EXIT_DONE; i++) {
        if (done[i] || !ranks_mine(ranks, turn++)) continue;
        code = cells->make(cells->study, i);
        if (code == EXIT_DONE) progress_add(&progress, 1, NULL);
    }
    team_meet();
    progress_end(&progress);
    code = (int)-ranks_least(ranks, -code);
    if (code == EXIT_DONE) ranks_watch_end(&watch);
    return code;
}
