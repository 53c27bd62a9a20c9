// facet study pairs: composition against the number of training pairs.
//
// The paper claims that factors need as many demonstrations as they have values together, a sum,
// and not as many as there are pairs, a product. Policies are trained on the first 8, 11, 14 and 17
// of the 20 feasible pairs in an order whose first 8 show every value (race/pair_order.h), all with
// the same number of updates, and flown on all pairs. Several orders are several splits. A policy
// of one loss, number and split is a cell: METHOD-PAIRS-SPLIT.json, which can be made alone.
#include "study_pairs.h"

#include "cells.h"
#include "commands.h"
#include "pairs_cells.h"
#include "race/pair_order.h"
#include "race_cells.h"
#include "report/tables.h"
#include "show_race.h"
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPLITS_MAX = 16 };

static const char *const methods[] = {"ours", "paper"};
enum { COMPOSED, JOINT, MODES };
static const char *const keys[][MODES] = {{"ours_composed", "ours_joint"},
                                          {"factored_composed", "factored_joint"}};
enum { METHODS = sizeof methods / sizeof *methods, NUMBERS_MAX = 16 };

typedef struct PairsCommand {
    CommonOptions common;
    const char *folder, *cells; // cells NULL for the folder
    TextList methods;
    TextList pairs;                         // as texts
    int numbers[NUMBERS_MAX], number_count; // of training pairs, rising
    int splits, updates, plans, blocks, channels;
    int chosen[METHODS], chosen_count; // of methods
    PairsSplit *orders;                // [splits]
    char command[COMMAND_TEXT];
} PairsCommand;

static const char *cells_folder(const PairsCommand *o) { return o->cells ? o->cells : o->folder; }

static int most_pairs(const PairsCommand *o) { return o->numbers[o->number_count - 1]; }

static void cell_file(char out[STEP_WORD_SIZE], const char *folder, const PairsCommand *o,
                      int method, int n, int split, const char *suffix)
{
    char name[100];
    snprintf(name, sizeof name, "%s-%d-%d.%s", methods[method], o->numbers[n], split + 1, suffix);
    step_file(out, folder, name);
}

// Splits have the seeds from --seed on.
static FacetStatus find_split(PairsSplit *split, const FacetRace *race, const PairsCommand *o,
                              int number)
{
    FacetCourseTask *tasks = calloc((size_t)facet_race_task_max(race), sizeof *tasks);
    if (!tasks) return status_fail(FACET_NO_MEMORY, "out of memory for the pairs");
    FacetStatus status =
        pair_order(tasks, &split->count, race, o->common.seed + (uint64_t)number, o->numbers[0]);
    if (status.ok && (split->count > PAIRS_TASKS_MAX || split->count <= most_pairs(o)))
        status = status_fail(FACET_BAD_ARGUMENT,
                             "expected more than %d and at most %d pairs, "
                             "found %d",
                             most_pairs(o), PAIRS_TASKS_MAX, split->count);
    for (int i = 0; status.ok && i < split->count; i++)
        snprintf(split->names[i], PAIRS_NAME_SIZE, "%s/%s",
                 race->course->tracks[tasks[i].track].name,
                 race->course->openings[tasks[i].opening].name);
    free(tasks);
    return status;
}

// ---- Cells --------------------------------------------------------------------------------------

// A loss and a number of pairs, both as indices, and a split.
typedef struct PairsCell {
    int method, number, split;
} PairsCell;

static int cell_count(const PairsCommand *o)
{
    return o->splits * o->number_count * o->chosen_count;
}

// Number by number, so that what is there at any time compares the losses. Which of them comes
// first changes: ours takes longer, and of two ranks neither gets all of it.
static PairsCell cell_at(const PairsCommand *o, int index)
{
    int row = index / o->chosen_count, number = row % o->number_count;
    return (PairsCell){.method = o->chosen[(index + number) % o->chosen_count],
                       .number = number,
                       .split = row / o->number_count};
}

