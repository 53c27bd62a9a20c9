// facet study leave-one-out (see study_leave_one_out.h).
//
// Every training is a command that a person could type, and one whose policy is there is left out.
// Ranks deal the trainings out. What the policies plan is measured anew each time: it takes
// seconds.
#include "study_leave_one_out.h"

#include "cells.h"
#include "commands.h"
#include "interrupt.h"
#include "paper/paper.h"
#include "policy/policy.h"
#include "race/leave_one_out.h"
#include "report/tables.h"
#include "show_race.h"
#include "steps.h"
#include "team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECIPES_MAX = 8, PAIRS_MAX = 256 };

typedef struct LeaveOneOut {
    CommonOptions common;
    StudyOptions study;
    const char *folder;
    TextList weights;              // of the composed loss, as they were typed
    double weight[RECIPES_MAX];    // of each recipe …
    double agreement[RECIPES_MAX]; // … and of the agreement of composed and joint
    int recipes;
    int epochs, blocks, channels;
    int steps, plans; // of sampling, and a pair
    double alpha;     // of the second bound
    bool check;       // looks at what the course holds out
    char command[1024];
    const FacetRace *race;
    TrainingPair pairs[PAIRS_MAX]; // those that can be left out first
    int pair_count, left_out;      // of all, and of those first ones
} LeaveOneOut;

// ---- Trainings ----------------------------------------------------------------------------------

// The policy of a recipe without a pair; `pair` = left_out is the one that learns all.
static void policy_file(char out[STEP_WORD_SIZE], const LeaveOneOut *s, int recipe, int pair)
{
    const FacetCourse *course = s->race->course;
    char name[140], losses[40] = "";
    if (s->agreement[recipe] > 0.0)
        snprintf(losses, sizeof losses, "w%g-a%g", s->weight[recipe], s->agreement[recipe]);
    else
        snprintf(losses, sizeof losses, "w%g", s->weight[recipe]);
    if (pair == s->left_out)
        snprintf(name, sizeof name, "%s-all.safetensors", losses);
    else
        snprintf(name, sizeof name, "%s-without-%.32s-%.32s.safetensors", losses,
                 course->tracks[s->pairs[pair].task.track].name,
                 course->openings[s->pairs[pair].task.opening].name);
    step_file(out, s->folder, name);
}

static void demos_file(char out[STEP_WORD_SIZE], const LeaveOneOut *s)
{
    step_file(out, s->folder, "demos.h5");
}

static int train_policy(const LeaveOneOut *s, int recipe, int pair)
{
    static Step step;
    char text[STEP_WORD_SIZE];
    const FacetCourse *course = s->race->course;
    step_begin(&step, "train");
    demos_file(text, s);
    step_pair(&step, "--data", text);
    policy_file(text, s, recipe, pair);
    step_pair(&step, "--out", text);
    snprintf(text, sizeof text, "%g", s->weight[recipe]);
    step_pair(&step, "--composed-loss", text);
    snprintf(text, sizeof text, "%g", s->agreement[recipe]);
    if (s->agreement[recipe] > 0.0) step_pair(&step, "--agreement", text);
    step_number(&step, "--epochs", s->epochs);
    step_number(&step, "--blocks", s->blocks);
    step_number(&step, "--channels", s->channels);
    if (course->held_out_count > 0) step_pair(&step, "--hold-out", "course");
    if (course->held_out_count > 0 && s->common.courses)
        step_pair(&step, "--courses", s->common.courses);
    if (pair < s->left_out) {
        snprintf(text, sizeof text, "%.60s/%.60s", course->tracks[s->pairs[pair].task.track].name,
                 course->openings[s->pairs[pair].task.opening].name);
        step_pair(&step, "--hold-out", text);
    }
    step_add(&step, "--resume");
    step_common(&step, &s->common);
    return step_run(&step, cmd_train);
}

// Those of all recipes: one after the other, the network that learns all first.
static void training_file(char out[STEP_WORD_SIZE], const void *study, int index)
{
    const LeaveOneOut *s = study;
    int each = s->left_out + 1;
    policy_file(out, s, index / each, s->left_out - index % each);
}

static int make_training(const void *study, int index)
{
    const LeaveOneOut *s = study;
    int each = s->left_out + 1;
    return train_policy(s, index / each, s->left_out - index % each);
}

static int train_all(const LeaveOneOut *s)
{
    char demos[STEP_WORD_SIZE];
    demos_file(demos, s);
    int code = cells_demos(demos, &s->common);
    if (code != EXIT_DONE) return code;
    return cells_make(&(Cells){.name = "trainings",
                               .count = s->recipes * (s->left_out + 1),
                               .file = training_file,
                               .make = make_training,
                               .study = s});
}

// ---- Results ------------------------------------------------------------------------------------

