// facet gate eval: the rates of one policy, and how well it sees.
#include "commands.h"
#include "factor/factor.h"
#include "gate/sight.h"
#include "gate_beside.h"
#include "gate_fixes.h"
#include "gate_world.h"
#include "interrupt.h"
#include "json_training.h"
#include "report/tables.h"
#include "show_race.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct EvalCommand {
    CommonOptions common;
    const char *policy, *mode, *open;
    TextList hold_out, skip;
    int train, held_out; // trials a task
    bool validation;
    FixOptions fix;
    const char *beside; // a policy that flies by the beacon
    double weight;      // of the one that sees, beside it
    FacetBeaconParams beacon;
    char command[COMMAND_TEXT];
} EvalCommand;

// Held out is what training did not show. The oracle was shown everything, to compare with others:
// it is counted by the patterns, which no other policy may have been trained on.
static FacetStatus check_listed(const FacetFactorSplit *listed, const FacetGateWorld *world,
                                const FacetPolicy *policy)
{
    char name[FACET_FACTOR_TASK_TEXT];
    if (policy_method(policy) == FACET_POLICY_ORACLE) return status_ok();
    for (int64_t i = 0; i < factor_task_count(world->space); i++) {
        FacetFactorTask task = factor_task_at(world->space, i);
        if (!facet_factor_split_contains(listed, task) ||
            !facet_factor_split_contains(facet_policy_training(policy), task))
            continue;
        facet_factor_task_format(name, world->space, task, FACET_FACTOR_STYLE_VALUES);
        return status_fail(FACET_BAD_ARGUMENT,
                           "--hold-out: expected tasks that the policy was not trained on, found "
                           "%s",
                           name);
    }
    return status_ok();
}

static bool is_held_out(const FacetFactorSplit *listed, const FacetPolicy *policy,
                        FacetFactorTask task, const EvalCommand *o)
{
    return o->hold_out.count ? facet_factor_split_contains(listed, task)
                             : !facet_factor_split_contains(facet_policy_training(policy), task);
}

static FacetStatus choose(GateTrials *trials, const FacetGateWorld *world,
                          const FacetPolicy *policy, const EvalCommand *o)
{
    FacetFactorSplit *listed = NULL, *skipped = NULL;
    int tasks = (int)factor_task_count(world->space);
    FacetStatus status = gate_tasks_matching(&listed, world, &o->hold_out);
    if (status.ok) status = gate_tasks_matching(&skipped, world, &o->skip);
    if (status.ok && o->hold_out.count) status = check_listed(listed, world, policy);
    if (status.ok) status = gate_trials_create(trials, tasks * (o->train + o->held_out));
    // Held-out tasks come first: their spawns do not depend on how many others are flown.
    for (int i = 0; status.ok && i < 2 * tasks; i++) {
        FacetFactorTask task = factor_task_at(world->space, i % tasks);
        bool left_out = i < tasks;
        int count = left_out ? o->held_out : o->train;
        if (facet_factor_split_contains(skipped, task)) continue;
        if (is_held_out(listed, policy, task, o) != left_out) continue;
        for (int k = 0; k < count; k++) gate_trials_add(trials, task, left_out);
    }
    factor_split_destroy(listed);
    factor_split_destroy(skipped);
    if (status.ok && trials->count == 0)
        status = status_fail(FACET_BAD_ARGUMENT, "expected trials to fly, found none");
    return status;
}

// The last bin has no end. One sample has no spread.
static Json *json_from_sight(const GateSight *sum, bool spread)
{
    Json *list = json_array();
    for (int b = 0; b < SIGHT_BINS; b++) {
        double n = sum->frames[b] ? (double)sum->frames[b] : 1.0;
        Json *bin = json_object();
        json_set_numbers(bin, {"below_m", sight_ends[b]}, {"frames", (double)sum->frames[b]},
                         {"along_m", sum->along[b] / n}, {"across_m", sum->across[b] / n});
        if (spread) json_set_number(bin, "spread_m", sum->spread[b] / n);
        json_push(list, bin);
    }
    return list;
}

static Json *document_of(const FacetGateWorld *world, const FacetPolicy *policy,
                         const GateTrials *trials, const GateSight *sights, const EvalCommand *o)
{
    GateSight train = sight_sum(sights, trials, false), held_out = sight_sum(sights, trials, true);
    Json *document = json_object(), *errors = json_object();
    bool spread = o->fix.samples > 1;
    json_set(errors, "train", json_from_sight(&train, spread));
    json_set(errors, "held_out", json_from_sight(&held_out, spread));
    json_set_string(document, "policy", o->policy);
    json_set_string(document, "mode", o->mode);
    json_set(document, "training_run", json_from_training(policy));
    if (o->open) json_set_string(document, "open", o->open);
    if (o->beside) {
        json_set_string(document, "beside", o->beside);
        json_set_number(document, "weight", o->weight);
        json_set(document, "beacon", json_from_beacon(&o->beacon));
    }
    json_set(document, "fixes", json_from_fixes(&o->fix, gate_trials_tally(trials, -1, -1)));
    json_set(document, "train", json_from_tally(gate_trials_tally(trials, -1, 0)));
    json_set(document, "held_out", json_from_tally(gate_trials_tally(trials, -1, 1)));
    json_set(document, "venues", json_from_venues(world, trials));
    json_set(document, "tasks", json_from_gate_tasks(world, trials));
    json_set(document, "offset_error", errors);
    json_set_origin(document, o->command, o->common.seed);
    return document;
}

