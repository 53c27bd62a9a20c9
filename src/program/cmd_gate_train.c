// facet gate demos and facet gate train: the expert's frames, and a policy from them.
#include "bar.h"
#include "commands.h"
#include "commit.h"
#include "factor/factor.h"
#include "gate_world.h"
#include "interrupt.h"
#include "team.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The tasks of a world without those held out.
static FacetStatus tasks_left(FacetFactorTask **tasks, int *count, const FacetGateWorld *world,
                              const TextList *hold_out)
{
    FacetFactorSplit *left_out = NULL;
    int64_t all = factor_task_count(world->space);
    *count = 0;
    *tasks = calloc((size_t)all, sizeof **tasks);
    if (!*tasks)
        return status_fail(FACET_NO_MEMORY, "out of memory for %lld tasks", (long long)all);
    FacetStatus status = gate_tasks_matching(&left_out, world, hold_out);
    for (int64_t i = 0; status.ok && i < all; i++) {
        FacetFactorTask task = factor_task_at(world->space, i);
        if (!facet_factor_split_contains(left_out, task)) (*tasks)[(*count)++] = task;
    }
    factor_split_destroy(left_out);
    if (status.ok && *count == 0)
        status = status_fail(FACET_BAD_ARGUMENT, "expected tasks to fly, found all held out");
    return status;
}

// ---- Demonstrations ---------------------------------------------------------------------------

typedef struct DemosCommand {
    CommonOptions common;
    const char *out;
    int flights, shrink;
    double redrawn, near;
    TextList hold_out;
} DemosCommand;

static FacetStatus write_demos(const DemosCommand *o, const FacetGateWorld *world)
{
    FacetFactorTask *tasks;
    FacetPool *pool = NULL;
    FacetGateCollection collection = facet_gate_collection_defaults();
    FacetStatus status = tasks_left(&tasks, &collection.task_count, world, &o->hold_out);
    collection.tasks = tasks;
    collection.flights = o->flights;
    collection.seed = o->common.seed;
    collection.shrink = o->shrink;
    collection.redrawn = o->redrawn;
    collection.near = o->near;
    collection.ranks = team_ranks();
    if (status.ok) status = facet_pool_create(&pool, o->common.threads);
    status = ranks_agree(team_ranks(), status);
    if (status.ok)
        status = facet_gate_collect_file(o->out, world, &collection, NULL, pool,
                                         bar_open(o->common.quiet));
    int flown = o->flights < collection.task_count ? o->flights : collection.task_count;
    if (status.ok) printf("%s: %d flights of %d tasks\n", o->out, o->flights, flown);
    facet_pool_destroy(pool);
    free(tasks);
    return status;
}

int cmd_gate_demos(int argc, char **argv)
{
    DemosCommand o = {.common = common_defaults(),
                      .flights = 600,
                      .shrink = 4,
                      .redrawn = facet_gate_collection_defaults().redrawn};
    const Option options[] = {
        keeps(option_text("out", &o.out, "FILE", "HDF5 file to write"), NULL),
        option_int("flights", &o.flights, "N", 1, 1 << 20, "flights, shared out over the tasks"),
        option_int("shrink", &o.shrink, "N", 1, 8, "average frames over N x N pixels"),
        option_double("redrawn", &o.redrawn, "X", 0.0, 1.0,
                      "share of the flights that show the venue in another look"),
        option_double("near", &o.near, "X", 0.0, 1.0,
                      "share of the flights that start 1 to 3 m from the gate"),
        option_list("hold-out", &o.hold_out, "TASK",
                    "leave these tasks out, as venue=pool or color=red,gate=1,side=+1"),
    };
    const Usage usage = {
        .command = "gate demos",
        .description = "The expert flies through gates, disturbed so that it shows how to recover; "
                       "every frame of its camera is kept with what it does next.",
        .example = "facet gate demos --out out/frames.h5 --hold-out venue=pool",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
        .no_json = true,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!o.out)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --out FILE"));
    FacetGateWorld *world;
    interrupt_watch();
    FacetStatus status =
        ranks_agree(team_ranks(), facet_gate_world_create(&world, o.common.courses));
    if (status.ok) {
        status = write_demos(&o, world);
        facet_gate_world_destroy(world);
    }
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}

// What is written beside the policy.
#define FILES_BESIDE                                                                               \
    ".csv .ckpt .round1.h5 .round2.h5 .round3.h5 .round4.h5 .round5.h5 .round6.h5 .round7.h5 "     \
    ".round8.h5"
static_assert(FACET_GATE_ROUNDS_MAX == 8, "the files of every round are named");

// ---- Training ---------------------------------------------------------------------------------

typedef struct TrainCommand {
    CommonOptions common;
    const char *data, *out, *method;
    TextList hold_out;
    FacetGateTraining training;
    int updates;
    char command[POLICY_TEXT];
} TrainCommand;

static FacetStatus set_training(TrainCommand *o)
{
    FacetTrainOptions *train = &o->training.train;
    train->hold_out = o->hold_out.items;
    train->hold_out_count = o->hold_out.count;
    train->updates = o->updates;
    train->seed = o->common.seed;
    train->command = o->command;
    train->version = program_version();
    train->precision = FACET_TRAIN_FP16;
    return policy_method_parse(&train->method, o->method);
}

static void show_training(const FacetTrainSummary *summary, const TrainCommand *o)
{
    printf("%s: %s, %.2f M parameters\n"
           "%d frames of %d tasks, %ld updates (%ld in this run), %.1f s of training\n"
           "loss of the last tenth %.5f\n",
           o->out, o->method, 1e-6 * (double)summary->parameters, summary->demos, summary->tasks,
           summary->updates, summary->updates - summary->resumed, summary->seconds, summary->loss);
    if (summary->log_missing > 0)
        printf("%s.csv: %ld rows of earlier updates are missing: it was cut or removed\n", o->out,
               summary->log_missing);
}

