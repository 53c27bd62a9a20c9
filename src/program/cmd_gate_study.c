// facet gate study: the paper's comparison from nothing, with its controls.
//
// What is wanted are cells (gate_cells.h): rows of the tables under training seeds. One whose file
// is not there needs trials, these a training, and that frames. With --ladder they are those of
// another table (gate_ladder.c).
#include "base/progress.h"
#include "commands.h"
#include "gate_cells.h"
#include "gate_fixes.h"
#include "gate_world.h"
#include "ranks/watch.h"
#include "report/tables.h"
#include "show_race.h"
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Study {
    CommonOptions common;
    bool ladder;
    const GateTable *table;
    const char *folder, *cells;          // cells NULL for the folder
    TextList methods;                    // rows; none for all
    int seeds;                           // trainings of a model
    int demos, updates, rounds, flights; // flights of demos, and of a round
    int train, held_out;                 // trials a task, zero-shot; 0 for the paper's numbers
    uint64_t trials_seed;                // 0 for the study's
    double near;                         // of all flights of training
    FixOptions fix;                      // of the trials
    bool wanted[GATE_ROWS_MAX];
    char command[COMMAND_TEXT];
} Study;

static const char *cells_folder(const Study *s) { return s->cells ? s->cells : s->folder; }

// ---- Commands -----------------------------------------------------------------------------------

// The folder of a setting's courses; "" for those that ship.
static FacetStatus courses_of(char out[STEP_WORD_SIZE], const Study *s, const char *part)
{
    char shipped[FILE_PATH_MAX];
    snprintf(out, STEP_WORD_SIZE, "%s", s->common.courses ? s->common.courses : "");
    if (!part) return status_ok();
    if (!s->common.courses) TRY(file_shipped(shipped, "courses"));
    step_file(out, s->common.courses ? s->common.courses : shipped, part);
    return status_ok();
}

static void add_courses(Step *step, const Study *s, const GateSetting *setting)
{
    char folder[STEP_WORD_SIZE];
    // It was there when the study's folders were opened.
    if (courses_of(folder, s, setting ? setting->courses : NULL).ok && folder[0])
        step_pair(step, "--courses", folder);
}

static void add_looks(Step *step, const GateSetting *setting)
{
    if (setting && setting->no_looks) step_pair(step, "--redrawn", "0");
}

// The expert's frames are the same for all training seeds.
static int make_demos(const Study *s, const GateDemos *demos)
{
    static Step step;
    char out[STEP_WORD_SIZE];
    step_file(out, s->folder, demos->file);
    step_begin(&step, "gate demos");
    step_pair(&step, "--out", out);
    step_number(&step, "--flights", gate_demos_flights(demos, s->demos));
    if (demos->setting) step_number(&step, "--shrink", demos->setting->shrink);
    add_looks(&step, demos->setting);
    step_real(&step, "--near", s->near);
    gate_hold_outs(&step, demos->protocol);
    add_courses(&step, s, demos->setting);
    step_common(&step, &s->common);
    return step_run(&step, cmd_gate_demos);
}

static int train_model(const Study *s, const GateModel *model, uint64_t seed)
{
    static Step step;
    char out[STEP_WORD_SIZE], file[STEP_WORD_SIZE];
    const GateDemos *demos = &s->table->demos[model->demos];
    const GateSetting *setting = model->setting;
    CommonOptions common = s->common;
    common.seed = seed;
    gate_cell_file(out, s->folder, model->name, seed, "safetensors");
    step_begin(&step, "gate train");
    step_file(file, s->folder, demos->file);
    step_pair(&step, "--data", file);
    step_pair(&step, "--out", out);
    step_pair(&step, "--method", model->method);
    if (model->composed_loss) step_pair(&step, "--composed-loss", model->composed_loss);
    if (model->drop) step_pair(&step, "--drop", model->drop);
    if (model->encoder_from) {
        gate_cell_file(file, s->folder, model->encoder_from, seed, "safetensors");
        step_pair(&step, "--encoder-from", file);
    }
    if (setting && setting->encoder) step_pair(&step, "--encoder", setting->encoder);
    if (setting && setting->no_selection && strcmp(model->method, "baseline") != 0)
        step_add(&step, "--no-selection");
    gate_hold_outs(&step, demos->protocol);
    step_number(&step, "--updates", gate_model_updates(model, s->updates));
    step_number(&step, "--rounds", s->rounds);
    step_number(&step, "--flights", s->flights);
    add_looks(&step, setting);
    step_real(&step, "--near", s->near);
    add_courses(&step, s, setting);
    step_add(&step, "--resume");
    step_common(&step, &common);
    return step_run(&step, cmd_gate_train);
}

static void add_trials(Step *step, const char *option, int asked, int usual)
{
    char number[32];
    snprintf(number, sizeof number, "%d", asked && usual ? asked : usual);
    step_pair(step, option, number);
}

