// facet reproduce: everything from nothing. Demonstrations, the five trainings, the tables.
//
// Each step is a command that a person could type, and is shown before it runs. A step whose file
// is there already is left out, and a training that was cut short goes on where it stopped. Ranks
// share each training and the evaluation; the first one makes the demonstrations.
#include "args.h"
#include "commands.h"
#include "course/course.h"
#include "steps.h"
#include "team.h"

#include <stdio.h>
#include <string.h>

typedef struct Reproduction {
    CommonOptions common;
    const char *folder;
    int epochs;           // 0 for the recipe's
    int seeds;            // of the evaluation
    int blocks, channels; // 0 for the default network
    const FacetCourse *course;
} Reproduction;

static int make_demos(const Reproduction *r, const char *demos)
{
    static Step step;
    if (step_is_there(demos)) return EXIT_DONE;
    step_begin(&step, "demos");
    step_pair(&step, "--out", demos);
    if (r->common.courses) step_pair(&step, "--courses", r->common.courses);
    step_common(&step, &r->common);
    return step_run_alone(&step, cmd_demos);
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
    static Step step;
    char out[STEP_WORD_SIZE], task[2 * FACET_COURSE_NAME_MAX];
    step_file(out, r->folder, trainings[index].file);
    if (step_is_there(out)) return EXIT_DONE;
    step_begin(&step, "train");
    step_pair(&step, "--data", demos);
    step_pair(&step, "--out", out);
    step_pair(&step, "--method", trainings[index].method);
    step_pair(&step, "--composed-loss", trainings[index].composed_loss);
    step_pair(&step, "--precision", "fp16");
    for (int i = 0; i < r->course->held_out_count; i++) {
        FacetCourseTask held_out = r->course->held_out[i];
        snprintf(task, sizeof task, "%s/%s", r->course->tracks[held_out.track].name,
                 r->course->openings[held_out.opening].name);
        step_pair(&step, "--hold-out", task);
    }
    step_number(&step, "--epochs", r->epochs);
    step_number(&step, "--blocks", r->blocks);
    step_number(&step, "--channels", r->channels);
    step_add(&step, "--resume");
    step_common(&step, &r->common);
    return step_run(&step, cmd_train);
}

static int evaluate_all(const Reproduction *r)
{
    static Step step;
    char file[STEP_WORD_SIZE];
    step_begin(&step, "eval");
    for (int i = 0; i < TRAININGS; i++) {
        step_file(file, r->folder, trainings[i].file);
        step_add(&step, file);
    }
    step_file(file, r->folder, "eval.json");
    step_pair(&step, "--json", file);
    step_number(&step, "--seeds", r->seeds);
    if (r->common.courses) step_pair(&step, "--courses", r->common.courses);
    step_common(&step, &r->common);
    return step_run(&step, cmd_eval);
}

static int reproduce(const Reproduction *r)
{
    char demos[STEP_WORD_SIZE];
    step_file(demos, r->folder, "demos.h5");
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
        return command_misused(usage.command,
                               status_fail(FACET_BAD_FILE, "%.60s…: name too long", r.folder));
    FacetCourse *course;
    FacetStatus status = file_make_folder(r.folder);
    if (status.ok) status = facet_course_load(&course, r.common.courses);
    status = ranks_agree(team_ranks(), status);
    if (!status.ok) return command_failed(usage.command, status);
    r.course = course;
    int code = reproduce(&r);
    facet_course_destroy(course);
    return code;
}
