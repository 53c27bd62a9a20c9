// facet study: questions about composition, each with a command of its own.
#include "args.h"
#include "base/text.h"
#include "commands.h"
#include "study_leave_one_out.h"
#include "study_mechanism.h"
#include "study_operators.h"
#include "study_pairs.h"
#include "team.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    char *full;
    int (*run)(int argc, char **argv);
    bool alone; // it does not share its work over ranks
} parts[] = {
    {"leave-one-out", "study leave-one-out", study_leave_one_out, false},
    {"pairs", "study pairs", study_pairs, false},
    {"operators", "study operators", study_operators, true},
    {"mechanism", "study mechanism", study_mechanism, false},
};
enum { PARTS = sizeof parts / sizeof *parts };

int cmd_study(int argc, char **argv)
{
    static const Usage usage = {
        .command = "study",
        .description =
            "Studies of composition: facet study leave-one-out, pairs, operators and mechanism, "
            "each with its own --help.",
        .example = "facet study leave-one-out\n"
                   "facet study pairs --out out/pairs\n"
                   "facet study operators --policy knet.safetensors\n"
                   "facet study mechanism --out out/mechanism",
    };
    int exit_code;
    if (argc < 2 || argv[1][0] == '-') {
        if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
        return command_misused(
            "study", status_fail(FACET_BAD_ARGUMENT,
                                 "expected a study: leave-one-out, pairs, operators or mechanism"));
    }
    const char *names[PARTS];
    for (int i = 0; i < PARTS; i++) {
        names[i] = parts[i].name;
        if (strcmp(argv[1], names[i]) != 0) continue;
        FacetStatus refused = parts[i].alone ? team_refuse() : status_ok();
        if (!refused.ok) return command_failed(parts[i].full, ranks_agree(team_ranks(), refused));
        argv[1] = parts[i].full;
        return parts[i].run(argc - 1, argv + 1);
    }
    char text[300];
    text_unknown(text, sizeof text, "study", argv[1], names, PARTS);
    return command_misused("study", status_fail(FACET_NOT_FOUND, "%s", text));
}