// The paper's numbers of trials: 180 in the training venues and 120 in pool. Within-venue, 120 of
// training tasks and 200 of held-out ones. Ablations fly in pool alone, but for the null venue: a
// venue that was never seen is null already, so that is flown in the venues of training. Every
// training flies the same trials.
static int evaluate_row(const Study *s, const GateRow *row, uint64_t seed)
{
    static Step step;
    char json[STEP_WORD_SIZE], file[STEP_WORD_SIZE];
    const GateModel *model = &s->table->models[gate_model_find(s->table, row->model)];
    int grouping = row->protocol == WITHIN ? WITHIN : ZERO_SHOT;
    int train = grouping == WITHIN ? 6 : 2, held_out = grouping == WITHIN ? 2 : 4;
    CommonOptions common = s->common;
    if (s->trials_seed) common.seed = s->trials_seed;
    gate_cell_file(json, cells_folder(s), row->cell, seed, "json");
    step_begin(&step, "gate eval");
    gate_cell_file(file, s->folder, row->model, seed, "safetensors");
    step_pair(&step, "--policy", file);
    step_pair(&step, "--mode", row->mode);
    if (row->open) step_pair(&step, "--open", row->open);
    gate_hold_outs(&step, grouping);
    if (row->protocol == ALL_TASKS && row->open) held_out = 0;
    if (row->protocol == ALL_TASKS && !row->open) train = 0;
    add_trials(&step, "--train", s->train, train);
    add_trials(&step, "--held-out", s->held_out, held_out);
    fix_step(&step, &s->fix);
    add_courses(&step, s, model->setting);
    step_pair(&step, "--json", json);
    step_common(&step, &common);
    return step_run(&step, cmd_gate_eval);
}

// ---- Parts --------------------------------------------------------------------------------------

enum { PARTS_MAX = GATE_DEMOS_MAX + GATE_SEEDS_MAX * (GATE_MODELS_MAX + GATE_ROWS_MAX) };

typedef struct Part {
    enum { DEMOS, TRAINING, TRIALS } kind;
    int index; // in the table
    uint64_t seed;
} Part;

// What is to be done, in an order in which nothing comes before what it needs.
typedef struct Parts {
    int count;
    Part list[PARTS_MAX];
} Parts;

static bool is_done(const Study *s, Part part)
{
    const GateTable *t = s->table;
    char file[STEP_WORD_SIZE];
    if (part.kind == DEMOS)
        step_file(file, s->folder, t->demos[part.index].file);
    else if (part.kind == TRAINING)
        gate_cell_file(file, s->folder, t->models[part.index].name, part.seed, "safetensors");
    else
        gate_cell_file(file, cells_folder(s), t->rows[part.index].cell, part.seed, "json");
    return part.kind == TRAINING ? facet_gate_train_is_complete(file) : file_exists(file);
}

// Adds a part that is not done, after what it needs.
static void add_part(Parts *parts, const Study *s, Part part)
{
    for (int i = 0; i < parts->count; i++) {
        const Part *other = &parts->list[i];
        if (other->kind == part.kind && other->index == part.index && other->seed == part.seed)
            return;
    }
    if (is_done(s, part)) return;
    if (part.kind == TRIALS) {
        int model = gate_model_find(s->table, s->table->rows[part.index].model);
        add_part(parts, s, (Part){TRAINING, model, part.seed});
    }
    if (part.kind == TRAINING) {
        const GateModel *model = &s->table->models[part.index];
        add_part(parts, s, (Part){DEMOS, model->demos, s->common.seed});
        if (model->encoder_from)
            add_part(parts, s,
                     (Part){TRAINING, gate_model_find(s->table, model->encoder_from), part.seed});
    }
    parts->list[parts->count++] = part;
}

// The first rank looks, so that all decide alike.
static void list_parts(Parts *parts, const Study *s)
{
    parts->count = 0;
    for (int k = 0; k < s->seeds; k++)
        for (int i = 0; i < s->table->row_count; i++)
            if (s->wanted[i]) add_part(parts, s, (Part){TRIALS, i, s->common.seed + (uint64_t)k});
    ranks_broadcast(team_ranks(), 0, parts, sizeof *parts);
}

// How long a part takes, in seconds on two slow cores. Larger frames take about three times as
// long in the encoder.
static double expected_seconds(const Study *s, Part part)
{
    if (part.kind == DEMOS)
        return 0.24 * gate_demos_flights(&s->table->demos[part.index], s->demos);
    if (part.kind == TRIALS) return 35.0 + 35.0 * s->fix.samples;
    const GateModel *model = &s->table->models[part.index];
    double update = model->composed_loss ? 0.09 : 0.06;
    if (model->setting && model->setting->encoder) update += 0.1;
    return update * gate_model_updates(model, s->updates) + 0.4 * s->rounds * s->flights;
}

