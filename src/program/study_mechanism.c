// facet study mechanism: what in the network makes composition work.
//
// The exact composed score of the training tasks leads to another track, so that what composes is
// the network's own bias. Small networks that differ in one thing each, how far they see, whether
// they know where a keypoint stands, how wide an embedding is, whether factors are ever hidden, and
// a U-Net are trained with the same number of updates without some of the training pairs
// (race/leave_one_out.h), and plan those pairs, composed and joint. What the course holds out is
// neither trained on nor looked at.
#include "study_mechanism.h"

#include "cells.h"
#include "commands.h"
#include "interrupt.h"
#include "mechanism_cells.h"
#include "mechanism_unet.h"
#include "paper/paper.h"
#include "report/tables.h"
#include "show_race.h"
#include "team.h"

#include <stdio.h>
#include <stdlib.h>

enum { LOSSES_MAX = 4, FOLD_PAIRS_MAX = 40 };

// An operation of the U-Net takes so many times as long as one of the others, as measured.
enum { UNET_SLOWER = 5 };

typedef struct Mechanism {
    CommonOptions common;
    const char *folder, *cells; // cells NULL for the folder
    TextList names, weights;    // of variants and of the composed loss, as they were typed
    int variants[MECHANISM_VARIANTS], variant_count;
    double losses[LOSSES_MAX];
    int loss_count, folds, updates, channels, steps, plans;
    char command[COMMAND_TEXT];
    const FacetRace *race;
    TrainingPair pairs[MECHANISM_PAIRS_MAX];
    int fold[MECHANISM_PAIRS_MAX], pair_count;
} Mechanism;

static const char *cells_folder(const Mechanism *s) { return s->cells ? s->cells : s->folder; }

static void pair_name(char out[2 * FACET_COURSE_NAME_MAX + 2], const Mechanism *s, int pair)
{
    const FacetCourse *course = s->race->course;
    snprintf(out, 2 * FACET_COURSE_NAME_MAX + 2, "%s/%s",
             course->tracks[s->pairs[pair].task.track].name,
             course->openings[s->pairs[pair].task.opening].name);
}

// ---- Cells --------------------------------------------------------------------------------------

static int cell_count(const Mechanism *s) { return s->folds * s->loss_count * s->variant_count; }

// Fold by fold, so that what is there at any time compares all variants on the same pairs.
static MechanismCell cell_at(const Mechanism *s, int index)
{
    int loss = index / s->variant_count % s->loss_count;
    return (MechanismCell){.variant = s->variants[index % s->variant_count],
                           .fold = index / s->variant_count / s->loss_count,
                           .composed_loss = s->losses[loss]};
}

static void cell_file(char out[STEP_WORD_SIZE], const void *study, int index)
{
    const Mechanism *s = study;
    mechanism_file(out, cells_folder(s), cell_at(s, index), "json");
}

static int train_policy(const Mechanism *s, MechanismCell cell, const char *policy)
{
    static Step step;
    char text[STEP_WORD_SIZE];
    const MechanismVariant *v = &mechanism_variants[cell.variant];
    if (file_exists(policy)) return EXIT_DONE;
    step_begin(&step, "train");
    step_file(text, s->folder, "demos.h5");
    step_pair(&step, "--data", text);
    step_pair(&step, "--out", policy);
    snprintf(text, sizeof text, "%g", cell.composed_loss);
    step_pair(&step, "--composed-loss", text);
    step_number(&step, "--updates", s->updates);
    step_number(&step, "--blocks", v->blocks);
    step_number(&step, "--channels", s->channels);
    step_number(&step, "--embed", v->embed);
    if (v->dilation) step_pair(&step, "--dilation", v->dilation);
    if (v->no_position) step_add(&step, "--no-position");
    if (v->drop) step_pair(&step, "--drop", v->drop);
    bool holds_out = s->race->course->held_out_count > 0;
    if (holds_out) step_pair(&step, "--hold-out", "course");
    if (holds_out && s->common.courses) step_pair(&step, "--courses", s->common.courses);
    for (int i = 0; i < s->pair_count; i++) {
        if (s->fold[i] != cell.fold) continue;
        pair_name(text, s, i);
        step_pair(&step, "--hold-out", text);
    }
    step_add(&step, "--resume");
    step_common(&step, &s->common);
    return step_run(&step, cmd_train);
}

// What a cell's training gave: one of the two.
typedef struct Trained {
    FacetPolicy *policy;
    UnetPolicy *unet;
} Trained;

