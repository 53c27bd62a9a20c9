// facet reproduce: everything from nothing. Demonstrations, the trainings, the tables.
//
// Each step is a command that a person could type, and is shown before it runs. A method trained
// with one seed is a cell (race_cells.h): its policy is trained on the same demonstrations and
// evaluated into a file of its own. A cell whose file is there already is left out, and a training
// that was cut short goes on where it stopped. Ranks share each training and the evaluation; the
// first one makes the demonstrations.
#include "args.h"
#include "commands.h"
#include "race_cells.h"
#include "report/tables.h"
#include "show_race.h"
#include "team.h"

#include <stdio.h>
#include <string.h>

typedef struct Reproduction {
    CommonOptions common;
    const char *folder, *cells; // cells NULL for the folder
    TextList methods;           // none for those of the paper's comparison
    bool controls;              // and the controls
    int seeds;                  // trainings of a method
    int epochs;                 // 0 for the recipe's
    int plans;                  // a task in the evaluation
    int blocks, channels;       // 0 for the default network
    bool wanted[RACE_METHODS];
    char command[COMMAND_TEXT];
} Reproduction;

static const char *cells_folder(const Reproduction *r) { return r->cells ? r->cells : r->folder; }

static CommonOptions seeded(const Reproduction *r, uint64_t seed)
{
    CommonOptions common = r->common;
    common.seed = seed;
    return common;
}

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

// All have the same network, recipe, demonstrations and held-out tasks, but for what they are
// about.
static int train_policy(const Reproduction *r, const char *demos, const RaceMethod *m,
                        uint64_t seed, const char *policy)
{
    static Step step;
    const CommonOptions common = seeded(r, seed);
    if (step_is_there(policy)) return EXIT_DONE;
    step_begin(&step, "train");
    step_pair(&step, "--data", demos);
    step_pair(&step, "--out", policy);
    race_method_options(&step, m);
    step_pair(&step, "--precision", "fp16");
    step_pair(&step, "--hold-out", "course");
    if (r->common.courses) step_pair(&step, "--courses", r->common.courses);
    step_number(&step, "--epochs", race_method_epochs(m, r->epochs));
    step_number(&step, "--blocks", r->blocks);
    step_number(&step, "--channels", r->channels);
    step_add(&step, "--resume");
    step_common(&step, &common);
    return step_run(&step, cmd_train);
}

// Every training is judged by the same plans' noise and the same held-out tasks, the oracle's too.
static int evaluate_policy(const Reproduction *r, const char *policy, const char *cell)
{
    static Step step;
    step_begin(&step, "eval");
    step_add(&step, policy);
    step_pair(&step, "--json", cell);
    step_number(&step, "--seeds", r->plans);
    step_pair(&step, "--hold-out", "course");
    step_add(&step, "--no-sweep");
    step_add(&step, "--no-plans");
    step_add(&step, "--controls");
    if (r->common.courses) step_pair(&step, "--courses", r->common.courses);
    step_common(&step, &r->common);
    return step_run(&step, cmd_eval);
}

static int make_cell(const Reproduction *r, const RaceMethod *m, uint64_t seed)
{
    char demos[STEP_WORD_SIZE], policy[STEP_WORD_SIZE], cell[STEP_WORD_SIZE];
    race_cell_file(cell, cells_folder(r), m, seed, "json");
    if (step_is_there(cell)) return EXIT_DONE;
    race_cell_file(policy, r->folder, m, seed, "safetensors");
    step_file(demos, r->folder, "demos.h5");
    int code = make_demos(r, demos);
    if (code == EXIT_DONE) code = train_policy(r, demos, m, seed, policy);
    return code == EXIT_DONE ? evaluate_policy(r, policy, cell) : code;
}

// The minutes of all cells that are wanted and not there.
static double expected_minutes(const Reproduction *r)
{
    double minutes = 0.0;
    for (int s = 0; s < r->seeds; s++)
        for (int i = 0; i < RACE_METHODS; i++) {
            char cell[STEP_WORD_SIZE];
            race_cell_file(cell, cells_folder(r), &race_methods[i], r->common.seed + (uint64_t)s,
                           "json");
            if (r->wanted[i] && !step_is_there(cell)) minutes += race_methods[i].minutes;
        }
    return minutes;
}