static int run_part(const Study *s, Part part)
{
    const GateTable *t = s->table;
    if (part.kind == DEMOS) return make_demos(s, &t->demos[part.index]);
    if (part.kind == TRAINING) return train_model(s, &t->models[part.index], part.seed);
    return evaluate_row(s, &t->rows[part.index], part.seed);
}

// Parts of one stage do not need each other. All frames first; a training that takes another's
// encoder over comes after it. A rank that is alone has one stage: it flies a row as soon as it
// can.
enum { STAGES = 4 };

static int stage_of(const Study *s, Part part, int ranks)
{
    if (part.kind == DEMOS || ranks == 1) return 0;
    if (part.kind == TRIALS) return 3;
    return s->table->models[part.index].encoder_from ? 2 : 1;
}

// Shows what of the expected time is over, of all ranks, and what is left at that pace.
static bool show_left(void *context, const FacetProgressEvent *event)
{
    const double *start = context;
    double seconds = step_clock() - *start;
    if (event->done == 0) return true;
    printf("%.0f %% done, about %.0f min left\n",
           100.0 * (double)event->done / (double)event->total,
           seconds * (double)(event->total - event->done) / (double)event->done / 60.0);
    fflush(stdout);
    return true;
}

// Ranks share the flights of each set of frames. Trainings and trials are dealt to them, and each
// writes the files of its own.
static int run_stage(const Study *s, const Parts *parts, int stage, Progress *progress)
{
    FacetRanks *ranks = team_ranks();
    int code = EXIT_DONE, turn = 0;
    const int count = facet_ranks_count(ranks);
    if (stage > 0) team_part();
    for (int i = 0; i < parts->count && code == EXIT_DONE; i++) {
        Part part = parts->list[i];
        if (stage_of(s, part, count) != stage) continue;
        bool mine = stage == 0 || ranks_mine(ranks, turn++);
        if (mine) code = run_part(s, part);
        if (mine && code == EXIT_DONE && (stage > 0 || team_leads()))
            progress_add(progress, (long)expected_seconds(s, part), NULL);
    }
    team_meet();
    return (int)-ranks_least(ranks, -code);
}

static int run_all(const Study *s, const Parts *parts)
{
    long expected = 0;
    double start = step_clock();
    int code = EXIT_DONE;
    for (int i = 0; i < parts->count; i++) expected += (long)expected_seconds(s, parts->list[i]);
    if (parts->count > 0 && team_leads())
        printf("%d parts to do, about %.0f min on two cores\n", parts->count,
               (double)expected / 60.0);
    RanksWatch watch;
    Progress progress;
    ranks_watch_begin(&watch, team_ranks(), &(FacetProgress){show_left, &start});
    progress_begin(&progress, &watch.progress, "study", expected);
    for (int stage = 0; stage < STAGES && code == EXIT_DONE; stage++)
        code = run_stage(s, parts, stage, &progress);
    progress_end(&progress);
    if (code == EXIT_DONE) ranks_watch_end(&watch);
    return code;
}

// Runs what is not there yet.
static int run_parts(const Study *s)
{
    Parts *parts = calloc(1, sizeof *parts);
    FacetStatus status =
        parts ? status_ok() : status_fail(FACET_NO_MEMORY, "out of memory for the study's parts");
    status = ranks_agree(team_ranks(), status);
    if (!status.ok) {
        free(parts);
        return command_failed("gate study", status);
    }
    list_parts(parts, s);
    int code = run_all(s, parts);
    free(parts);
    return code;
}

// ---- The command --------------------------------------------------------------------------------

static FacetStatus show_study(const Study *s)
{
    char path[STEP_WORD_SIZE];
    Json *document;
    TRY(gate_cells_summary(&document, s->table, cells_folder(s), s->common.seed));
    json_set_origin(document, s->command, s->common.seed);
    print_document(stdout, NULL, s->ladder ? INPUT_GATE_LADDER : INPUT_GATE_STUDY, document);
    step_file(path, s->folder, "study.json");
    return json_write(document, s->common.json ? s->common.json : path);
}

static FacetStatus choose_rows(Study *s)
{
    s->table = s->ladder ? &gate_ladder_table : &gate_study_table;
    for (int i = 0; i < s->table->row_count; i++) s->wanted[i] = s->methods.count == 0;
    for (int i = 0; i < s->methods.count; i++) {
        int row;
        TRY(gate_row_find(&row, s->table, s->methods.items[i]));
        s->wanted[row] = true;
    }
    return status_ok();
}