static void trained_free(Trained *trained)
{
    facet_policy_destroy(trained->policy);
    unet_policy_free(trained->unet);
}

static FacetStatus train_unet(UnetPolicy **policy, const Mechanism *s, MechanismCell cell,
                              const char *file)
{
    char data[STEP_WORD_SIZE], names[FOLD_PAIRS_MAX][2 * FACET_COURSE_NAME_MAX + 2];
    MechanismUnet unet = {.data = data,
                          .out = file,
                          .composed_loss = cell.composed_loss,
                          .drop = mechanism_variants[cell.variant].drop,
                          .updates = s->updates,
                          .channels = s->channels,
                          .embed = mechanism_variants[cell.variant].embed,
                          .command = s->command};
    CommonOptions common = s->common;
    TextList *hold_out = &unet.hold_out;
    step_file(data, s->folder, "demos.h5");
    if (s->race->course->held_out_count > 0)
        hold_out->items[hold_out->count++] = "course";
    else
        common.courses = NULL; // nobody asks for its list
    for (int i = 0, n = 0; i < s->pair_count; i++) {
        if (s->fold[i] != cell.fold) continue;
        pair_name(names[n], s, i);
        hold_out->items[hold_out->count++] = names[n++];
    }
    return mechanism_unet_train(policy, &unet, &common, s->race->pool);
}

// Plans and flies all training pairs, composed and joint.
static FacetStatus measure(PairResult *results[2], const Mechanism *s, const Trained *trained)
{
    static const FacetPolicyMode modes[2] = {FACET_POLICY_COMPOSED, FACET_POLICY_JOINT};
    FacetCourseTask tasks[MECHANISM_PAIRS_MAX];
    size_t plans = (size_t)s->pair_count * (size_t)s->plans;
    FacetKeypoint *keypoints = calloc(plans * FACET_CHUNK_KEYPOINTS, sizeof *keypoints);
    if (!keypoints) return status_fail(FACET_NO_MEMORY, "out of memory for the plans");
    PairPlans pairs = {tasks, s->pair_count, s->plans, s->common.seed, keypoints};
    FacetStatus status = status_ok();
    for (int i = 0; i < s->pair_count; i++) tasks[i] = s->pairs[i].task;
    for (int m = 0; m < 2 && status.ok; m++) {
        const FacetPolicySampling how = {.mode = modes[m], .steps = s->steps};
        status = trained->unet
                     ? mechanism_unet_plan(&pairs, s->race, trained->unet, modes[m], s->steps,
                                           interrupt_progress())
                     : pairs_plan(&pairs, s->race, trained->policy, &how, interrupt_progress());
        if (status.ok) status = pairs_measure(results[m], s->race, &pairs, interrupt_progress());
    }
    free(keypoints);
    return status;
}

static double parameters_of(const Trained *trained)
{
    return trained->unet ? (double)trained->unet->net->table.parameters
                         : (double)facet_policy_info(trained->policy).parameters;
}

static FacetStatus write_cell(const Mechanism *s, MechanismCell cell, const Trained *trained,
                              const char *path)
{
    static PairResult results[2][MECHANISM_PAIRS_MAX];
    double references[MECHANISM_PAIRS_MAX];
    for (int i = 0; i < s->pair_count; i++)
        references[i] = facet_race_reference_speed(s->race, s->pairs[i].task);
    TRY(measure((PairResult *[]){results[0], results[1]}, s, trained));
    const MechanismResults measured = {.count = s->pair_count,
                                       .fold = s->fold,
                                       .modes = {results[0], results[1]},
                                       .references = references,
                                       .parameters = parameters_of(trained)};
    Json *document = json_from_mechanism(&measured, s->race->course, cell);
    json_set_origin(document, s->command, s->common.seed);
    return json_write(document, path);
}

static int make_cell(const void *study, int index)
{
    const Mechanism *s = study;
    MechanismCell cell = cell_at(s, index);
    Trained trained = {0};
    char file[STEP_WORD_SIZE], path[STEP_WORD_SIZE];
    mechanism_file(file, s->folder, cell, "safetensors");
    cell_file(path, s, index);
    bool unet = mechanism_variants[cell.variant].unet;
    int code = unet ? EXIT_DONE : train_policy(s, cell, file);
    if (code != EXIT_DONE) return code;
    FacetStatus status =
        unet ? train_unet(&trained.unet, s, cell, file) : facet_policy_load(&trained.policy, file);
    if (status.ok) status = write_cell(s, cell, &trained, path);
    trained_free(&trained);
    return status.ok ? EXIT_DONE : command_failed("study mechanism", status);
}

