// Studies as a row of commands (see steps.h).
#include "steps.h"

#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "interrupt.h"
#include "team.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
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

void step_real(Step *step, const char *option, double value)
{
    char number[32];
    snprintf(number, sizeof number, "%.9g", value);
    if (value > 0.0) step_pair(step, option, number);
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
        status =
            status_fail(FACET_BAD_FILE,
                        "%s: expected a folder of this study, with %s, found one with %s: "
                        "other settings need another folder",
                        path, *wanted ? wanted : "nothing more", *found ? found : "nothing more");
    }
    json_free(document);
    return status;
}

// ---- Folders ------------------------------------------------------------------------------------

static int is_cell(const struct dirent *entry)
{
    return fnmatch("*-[0-9]*.json", entry->d_name, 0) == 0;
}

// Without a look at the language that the user speaks.
static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

// The first cell of a folder.
static bool find_cell(char out[STEP_WORD_SIZE], const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_cell, by_name);
    if (count > 0) step_file(out, folder, entries[0]->d_name);
    for (int i = 0; i < count; i++) free(entries[i]);
    if (count >= 0) free(entries);
    return count > 0;
}

// Whether a folder has these settings, or none and nothing that was made under others.
static FacetStatus check_folder(const char *folder, const char *first, const char *settings)
{
    char path[STEP_WORD_SIZE], made[STEP_WORD_SIZE];
    step_file(path, folder, "settings.json");
    if (file_exists(path)) return compare_settings(path, settings);
    step_file(made, folder, first);
    if (!file_exists(made) && !find_cell(made, folder)) return status_ok();
    return status_fail(FACET_BAD_FILE,
                       "%s: expected settings.json beside it, which tells how it was made, found "
                       "none: begin in another folder",
                       made);
}

static FacetStatus write_settings(const char *folder, const char *settings)
{
    char path[STEP_WORD_SIZE];
    step_file(path, folder, "settings.json");
    if (file_exists(path)) return status_ok();
    Json *document = json_object();
    json_set_string(document, "settings", settings);
    return json_write(document, path);
}

// Another session holds the lock for as long as it takes to read or write the settings.
static FacetStatus lock_cells(FileLock *lock, const char *folder)
{
    enum { TRIES = 200 };
    char path[STEP_WORD_SIZE];
    step_file(path, folder, "cells");
    FacetStatus status = lock_take(lock, path);
    for (int i = 0; status.code == FACET_NO_ACCESS && i < TRIES; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
        status = lock_take(lock, path);
    }
    return status;
}

// Both folders are looked at before one is claimed, so that a refusal leaves none behind.
static FacetStatus claim_folders(FileLock *lock, const char *folder, const char *cells,
                                 const char *first, const char *settings)
{
    char path[STEP_WORD_SIZE];
    FileLock brief;
    step_file(path, folder, "study");
    TRY(lock_take(lock, path));
    TRY(lock_cells(&brief, cells));
    FacetStatus status = check_folder(folder, first, settings);
    if (status.ok) status = check_folder(cells, first, settings);
    if (status.ok) status = write_settings(folder, settings);
    if (status.ok) status = write_settings(cells, settings);
    lock_drop(&brief);
    return status;
}

FacetStatus step_folders(FileLock *lock, const char *folder, const char *cells, const char *first,
                         const char *settings)
{
    *lock = (FileLock){.descriptor = -1};
    if (!cells) cells = folder;
    FacetStatus status = file_make_folder(folder);
    if (status.ok) status = file_make_folder(cells);
    if (status.ok && team_leads()) status = claim_folders(lock, folder, cells, first, settings);
    status = ranks_agree(team_ranks(), status);
    if (!status.ok) lock_drop(lock);
    return status;
}

static int is_json(const struct dirent *entry) { return fnmatch("*.json", entry->d_name, 0) == 0; }

static FacetStatus hash_file(uint64_t *hash, const char *folder, const char *name)
{
    char path[STEP_WORD_SIZE], *bytes;
    size_t size;
    step_file(path, folder, name);
    TRY(file_read(&bytes, &size, path));
    *hash = hash_bytes(*hash, name, strlen(name) + 1);
    *hash = hash_bytes(*hash, &(uint64_t){size}, sizeof(uint64_t));
    *hash = hash_bytes(*hash, bytes, size);
    free(bytes);
    return status_ok();
}

FacetStatus step_course(char out[STEP_COURSE_SIZE], const char *courses, const char *part)
{
    char shipped[FILE_PATH_MAX], folder[STEP_WORD_SIZE];
    struct dirent **entries;
    uint64_t hash = HASH_START;
    if (!courses) TRY(file_shipped(shipped, "courses"));
    step_file(folder, courses ? courses : shipped, part);
    int count = scandir(folder, &entries, is_json, by_name);
    if (count < 0)
        return status_fail(status_errno(errno), "%s: cannot read the folder: %s", folder,
                           strerror(errno));
    FacetStatus status = status_ok();
    for (int i = 0; i < count; i++) {
        if (status.ok) status = hash_file(&hash, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    snprintf(out, STEP_COURSE_SIZE, "%016llx", (unsigned long long)hash);
    return status;
}

void step_file(char out[STEP_WORD_SIZE], const char *folder, const char *name)
{
    snprintf(out, STEP_WORD_SIZE, "%.900s/%.100s", folder, name);
}
