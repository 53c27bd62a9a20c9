// facet gate modality: a policy that sees and one that flies by the beacon, alone and together.
//
// Modality-Composable Diffusion Policy adds up what they predict on one noisy plan, w of the
// camera's and 1 - w of the beacon's. The weight is chosen by trials of the training tasks that no
// table has: most successes, then fewest crashes, then the larger weight. Camera, beacon and the
// chosen weight then fly the trials of a table, those of facet gate eval.
#include "commands.h"
#include "factor/factor.h"
#include "gate_beside.h"
#include "gate_world.h"
#include "interrupt.h"
#include "report/tables.h"
#include "show_race.h"

#include <stdio.h>

enum { WEIGHTS_MAX = 101 };

typedef struct ModalityCommand {
    CommonOptions common;
    const char *policy, *beside, *mode;
    int weights, choose;      // tried, and trials a task of the choice
    int train, held_out;      // trials a task of the table
    FacetBeaconParams beacon; // of all trials
    char path[FILE_PATH_MAX]; // of the policy that ships
    char command[COMMAND_TEXT];
} ModalityCommand;

// Held-out tasks come first, as in facet gate eval: the same spawns.
static FacetStatus list_trials(GateTrials *trials, const FacetGateFlyer *flyer, int train,
                               int held_out)
{
    const FacetFactorSpace *space = flyer->world->space;
    int tasks = (int)factor_task_count(space);
    TRY(gate_trials_create(trials, tasks * (train + held_out)));
    for (int i = 0; i < 2 * tasks; i++) {
        FacetFactorTask task = factor_task_at(space, i % tasks);
        bool left_out = i < tasks;
        if (facet_factor_split_contains(facet_policy_training(flyer->policy), task) == left_out)
            continue;
        for (int k = 0; k < (left_out ? held_out : train); k++)
            gate_trials_add(trials, task, left_out);
    }
    return status_ok();
}

// ---- The choice ---------------------------------------------------------------------------------

static bool better(const FacetGateTally *a, const FacetGateTally *b)
{
    if (a->ends[FACET_GATE_SUCCESS] != b->ends[FACET_GATE_SUCCESS])
        return a->ends[FACET_GATE_SUCCESS] > b->ends[FACET_GATE_SUCCESS];
    return a->ends[FACET_GATE_CRASH] <= b->ends[FACET_GATE_CRASH];
}

// Tries the weights from 0 to 1 on training tasks alone. `flyer` gets the best.
static FacetStatus choose(Json *tried, FacetGateFlyer *flyer, const ModalityCommand *o)
{
    double chosen = 1.0;
    FacetGateTally best = {0};
    for (int i = 0; i < o->weights; i++) {
        GateTrials trials = {0};
        flyer->weight = (double)i / (o->weights - 1);
        FacetStatus status = list_trials(&trials, flyer, o->choose, 0);
        if (status.ok)
            status = gate_trials_fly(&trials, flyer, FACET_GATE_FOR_VALIDATION, NULL, &o->common);
        FacetGateTally tally = gate_trials_tally(&trials, -1, -1);
        gate_trials_free(&trials);
        TRY(status);
        Json *row = json_object();
        json_set_number(row, "weight", flyer->weight);
        json_set(row, "train", json_from_tally(tally));
        json_push(tried, row);
        if (best.trials == 0 || better(&tally, &best)) best = tally, chosen = flyer->weight;
    }
    flyer->weight = chosen;
    return status_ok();
}

// ---- The table ----------------------------------------------------------------------------------

static FacetStatus add_row(Json *rows, const char *name, FacetGateFlyer flyer,
                           const ModalityCommand *o)
{
    GateTrials trials = {0};
    FacetStatus status = list_trials(&trials, &flyer, o->train, o->held_out);
    if (status.ok)
        status = gate_trials_fly(&trials, &flyer, FACET_GATE_FOR_RESULTS, NULL, &o->common);
    if (status.ok) {
        Json *row = json_object();
        json_set_string(row, "name", name);
        json_set_number(row, "weight", flyer.weight);
        json_set(row, "train", json_from_tally(gate_trials_tally(&trials, -1, 0)));
        json_set(row, "held_out", json_from_tally(gate_trials_tally(&trials, -1, 1)));
        json_set(row, "venues", json_from_venues(flyer.world, &trials));
        json_set_number(row, "estimate_error_m", gate_trials_tally(&trials, -1, -1).estimate_error);
        json_push(rows, row);
    }
    gate_trials_free(&trials);
    return status;
}