// What the policies of one recipe do.
typedef struct RecipeResults {
    PairResult left_out[PAIRS_MAX];
    PairResult *held_out; // [held_out], of the network that learned all
    double *apart;        // [held_out][left_out], m: d_i of jackknife+
    FacetKeypoint *all;   // [held_out][plans][32], of the network that learned all …
    FacetKeypoint *plans; // … and of another
    FacetPolicyInfo about;
} RecipeResults;

static int held_out_count(const LeaveOneOut *s)
{
    return s->check ? s->race->course->held_out_count : 0;
}

static FacetStatus results_prepare(RecipeResults *r, const LeaveOneOut *s)
{
    size_t held = (size_t)held_out_count(s) + 1;
    size_t keypoints = held * (size_t)s->plans * FACET_CHUNK_KEYPOINTS;
    r->held_out = calloc(held, sizeof *r->held_out);
    r->apart = calloc(held * (size_t)s->left_out, sizeof *r->apart);
    r->all = calloc(keypoints, sizeof *r->all);
    r->plans = calloc(keypoints, sizeof *r->plans);
    if (!r->held_out || !r->apart || !r->all || !r->plans)
        return status_fail(FACET_NO_MEMORY, "out of memory for the results");
    return status_ok();
}

static void results_free(RecipeResults *r)
{
    free(r->held_out);
    free(r->apart);
    free(r->all);
    free(r->plans);
}

// The network that learned all pairs: what it does with those that the course holds out.
static FacetStatus measure_all(RecipeResults *r, const LeaveOneOut *s, const FacetPolicy *policy,
                               const FacetPolicySampling *how)
{
    PairPlans held = {s->race->course->held_out, held_out_count(s), s->plans, how->seed, r->all};
    r->about = facet_policy_info(policy);
    if (held.count == 0) return status_ok();
    TRY(pairs_plan(&held, s->race, policy, how, interrupt_progress()));
    return pairs_measure(r->held_out, s->race, &held, interrupt_progress());
}

// How far the joint plans of a pair are from its composed ones of the same noise.
static FacetStatus measure_apart(double *apart, const LeaveOneOut *s, const FacetPolicy *policy,
                                 const FacetPolicySampling *how, const PairPlans *composed)
{
    FacetPolicySampling together = *how;
    together.mode = FACET_POLICY_JOINT;
    PairPlans joint = *composed;
    joint.plans = calloc((size_t)s->plans * FACET_CHUNK_KEYPOINTS, sizeof *joint.plans);
    if (!joint.plans) return status_fail(FACET_NO_MEMORY, "out of memory for the plans");
    FacetStatus status = pairs_plan(&joint, s->race, policy, &together, interrupt_progress());
    *apart = plans_apart(composed->plans, joint.plans, s->plans);
    free(joint.plans);
    return status;
}

// The network without a pair: what it does with that pair, and where its plans of those that the
// course holds out differ.
static FacetStatus measure_pair(RecipeResults *r, const LeaveOneOut *s, const FacetPolicy *policy,
                                const FacetPolicySampling *how, int pair)
{
    PairPlans own = {&s->pairs[pair].task, 1, s->plans, how->seed, r->plans};
    TRY(pairs_plan(&own, s->race, policy, how, interrupt_progress()));
    TRY(pairs_measure(&r->left_out[pair], s->race, &own, interrupt_progress()));
    TRY(measure_apart(&r->left_out[pair].apart, s, policy, how, &own));
    PairPlans held = {s->race->course->held_out, held_out_count(s), s->plans, how->seed, r->plans};
    if (held.count == 0) return status_ok();
    TRY(pairs_plan(&held, s->race, policy, how, interrupt_progress()));
    for (int h = 0; h < held.count; h++) {
        size_t at = (size_t)h * (size_t)s->plans * FACET_CHUNK_KEYPOINTS;
        r->apart[h * s->left_out + pair] = plans_apart(r->plans + at, r->all + at, s->plans);
    }
    return status_ok();
}

static FacetStatus measure_recipe(RecipeResults *r, const LeaveOneOut *s, int recipe)
{
    const FacetPolicySampling how = {.steps = s->steps, .seed = s->common.seed};
    TRY(results_prepare(r, s));
    for (int pair = s->left_out; pair >= 0; pair--) {
        char file[STEP_WORD_SIZE];
        FacetPolicy *policy;
        policy_file(file, s, recipe, pair);
        TRY(facet_policy_load(&policy, file));
        FacetStatus status = pair == s->left_out ? measure_all(r, s, policy, &how)
                                                 : measure_pair(r, s, policy, &how, pair);
        facet_policy_destroy(policy);
        TRY(status);
    }
    return status_ok();
}