// The venues of a setting other than the study's own are told by their hash too, each folder once.
static FacetStatus other_venues(char *out, size_t size, const Study *s)
{
    out[0] = '\0';
    for (int i = 0; i < s->table->demo_count; i++) {
        const GateSetting *setting = s->table->demos[i].setting;
        char folder[STEP_WORD_SIZE], hash[STEP_COURSE_SIZE];
        size_t used = strlen(out);
        if (!setting || !setting->courses || strstr(out, setting->courses)) continue;
        TRY(courses_of(folder, s, setting->courses));
        TRY(step_course(hash, folder, "venues"));
        snprintf(out + used, size - used, ", %s %s", setting->courses, hash);
    }
    return status_ok();
}

static FacetStatus open_folders(FileLock *lock, const Study *s)
{
    char venues[STEP_COURSE_SIZE], settings[600], near[40] = "", trials[60] = "", fixes[FIX_TEXT],
                                                  others[200];
    if (s->near > 0.0) snprintf(near, sizeof near, ", near %.9g", s->near);
    if (s->trials_seed)
        snprintf(trials, sizeof trials, ", trials seed %llu", (unsigned long long)s->trials_seed);
    fix_text(fixes, &s->fix);
    TRY(ranks_agree(team_ranks(), step_course(venues, s->common.courses, "venues")));
    TRY(ranks_agree(team_ranks(), other_venues(others, sizeof others, s)));
    snprintf(settings, sizeof settings,
             "seed %llu, demos %d, updates %d, rounds %d, flights %d, train %d, held-out %d, "
             "venues %s%s%s%s%s",
             (unsigned long long)s->common.seed, s->demos, s->updates, s->rounds, s->flights,
             s->train, s->held_out, venues, others, near, trials, fixes);
    return step_folders(lock, s->folder, s->cells, s->table->demos[0].file, settings);
}

int cmd_gate_study(int argc, char **argv)
{
    Study s = {.common = common_defaults(),
               .folder = "out/gate",
               .seeds = 1,
               .demos = 600,
               .updates = 10000,
               .rounds = 2,
               .flights = 100,
               .fix = fix_defaults()};
    const Option options[] = {
        fills(option_text("out", &s.folder, "DIR", "folder for frames, policies and results"),
              "!study.json *"),
        fills(option_text(
                  "cells", &s.cells, "DIR",
                  "folder for the trials' results, ROW-SEED.json; those that are there are not "
                  "made again (default: that of --out)"),
              "!study.json *"),
        option_flag("ladder", &s.ladder,
                    "instead, from the first study's setting to this one's, one change at a time"),
        option_list("method", &s.methods, "ROW",
                    "this row alone, by the name of its file, as zero-shot-ours"),
        option_int("seeds", &s.seeds, "N", 1, GATE_SEEDS_MAX,
                   "trainings of a policy, with the seeds from --seed on"),
        option_int("demos", &s.demos, "N", 1, 1 << 20, "the expert's flights of a protocol"),
        option_int("updates", &s.updates, "N", 1, 1 << 24, "of every training"),
        option_int("rounds", &s.rounds, "N", 1, FACET_GATE_ROUNDS_MAX, "of DAgger"),
        option_int("flights", &s.flights, "N", 1, 1 << 20, "of a round"),
        option_int("train", &s.train, "N", 0, 1000, "trials a training task, 0 for the paper's"),
        option_int("held-out", &s.held_out, "N", 0, 1000, "trials a held-out task, 0 for the same"),
        option_uint64("trials-seed", &s.trials_seed, "N",
                      "of the trials, which are others then; 0 for --seed"),
        option_double("near", &s.near, "X", 0.0, 1.0,
                      "share of the flights of training that start 1 to 3 m from the gate"),
        FIX_OPTIONS(s.fix),
    };
    const Usage usage = {
        .command = "gate study",
        .description =
            "The paper's vision study from nothing: frames, sixteen policies trained with DAgger, "
            "with one seed or several, trials, and the tables with the paper's beside ours, from "
            "the results that are there. Started again, it goes on where it stopped; other "
            "settings need another folder.",
        .example = "facet gate study --out out/gate\n"
                   "facet gate study --seeds 3 --cells results/gate --method zero-shot-told\n"
                   "facet gate study --ladder --out out/gate-ladder",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &s.common,
    };
    int code;
    if (!args_parse(&code, &usage, argc, argv)) return code;
    command_text(s.command, sizeof s.command, argc, argv);
    FacetStatus status = choose_rows(&s);
    if (status.ok) status = fix_check(&s.fix);
    if (!status.ok) return command_misused(usage.command, status);
    FileLock lock;
    status = open_folders(&lock, &s);
    if (!status.ok) return command_failed(usage.command, status);
    code = run_parts(&s);
    lock_drop(&lock);
    if (code != EXIT_DONE) return step_ended(usage.command, code);
    status = ranks_agree(team_ranks(), team_leads() ? show_study(&s) : status_ok());
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