static void cell_path(char out[STEP_WORD_SIZE], const void *study, int index)
{
    const PairsCommand *o = study;
    const PairsCell cell = cell_at(o, index);
    cell_file(out, cells_folder(o), o, cell.method, cell.number, cell.split, "json");
}

static int train_policy(const PairsCommand *o, PairsCell cell, const char *policy)
{
    static Step step;
    char demos[STEP_WORD_SIZE];
    const PairsSplit *split = &o->orders[cell.split];
    int index = 0;
    if (file_exists(policy)) return EXIT_DONE;
    step_file(demos, o->folder, "demos.h5");
    race_method_find(&index, methods[cell.method]); // it is one of them
    step_begin(&step, "train");
    step_pair(&step, "--data", demos);
    step_pair(&step, "--out", policy);
    race_method_options(&step, &race_methods[index]);
    step_pair(&step, "--precision", "fp16");
    for (int i = o->numbers[cell.number]; i < split->count; i++)
        step_pair(&step, "--hold-out", split->names[i]);
    step_number(&step, "--updates", o->updates);
    step_number(&step, "--blocks", o->blocks);
    step_number(&step, "--channels", o->channels);
    step_add(&step, "--resume");
    step_common(&step, &o->common);
    return step_run(&step, cmd_train);
}

static int make_cell(const void *study, int index)
{
    static Step step;
    const PairsCommand *o = study;
    const PairsCell cell = cell_at(o, index);
    char policy[STEP_WORD_SIZE], json[STEP_WORD_SIZE];
    cell_path(json, o, index);
    cell_file(policy, o->folder, o, cell.method, cell.number, cell.split, "safetensors");
    int code = train_policy(o, cell, policy);
    if (code != EXIT_DONE) return code;
    step_begin(&step, "eval");
    step_add(&step, policy);
    step_pair(&step, "--json", json);
    step_number(&step, "--seeds", o->plans);
    step_add(&step, "--no-sweep");
    step_add(&step, "--no-plans");
    if (o->common.courses) step_pair(&step, "--courses", o->common.courses);
    step_common(&step, &o->common);
    return step_run(&step, cmd_eval);
}

static int make_cells(const PairsCommand *o)
{
    char demos[STEP_WORD_SIZE];
    const Cells cells = {
        .name = "cells", .count = cell_count(o), .file = cell_path, .make = make_cell, .study = o};
    if (cells_missing(&cells) == 0) return EXIT_DONE;
    step_file(demos, o->folder, "demos.h5");
    int code = cells_demos(demos, &o->common);
    return code == EXIT_DONE ? cells_make(&cells) : code;
}

// ---- The summary --------------------------------------------------------------------------------

static const char *const group_keys[PAIRS_GROUPS] = {"training", "held_out", "held_out_new",
                                                     "last"};

static void set_speeds(Json *row, const char *key, SpeedsOff off)
{
    if (off.count > 0.0) json_set_number(row, key, off.sum / off.count);
}

// What the plans of a loss and a number of pairs pass, in one mode, over the splits whose cells are
// there.
typedef struct Passed {
    EvidenceRate rates[PAIRS_GROUPS];
    PairsSpeeds speeds;
} Passed;

static FacetStatus read_passed(Passed *passed, const PairsCommand *o, int method, int n, int mode)
{
    EvidenceCounts counts[PAIRS_GROUPS] = {{0}};
    FacetStatus status = status_ok();
    *passed = (Passed){0};
    for (int g = 0; g < PAIRS_GROUPS && status.ok; g++)
        status = evidence_counts_create(&counts[g], PAIRS_TASKS_MAX, SPLITS_MAX);
    for (int s = 0; s < o->splits && status.ok; s++) {
        char path[STEP_WORD_SIZE];
        cell_file(path, cells_folder(o), o, method, n, s, "json");
        PairsPlace place = {&o->orders[s], &o->orders[0], s, o->numbers[n], most_pairs(o)};
        if (file_exists(path))
            status = pairs_cell_read(counts, &passed->speeds, path, keys[method][mode], &place);
    }
    for (int g = 0; g < PAIRS_GROUPS && status.ok; g++)
        passed->rates[g] = evidence_rate(&counts[g]);
    for (int g = 0; g < PAIRS_GROUPS; g++) evidence_counts_free(&counts[g]);
    return status;
}

