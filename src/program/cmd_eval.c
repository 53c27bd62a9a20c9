// facet eval: flies policies on every feasible task and prints the paper's tables with ours.
#include "bar.h"
#include "base/progress.h"
#include "commands.h"
#include "interrupt.h"
#include "json_eval.h"
#include "paper/paper.h"
#include "pilot.h"
#include "places.h"
#include "ranks/watch.h"
#include "report/tables.h"
#include "show_race.h"
#include "step_study.h"
#include "team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct EvalOptions {
    CommonOptions common;
    StudyOptions study;
    TextList files; // policies; none takes those that ship with Facet
    int steps, seeds;
    double temperature; // 0 for each policy's own
    bool no_sweep, no_plans, controls;
    TextList hold_out;          // tasks that an oracle is counted on as held out
    bool step_study;            // in place of the paper's tables
    char command[COMMAND_TEXT]; // for the record
} EvalOptions;

// The rows of the comparison, with their keys in the JSON. The paper's order.
static const struct {
    const char *method, *key;
    FacetPolicyMode mode;
    const char *alone; // the one factor that a control is told
} rows[] = {
    {"baseline", "baseline", FACET_POLICY_JOINT, NULL},
    {"knet", "knet", FACET_POLICY_COMPOSED, NULL},
    {"factored", "factored_composed", FACET_POLICY_COMPOSED, NULL},
    {"factored", "factored_joint", FACET_POLICY_JOINT, NULL},
    {"ours", "ours_composed", FACET_POLICY_COMPOSED, NULL},
    {"ours", "ours_joint", FACET_POLICY_JOINT, NULL},
    {"ours", "ours_track", FACET_POLICY_COMPOSED, "track"},
    {"oracle", "oracle", FACET_POLICY_COMPOSED, NULL},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

// ---- Flights ------------------------------------------------------------------------------------

// The policy of a row, NULL when the row is not asked for.
static const FacetPolicy *row_policy(const PolicySet *set, int row, const EvalOptions *options)
{
    return rows[row].alone && !options->controls ? NULL : policies_find(set, rows[row].method);
}

// One seed after the other, with all factors or with one of them alone.
static FacetStatus fly_row(EvalRun *run, const FacetRace *race, const FacetPolicy *policy, int row,
                           int first, const EvalOptions *options, const FacetProgress *progress)
{
    double weights[FACET_FACTOR_MAX] = {0};
    FacetPolicySampling sampling = {.mode = rows[row].mode,
                                    .steps = options->steps,
                                    .temperature = options->temperature,
                                    .seed = options->common.seed};
    if (rows[row].alone) {
        int factor;
        TRY(facet_factor_find(&factor, facet_policy_space(policy), rows[row].alone));
        weights[factor] = 1.0;
        sampling.weights = weights;
    }
    return eval_run_share(run, race, policy, &sampling, options->seeds, team_ranks(), first,
                          progress);
}

static FacetStatus fly_rows(Evaluation *evaluation, const FacetRace *race, const PolicySet *set,
                            const EvalOptions *options)
{
    int runs = 0;
    for (int i = 0; i < ROW_COUNT; i++) runs += row_policy(set, i, options) != NULL;
    FacetRanks *ranks = team_ranks();
    RanksWatch watch;
    Progress done;
    ranks_watch_begin(&watch, ranks, bar_open(options->common.quiet));
    progress_begin(&done, &watch.progress, "methods", (long)runs * options->seeds);
    const FacetProgress part = progress_part(&done);
    FacetStatus status = status_ok();
    for (int i = 0; i < ROW_COUNT && status.ok; i++) {
        const FacetPolicy *policy = row_policy(set, i, options);
        if (!policy) continue;
        EvalRow *row = &evaluation->rows[evaluation->row_count];
        row->key = rows[i].key;
        row->policy = policy;
        status = fly_row(&row->run, race, policy, i, evaluation->row_count * options->seeds,
                         options, &part);
        if (status.ok) evaluation->row_count++;
    }
    progress_end(&done);
    status = ranks_agree(ranks, status);
    if (!status.ok) return status;
    ranks_watch_end(&watch);
    for (int i = 0; i < evaluation->row_count; i++)
        eval_run_collect(&evaluation->rows[i].run, ranks, i * options->seeds);
    return status;
}

// One number of steps, composed or joint, of the sweep.
static FacetStatus fly_steps(FacetRaceTotals *totals, const FacetRace *race,
                             const FacetPolicy *policy, int steps, bool joint,
                             const EvalOptions *options, const FacetProgress *progress)
{
    const FacetPolicySampling sampling = {.mode =
                                              joint ? FACET_POLICY_JOINT : FACET_POLICY_COMPOSED,
                                          .steps = steps,
                                          .temperature = options->temperature,
                                          .seed = options->common.seed};
    EvalRun run;
    TRY(eval_run(&run, race, policy, &sampling, 1, progress));
    *totals = eval_totals(&run, 0);
    eval_run_free(&run);
    return status_ok();
}

static FacetStatus fly_sweep(Evaluation *evaluation, const FacetRace *race, const PolicySet *set,
                             const EvalOptions *options)
{
    const char *method = policies_find(set, "ours") ? "ours" : "factored";
    const FacetPolicy *policy = policies_find(set, method);
    if (!policy || options->no_sweep) return status_ok();
    snprintf(evaluation->sweep_method, sizeof evaluation->sweep_method, "%s", method);
    FacetRaceTotals totals[2 * PAPER_SWEEP_ROWS]; // composed and joint in turn
    FacetRanks *ranks = team_ranks();
    RanksWatch watch;
    Progress done;
    ranks_watch_begin(&watch, ranks, bar_open(options->common.quiet));
    progress_begin(&done, &watch.progress, "sweep", 2 * PAPER_SWEEP_ROWS);
    const FacetProgress part = progress_part(&done);
    FacetStatus status = status_ok();
    for (int i = 0; i < 2 * PAPER_SWEEP_ROWS && status.ok; i++)
        if (ranks_mine(ranks, i))
            status = fly_steps(&totals[i], race, policy, paper_sweep[i / 2].steps, i % 2, options,
                               &part);
    progress_end(&done);
    status = ranks_agree(ranks, status);
    if (!status.ok) return status;
    ranks_watch_end(&watch);
    ranks_collect(ranks, totals, sizeof *totals, 2 * PAPER_SWEEP_ROWS);
    evaluation->sweep_count = PAPER_SWEEP_ROWS;
    for (int i = 0; i < PAPER_SWEEP_ROWS; i++)
        evaluation->sweep[i] =
            (EvalSweepRow){paper_sweep[i].steps, totals[2 * i], totals[2 * i + 1]};
    return status;
}

// The tasks that --hold-out names, one by one or all that the course lists.
static FacetStatus list_asked(FacetCourseTask **tasks, int *count, const FacetCourse *course,
                              const TextList *asked)
{
    *count = 0;
    *tasks = calloc((size_t)(asked->count * (course->held_out_count + 1)) + 1, sizeof **tasks);
    if (!*tasks) return status_fail(FACET_NO_MEMORY, "out of memory for the tasks held out");
    for (int i = 0; i < asked->count; i++) {
        bool all = strcmp(asked->items[i], "course") == 0;
        if (all && course->held_out_count == 0)
            return status_fail(FACET_BAD_ARGUMENT,
                               "--hold-out course: expected tasks that the course holds out, found "
                               "none");
        for (int k = 0; all && k < course->held_out_count; k++)
            (*tasks)[(*count)++] = course->held_out[k];
        if (!all) TRY(facet_course_find_task(&(*tasks)[(*count)++], course, asked->items[i]));
    }
    return status_ok();
}

// A task that a policy was trained on is not held out of it. The oracle alone is counted otherwise.
static FacetStatus check_asked(const FacetRace *race, const PolicySet *set,
                               const FacetCourseTask *tasks, int count)
{
    const FacetCourse *course = race->course;
    for (int i = 0; i < ROW_COUNT; i++) {
        const FacetPolicy *policy = policies_find(set, rows[i].method);
        if (!policy || strcmp(rows[i].method, "oracle") == 0) continue;
        for (int t = 0; t < count; t++)
            if (!facet_policy_holds_out(policy, race, tasks[t]))
                return status_fail(FACET_BAD_ARGUMENT,
                                   "--hold-out: expected tasks that only an oracle was trained on, "
                                   "found %s/%s, which the policy %s was trained on",
                                   course->tracks[tasks[t].track].name,
                                   course->openings[tasks[t].opening].name, rows[i].method);
    }
    return status_ok();
}

static bool is_listed(FacetCourseTask task, const FacetCourseTask *tasks, int count)
{
    for (int t = 0; t < count; t++)
        if (tasks[t].track == task.track && tasks[t].opening == task.opening) return true;
    return false;
}

// The oracle was trained on all tasks, to show what that gives on those that the others held out:
// it is counted on those asked for, and without any on those of the policies beside it.
static void count_oracle(Evaluation *evaluation, const FacetCourseTask *asked, int count)
{
    for (int i = 0; i < evaluation->row_count; i++) {
        EvalRun *oracle = &evaluation->rows[i].run;
        if (strcmp(evaluation->rows[i].key, "oracle") != 0) continue;
        for (int r = 0; r < oracle->seeds * oracle->tasks; r++) {
            FacetRaceResult *result = &oracle->results[r];
            if (count > 0) result->held_out = is_listed(result->task, asked, count);
            for (int k = 0; count == 0 && k < evaluation->row_count; k++)
                result->held_out |=
                    eval_result(&evaluation->rows[k].run, 0, r % oracle->tasks)->held_out;
        }
    }
}

static FacetStatus evaluate(const FacetRace *race, const PolicySet *set, const EvalOptions *options)
{
    Evaluation *evaluation = calloc(1, sizeof *evaluation);
    if (!evaluation) return status_fail(FACET_NO_MEMORY, "out of memory for the evaluation");
    evaluation->steps = options->steps;
    evaluation->temperature = options->temperature;
    evaluation->no_plans = options->no_plans;
    FacetCourseTask *asked = NULL;
    int asked_count = 0;
    FacetStatus status = list_asked(&asked, &asked_count, race->course, &options->hold_out);
    if (status.ok) status = check_asked(race, set, asked, asked_count);
    if (status.ok) status = fly_rows(evaluation, race, set, options);
    if (status.ok) status = fly_sweep(evaluation, race, set, options);
    if (status.ok) count_oracle(evaluation, asked, asked_count);
    if (status.ok) {
        Json *document = json_from_evaluation(race, evaluation);
        json_set_origin(document, options->command, options->common.seed);
        printf("%d DDIM steps, seed %llu\n\n", options->steps,
               (unsigned long long)options->common.seed);
        print_document(stdout, race, INPUT_EVAL, document);
        status = json_finish(document, &options->common);
    }
    for (int i = 0; i < evaluation->row_count; i++) eval_run_free(&evaluation->rows[i].run);
    free(evaluation);
    free(asked);
    return status;
}

static FacetStatus study_steps(const FacetRace *race, const PolicySet *set,
                               const EvalOptions *options)
{
    const StepStudyOptions study = {.common = &options->common,
                                    .study = &options->study,
                                    .seeds = options->seeds,
                                    .temperature = options->temperature,
                                    .command = options->command};
    return step_study(race, set, &study);
}

int cmd_eval(int argc, char **argv)
{
    EvalOptions eval = {
        .common = common_defaults(), .study = {.preset = "race"}, .steps = PAPER_STEPS, .seeds = 5};
    const Option options[] = {
        without(option_int("steps", &eval.steps, "N", 1, 1000, "denoising steps of a plan"),
                "step-study"),
        option_double("temperature", &eval.temperature, "X", 0.0, 10.0,
                      "scale of the starting noise, 0 for the policy's own"),
        option_int("seeds", &eval.seeds, "N", 1, 1000, "plans a task and method"),
        without(option_flag("no-sweep", &eval.no_sweep, "leave out the sweep over denoising steps"),
                "step-study"),
        without(option_flag("no-plans", &eval.no_plans, "leave the plans out of the JSON file"),
                "step-study"),
        without(option_list("hold-out", &eval.hold_out, "TASK",
                            "count these tasks as held out for an oracle, which is trained on all, "
                            "as race1/wide; or course for all that the course lists"),
                "step-study"),
        without(option_flag("controls", &eval.controls,
                            "also fly our policy told the track alone, without the size"),
                "step-study"),
        option_flag("step-study", &eval.step_study,
                    "in place of the tables: 1 to 50 steps, both losses, samplers and modes"),
        STUDY_OPTIONS(eval.study),
    };
    const Usage usage = {
        .command = "eval",
        .description = "Plans and flies every feasible task with each policy and prints the "
                       "paper's tables with ours beside them: gate passage, held-out tasks, "
                       "speeds, tracks, composed and joint inference, denoising steps. With "
                       "--step-study --json FILE, a study that was stopped goes on from "
                       "FILE.state.",
        .example = "facet eval --json eval.json\nfacet eval models/race-factored.safetensors\n"
                   "facet eval --step-study --json steps.json",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &eval.common,
        .json_kept = ".state",
        .operands = &eval.files,
        .operand_name = "POLICY",
        .operand_max = POLICIES_MAX,
        .operands_read = true,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;

    command_text(eval.command, sizeof eval.command, argc, argv);
    char models[FILE_PATH_MAX];
    FacetStatus apart = eval.files.count == 0 && file_shipped(models, "models").ok
                            ? places_apart(&usage, models)
                            : status_ok();
    if (!apart.ok) return command_misused(usage.command, apart);
    interrupt_watch();
    PolicySet set = {0};
    FacetRace *race = NULL;
    FacetStatus status =
        ranks_agree(team_ranks(), policies_open(&set, eval.files.items, eval.files.count));
    if (status.ok) status = study_open(&race, &eval.common, &eval.study);
    if (status.ok && eval.step_study) status = ranks_agree(team_ranks(), team_refuse());
    if (status.ok)
        status = eval.step_study ? study_steps(race, &set, &eval)
                                 : ranks_agree(team_ranks(), evaluate(race, &set, &eval));
    study_close(race);
    policies_close(&set);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
