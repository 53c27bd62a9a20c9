// facet train: a policy from demonstrations.
#include "args.h"
#include "bar.h"
#include "base/json.h"
#include "commands.h"
#include "commit.h"
#include "hold_out.h"
#include "interrupt.h"
#include "policy/policy.h"
#include "team.h"

#include <facet_study/train.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static FacetStatus parse_precision(FacetTrainPrecision *precision, const char *name)
{
    *precision = strcmp(name, "fp16") == 0 ? FACET_TRAIN_FP16 : FACET_TRAIN_FP32;
    if (*precision == FACET_TRAIN_FP16 || strcmp(name, "fp32") == 0) return status_ok();
    return status_fail(FACET_NOT_FOUND, "no precision '%.40s': fp32, fp16", name);
}

// What is trained: the method, or a router over networks that are there.
static const char *trained(const FacetTrainOptions *options)
{
    return options->router_from ? "router" : facet_policy_method_name(options->method);
}

static Json *json_from_training(const FacetTrainSummary *summary, const FacetTrainOptions *options,
                                const char *out)
{
    Json *document = json_object();
    json_set_string(document, "policy", out);
    json_set_string(document, "method", trained(options));
    json_set_number(document, "demos", summary->demos);
    json_set_number(document, "samples", summary->samples);
    json_set_number(document, "tasks", summary->tasks);
    json_set_number(document, "networks", summary->networks);
    json_set_number(document, "parameters", (double)summary->parameters);
    json_set_number(document, "epochs", summary->epochs);
    json_set_number(document, "updates", (double)summary->updates);
    json_set_number(document, "resumed_updates", (double)summary->resumed);
    json_set_number(document, "loss", summary->loss);
    if (!isnan(summary->valid)) {
        json_set_number(document, "valid_loss", summary->valid);
        json_set_number(document, "valid_composed_loss", summary->valid_composed);
    }
    if (!isnan(summary->held_out)) {
        json_set_number(document, "held_out_loss", summary->held_out);
        json_set_number(document, "held_out_composed_loss", summary->held_out_composed);
    }
    json_set_number(document, "log_missing", (double)summary->log_missing);
    json_set_number(document, "seconds", summary->seconds);
    json_set_number(document, "seed", (double)options->seed);
    return document;
}

// A number of parameters for people: "4.34 M", "2,345" or "8".
static void parameters_text(char out[24], size_t parameters)
{
    if (parameters >= 100000)
        snprintf(out, 24, "%.2f M", 1e-6 * (double)parameters);
    else if (parameters >= 1000)
        snprintf(out, 24, "%zu,%03zu", parameters / 1000, parameters % 1000);
    else
        snprintf(out, 24, "%zu", parameters);
}

// What it says of a set that nothing was learned from.
static void print_losses(const char *set, double joint, double composed)
{
    if (!isnan(joint)) printf("loss on %s: %.5f, composed %.5f\n", set, joint, composed);
}

// Splits "a,b,c" in place.
static FacetStatus split_keys(TextList *keys, char *text)
{
    enum { KEYS_MAX = sizeof keys->items / sizeof *keys->items };
    for (char *at = text; at; keys->count++) {
        if (keys->count == KEYS_MAX)
            return status_fail(FACET_BAD_ARGUMENT, "expected at most %d keys to observe", KEYS_MAX);
        keys->items[keys->count] = at;
        at = strchr(at, ',');
        if (at) *at++ = '\0';
        if (!keys->items[keys->count][0])
            return status_fail(FACET_BAD_ARGUMENT, "expected keys to observe, as KEY,KEY");
    }
    return status_ok();
}

// Which training the options mean.
static FacetStatus train_what(FacetTrainSummary *summary, const char *data, const char *out,
                              const FacetTrainOptions *options, FacetPool *pool,
                              const FacetProgress *bar)
{
    if (options->router_from)
        return facet_policy_train_router(summary, data, out, options, pool, bar);
    if (options->from || options->new_value)
        return facet_policy_train_value(summary, data, out, options, pool, bar);
    return facet_policy_train(summary, data, out, options, pool, bar);
}