static void set_passed(Json *row, const Passed *passed)
{
    for (int g = 0; g < PAIRS_GROUPS; g++)
        json_set(row, group_keys[g], json_from_evidence(passed->rates[g]));
    set_speeds(row, "speed_off_held_out", passed->speeds.held_out);
    set_speeds(row, "speed_off_last", passed->speeds.last);
}

// A row of the summary: a loss and a number of pairs, composed, and "joint" within it.
static FacetStatus add_row(Json *list, const PairsCommand *o, int method, int n)
{
    Passed composed, told;
    TRY(read_passed(&composed, o, method, n, COMPOSED));
    TRY(read_passed(&told, o, method, n, JOINT));
    int count = composed.rates[PAIRS_TRAINING].seeds;
    if (count == 0) return status_ok();
    Json *row = json_object(), *joint = json_object();
    json_set_string(row, "method", methods[method]);
    json_set_numbers(row, {"pairs", o->numbers[n]}, {"splits", count});
    set_passed(row, &composed);
    set_passed(joint, &told);
    json_set(row, "joint", joint);
    json_push(list, row);
    return status_ok();
}

static FacetStatus show_summary(const PairsCommand *o)
{
    char path[STEP_WORD_SIZE];
    Json *document = json_object(), *list = json_array(), *orders = json_array();
    FacetStatus status = status_ok();
    for (int m = 0; m < METHODS; m++)
        for (int n = 0; n < o->number_count && status.ok; n++) status = add_row(list, o, m, n);
    for (int s = 0; s < o->splits; s++) {
        Json *order = json_array();
        for (int i = 0; i < o->orders[s].count; i++) json_push_string(order, o->orders[s].names[i]);
        json_push(orders, order);
    }
    json_set(document, "rows", list);
    json_set(document, "orders", orders);
    if (status.ok) {
        json_set_origin(document, o->command, o->common.seed);
        printf("\n");
        print_document(stdout, NULL, INPUT_PAIRS, document);
        step_file(path, o->folder, "pairs.json");
        status = json_write(document, o->common.json ? o->common.json : path);
    } else {
        json_free(document);
    }
    return status;
}

// ---- The command --------------------------------------------------------------------------------

static FacetStatus find_splits(const PairsCommand *o)
{
    FacetRace *race = NULL;
    const StudyOptions study = {.preset = "race"};
    FacetStatus status = study_open(&race, &o->common, &study);
    for (int s = 0; s < o->splits && status.ok; s++) status = find_split(&o->orders[s], race, o, s);
    study_close(race);
    return ranks_agree(team_ranks(), status);
}

// Rising numbers from texts; 8, 11, 14 and 17 without any.
static FacetStatus choose_numbers(PairsCommand *o)
{
    static const int usual[] = {8, 11, 14, 17};
    o->number_count = o->pairs.count ? o->pairs.count : 4;
    if (o->number_count > NUMBERS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "--pairs: expected at most %d numbers, found %d",
                           NUMBERS_MAX, o->number_count);
    for (int i = 0; i < o->number_count; i++) {
        char *end = NULL;
        long number = o->pairs.count ? strtol(o->pairs.items[i], &end, 10) : usual[i];
        int before = i ? o->numbers[i - 1] : 0;
        if ((end && (*end || end == o->pairs.items[i])) || number <= before ||
            number > PAIRS_TASKS_MAX)
            return status_fail(FACET_BAD_ARGUMENT,
                               "--pairs: expected a whole number from %d to %d, found '%.40s'",
                               before + 1, PAIRS_TASKS_MAX, o->pairs.items[i]);
        o->numbers[i] = (int)number;
    }
    return status_ok();
}

