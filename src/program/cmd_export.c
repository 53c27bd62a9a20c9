// facet export: a network of a policy as an ONNX model.
#include "args.h"
#include "commands.h"
#include "export/onnx.h"

#include <stdio.h>

static FacetStatus export_policy(const char *path, const char *network, const char *onnx)
{
    FacetPolicy *policy;
    TRY(facet_policy_load(&policy, path));
    FacetStatus status = onnx_export(policy, network, onnx);
    if (status.ok)
        printf("%s: a network of %zu parameters for chunks of %d x %d\n", onnx,
               onnx_parameters(policy, network), policy_horizon(policy), policy_dim(policy));
    facet_policy_destroy(policy);
    return status;
}

int cmd_export(int argc, char **argv)
{
    const char *policy = NULL, *onnx = NULL, *network = NULL;
    const Option options[] = {
        reads(option_text("policy", &policy, "POLICY", "safetensors file of the policy")),
        writes(option_text("onnx", &onnx, "FILE", "ONNX file to write")),
        option_text("network", &network, "NAME",
                    "which network of a knet policy, as null or track=race1; or the encoder of a "
                    "policy that sees"),
    };
    const Usage usage = {
        .command = "export",
        .description = "Writes the score network of a policy as an ONNX model (opset 17), with all "
                       "that sampling needs in its metadata. Inputs are x [rows, T, D], t [rows] "
                       "and z [rows, K], where -1 is the null token of a factor, and of a "
                       "policy that sees context [rows, F]; the output is prediction [rows, T, D]. "
                       "Its encoder is a model of its own, from image to features.",
        .example = "facet export --policy policy.safetensors --onnx policy.onnx",
        .options = options,
        .option_count = sizeof options / sizeof *options,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (!policy)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --policy POLICY"));
    if (!onnx)
        return command_misused(usage.command,
                               status_fail(FACET_BAD_ARGUMENT, "expected --onnx FILE"));
    FacetStatus status = export_policy(policy, network, onnx);
    return status.ok ? EXIT_DONE : command_failed(usage.command, status);
}