static FacetStatus train(const char *data, const char *out, const FacetTrainOptions *options,
                         const CommonOptions *common)
{
    FacetTrainSummary summary;
    FacetPool *pool;
    TRY(facet_pool_create(&pool, common->threads));
    FacetStatus status = train_what(&summary, data, out, options, pool, bar_open(common->quiet));
    facet_pool_destroy(pool);
    if (!status.ok) return status;
    char parameters[24];
    parameters_text(parameters, summary.parameters);
    printf("%s: %s, %d network%s of %s parameters in all\n"
           "%d demonstrations of %d task%s, %d samples, %ld updates (%ld in this run), %.1f s\n"
           "loss of the last epoch %.5f\n",
           out, trained(options), summary.networks, summary.networks == 1 ? "" : "s", parameters,
           summary.demos, summary.tasks, summary.tasks == 1 ? "" : "s", summary.samples,
           summary.updates, summary.updates - summary.resumed, summary.seconds, summary.loss);
    print_losses("validation", summary.valid, summary.valid_composed);
    print_losses("held-out tasks", summary.held_out, summary.held_out_composed);
    fputs(summary.remarks, stdout);
    if (summary.idle_ranks > 0)
        printf("%d of %d ranks were idle: an update has no rows for them\n", summary.idle_ranks,
               facet_ranks_count(options->ranks));
    if (summary.log_missing > 0)
        printf("%s.csv: %ld rows of earlier updates are missing: it was cut or removed\n", out,
               summary.log_missing);
    if (!common->json) return status_ok();
    return json_write(json_from_training(&summary, options, out), common->json);
}