static Json *json_from_pair(const LeaveOneOut *s, const PairResult *result)
{
    Json *out = json_object();
    json_set_task(out, s->race->course, result->task);
    json_set_numbers(out, {"largest_m", result->largest}, {"mean_m", result->mean},
                     {"speed_ratio", result->speed}, {"passed", result->passed},
                     {"crossings", result->gates}, {"crashes", result->crashes});
    return out;
}

// The bound of a member of the left-out pairs' results.
static double bound_of(const RecipeResults *r, int count, double alpha, bool mean)
{
    double errors[PAIRS_MAX];
    for (int i = 0; i < count; i++) errors[i] = mean ? r->left_out[i].mean : r->left_out[i].largest;
    return conformal_bound(errors, count, alpha);
}

// Jackknife+: the bound for one new pair.
static double bound_plus(const RecipeResults *r, int count, double alpha, int held_out)
{
    double errors[PAIRS_MAX];
    for (int i = 0; i < count; i++)
        errors[i] = r->left_out[i].largest + r->apart[held_out * count + i];
    return conformal_bound(errors, count, alpha);
}

// The least alpha that so many pairs can speak for, and the one asked for.
static Json *json_from_bounds(const LeaveOneOut *s, const RecipeResults *r)
{
    const double alphas[] = {1.0 / (s->left_out + 1), s->alpha};
    Json *out = json_array();
    for (int i = 0; i < 2; i++) {
        if (i > 0 && s->alpha <= alphas[0]) break;
        Json *bound = json_object();
        json_set_numbers(bound, {"alpha", alphas[i]}, {"confidence", 1.0 - alphas[i]},
                         {"largest_m", bound_of(r, s->left_out, alphas[i], false)},
                         {"mean_m", bound_of(r, s->left_out, alphas[i], true)});
        json_push(out, bound);
    }
    return out;
}

static Json *json_from_check(const LeaveOneOut *s, const RecipeResults *r)
{
    double least = 1.0 / (s->left_out + 1);
    double radius = bound_of(r, s->left_out, least, false);
    Json *out = json_array();
    for (int h = 0; h < held_out_count(s); h++) {
        Json *pair = json_from_pair(s, &r->held_out[h]);
        double plus = bound_plus(r, s->left_out, least, h);
        json_set_bool(pair, "held_out", true);
        json_set_bool(pair, "within", r->held_out[h].largest <= radius);
        json_set_number(pair, "jackknife_m", plus);
        json_set_bool(pair, "within_jackknife", r->held_out[h].largest <= plus);
        json_push(out, pair);
    }
    return out;
}

static Json *json_from_recipe(const LeaveOneOut *s, const RecipeResults *r, int recipe)
{
    Json *out = json_object(), *pairs = json_array();
    json_set_numbers(out, {"composed_loss", s->weight[recipe]},
                     {"parameters", (double)r->about.parameters});
    if (s->agreement[recipe] > 0.0) json_set_number(out, "agreement", s->agreement[recipe]);
    for (int i = 0; i < s->left_out; i++) {
        Json *pair = json_from_pair(s, &r->left_out[i]);
        json_set_number(pair, "joint_apart_m", r->left_out[i].apart);
        json_push(pairs, pair);
    }
    json_set(out, "pairs", pairs);
    json_set(out, "bounds", json_from_bounds(s, r));
    if (s->check) json_set(out, "check", json_from_check(s, r));
    return out;
}

// The pairs that cannot be left out, and why.
static Json *json_from_kept(const LeaveOneOut *s)
{
    const FacetCourse *course = s->race->course;
    Json *out = json_array();
    for (int i = s->left_out; i < s->pair_count; i++) {
        const TrainingPair *pair = &s->pairs[i];
        Json *entry = json_object();
        json_set_task(entry, course, pair->task);
        json_set_string(entry, "only_one_with",
                        pair->track_again ? course->openings[pair->task.opening].name
                                          : course->tracks[pair->task.track].name);
        json_push(out, entry);
    }
    return out;
}

static FacetStatus show_results(const LeaveOneOut *s)
{
    char path[STEP_WORD_SIZE];
    Json *document = json_object(), *recipes = json_array();
    json_set_origin(document, s->command, s->common.seed);
    json_set_numbers(document, {"blocks", s->blocks}, {"channels", s->channels},
                     {"epochs", s->epochs}, {"steps", s->steps}, {"plans", s->plans});
    json_set(document, "kept", json_from_kept(s));
    FacetStatus status = status_ok();
    for (int i = 0; i < s->recipes && status.ok; i++) {
        RecipeResults *r = calloc(1, sizeof *r);
        status = r ? measure_recipe(r, s, i)
                   : status_fail(FACET_NO_MEMORY, "out of memory for the results");
        if (status.ok) json_push(recipes, json_from_recipe(s, r, i));
        if (r) results_free(r);
        free(r);
    }
    json_set(document, "recipes", recipes);
    if (!status.ok) {
        json_free(document);
        return status;
    }
    print_document(stdout, s->race, INPUT_LEAVE_ONE_OUT, document);
    step_file(path, s->folder, "leave-one-out.json");
    return json_write(document, s->common.json ? s->common.json : path);
}

