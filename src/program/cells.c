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

// A weight from 0 to 1e6 that ends where `stop` is or at the end of the text; NULL is none.
static const char *read_weight(double *out, const char *text, char stop)
{
    char *end;
    *out = strtod(text, &end);
    if (end == text || (*end && *end != stop) || !(*out >= 0.0 && *out <= 1e6)) return NULL;
    return end;
}

// "3", or "3,10" where there can be an agreement.
static FacetStatus read_losses(double *loss, double *agreement, const char *text)
{
    const char *end = read_weight(loss, text, agreement ? ',' : '\0');
    if (agreement) *agreement = 0.0;
    if (end && *end) end = read_weight(agreement, end + 1, '\0');
    if (!end)
        return status_fail(FACET_BAD_ARGUMENT,
                           "--composed-loss: expected a number from 0 to 1e6%s, found '%.40s'",
                           agreement ? ", or two with a comma between them" : "", text);
    if (agreement && *agreement > 0.0 && *loss == 0.0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "--composed-loss: expected an agreement beside a composed loss above 0, "
                           "found '%.40s'",
                           text);
    return status_ok();
}

FacetStatus cells_losses(double *losses, double *agreements, int *count, const TextList *texts,
                         int most)
{
    if (texts->count > most)
        return status_fail(FACET_BAD_ARGUMENT, "--composed-loss: expected at most %d, found %d",
                           most, texts->count);
    for (*count = 0; *count < texts->count; ++*count) {
        int k = *count;
        TRY(read_losses(&losses[k], agreements ? &agreements[k] : NULL, texts->items[k]));
        for (int i = 0; i < k; i++)
            if (losses[i] == losses[k] && (!agreements || agreements[i] == agreements[k]))
                return status_fail(FACET_BAD_ARGUMENT,
                                   "--composed-loss: expected %s once, found it again",
                                   texts->items[i]);
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

// Which of them the first rank finds there, and how many it does not.
static int look(bool done[CELLS_MAX], const Cells *cells)
{
    int missing = 0;
    assert(cells->count <= CELLS_MAX);
    for (int i = 0; i < cells->count; i++) {
        char file[STEP_WORD_SIZE];
        cells->file(file, cells->study, i);
        done[i] = file_exists(file);
    }
    ranks_broadcast(team_ranks(), 0, done, (size_t)cells->count * sizeof *done);
    for (int i = 0; i < cells->count; i++) missing += !done[i];
    return missing;
}

int cells_missing(const Cells *cells)
{
    bool done[CELLS_MAX];
    return look(done, cells);
}

int cells_make(const Cells *cells)
{
    bool done[CELLS_MAX];
    int missing = look(done, cells), turn = 0, code = EXIT_DONE;
    FacetRanks *ranks = team_ranks();
    double start = step_clock();
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