// One seed of every method comes before the next. Says what is left at the pace so far.
static int make_cells(const Reproduction *r)
{
    int code = EXIT_DONE;
    double all = expected_minutes(r), start = step_clock();
    for (int s = 0; s < r->seeds; s++)
        for (int i = 0; i < RACE_METHODS && code == EXIT_DONE; i++) {
            if (!r->wanted[i]) continue;
            double before = expected_minutes(r);
            code = make_cell(r, &race_methods[i], r->common.seed + (uint64_t)s);
            double left = expected_minutes(r), done = all - left;
            if (code == EXIT_DONE && left < before)
                printf("%.0f %% done, about %.0f min left\n", 100.0 * done / all,
                       (step_clock() - start) / 60.0 * left / done);
        }
    return code;
}

static FacetStatus show_summary(const Reproduction *r)
{
    char path[STEP_WORD_SIZE];
    Json *document;
    TRY(race_cells_summary(&document, cells_folder(r), r->common.seed));
    json_set_origin(document, r->command, r->common.seed);
    printf("\n");
    print_document(stdout, NULL, INPUT_RACE_STUDY, document);
    step_file(path, r->folder, "study.json");
    return json_write(document, r->common.json ? r->common.json : path);
}

static FacetStatus choose_methods(Reproduction *r)
{
    for (int i = 0; i < RACE_METHODS; i++)
        r->wanted[i] = (r->methods.count == 0 && race_methods[i].when == RACE_ALWAYS) ||
                       (r->controls && race_methods[i].when == RACE_CONTROL);
    for (int i = 0; i < r->methods.count; i++) {
        int method;
        TRY(race_method_find(&method, r->methods.items[i]));
        r->wanted[method] = true;
    }
    return status_ok();
}

static FacetStatus open_folders(FileLock *lock, const Reproduction *r)
{
    char course[STEP_COURSE_SIZE], settings[300];
    TRY(ranks_agree(team_ranks(), step_course(course, r->common.courses, ".")));
    snprintf(settings, sizeof settings,
             "seed %llu, epochs %d, plans %d, blocks %d, channels %d, course %s",
             (unsigned long long)r->common.seed, r->epochs, r->plans, r->blocks, r->channels,
             course);
    return step_folders(lock, r->folder, r->cells, "demos.h5", settings);
}

int cmd_reproduce(int argc, char **argv)
{
    Reproduction r = {
        .common = common_defaults(), .folder = "out/reproduce", .seeds = 1, .plans = 5};
    const Option options[] = {
        fills(
            option_text("out", &r.folder, "DIR", "folder for demonstrations, policies and results"),
            "!study.json *"),
        fills(option_text(
                  "cells", &r.cells, "DIR",
                  "folder for the evaluations, METHOD-SEED.json; those that are there are not "
                  "made again (default: that of --out)"),
              "!study.json *"),
        option_list(
            "method", &r.methods, "NAME",
            "this one alone: ours, paper, baseline, oracle or knet; a control: told, "
            "told-longer, paper-longer, paper-drop, paper-drop-longer, paper-eps, composed-loss or "
            "oracle-ours; or recipe-v or recipe-eps"),
        option_flag("controls", &r.controls, "train the controls too"),
        option_int("seeds", &r.seeds, "N", 1, RACE_SEEDS_MAX,
                   "trainings of a method, with the seeds from --seed on"),
        option_int("epochs", &r.epochs, "N", 0, 1 << 24, "of every training, 0 for the recipe's"),
        option_int("plans", &r.plans, "N", 1, 1000, "a task and training in the evaluation"),
        option_int("blocks", &r.blocks, "N", 0, 64, "residual blocks, 0 for the default"),
        option_int("channels", &r.channels, "N", 0, 4096, "width, 0 for the default"),
    };
    const Usage usage = {
        .command = "reproduce",
        .description = "Makes everything from nothing: demonstrations, every method of the "
                       "paper's comparison, trained with one seed or several, and the summary of "
                       "the evaluations that are there. Started again, it goes on where it "
                       "stopped.",
        .example = "facet reproduce --out out/reproduce\n"
                   "facet reproduce --controls --seeds 3 --cells results/race\n"
                   "facet reproduce --seeds 3 --method told --cells results/race",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &r.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    command_text(r.command, sizeof r.command, argc, argv);
    FacetStatus status = choose_methods(&r);
    if (status.ok && strlen(r.folder) > 800)
        status = status_fail(FACET_BAD_FILE, "%.60s…: name too long", r.folder);
    if (!status.ok) return command_misused(usage.command, status);
    FileLock lock;
    status = open_folders(&lock, &r);
    if (!status.ok) return command_failed(usage.command, status);
    int code = make_cells(&r);
    lock_drop(&lock);
    if (code != EXIT_DONE) return step_ended(usage.command, code);
    status = ranks_agree(team_ranks(), team_leads() ? show_summary(&r) : status_ok());
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
