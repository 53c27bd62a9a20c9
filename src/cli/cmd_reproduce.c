// facet reproduce: everything from nothing. Demonstrations, the five trainings, the tables.
//
// Each step is a command that a person could type, and is shown before it runs. A step whose file
// is there already is left out, and a training that was cut short goes on where it stopped.
#include "args.h"
#include "base/file.h"
#include "commands.h"

#include <facet/course.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORDS_MAX = 64, WORD_SIZE = FILE_PATH_MAX };

// A command line in the making.
typedef struct Line {
    int count;
    char *argv[WORDS_MAX + 1];
    char words[WORDS_MAX][WORD_SIZE];
} Line;

static void add(Line *line, const char *word)
{
    char *copy = line->words[line->count];
    snprintf(copy, WORD_SIZE, "%s", word);
    line->argv[line->count++] = copy;
    line->argv[line->count] = NULL;
}

static void add_pair(Line *line, const char *option, const char *value)
{
    add(line, option);
    add(line, value);
}

// Runs a step and says how long it took.
static int run_step(Line *line, int (*command)(int argc, char **argv))
{
    printf("\n$ facet");
    for (int i = 0; i < line->count; i++) printf(" %s", line->argv[i]);
    printf("\n");
    fflush(stdout);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    int code = command(line->count, line->argv);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    if (code == EXIT_DONE) printf("took %.1f min\n", seconds / 60.0);
    return code;
}

typedef struct Reproduction {
    CommonOptions common;
    const char *folder;
    int epochs;           // 0 for the recipe's
    int seeds;            // of the evaluation
    int blocks, channels; // 0 for the default network
    const Course *course;
} Reproduction;

static void add_common(Line *line, const Reproduction *r)
{
    char number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)r->common.seed);
    add_pair(line, "--seed", number);
    snprintf(number, sizeof number, "%d", r->common.threads);
    add_pair(line, "--threads", number);
    if (r->common.quiet) add(line, "--quiet");
}

static void add_number(Line *line, const char *option, int value)
{
    char number[32];
    snprintf(number, sizeof number, "%d", value);
    if (value > 0) add_pair(line, option, number);
}

static void file_in(char out[WORD_SIZE], const Reproduction *r, const char *name)
{
    snprintf(out, WORD_SIZE, "%.900s/%s", r->folder, name);
}

static int make_demos(const Reproduction *r, const char *demos)
{
    static Line line;
    if (access(demos, F_OK) == 0) return EXIT_DONE;
    line.count = 0;
    add(&line, "demos");
    add_pair(&line, "--out", demos);
    if (r->common.courses) add_pair(&line, "--courses", r->common.courses);
    add_common(&line, r);
    return run_step(&line, cmd_demos);
}

// The trainings of the comparison. All have the same network, recipe and held-out tasks.
static const struct {
    const char *file, *method, *composed_loss;
} trainings[] = {
    {"race-factored.safetensors", "factored", "3"},
    {"race-factored-paper.safetensors", "factored", "0"},
    {"race-baseline.safetensors", "baseline", "0"},
    {"race-oracle.safetensors", "oracle", "0"},
    {"race-knet.safetensors", "knet", "0"},
};
enum { TRAININGS = sizeof trainings / sizeof *trainings };

static int train_policy(const Reproduction *r, const char *demos, int index)
{
    static Line line;
    char out[WORD_SIZE], task[2 * COURSE_NAME_MAX];
    file_in(out, r, trainings[index].file);
    if (access(out, F_OK) == 0) return EXIT_DONE;
    line.count = 0;
    add(&line, "train");
    add_pair(&line, "--data", demos);
    add_pair(&line, "--out", out);
    add_pair(&line, "--method", trainings[index].method);
    add_pair(&line, "--composed-loss", trainings[index].composed_loss);
    add_pair(&line, "--precision", "fp16");
    for (int i = 0; i < r->course->held_out_count; i++) {
        CourseTask held_out = r->course->held_out[i];
        snprintf(task, sizeof task, "%s/%s", r->course->tracks[held_out.track].name,
                 r->course->openings[held_out.opening].name);
        add_pair(&line, "--hold-out", task);
    }
    add_number(&line, "--epochs", r->epochs);
    add_number(&line, "--blocks", r->blocks);
    add_number(&line, "--channels", r->channels);
    add(&line, "--resume");
    add_common(&line, r);
    return run_step(&line, cmd_train);
}

static int evaluate_all(const Reproduction *r)
{
    static Line line;
    char file[WORD_SIZE];
    line.count = 0;
    add(&line, "eval");
    for (int i = 0; i < TRAININGS; i++) {
        file_in(file, r, trainings[i].file);
        add(&line, file);
    }
    file_in(file, r, "eval.json");
    add_pair(&line, "--json", file);
    add_number(&line, "--seeds", r->seeds);
    if (r->common.courses) add_pair(&line, "--courses", r->common.courses);
    add_common(&line, r);
    return run_step(&line, cmd_eval);
}

static int reproduce(const Reproduction *r)
{
    char demos[WORD_SIZE];
    file_in(demos, r, "demos.h5");
    int code = make_demos(r, demos);
    for (int i = 0; i < TRAININGS && code == EXIT_DONE; i++) code = train_policy(r, demos, i);
    return code == EXIT_DONE ? evaluate_all(r) : code;
}

int cmd_reproduce(int argc, char **argv)
{
    Reproduction r = {.common = common_defaults(), .folder = "out/reproduce", .seeds = 5};
    const Option options[] = {
        option_text("out", &r.folder, "DIR", "folder for demonstrations, policies and results"),
        option_int("epochs", &r.epochs, "N", 0, 1 << 24, "of every training, 0 for the recipe's"),
        option_int("seeds", &r.seeds, "N", 1, 1000, "plans a task and method in the evaluation"),
        option_int("blocks", &r.blocks, "N", 0, 64, "residual blocks, 0 for the default"),
        option_int("channels", &r.channels, "N", 0, 4096, "width, 0 for the default"),
    };
    const Usage usage = {
        .command = "reproduce",
        .description = "Makes everything from nothing: demonstrations, the factored policy with "
                       "our loss and with the paper's, the baseline, the oracle, the K networks, "
                       "and the paper's tables. Started again, it goes on where it stopped.",
        .example = "facet reproduce --out out/reproduce",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &r.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (strlen(r.folder) > 800)
        return command_misused(usage.command, status_fail("%.60s…: name too long", r.folder));
    Course *course;
    Status status = file_make_folder(r.folder);
    if (status.ok) status = course_load(&course, r.common.courses);
    if (!status.ok) return command_failed(usage.command, status);
    r.course = course;
    int code = reproduce(&r);
    course_destroy(course);
    return code;
}
