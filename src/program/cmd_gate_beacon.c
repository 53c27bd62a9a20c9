// facet gate beacon: a policy that flies by the beacon, to stand beside one that sees.
#include "bar.h"
#include "commands.h"
#include "commit.h"
#include "gate_beside.h"
#include "gate_world.h"
#include "interrupt.h"

#include <math.h>
#include <stdio.h>

typedef struct BeaconCommand {
    CommonOptions common;
    const char *like, *out;
    int updates;
    FacetBeaconParams beacon;
    FacetGateBeaconTraining training;
    char path[FILE_PATH_MAX]; // of the policy that ships
    char command[POLICY_TEXT];
} BeaconCommand;

static FacetStatus write_summary(const FacetTrainSummary *summary, const BeaconCommand *o)
{
    Json *document = json_object();
    json_set_string(document, "policy", o->out);
    json_set_string(document, "like", o->like);
    json_set(document, "beacon", json_from_beacon(&o->beacon));
    json_set_numbers(document, {"flights", o->training.flights}, {"frames", summary->demos},
                     {"tasks", summary->tasks}, {"parameters", (double)summary->parameters},
                     {"updates", (double)summary->updates}, {"loss", summary->loss},
                     {"seconds", summary->seconds});
    json_set_uint64(document, "seed", o->common.seed);
    return json_write(document, o->common.json);
}

static FacetStatus train_with(FacetTrainSummary *summary, const FacetGateWorld *world,
                              BeaconCommand *o, FacetPool *pool)
{
    FacetPolicy *like;
    TRY(gate_policy_load(&like, world, o->like));
    FacetTrainOptions *train = &o->training.train;
    train->updates = o->updates;
    train->seed = o->common.seed;
    train->command = o->command;
    train->version = program_version();
    train->precision = FACET_TRAIN_FP16;
    FacetStatus status = facet_gate_train_beacon(summary, world, like, o->out, &o->training, pool,
                                                 bar_open(o->common.quiet));
    facet_policy_destroy(like);
    return status;
}

static FacetStatus run(BeaconCommand *o)
{
    FacetGateWorld *world;
    FacetTrainSummary summary;
    FacetPool *pool;
    TRY(facet_gate_world_create(&world, o->common.courses));
    world->beacon = o->beacon;
    FacetStatus status = facet_pool_create(&pool, o->common.threads);
    if (status.ok) status = train_with(&summary, world, o, pool);
    facet_pool_destroy(pool);
    facet_gate_world_destroy(world);
    if (!status.ok) return status;
    printf("%s: %.2f M parameters, like %s\n"
           "%d frames of %d tasks, %ld updates (%ld in this run), %.1f s of training\n"
           "loss of the last epoch %.5f\n",
           o->out, 1e-6 * (double)summary.parameters, o->like, summary.demos, summary.tasks,
           summary.updates, summary.updates - summary.resumed, summary.seconds, summary.loss);
    return o->common.json ? write_summary(&summary, o) : status_ok();
}

int cmd_gate_beacon(int argc, char **argv)
{
    BeaconCommand o = {.common = common_defaults(),
                       .updates = 6000,
                       .beacon = beacon_options(),
                       .training = {.flights = 3000,
                                    .seconds = 1.0,
                                    .near = 0.3,
                                    .train = {.drop = "0.1", .rate = 0.003, .blocks = 1}}};
    FacetTrainOptions *train = &o.training.train;
    const Option options[] = {
        keeps(option_text("out", &o.out, "POLICY", "safetensors file to write"), ".csv .ckpt"),
        reads(option_text("like", &o.like, "POLICY",
                          "the policy that it stands beside (default: the one that ships)")),
        option_int("flights", &o.training.flights, "N", 1, 1 << 20,
                   "of the expert, shared out over the tasks"),
        option_double("seconds", &o.training.seconds, "S", 0.1, 100.0,
                      "that a flight takes at most"),
        option_double("near", &o.training.near, "X", 0.0, 1.0,
                      "share of the flights that start 1 to 3 m from the gate"),
        BEACON_OPTIONS(o.beacon),
        option_text("drop", &train->drop, "P", "probability that a factor is null, or venue=0.4"),
        option_int("updates", &o.updates, "N", 1, 1 << 24, "of the network"),
        option_int("batch", &train->batch, "N", 0, 1 << 12, "frames an update, 0 for 32"),
        option_double("rate", &train->rate, "X", 0.0, INFINITY, "peak learning rate, 0 for 0.001"),
        option_int("blocks", &train->blocks, "N", 0, 64, "of the network, 0 for 3"),
        option_int("channels", &train->channels, "N", 0, 4096, "its width, 0 for 96"),
        option_flag("resume", &train->resume, "go on with a training that was cut short"),
    };
    const Usage usage = {
        .command = "gate beacon",
        .description =
            "Trains a policy that flies by a beacon, which tells the position in the axes of the "
            "venue with a bias and noise, and by the gyro, without a camera. It is trained on the "
            "tasks of a policy that sees, with its ranges, losses and noise, so that both can plan "
            "together: facet gate modality. The expert's flights draw no frames and are not kept.",
        .example = "facet gate beacon --out beacon.safetensors",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &o.common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!o.out)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --out POLICY"));
    FacetStatus status = gate_policy_default(&o.like, o.path, &usage);
    if (!status.ok) return command_misused(usage.command, status);
    command_text(o.command, sizeof o.command, argc, argv);
    interrupt_watch();
    status = run(&o);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