// ---- What is to be done -------------------------------------------------------------------------

// Operations of the products of a forward pass of one row, 0 for sizes that make no network.
static double row_flops(const MechanismVariant *variant, int channels)
{
    ScoreNetConfig config = mechanism_network(variant, channels);
    ScoreNet *net = NULL;
    Unet *unet = NULL;
    double flops = 0.0;
    if (variant->unet && unet_create(&unet, unet_like(&config)).ok)
        flops = unet_flops(unet) * UNET_SLOWER;
    if (!variant->unet && score_net_create(&net, config).ok) flops = score_net_flops(net);
    unet_free(unet);
    score_net_free(net);
    return flops;
}

// Minutes that the trainings of cells which are not there take, by the operations of their
// products: an update takes its rows forwards once and backwards twice.
static double minutes_left(const Mechanism *s)
{
    const double speed = 100e9; // operations a second of such small networks, on two cores
    double operations = 0.0;
    for (int i = 0; i < cell_count(s); i++) {
        char path[STEP_WORD_SIZE];
        MechanismCell cell = cell_at(s, i);
        cell_file(path, s, i);
        if (file_exists(path)) continue;
        double rows = cell.composed_loss > 0.0 ? 40.0 : 16.0;
        operations +=
            3.0 * rows * s->updates * row_flops(&mechanism_variants[cell.variant], s->channels);
    }
    return operations / speed / 60.0;
}

static int make_cells(const Mechanism *s)
{
    char demos[STEP_WORD_SIZE];
    step_file(demos, s->folder, "demos.h5");
    int code = cells_demos(demos, &s->common);
    if (code != EXIT_DONE) return code;
    if (team_leads())
        printf("%d cells; training those that are missing takes about %.0f min on two cores\n",
               cell_count(s), minutes_left(s));
    return cells_make(&(Cells){
        .name = "cells", .count = cell_count(s), .file = cell_file, .make = make_cell, .study = s});
}

// The pairs that each fold leaves out.
static Json *json_from_folds(const Mechanism *s)
{
    Json *out = json_array();
    for (int f = 0; f < s->folds; f++) {
        Json *fold = json_array();
        for (int i = 0; i < s->pair_count; i++) {
            char name[2 * FACET_COURSE_NAME_MAX + 2];
            pair_name(name, s, i);
            if (s->fold[i] == f) json_push_string(fold, name);
        }
        json_push(out, fold);
    }
    return out;
}

static FacetStatus show_summary(const Mechanism *s)
{
    char path[STEP_WORD_SIZE];
    Json *document = json_object();
    json_set_origin(document, s->command, s->common.seed);
    json_set_numbers(document, {"channels", s->channels}, {"updates", s->updates},
                     {"steps", s->steps}, {"plans", s->plans});
    json_set(document, "folds", json_from_folds(s));
    FacetStatus status =
        mechanism_summary(document, cells_folder(s), s->losses, s->loss_count, s->channels);
    if (!status.ok) {
        json_free(document);
        return status;
    }
    printf("\n");
    print_document(stdout, s->race, INPUT_MECHANISM, document);
    step_file(path, s->folder, "mechanism.json");
    return json_write(document, s->common.json ? s->common.json : path);
}

// ---- The command --------------------------------------------------------------------------------

static FacetStatus choose_variants(Mechanism *s)
{
    bool wanted[MECHANISM_VARIANTS];
    for (int i = 0; i < MECHANISM_VARIANTS; i++) wanted[i] = s->names.count == 0;
    for (int i = 0; i < s->names.count; i++) {
        int index;
        TRY(mechanism_variant_find(&index, s->names.items[i]));
        wanted[index] = true;
    }
    for (int i = 0; i < MECHANISM_VARIANTS; i++)
        if (wanted[i]) s->variants[s->variant_count++] = i;
    return status_ok();
}

