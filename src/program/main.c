// The program: finds the command that the first argument names and runs it.
#include "args.h"
#include "base/isa.h"
#include "base/text.h"
#include "commands.h"
#include "commit.h"
#include "linalg/gemm.h"
#include "team.h"

#include <errno.h>
#include <facet/api.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct Command {
    const char *name;
    const char *summary; // for `facet help`: one line, no full stop
    int (*run)(int argc, char **argv);
    bool alone; // it does not share its work over ranks
} Command;

static int cmd_help(int argc, char **argv);

// In the order `facet help` shows them.
static const Command commands[] = {
    {"race", "the main job: fly every feasible task and print the table", cmd_race, true},
    {"speeds", "find the highest feasible speed of every task", cmd_speeds, true},
    {"fly", "fly tasks and show what became of them", cmd_fly, true},
    {"demos", "write demonstrations of every feasible task to an HDF5 file", cmd_demos, true},
    {"train", "train a policy on demonstrations", cmd_train, false},
    {"sample", "sample plans of a policy for a task", cmd_sample, true},
    {"export", "write a policy's network as an ONNX model", cmd_export, true},
    {"eval", "fly policies on every task and print the paper's tables with ours", cmd_eval, false},
    {"certify", "bound how far plans and flights can be off, beside the paper", cmd_certify, false},
    {"report", "write flights, figures and tables as one page", cmd_report, true},
    {"reproduce", "make everything from nothing and print the paper's tables", cmd_reproduce,
     false},
    {"study", "composition: pairs left out, fewer pairs, operators", cmd_study, false},
    {"gate", "fly through single gates by camera, and train and study who does", cmd_gate, false},
    {"camera", "draw what the onboard camera sees at a gate of a venue", cmd_camera, true},
    {"version", "show the version and what it was built with", cmd_version, false},
    {"help", "show this help, or that of a command", cmd_help, false},
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static const Command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) names[i] = commands[i].name;
    char text[320];
    text_unknown(text, sizeof text, "command", name, names, COMMAND_COUNT);
    if (team_leads()) fprintf(stderr, "facet: %s\n", text);
    return EXIT_USAGE;
}

static void print_overview(void)
{
    printf("Facet learns, composes, flies and certifies factored diffusion policies.\n"
           "\n"
           "usage: facet COMMAND [options]\n"
           "\n"
           "commands:\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-10s  %s\n", commands[i].name, commands[i].summary);
    printf("\n"
           "'facet COMMAND --help' shows the options of a command, with an example.\n");
}

static int cmd_help(int argc, char **argv)
{
    TextList names = {.count = 0};
    const Usage usage = {
        .command = "help",
        .description = "Shows what the program can do, or how one of its commands is used.",
        .example = "facet help version",
        .operands = &names,
        .operand_name = "COMMAND",
        .operand_max = 1,
    };
    int exit_code;
    if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
    if (names.count == 0) {
        print_overview();
        return EXIT_DONE;
    }
    const Command *command = find_command(names.items[0]);
    if (!command) return unknown_command(names.items[0]);
    char name[32], help[] = "--help";
    snprintf(name, sizeof name, "%s", command->name);
    return command->run(2, (char *[]){name, help, NULL});
}

static int run(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "help";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    if (strcmp(name, "--version") == 0) {
        printf("facet %s\n", facet_version());
        return EXIT_DONE;
    }
    const Command *command = find_command(name);
    if (!command) return unknown_command(name);
    FacetStatus status =
        team_join(program_commit(), argc > 1 ? argc - 1 : 1, argc > 1 ? argv + 1 : argv);
    if (status.ok) status = ranks_agree(team_ranks(), isa_status());
    if (status.ok && command->alone) status = ranks_agree(team_ranks(), team_refuse());
    int exit_code =
        status.ok ? command->run(argc - 1, argv + 1) : command_failed(command->name, status);
    // A failure that all know of is the first rank's to report: mpirun ends the job as soon as one
    // rank reports it, and the first one may not have been heard by then.
    if (!team_leads()) exit_code = EXIT_DONE;
    team_leave();
    return exit_code;
}

// As it is loaded, OpenBLAS starts threads that nothing here needs, each with a buffer. Where a
// limit of the address space (ulimit -v) refuses the buffer they try again without an end, and the
// program would wait for them when it ends. Under a limit it begins anew without them.
static void begin_without_blas_threads(char **argv)
{
    static const char name[] = "OPENBLAS_NUM_THREADS";
    struct rlimit limit;
    const char *threads = getenv(name);
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
    if (threads && strcmp(threads, "1") == 0) return;
    if (setenv(name, "1", 1) == 0) execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
    begin_without_blas_threads(argv);
    // A file that grows past the limit of its size is a write that fails, not the end of
    // everything.
    signal(SIGXFSZ, SIG_IGN);
    gemm_set_threads(1); // products run side by side already
    int exit_code = run(argc, argv);
    // Output that did not arrive, as on a full disk, is a failure.
    if ((fflush(stdout) != 0 || ferror(stdout)) && exit_code == EXIT_DONE) {
        fprintf(stderr, "facet: cannot write to standard output: %s\n", strerror(errno));
        exit_code = EXIT_FAILED;
    }
    return exit_code;
}