// What was flown, beside its tables.
static void show_fixes(const GateTrials *trials, const EvalCommand *o)
{
    FacetGateTally all = gate_trials_tally(trials, -1, -1);
    printf("\nThe estimate of the place is off by %.2f m, mean over the flights.\n",
           all.estimate_error);
    if (o->fix.refuse > 0.0) printf("%d of %d fixes were refused.\n", all.refused, all.frames);
}

static FacetStatus fly(FacetGateFlyer *flyer, const EvalCommand *o)
{
    const FacetGateWorld *world = flyer->world;
    GateTrials trials = {0};
    FacetStatus status = choose(&trials, world, flyer->policy, o);
    GateSight *sights = calloc((size_t)trials.count + 1, sizeof *sights);
    FacetGateWatch *watches = calloc((size_t)trials.count + 1, sizeof *watches);
    if (status.ok && !(sights && watches))
        status = status_fail(FACET_NO_MEMORY, "out of memory for %d trials", trials.count);
    for (int i = 0; status.ok && i < trials.count; i++) {
        sights[i].world = world;
        watches[i] = (FacetGateWatch){.frame = sight_look, .context = &sights[i]};
    }
    FacetGatePurpose purpose = o->validation ? FACET_GATE_FOR_VALIDATION : FACET_GATE_FOR_RESULTS;
    if (status.ok) status = gate_trials_fly(&trials, flyer, purpose, watches, &o->common);
    if (status.ok) {
        Json *document = document_of(world, flyer->policy, &trials, sights, o);
        print_document(stdout, NULL, INPUT_GATE, document);
        show_fixes(&trials, o);
        status = json_finish(document, &o->common);
    }
    free(sights);
    free(watches);
    gate_trials_free(&trials);
    return status;
}

static FacetStatus evaluate(FacetGateWorld *world, const FacetPolicy *policy, const EvalCommand *o)
{
    FacetPolicy *beside = NULL;
    FacetGateFlyer flyer = {.world = world, .policy = policy, .open = o->open, .weight = o->weight};
    fix_apply(world, &flyer, &o->fix);
    world->beacon = o->beacon;
    TRY(facet_policy_mode_parse(&flyer.how.mode, o->mode));
    if (o->beside) TRY(gate_beside_load(&beside, policy, &flyer.how, o->beside));
    flyer.beside = beside;
    FacetStatus status = fly(&flyer, o);
    facet_policy_destroy(beside);
    return status;
}

int cmd_gate_eval(int argc, char **argv)
{
    EvalCommand o = {.common = common_defaults(),
                     .mode = "composed",
                     .train = 2,
                     .held_out = 4,
                     .fix = fix_defaults(),
                     .weight = 0.5,
                     .beacon = beacon_options()};
    const Option options[] = {
        reads(option_text("policy", &o.policy, "FILE", "the policy")),
        option_int("train", &o.train, "N", 0, 1000, "trials of each task that is trained on"),
        option_int("held-out", &o.held_out, "N", 0, 1000, "trials of each task held out"),
        option_list("hold-out", &o.hold_out, "TASK",
                    "count these tasks as held out instead of the policy's own"),
        option_list("skip", &o.skip, "TASK", "fly none of these tasks, as venue=pool"),
        option_text("mode", &o.mode, "MODE", mode_help("")),
        option_text("open", &o.open, "FACTOR", "never show this factor to the policy"),
        option_flag("validation", &o.validation,
                    "fly the trials for choosing settings, which no table has"),
        FIX_OPTIONS(o.fix),
        reads(option_text("beside", &o.beside, "FILE",
                          "a policy of facet gate beacon: both denoise one plan")),
        with(option_double("weight", &o.weight, "W", 0.0, 1.0,
                           "of the policy that sees, beside the other"),
             "beside"),
        with(option_double("beacon-bias", &o.beacon.bias, "M", 0.0, 1e3, BEACON_BIAS), "beside"),
        with(option_double("beacon-noise", &o.beacon.noise, "M", 0.0, 1e3, BEACON_NOISE), "beside"),
        with(option_double("beacon-survey", &o.beacon.survey, "M", 0.0, 1e3, BEACON_SURVEY),
             "beside"),
    };
    const Usage usage = {
        .command = "gate eval",
        .description = "Flies trials of every task and prints success, crash and time-out by venue "
                       "and for training and held-out tasks. The same seed gives every policy the "
                       "same spawns, and none of them is a training flight's.",
        .example = "facet gate eval --policy pilot.safetensors --json rates.json\n"
                   "facet gate eval --policy pilot.safetensors --beside beacon.safetensors "
                   "--weight 0.75",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!o.policy)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --policy FILE"));
    FacetStatus status = fix_check(&o.fix);
    if (!status.ok) return command_misused(usage.command, status);
    command_text(o.command, sizeof o.command, argc, argv);
    interrupt_watch();
    FacetGateWorld *world = NULL;
    FacetPolicy *policy = NULL;
    status = facet_gate_world_create(&world, o.common.courses);
    if (status.ok) status = gate_policy_load(&policy, world, o.policy);
    if (status.ok) status = evaluate(world, policy, &o);
    facet_policy_destroy(policy);
    facet_gate_world_destroy(world);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