// Camera and beacon alone, and together unless the choice was one of them.
static FacetStatus fly_rows(Json *rows, const FacetGateFlyer *chosen, const ModalityCommand *o)
{
    FacetGateFlyer camera = *chosen, beacon = *chosen;
    camera.weight = 1.0;
    beacon.weight = 0.0;
    TRY(add_row(rows, "camera", camera, o));
    TRY(add_row(rows, "beacon", beacon, o));
    return chosen->weight > 0.0 && chosen->weight < 1.0 ? add_row(rows, "both", *chosen, o)
                                                        : status_ok();
}

static FacetStatus compare(FacetGateFlyer *flyer, const ModalityCommand *o)
{
    Json *document = json_object(), *choice = json_object(), *tried = json_array();
    Json *rows = json_array();
    json_set_string(document, "policy", o->policy);
    json_set_string(document, "beside", o->beside);
    json_set_string(document, "mode", o->mode);
    json_set(document, "beacon", json_from_beacon(&o->beacon));
    json_set_number(choice, "trials_a_task", o->choose);
    json_set(choice, "tried", tried);
    json_set(document, "choice", choice);
    FacetStatus status = choose(tried, flyer, o);
    json_set_number(document, "weight", flyer->weight);
    json_set(document, "rows", rows);
    if (status.ok) status = fly_rows(rows, flyer, o);
    if (!status.ok) {
        json_free(document);
        return status;
    }
    json_set_origin(document, o->command, o->common.seed);
    print_document(stdout, NULL, INPUT_MODALITY, document);
    return json_finish(document, &o->common);
}

static FacetStatus run(ModalityCommand *o)
{
    FacetGateFlyer flyer = {.open = NULL};
    FacetGateWorld *world = NULL;
    FacetPolicy *policy = NULL, *beside = NULL;
    TRY(facet_policy_mode_parse(&flyer.how.mode, o->mode));
    TRY(facet_gate_world_create(&world, o->common.courses));
    world->beacon = o->beacon;
    FacetStatus status = gate_policy_load(&policy, world, o->policy);
    if (status.ok) status = gate_beside_load(&beside, policy, &flyer.how, o->beside);
    flyer.world = world;
    flyer.policy = policy;
    flyer.beside = beside;
    if (status.ok) status = compare(&flyer, o);
    facet_policy_destroy(beside);
    facet_policy_destroy(policy);
    facet_gate_world_destroy(world);
    return status;
}

int cmd_gate_modality(int argc, char **argv)
{
    ModalityCommand o = {.common = common_defaults(),
                         .mode = "composed",
                         .weights = 5,
                         .choose = 1,
                         .train = 2,
                         .held_out = 4,
                         .beacon = beacon_options()};
    const Option options[] = {
        reads(option_text("policy", &o.policy, "FILE",
                          "the policy that sees (default: the one that ships)")),
        reads(option_text("beside", &o.beside, "FILE", "the policy of facet gate beacon")),
        option_int("weights", &o.weights, "N", 2, WEIGHTS_MAX,
                   "of the camera that are tried, equally far apart from 0 to 1"),
        option_int("choose", &o.choose, "N", 1, 1000,
                   "trials of each task that is trained on, for the choice of the weight"),
        option_int("train", &o.train, "N", 0, 1000, "trials of each task that is trained on"),
        option_int("held-out", &o.held_out, "N", 0, 1000, "trials of each task held out"),
        option_text("mode", &o.mode, "MODE", mode_help("")),
        BEACON_OPTIONS(o.beacon),
    };
    const Usage usage = {
        .command = "gate modality",
        .description =
            "A policy that sees and one that flies by a beacon plan together, the predictions of "
            "both added up on one noisy plan. Chooses the weight by trials of training tasks that "
            "no table has, then flies camera, beacon and both on the trials of facet gate eval.",
        .example = "facet gate modality --beside beacon.safetensors --json modality.json",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!o.beside)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --beside FILE"));
    if (o.train + o.held_out == 0)
        return command_misused(
            usage.command, status_fail(FACET_BAD_ARGUMENT, "expected trials to fly, found none"));
    FacetStatus status = gate_policy_default(&o.policy, o.path, &usage);
    if (!status.ok) return command_misused(usage.command, status);
    command_text(o.command, sizeof o.command, argc, argv);
    interrupt_watch();
    status = run(&o);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
