// Studies as a row of commands (see steps.h).
#include "steps.h"

#include "base/json.h"
#include "base/text.h"
#include "interrupt.h"
#include "team.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void step_begin(Step *step, const char *command)
{
    step->count = 0;
    step_add(step, command);
}

void step_add(Step *step, const char *word)
{
    assert(step->count < STEP_WORDS_MAX);
    char *copy = step->words[step->count];
    snprintf(copy, STEP_WORD_SIZE, "%s", word);
    step->argv[step->count++] = copy;
    step->argv[step->count] = NULL;
}

void step_pair(Step *step, const char *option, const char *value)
{
    step_add(step, option);
    step_add(step, value);
}

void step_number(Step *step, const char *option, long value)
{
    char number[32];
    snprintf(number, sizeof number, "%ld", value);
    if (value > 0) step_pair(step, option, number);
}

void step_common(Step *step, const CommonOptions *common)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)common->seed);
    step_pair(step, "--seed", number);
    snprintf(number, sizeof number, "%d", common->threads);
    step_pair(step, "--threads", number);
    if (common->quiet) step_add(step, "--quiet");
}

double step_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int step_run(Step *step, int (*command)(int argc, char **argv))
{
    printf("\n$ facet");
    for (int i = 0; i < step->count; i++) printf(" %s", step->argv[i]);
    printf("\n");
    fflush(stdout);
    double start = step_clock();
    int code = command(step->count, step->argv);
    if (code == EXIT_DONE) printf("took %.1f min\n", (step_clock() - start) / 60.0);
    return code;
}

int step_run_alone(Step *step, int (*command)(int argc, char **argv))
{
    int code = EXIT_DONE;
    team_part();
    if (team_leads()) code = step_run(step, command);
    team_meet();
    ranks_broadcast(team_ranks(), 0, &code, sizeof code);
    return code;
}

int step_ended(const char *command, int code)
{
    if (code != EXIT_DONE && interrupt_requested() && team_leads())
        fprintf(stderr, "facet %s: the same command goes on from here\n", command);
    return code;
}

bool step_is_there(const char *path)
{
    bool there = file_exists(path);
    ranks_broadcast(team_ranks(), 0, &there, sizeof there);
    return there;
}

static FacetStatus compare_settings(const char *path, const char *settings)
{
    Json *document;
    JsonRef at;
    char wanted[120], found[120];
    TRY(json_read(&document, path));
    JsonRef root = json_root(document, path);
    FacetStatus status = json_member(&at, &root, "settings");
    if (status.ok && !json_chars(&at)) status = json_wrong(&at, "a text");
    if (status.ok && strcmp(json_chars(&at), settings) != 0) {
        text_difference(wanted, found, sizeof wanted, settings, json_chars(&at));
        status = status_fail(FACET_BAD_FILE,
                             "%s: expected a folder of this study, with %s, found one with %s: "
                             "other settings need another folder",
                             path, wanted, found);
    }
    json_free(document);
    return status;
}

static FacetStatus claim_folder(FileLock *lock, const char *folder, const char *first,
                                const char *settings)
{
    char path[STEP_WORD_SIZE], made[STEP_WORD_SIZE];
    step_file(path, folder, "study");
    TRY(lock_take(lock, path));
    step_file(path, folder, "settings.json");
    step_file(made, folder, first);
    if (file_exists(path)) return compare_settings(path, settings);
    if (file_exists(made))
        return status_fail(FACET_BAD_FILE,
                           "%s: expected settings.json beside it, which tells how it was made, "
                           "found none: begin in another folder",
                           made);
    Json *document = json_object();
    json_set_string(document, "settings", settings);
    return json_write(document, path);
}

FacetStatus step_folder(FileLock *lock, const char *folder, const char *first, const char *settings)
{
    *lock = (FileLock){.descriptor = -1};
    FacetStatus status = file_make_folder(folder);
    if (status.ok && team_leads()) status = claim_folder(lock, folder, first, settings);
    status = ranks_agree(team_ranks(), status);
    if (!status.ok) lock_drop(lock);
    return status;
}

void step_file(char out[STEP_WORD_SIZE], const char *folder, const char *name)
{
    snprintf(out, STEP_WORD_SIZE, "%.900s/%.100s", folder, name);
}
