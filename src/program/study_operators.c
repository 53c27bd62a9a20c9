// facet study operators: composition operators over the same networks, side by side.
//
// Each has its weights chosen by flying training tasks (race/operators.h), and is then flown on all
// tasks. What the operators differ in is what they are allowed to do with the same predictions. The
// router's are learned (facet train --router-from); a policy without one has no such row.
#include "study_operators.h"

#include "bar.h"
#include "commands.h"
#include "interrupt.h"
#include "json_eval.h"
#include "paper/paper.h"
#include "race/operators.h"
#include "report/table.h"
#include "report/tables.h"
#include "show_race.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct OperatorsCommand {
    CommonOptions common;
    StudyOptions study;
    const char *policy;
    int steps, plans, search_plans;
    char command[COMMAND_TEXT];
} OperatorsCommand;

static Json *json_from_choice(FacetPolicyMode mode, const OperatorChoice *choice,
                              const FacetPolicy *policy)
{
    bool routed = mode == FACET_POLICY_ROUTER;
    double parameters = (double)policy_parameters(policy), rows = eval_training_rows(policy);
    if (routed) {
        parameters += (double)policy_router_parameters(policy);
        rows += eval_router_rows(policy);
    }
    Json *out = json_object(), *weights = json_array(), *search = json_object();
    json_set_string(out, "mode", policy_mode_name(mode));
    json_set_string(out, "name", policy_mode_operator(mode)->whose);
    for (int f = 0; f < 2; f++) json_push_number(weights, choice->weights[f]);
    json_set(out, "weights", weights);
    json_set_numbers(out, {"networks", policy_networks(policy)}, {"parameters", parameters},
                     {"rows", rows}, {"passes", operator_passes(choice)});
    json_set_numbers(search, {"tried", choice->tried}, {"passed", choice->training.passed},
                     {"gates", choice->training.gates}, {"error_m", choice->error});
    json_set(out, "search", search);
    return out;
}

static FacetStatus fly_operator(EvalRow *row, Json *list, const FacetRace *race,
                                const FacetPolicy *policy, FacetPolicyMode mode,
                                const OperatorsCommand *o)
{
    OperatorChoice choice;
    FacetPolicySampling how = {.mode = mode, .steps = o->steps, .seed = o->common.seed};
    TRY(operator_choose(&choice, race, policy, &how, o->search_plans, bar_open(o->common.quiet)));
    how.weights = operator_weights(&choice);
    row->key = policy_mode_name(mode);
    row->policy = policy;
    json_push(list, json_from_choice(mode, &choice, policy));
    return eval_run(&row->run, race, policy, &how, o->plans, bar_open(o->common.quiet));
}

static_assert((int)COMPOSE_OPERATOR_COUNT <= (int)EVAL_ROWS_MAX,
              "an evaluation has a row an operator");

static FacetStatus study(const FacetRace *race, const FacetPolicy *policy,
                         const OperatorsCommand *o)
{
    Evaluation *evaluation = calloc(1, sizeof *evaluation);
    if (!evaluation) return status_fail(FACET_NO_MEMORY, "out of memory for the evaluation");
    Json *list = json_array();
    FacetStatus status = status_ok();
    evaluation->steps = o->steps;
    evaluation->no_plans = true;
    for (int i = 0; i < FACET_POLICY_MODES && status.ok; i++) {
        const FacetPolicyMode mode = (FacetPolicyMode)i;
        if (!policy_mode_operator(mode)) continue; // joint composes nothing
        if (mode == FACET_POLICY_ROUTER && !policy_router_record(policy)) continue;
        status =
            fly_operator(&evaluation->rows[evaluation->row_count], list, race, policy, mode, o);
        if (status.ok) evaluation->row_count++;
    }
    if (status.ok) {
        Json *document = json_from_evaluation(race, evaluation);
        json_set(document, "operators", list);
        json_set_origin(document, o->command, o->common.seed);
        print_document(stdout, race, INPUT_OPERATORS, document);
        if (!policy_router_record(policy))
            table_note(stdout, "The policy has no router: facet train --router-from gives it one.");
        status = json_finish(document, &o->common);
    } else {
        json_free(list);
    }
    for (int i = 0; i < evaluation->row_count; i++) eval_run_free(&evaluation->rows[i].run);
    free(evaluation);
    return status;
}

int study_operators(int argc, char **argv)
{
    OperatorsCommand o = {.common = common_defaults(),
                          .study = {.preset = "race"},
                          .steps = PAPER_STEPS,
                          .plans = 5,
                          .search_plans = 2};
    const Option options[] = {
        reads(option_text("policy", &o.policy, "FILE", "whose networks are composed")),
        option_int("steps", &o.steps, "N", 1, 1000, "denoising steps of a plan"),
        option_int("plans", &o.plans, "N", 1, 1000, "a task in the evaluation"),
        option_int("search-plans", &o.search_plans, "N", 1, 1000,
                   "a training task and choice of weights"),
        STUDY_OPTIONS(o.study),
    };
    const Usage usage = {
        .command = "study operators",
        .description = "Composes the networks of a policy by every operator, with weights that are "
                       "chosen by flying training tasks, and flies all tasks with each.",
        .example = "facet study operators --policy out/reproduce/knet-1.safetensors "
                   "--json operators.json",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!o.policy)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --policy FILE"));
    command_text(o.command, sizeof o.command, argc, argv);
    interrupt_watch();
    FacetRace *race = NULL;
    FacetPolicy *policy = NULL;
    FacetStatus status = facet_policy_load(&policy, o.policy);
    if (status.ok) status = study_open(&race, &o.common, &o.study);
    if (status.ok) status = study(race, policy, &o);
    study_close(race);
    facet_policy_destroy(policy);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