// ---- The command --------------------------------------------------------------------------------

// Lists the pairs, those that can be left out first.
static FacetStatus list_pairs(LeaveOneOut *s)
{
    TrainingPair found[PAIRS_MAX];
    if (facet_race_task_max(s->race) > PAIRS_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "expected a course of at most %d pairs, found %d",
                           PAIRS_MAX, facet_race_task_max(s->race));
    int count = training_pairs(found, s->race);
    for (int pass = 1; pass >= 0; pass--)
        for (int i = 0; i < count; i++)
            if (pair_can_be_left_out(&found[i]) == (pass == 1)) {
                s->pairs[s->pair_count++] = found[i];
                s->left_out += pass;
            }
    if (s->left_out == 0)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected a course with a training pair whose track and size other "
                           "training pairs have, found none");
    return status_ok();
}

static FacetStatus open_study(FacetRace **race, FileLock *lock, LeaveOneOut *s)
{
    char course[STEP_COURSE_SIZE], settings[300];
    TRY(study_open(race, &s->common, &s->study));
    s->race = *race;
    TRY(list_pairs(s));
    TRY(ranks_agree(team_ranks(), step_course(course, s->common.courses, ".")));
    snprintf(settings, sizeof settings, "seed %llu, epochs %d, blocks %d, channels %d, course %s",
             (unsigned long long)s->common.seed, s->epochs, s->blocks, s->channels, course);
    return step_folders(lock, s->folder, NULL, "demos.h5", settings);
}

int study_leave_one_out(int argc, char **argv)
{
    static LeaveOneOut s;
    s = (LeaveOneOut){.common = common_defaults(),
                      .study = {.preset = "race"},
                      .folder = "out/leave-one-out",
                      .epochs = 100,
                      .blocks = 3,
                      .channels = 160,
                      .steps = PAPER_STEPS,
                      .plans = 5,
                      .alpha = 0.2};
    const Option options[] = {
        fills(
            option_text("out", &s.folder, "DIR", "folder for demonstrations, policies and results"),
            "!leave-one-out.json *"),
        option_list("composed-loss", &s.weights, "W[,A]",
                    "weight of the composed loss, 0 for the paper's, and of the agreement of "
                    "composed and joint; again for another recipe (default: 3)"),
        option_int("epochs", &s.epochs, "N", 1, 1 << 24, "of every training"),
        option_int("blocks", &s.blocks, "N", 1, 64, "residual blocks of every network"),
        option_int("channels", &s.channels, "N", 1, 4096, "width of every network"),
        option_int("steps", &s.steps, "N", 1, 1000, "denoising steps of a plan"),
        option_int("plans", &s.plans, "N", 1, 1000, "of a pair, with the seeds that follow"),
        option_double("alpha", &s.alpha, "A", 0.0, 0.999,
                      "of a second bound, beside the least that the pairs can speak for"),
        option_flag("check", &s.check,
                    "also look at what the course holds out: once, when all is chosen"),
    };
    const Usage usage = {
        .command = "study leave-one-out",
        .description =
            "Trains without each training pair of track and size in turn, and measures how far "
            "the composed plans of that pair are from the expert's: a bound for a pair that nobody "
            "has flown, and the place to choose recipes, for without --check it does not look at "
            "what the course holds out. Started again, it goes on where it stopped, and a recipe "
            "that is added later is trained beside the others.",
        .example = "facet study leave-one-out --json leave-one-out.json\n"
                   "facet study leave-one-out --composed-loss 3,10 --composed-loss 0 --check",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &s.common,
    };
    int code;
    if (!args_parse(&code, &usage, argc, argv)) return code;
    command_text(s.command, sizeof s.command, argc, argv);
    if (s.weights.count == 0) s.weights = (TextList){{"3"}, 1};
    FacetStatus status = cells_losses(s.weight, s.agreement, &s.recipes, &s.weights, RECIPES_MAX);
    if (!status.ok) return command_misused(usage.command, status);
    interrupt_watch();
    FacetRace *race = NULL;
    FileLock lock = {.descriptor = -1};
    status = open_study(&race, &lock, &s);
    if (!status.ok) {
        study_close(race);
        return command_failed(usage.command, status);
    }
    code = train_all(&s);
    if (code == EXIT_DONE) {
        status = team_leads() ? show_results(&s) : status_ok();
        status = ranks_agree(team_ranks(), status);
        if (!status.ok) code = command_failed(usage.command, status);
    }
    lock_drop(&lock);
    study_close(race);
    return step_ended(usage.command, code);
}
