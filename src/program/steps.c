// Studies as a row of commands (see steps.h).
#include "steps.h"

#include "team.h"

#include <assert.h>
#include <stdio.h>
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

bool step_is_there(const char *path)
{
    bool there = file_exists(path);
    ranks_broadcast(team_ranks(), 0, &there, sizeof there);
    return there;
}

void step_file(char out[STEP_WORD_SIZE], const char *folder, const char *name)
{
    snprintf(out, STEP_WORD_SIZE, "%.900s/%.100s", folder, name);
}
