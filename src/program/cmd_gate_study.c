// facet gate study: the paper's comparison from nothing.
//
// Paper, Section 4.2 and Appendix C. Two protocols: zero-shot (pool is never seen) and within-venue
// (25 of the 30 triples of colour, gate and side are never seen, in all four venues). All policies
// of a protocol have the same networks, frames to begin with, updates, and flights of DAgger.
#include "base/progress.h"
#include "commands.h"
#include "gate_world.h"
#include "paper/paper.h"
#include "ranks/watch.h"
#include "report/gate_study.h"
#include "report/tables.h"
#include "show_race.h"
#include "steps.h"
#include "team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Protocols ----------------------------------------------------------------

enum { ZERO_SHOT, WITHIN, ALL_TASKS, PROTOCOLS };

// The triples of colour, gate and side that within-venue training sees: every value of every factor
// is among them.
static const char *const seen_triples[][3] = {
    {"red", "1", "+1"}, {"white", "2", "-1"}, {"blue", "3", "+1"},
    {"red", "4", "-1"}, {"white", "5", "+1"},
};
enum { SEEN_TRIPLES = sizeof seen_triples / sizeof *seen_triples };

static bool is_seen(const char *color, const char *gate, const char *side)
{
    for (int i = 0; i < SEEN_TRIPLES; i++)
        if (strcmp(seen_triples[i][0], color) == 0 && strcmp(seen_triples[i][1], gate) == 0 &&
            strcmp(seen_triples[i][2], side) == 0)
            return true;
    return false;
}

static void add_hold_outs(Step *step, int protocol)
{
    static const char *const colors[] = {"red", "white", "blue"}, *const sides[] = {"+1", "-1"},
                             *const gates[] = {"1", "2", "3", "4", "5"};
    if (protocol == ZERO_SHOT) step_pair(step, "--hold-out", "venue=pool");
    for (int i = 0; protocol == WITHIN && i < 30; i++) {
        const char *color = colors[i / 10], *gate = gates[i / 2 % 5], *side = sides[i % 2];
        char task[80];
        snprintf(task, sizeof task, "color=%s,gate=%s,side=%s", color, gate, side);
        if (!is_seen(color, gate, side)) step_pair(step, "--hold-out", task);
    }
}

// ---- Models and rows --------------------------------------------------------------------------

typedef struct Model {
    const char *file;
    int protocol;
    const char *method, *composed_loss, *drop;
    const char *encoder_from; // another model's file
} Model;

static const Model models[] = {
    {"zero-shot-baseline.safetensors", ZERO_SHOT, "baseline", NULL, NULL, NULL},
    {"zero-shot-factored.safetensors", ZERO_SHOT, "factored", NULL, NULL, NULL},
    {"zero-shot-ours.safetensors", ZERO_SHOT, "factored", "0.3", NULL, NULL},
    {"oracle.safetensors", ALL_TASKS, "oracle", NULL, NULL, NULL},
    {"within-baseline.safetensors", WITHIN, "baseline", NULL, NULL, NULL},
    {"within-factored.safetensors", WITHIN, "factored", NULL, NULL, NULL},
    {"within-ours.safetensors", WITHIN, "factored", "0.3", NULL, NULL},
    {"zero-shot-drop.safetensors", ZERO_SHOT, "factored", NULL, "venue=0.4", NULL},
    {"zero-shot-frozen.safetensors", ZERO_SHOT, "factored", NULL, NULL,
     "zero-shot-baseline.safetensors"},
};
enum { MODELS = sizeof models / sizeof *models };

// A row of the tables: a model, and how it is flown.
typedef struct Row {
    const char *name, *file; // of its results
    int model, protocol;
    const char *mode, *open;
    const char *paper; // its row of paper_gate_row, or NULL
} Row;