int cmd_train(int argc, char **argv)
{
    CommonOptions common = common_defaults();
    FacetTrainOptions train_options = {0};
    const char *data = NULL, *out = NULL, *method = "factored", *precision = "fp32";
    const char *observe = NULL;
    int updates = 0;
    TextList hold_out = {.count = 0}, keys = {.count = 0};
    const Option options[] = {
        reads(option_text("data", &data, "FILE", "HDF5 file of demonstrations")),
        keeps(option_text("out", &out, "POLICY", "safetensors file to write"), ".csv .ckpt"),
        option_list(
            "hold-out", &hold_out, "TASK",
            "leave this task out, as track=race1,size=wide or race1/wide; or course for all "
            "that the course lists"),
        option_text("method", &method, "NAME", "factored, baseline, knet or oracle"),
        option_double("composed-loss", &train_options.composed_weight, "W", 0.0, 1e6,
                      "weight of a loss on the composed score"),
        option_double("agreement", &train_options.agreement_weight, "W", 0.0, 1e6,
                      "weight of a loss on what composed and joint scores differ by, also for "
                      "combinations without demonstrations; beside --composed-loss"),
        option_text("drop", &train_options.drop, "P",
                    "probability that a factor is null, or track=0.1,size=0.3 (default: the "
                    "recipe's)"),
        option_text("observe", &observe, "KEY,...",
                    "act on these observations of the demonstrations, numbers or images"),
        option_int("observe-steps", &train_options.observe_steps, "N", 0, 64,
                   "steps of them to look back on, 0 for 2"),
        option_int("horizon", &train_options.horizon, "T", 0, 4096,
                   "actions of a chunk, with --observe; 0 for 16"),
        option_int("execute", &train_options.execute, "N", 0, 4096,
                   "actions of a chunk carried out before the next, 0 for 8"),
        option_text("encoder", &train_options.encoder, "NAME",
                    "of observed images: small or resnet18 (default: small)"),
        reads(option_text("from", &train_options.from, "POLICY",
                          "teach this policy a new value, and leave all else as it is")),
        option_text("new-value", &train_options.new_value, "FACTOR=VALUE",
                    "the value that --from gets from demonstrations that have it"),
        reads(option_text("router-from", &train_options.router_from, "POLICY",
                          "train a router over the networks of this knet, and leave them as they "
                          "are")),
        option_text("filter", &train_options.filter, "NAME",
                    "train on the demonstrations that mask/NAME of the file lists"),
        option_text("validate", &train_options.validate, "NAME",
                    "look at the loss on those that mask/NAME lists, which are not learned"),
        option_text("recipe", &train_options.recipe, "NAME",
                    "default or paper; observe with observations"),
        option_int("epochs", &train_options.epochs, "N", 0, 1 << 24,
                   "passes over the demonstrations, 0 for the recipe's"),
        without(option_int("updates", &updates, "N", 0, 1 << 30,
                           "updates of each network, instead of epochs"),
                "epochs"),
        option_int("batch", &train_options.batch, "N", 0, 1 << 16,
                   "demonstrations an update, 0 for the recipe's"),
        option_double("rate", &train_options.rate, "X", 0.0, INFINITY,
                      "peak learning rate, 0 for the recipe's"),
        option_text("predict", &train_options.predict, "WHAT",
                    "what the network predicts: eps, v or x0 (default: v)"),
        option_int("blocks", &train_options.blocks, "N", 0, 64,
                   "residual blocks of the network, 0 for 8, or 3 with observations"),
        option_int("channels", &train_options.channels, "N", 0, 4096,
                   "width of the network, 0 for 256, or 96 with observations"),
        option_int("embed", &train_options.embed, "N", 0, 4096,
                   "width of a factor's embedding, 0 for 64, or 32 with observations"),
        option_text("dilation", &train_options.dilation, "D,...",
                    "of each block's convolutions, to see farther: 1,2,4 for three blocks "
                    "(default: 1 each)"),
        option_flag("no-position", &train_options.no_position,
                    "leave the position embedding out of the network"),
        option_text("precision", &precision, "NAME", "of the finished policy: fp32 or fp16"),
        option_flag("resume", &train_options.resume, "go on from POLICY.ckpt if it is there"),
    };
    const Usage usage = {
        .command = "train",
        .description =
            "Trains a diffusion policy on demonstrations. Losses go to POLICY.csv. Ctrl-C leaves "
            "POLICY.ckpt, which is also written every 500 updates and removed at the end; with it, "
            "--resume continues bit for bit. The seed decides all, at any number of threads and of "
            "ranks: mpirun shares each update out over ranks, on one machine or many "
            "(docs/cluster.md).",
        .example = "facet train --data demos.h5 --out policy.safetensors --hold-out course\n"
                   "facet train --data demos.h5 --out ours.safetensors --composed-loss 3\n"
                   "facet train --data robot.h5 --out p.safetensors --observe joints,wrist\n"
                   "facet train --data demos.h5 --out r.safetensors --router-from k.safetensors\n"
                   "mpirun -n 2 facet train --data demos.h5 --out policy.safetensors",
        .options = options,
        .option_count = sizeof options / sizeof *options,
        .common = &common,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!data)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --data FILE"));
    if (!out)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --out POLICY"));
    char key_text[4096] = "";
    FacetStatus status = policy_method_parse(&train_options.method, method);
    if (status.ok && observe) {
        if (strlen(observe) >= sizeof key_text)
            status = status_fail(FACET_BAD_ARGUMENT, "expected fewer keys to observe");
        else
            status = split_keys(&keys, strcpy(key_text, observe));
    }
    if (status.ok) status = parse_precision(&train_options.precision, precision);
    if (!status.ok) return command_misused(usage.command, status);
    char command[POLICY_TEXT];
    command_text(command, sizeof command, argc, argv);
    HoldOut left_out;
    status = hold_out_expand(&left_out, &hold_out, common.courses);
    if (!status.ok) return command_misused(usage.command, status);
    train_options.hold_out = left_out.tasks;
    train_options.hold_out_count = left_out.count;
    train_options.updates = updates;
    train_options.observe = keys.items;
    train_options.observe_count = keys.count;
    train_options.seed = common.seed;
    train_options.command = command;
    train_options.version = program_version();
    train_options.ranks = team_ranks();
    interrupt_watch();
    status = train(data, out, &train_options, &common);
    hold_out_free(&left_out);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