static FacetStatus choose_folds(Mechanism *s)
{
    if (facet_race_task_max(s->race) > MECHANISM_PAIRS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "expected a course of at most %d pairs, found %d",
                           MECHANISM_PAIRS_MAX, facet_race_task_max(s->race));
    s->pair_count = training_pairs(s->pairs, s->race);
    pair_folds(s->fold, s->pairs, s->pair_count, s->folds);
    for (int f = 0; f < s->folds; f++) {
        int count = 0;
        for (int i = 0; i < s->pair_count; i++) count += s->fold[i] == f;
        if (count < 1 || count > FOLD_PAIRS_MAX)
            return status_fail(FACET_BAD_ARGUMENT,
                               "expected 1 to %d pairs that fold %d of %d can leave out, found %d",
                               FOLD_PAIRS_MAX, f + 1, s->folds, count);
    }
    return status_ok();
}

static FacetStatus open_study(FacetRace **race, FileLock *lock, Mechanism *s)
{
    char course[STEP_COURSE_SIZE], settings[300];
    TRY(study_open(race, &s->common, &(StudyOptions){.preset = "race"}));
    s->race = *race;
    TRY(choose_folds(s));
    TRY(ranks_agree(team_ranks(), step_course(course, s->common.courses, ".")));
    snprintf(settings, sizeof settings,
             "seed %llu, folds %d, updates %d, channels %d, steps %d, plans %d, course %s",
             (unsigned long long)s->common.seed, s->folds, s->updates, s->channels, s->steps,
             s->plans, course);
    return step_folders(lock, s->folder, s->cells, "demos.h5", settings);
}

static int run(Mechanism *s)
{
    FacetRace *race = NULL;
    FileLock lock = {.descriptor = -1};
    FacetStatus status = open_study(&race, &lock, s);
    int code = EXIT_DONE;
    if (status.ok) code = make_cells(s);
    if (status.ok && code == EXIT_DONE)
        status = ranks_agree(team_ranks(), team_leads() ? show_summary(s) : status_ok());
    lock_drop(&lock);
    study_close(race);
    if (!status.ok) return command_failed("study mechanism", status);
    return step_ended("study mechanism", code);
}

int study_mechanism(int argc, char **argv)
{
    static Mechanism s;
    s = (Mechanism){.common = common_defaults(),
                    .folder = "out/mechanism",
                    .folds = 4,
                    .updates = 3000,
                    .channels = 96,
                    .steps = PAPER_STEPS,
                    .plans = 3};
    const Option options[] = {
        fills(
            option_text("out", &s.folder, "DIR", "folder for demonstrations, policies and results"),
            "!mechanism.json *"),
        fills(option_text("cells", &s.cells, "DIR",
                          "folder for the cells, VARIANT-wLOSS-FOLD.json; those that are there are "
                          "not made again (default: that of --out)"),
              "!mechanism.json *"),
        option_list("variant", &s.names, "NAME",
                    "this network alone: default, blocks-1, whole, unet and so on; again "
                    "for more"),
        option_list("composed-loss", &s.weights, "W",
                    "weight of the composed loss, 0 for the paper's; again for another (default: 0 "
                    "and 3)"),
        option_int("folds", &s.folds, "N", 1, MECHANISM_FOLDS_MAX,
                   "that the training pairs are dealt into, to be left out in turn"),
        option_int("updates", &s.updates, "N", 1, 1 << 24, "of every training"),
        option_int("channels", &s.channels, "N", 2, 4096, "width of every network"),
        option_int("steps", &s.steps, "N", 1, 1000, "denoising steps of a plan"),
        option_int("plans", &s.plans, "N", 1, 1000, "of a pair, with the seeds that follow"),
    };
    const Usage usage = {
        .command = "study mechanism",
        .description =
            "Trains small networks that differ in one thing each (how many keypoints an output "
            "sees, by blocks or by dilation; position embedding; width of the factors' "
            "embeddings; factor dropout), and a U-Net, "
            "without some of the training pairs, and measures their plans of those pairs, composed "
            "and joint. What the course holds out is not looked at. Started again, it goes on "
            "where it stopped.",
        .example = "facet study mechanism --cells results/mechanism --json results/mechanism.json\n"
                   "facet study mechanism --variant default --variant whole --composed-loss 0",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &s.common,
    };
    int code;
    if (!args_parse(&code, &usage, argc, argv)) return code;
    command_text(s.command, sizeof s.command, argc, argv);
    if (s.weights.count == 0) s.weights = (TextList){{"0", "3"}, 2};
    FacetStatus status = choose_variants(&s);
    if (status.ok) status = cells_losses(s.losses, NULL, &s.loss_count, &s.weights, LOSSES_MAX);
    if (!status.ok) return command_misused(usage.command, status);
    interrupt_watch();
    return run(&s);
}