static const Row rows[] = {
    {"Baseline", "zero-shot-baseline.json", 0, ZERO_SHOT, "joint", NULL, "zero-shot baseline"},
    {"Factored, the paper's loss", "zero-shot-factored.json", 1, ZERO_SHOT, "composed", NULL,
     "zero-shot factored"},
    {"Factored, ours", "zero-shot-ours.json", 2, ZERO_SHOT, "composed", NULL, NULL},
    {"Oracle", "zero-shot-oracle.json", 3, ZERO_SHOT, "composed", NULL, NULL},
    {"Baseline", "within-baseline.json", 4, WITHIN, "joint", NULL, "within baseline"},
    {"Factored, the paper's loss", "within-factored.json", 5, WITHIN, "composed", NULL,
     "within factored"},
    {"Factored, ours", "within-ours.json", 6, WITHIN, "composed", NULL, NULL},
    {"Oracle", "within-oracle.json", 3, WITHIN, "composed", NULL, NULL},
    {"ours, joint", "zero-shot-joint.json", 2, ALL_TASKS, "joint", NULL, NULL},
    {"ours, null venue in flight", "zero-shot-null.json", 2, ALL_TASKS, "composed", "venue", NULL},
    {"venue dropout 0.4", "zero-shot-drop.json", 7, ALL_TASKS, "composed", NULL, "venue dropout"},
    {"venue dropout 0.4, null venue", "zero-shot-drop-null.json", 7, ALL_TASKS, "composed", "venue",
     "venue dropout, null venue"},
    {"frozen encoder (Baseline's)", "zero-shot-frozen.json", 8, ALL_TASKS, "composed", NULL, NULL},
};
enum { ROWS = sizeof rows / sizeof *rows };

typedef struct Study {
    CommonOptions common;
    const char *folder;
    int demos, updates, rounds, flights; // flights of demos, and of a round
    int train, held_out;                 // trials a task, zero-shot; 0 for the paper's numbers
} Study;

static const char *const demo_files[PROTOCOLS] = {"zero-shot.h5", "within.h5", "all.h5"};

static int make_demos(const Study *s, int protocol)
{
    static Step step;
    char out[STEP_WORD_SIZE];
    step_file(out, s->folder, demo_files[protocol]);
    step_begin(&step, "gate demos");
    step_pair(&step, "--out", out);
    step_number(&step, "--flights", s->demos);
    add_hold_outs(&step, protocol);
    if (s->common.courses) step_pair(&step, "--courses", s->common.courses);
    step_common(&step, &s->common);
    return step_run(&step, cmd_gate_demos);
}