static FacetStatus open_folders(FileLock *lock, const PairsCommand *o)
{
    char course[STEP_COURSE_SIZE], settings[300];
    TRY(ranks_agree(team_ranks(), step_course(course, o->common.courses, ".")));
    snprintf(settings, sizeof settings,
             "seed %llu, least %d, updates %d, plans %d, blocks %d, channels %d, course %s",
             (unsigned long long)o->common.seed, o->numbers[0], o->updates, o->plans, o->blocks,
             o->channels, course);
    return step_folders(lock, o->folder, o->cells, "demos.h5", settings);
}

static FacetStatus choose_methods(PairsCommand *o)
{
    bool wanted[METHODS];
    for (int m = 0; m < METHODS; m++) wanted[m] = o->methods.count == 0;
    for (int i = 0; i < o->methods.count; i++) {
        int m = 0;
        while (m < METHODS && strcmp(methods[m], o->methods.items[i]) != 0) m++;
        if (m == METHODS)
            return status_fail(FACET_NOT_FOUND, "no loss '%.40s': ours, paper",
                               o->methods.items[i]);
        wanted[m] = true;
    }
    for (int m = 0; m < METHODS; m++)
        if (wanted[m]) o->chosen[o->chosen_count++] = m;
    return status_ok();
}

static int run(const PairsCommand *o)
{
    FileLock lock;
    FacetStatus status = find_splits(o);
    if (status.ok) status = open_folders(&lock, o);
    if (!status.ok) return command_failed("study pairs", status);
    int code = make_cells(o);
    lock_drop(&lock);
    if (code != EXIT_DONE) return step_ended("study pairs", code);
    status = team_leads() ? show_summary(o) : status_ok();
    status = ranks_agree(team_ranks(), status);
    return status.ok ? EXIT_DONE : command_failed("study pairs", status);
}

int study_pairs(int argc, char **argv)
{
    PairsCommand o = {.common = common_defaults(),
                      .folder = "out/pairs",
                      .splits = 1,
                      .updates = 7000,
                      .plans = 5};
    const Option options[] = {
        fills(
            option_text("out", &o.folder, "DIR", "folder for demonstrations, policies and results"),
            "!pairs.json *"),
        fills(option_text(
                  "cells", &o.cells, "DIR",
                  "folder for the evaluations, LOSS-PAIRS-SPLIT.json; those that are there are "
                  "not made again (default: that of --out)"),
              "!pairs.json *"),
        option_list("method", &o.methods, "LOSS", "this loss alone: ours or paper"),
        option_int("splits", &o.splits, "N", 1, SPLITS_MAX, "orders of the pairs"),
        option_int("updates", &o.updates, "N", 1, 1 << 24, "of every training"),
        option_int("plans", &o.plans, "N", 1, 1000, "a pair in the evaluation"),
        option_list("pairs", &o.pairs, "N",
                    "train on so many pairs, rising; the fewest show every value (default: 8, 11, "
                    "14 and 17)"),
        option_int("blocks", &o.blocks, "N", 0, 64, "residual blocks, 0 for the default"),
        option_int("channels", &o.channels, "N", 0, 4096, "width, 0 for the default"),
    };
    const Usage usage = {
        .command = "study pairs",
        .description = "Trains on 8, 11, 14 and 17 of the 20 pairs of track and size, every value "
                       "among them, with our loss and the paper's, and flies the pairs that are "
                       "left. Started again, it goes on where it stopped.",
        .example = "facet study pairs --splits 3 --cells results/pairs --json results/pairs.json",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    command_text(o.command, sizeof o.command, argc, argv);
    FacetStatus status = choose_methods(&o);
    if (status.ok) status = choose_numbers(&o);
    if (!status.ok) return command_misused(usage.command, status);
    o.orders = calloc(SPLITS_MAX, sizeof *o.orders);
    if (!o.orders)
        return command_failed(usage.command, status_fail(FACET_NO_MEMORY, "out of memory"));
    int code = run(&o);
    free(o.orders);
    return code;
}