static FacetStatus write_training(const FacetTrainSummary *summary, const TrainCommand *o)
{
    Json *document = json_object();
    json_set_string(document, "policy", o->out);
    json_set_string(document, "method", o->method);
    json_set_number(document, "frames", summary->demos);
    json_set_number(document, "tasks", summary->tasks);
    json_set_number(document, "parameters", (double)summary->parameters);
    json_set_number(document, "updates", (double)summary->updates);
    json_set_number(document, "loss", summary->loss);
    json_set_number(document, "log_missing", (double)summary->log_missing);
    json_set_number(document, "seconds", summary->seconds);
    json_set_uint64(document, "seed", o->common.seed);
    return json_write(document, o->common.json);
}

static FacetStatus train(TrainCommand *o)
{
    FacetGateWorld *world;
    FacetTrainSummary summary;
    TRY(set_training(o));
    TRY(facet_gate_world_create(&world, o->common.courses));
    FacetPool *pool;
    FacetStatus status = facet_pool_create(&pool, o->common.threads);
    if (status.ok)
        status = facet_gate_train(&summary, world, o->data, o->out, &o->training, pool,
                                  bar_open(o->common.quiet));
    facet_pool_destroy(pool);
    facet_gate_world_destroy(world);
    if (!status.ok) return status;
    show_training(&summary, o);
    return o->common.json ? write_training(&summary, o) : status_ok();
}

int cmd_gate_train(int argc, char **argv)
{
    TrainCommand o = {.common = common_defaults(),
                      .method = "factored",
                      .updates = 10000,
                      .training = {.rounds = 2,
                                   .flights = 100,
                                   .redrawn = facet_gate_collection_defaults().redrawn,
                                   .train = {.recipe = "images", .encoder = "small"}}};
    FacetTrainOptions *train_options = &o.training.train;
    const Option options[] = {
        reads(option_text("data", &o.data, "FILE", "frames of facet gate demos")),
        keeps(option_text("out", &o.out, "POLICY", "safetensors file to write"), FILES_BESIDE),
        option_list("hold-out", &o.hold_out, "TASK",
                    "leave these tasks out, as venue=pool or color=red,gate=1,side=+1"),
        option_text("method", &o.method, "NAME", "factored, baseline or oracle"),
        option_double("composed-loss", &train_options->composed_weight, "W", 0.0, 1e6,
                      "weight of a loss on the composed score"),
        option_text("drop", &train_options->drop, "P",
                    "probability that a factor is null, or venue=0.4 (default: 0.1)"),
        option_text("encoder", &train_options->encoder, "NAME",
                    "small, small160 (frames of --shrink 2) or resnet18 (of --shrink 1)"),
        reads(option_text("encoder-from", &train_options->encoder_from, "POLICY",
                          "take this policy's encoder and leave it as it is")),
        option_int("updates", &o.updates, "N", 1, 1 << 24, "of the networks, in all"),
        option_int("rounds", &o.training.rounds, "N", 0, FACET_GATE_ROUNDS_MAX, "of DAgger"),
        option_int("flights", &o.training.flights, "N", 1, 1 << 20, "of a round"),
        option_double("expert-share", &o.training.expert_share, "X", 0.0, 1.0,
                      "of a round's flights, flown by the expert"),
        option_double("redrawn", &o.training.redrawn, "X", 0.0, 1.0,
                      "of a round's flights, in a venue with another look"),
        option_double("near", &o.training.near, "X", 0.0, 1.0,
                      "of a round's flights, 1 to 3 m from the gate at the start"),
        option_int("batch", &train_options->batch, "N", 0, 1 << 12,
                   "frames an update, 0 for the recipe's 32"),
        option_int("draws", &train_options->draws, "N", 0, 64,
                   "of noise a frame, 0 for the recipe's 2"),
        option_double("jitter", &train_options->jitter, "X", -1.0, 1.0,
                      "strength of random light and colour, 0 for the recipe's 1, -1 for none"),
        option_double("knee", &train_options->knee, "M", -1.0, 1e6,
                      "offsets beyond it count by their ratios, 0 for the recipe's 1, -1 for none"),
        option_double("rate", &train_options->rate, "X", 0.0, INFINITY,
                      "peak learning rate, 0 for the recipe's"),
        option_int("blocks", &train_options->blocks, "N", 0, 64, "of the score network, 0 for 3"),
        option_int("channels", &train_options->channels, "N", 0, 4096, "its width, 0 for 96"),
        option_flag("no-selection", &train_options->no_selection,
                    "let the factors select nothing from what is seen"),
        option_flag("resume", &train_options->resume, "go on with a training that was cut short"),
    };
    const Usage usage = {
        .command = "gate train",
        .description =
            "Trains a policy that sees on the frames of facet gate demos, with rounds of DAgger in "
            "which it flies and the expert labels. Losses go to POLICY.csv; POLICY.ckpt and "
            "POLICY.roundN.h5 are kept until it is done, and --resume continues bit for bit.",
        .example = "facet gate train --data out/frames.h5 --out pilot.safetensors "
                   "--hold-out venue=pool",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!o.data)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --data FILE"));
    if (!o.out)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --out POLICY"));
    command_text(o.command, sizeof o.command, argc, argv);
    interrupt_watch();
    FacetStatus status = train(&o);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