static int train_model(const Study *s, const Model *model)
{
    static Step step;
    char out[STEP_WORD_SIZE], file[STEP_WORD_SIZE];
    step_file(out, s->folder, model->file);
    step_begin(&step, "gate train");
    step_file(file, s->folder, demo_files[model->protocol]);
    step_pair(&step, "--data", file);
    step_pair(&step, "--out", out);
    step_pair(&step, "--method", model->method);
    if (model->composed_loss) step_pair(&step, "--composed-loss", model->composed_loss);
    if (model->drop) step_pair(&step, "--drop", model->drop);
    if (model->encoder_from) {
        step_file(file, s->folder, model->encoder_from);
        step_pair(&step, "--encoder-from", file);
    }
    add_hold_outs(&step, model->protocol);
    step_number(&step, "--updates", s->updates);
    step_number(&step, "--rounds", s->rounds);
    step_number(&step, "--flights", s->flights);
    if (s->common.courses) step_pair(&step, "--courses", s->common.courses);
    step_add(&step, "--resume");
    step_common(&step, &s->common);
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
// venue that was never seen is null already, so that is flown in the venues of training.
static int evaluate_row(const Study *s, const Row *row)
{
    static Step step;
    char json[STEP_WORD_SIZE], file[STEP_WORD_SIZE];
    int grouping = row->protocol == WITHIN ? WITHIN : ZERO_SHOT;
    int train = grouping == WITHIN ? 6 : 2, held_out = grouping == WITHIN ? 2 : 4;
    step_file(json, s->folder, row->file);
    step_begin(&step, "gate eval");
    step_file(file, s->folder, models[row->model].file);
    step_pair(&step, "--policy", file);
    step_pair(&step, "--mode", row->mode);
    if (row->open) step_pair(&step, "--open", row->open);
    add_hold_outs(&step, grouping);
    if (row->protocol == ALL_TASKS && row->open) held_out = 0;
    if (row->protocol == ALL_TASKS && !row->open) train = 0;
    add_trials(&step, "--train", s->train, train);
    add_trials(&step, "--held-out", s->held_out, held_out);
    if (s->common.courses) step_pair(&step, "--courses", s->common.courses);
    step_pair(&step, "--json", json);
    step_common(&step, &s->common);
    return step_run(&step, cmd_gate_eval);
}

// ---- All of it --------------------------------------------------------------------------------

typedef struct Part {
    enum { DEMOS, TRAINING, TRIALS } kind;
    int index; // of the protocol, the model or the row
} Part;

enum { PARTS = PROTOCOLS + MODELS + ROWS };

static void list_parts(Part parts[PARTS])
{
    int count = 0;
    for (int i = 0; i < PROTOCOLS; i++) parts[count++] = (Part){DEMOS, i};
    for (int i = 0; i < MODELS; i++) parts[count++] = (Part){TRAINING, i};
    for (int i = 0; i < ROWS; i++) parts[count++] = (Part){TRIALS, i};
}

static bool is_done(const Study *s, Part part)
{
    char file[STEP_WORD_SIZE], name[STEP_WORD_SIZE];
    const char *made = part.kind == DEMOS      ? demo_files[part.index]
                       : part.kind == TRAINING ? models[part.index].file
                                               : rows[part.index].file;
    step_file(file, s->folder, made);
    if (!file_exists(file)) return false;
    snprintf(name, sizeof name, "%.90s.ckpt", made);
    step_file(file, s->folder, name);
    return !file_exists(file); // a training that was cut short has one
}

// How long a part takes, in seconds on two slow cores.
static double expected_seconds(const Study *s, Part part)
{
    if (part.kind == DEMOS) return 0.24 * s->demos;
    if (part.kind == TRIALS) return 70.0;
    double update = models[part.index].composed_loss ? 0.09 : 0.06;
    return update * s->updates + 0.4 * s->rounds * s->flights;
}

static int run_part(const Study *s, Part part)
{
    if (part.kind == DEMOS) return make_demos(s, part.index);
    if (part.kind == TRAINING) return train_model(s, &models[part.index]);
    return evaluate_row(s, &rows[part.index]);
}

// Parts of one stage do not need each other. All frames first; a training that takes another's
// encoder over comes after it.
enum { STAGES = 4 };

static int stage_of(Part part)
{
    if (part.kind == DEMOS) return 0;
    if (part.kind == TRIALS) return 3;
    return models[part.index].encoder_from ? 2 : 1;
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
static int run_stage(const Study *s, const Part parts[PARTS], const bool done[PARTS], int stage,
                     Progress *progress)
{
    FacetRanks *ranks = team_ranks();
    int code = EXIT_DONE, turn = 0;
    if (stage > 0) team_part();
    for (int i = 0; i < PARTS && code == EXIT_DONE; i++) {
        if (done[i] || stage_of(parts[i]) != stage) continue;
        bool mine = stage == 0 || ranks_mine(ranks, turn++);
        if (mine) code = run_part(s, parts[i]);
        if (mine && code == EXIT_DONE && (stage > 0 || team_leads()))
            progress_add(progress, (long)expected_seconds(s, parts[i]), NULL);
    }
    team_meet();
    return (int)-ranks_least(ranks, -code);
}

// Runs what is not there yet.
static int run_parts(const Study *s)
{
    Part parts[PARTS];
    bool done[PARTS];
    long expected = 0;
    double start = step_clock();
    int code = EXIT_DONE;
    list_parts(parts);
    for (int i = 0; i < PARTS; i++) done[i] = is_done(s, parts[i]);
    ranks_broadcast(team_ranks(), 0, done, sizeof done);
    for (int i = 0; i < PARTS; i++)
        if (!done[i]) expected += (long)expected_seconds(s, parts[i]);
    RanksWatch watch;
    Progress progress;
    ranks_watch_begin(&watch, team_ranks(), &(FacetProgress){show_left, &start});
    progress_begin(&progress, &watch.progress, "study", expected);
    for (int stage = 0; stage < STAGES && code == EXIT_DONE; stage++)
        code = run_stage(s, parts, done, stage, &progress);
    progress_end(&progress);
    if (code == EXIT_DONE) ranks_watch_end(&watch);
    return code;
}

// ---- Its results ------------------------------------------------------------------------------

typedef struct Rates {
    FacetGateTally train, held_out;
} Rates;

static FacetStatus read_tally(FacetGateTally *tally, const JsonRef *root, const char *key)
{
    JsonRef at;
    *tally = (FacetGateTally){0};
    TRY(json_member(&at, root, key));
    return study_read_counts(tally, &at);
}

static FacetStatus read_rates(Rates *rates, const Study *s, const Row *row)
{
    char path[STEP_WORD_SIZE];
    Json *document;
    step_file(path, s->folder, row->file);
    TRY(json_read(&document, path));
    JsonRef root = json_root(document, path);
    FacetStatus status = read_tally(&rates->train, &root, "train");
    if (status.ok) status = read_tally(&rates->held_out, &root, "held_out");
    json_free(document);
    return status;
}

static void set_paper(Json *paper, const char *split, PaperRates rates)
{
    if (isnan(rates.success)) return;
    Json *object = json_object();
    json_set_number(object, "success", rates.success);
    if (!isnan(rates.crash)) json_set_number(object, "crash", rates.crash);
    json_set(paper, split, object);
}

static Json *row_json(const Row *row, const Rates *rates, const char *key)
{
    Json *object = json_object(), *paper = json_object();
    json_set_string(object, key, row->name);
    json_set(object, "train", json_from_tally(rates->train));
    json_set(object, "held_out", json_from_tally(rates->held_out));
    set_paper(paper, "train", paper_gate_row(row->paper).training);
    set_paper(paper, "held_out", paper_gate_row(row->paper).held_out);
    json_set(object, "paper", paper);
    return object;
}

static Json *study_json(const Rates *rates)
{
    static const struct {
        const char *name, *title;
    } protocols[] = {{"zero-shot", "Zero-shot venue: pool is never seen in training"},
                     {"within-venue", "Within venues: 25 of 30 triples of colour, gate and side "
                                      "are never seen in training"}};
    Json *study = json_object(), *list = json_array(), *ablations = json_array();
    for (int p = 0; p < ALL_TASKS; p++) {
        Json *protocol = json_object(), *array = json_array();
        json_set_string(protocol, "name", protocols[p].name);
        json_set_string(protocol, "title", protocols[p].title);
        for (int i = 0; i < ROWS; i++)
            if (rows[i].protocol == p) json_push(array, row_json(&rows[i], &rates[i], "method"));
        json_set(protocol, "rows", array);
        json_push(list, protocol);
    }
    for (int i = 0; i < ROWS; i++)
        if (rows[i].protocol == ALL_TASKS)
            json_push(ablations, row_json(&rows[i], &rates[i], "name"));
    json_set(study, "protocols", list);
    json_set(study, "ablations", ablations);
    return study;
}

static FacetStatus show_study(const Study *s, const char *command)
{
    Rates rates[ROWS];
    char path[STEP_WORD_SIZE];
    for (int i = 0; i < ROWS; i++) TRY(read_rates(&rates[i], s, &rows[i]));
    Json *document = study_json(rates);
    json_set_origin(document, command, s->common.seed);
    print_document(stdout, NULL, INPUT_GATE_STUDY, document);
    step_file(path, s->folder, "study.json");
    return json_write(document, s->common.json ? s->common.json : path);
}

int cmd_gate_study(int argc, char **argv)
{
    Study s = {.common = common_defaults(),
               .folder = "out/gate",
               .demos = 600,
               .updates = 5000,
               .rounds = 2,
               .flights = 100};
    const Option options[] = {
        option_text("out", &s.folder, "DIR", "folder for frames, policies and results"),
        option_int("demos", &s.demos, "N", 1, 1 << 20, "the expert's flights of a protocol"),
        option_int("updates", &s.updates, "N", 1, 1 << 24, "of every training"),
        option_int("rounds", &s.rounds, "N", 1, FACET_GATE_ROUNDS_MAX, "of DAgger"),
        option_int("flights", &s.flights, "N", 1, 1 << 20, "of a round"),
        option_int("train", &s.train, "N", 0, 1000, "trials a training task, 0 for the paper's"),
        option_int("held-out", &s.held_out, "N", 0, 1000, "trials a held-out task, 0 for the same"),
    };
    const Usage usage = {
        .command = "gate study",
        .description =
            "The paper's vision study from nothing: frames, nine trainings with DAgger, "
            "trials, and the tables with the paper's beside ours. Started again, it goes "
            "on where it stopped; other settings need another folder.",
        .example = "facet gate study --out out/gate",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &s.common,
    };
    int code;
    char command[1024];
    if (!args_parse(&code, &usage, argc, argv)) return code;
    command_text(command, sizeof command, argc, argv);
    FacetStatus status = ranks_agree(team_ranks(), file_make_folder(s.folder));
    if (!status.ok) return command_failed(usage.command, status);
    code = run_parts(&s);
    if (code != EXIT_DONE) return code;
    status = team_leads() ? show_study(&s, command) : status_ok();
    status = ranks_agree(team_ranks(), status);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
