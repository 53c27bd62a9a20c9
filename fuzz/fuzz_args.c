// Command lines, one argument a line, for a command with an option of each kind.
#include "fuzz.h"
#include "program/args.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    enum { ARGUMENTS_MAX = 100 };
    bool flag = false, help;
    const char *text = NULL;
    TextList list = {0}, operands = {0};
    int whole = 1;
    double real = 0.5;
    uint64_t natural = 0;
    CommonOptions common = common_defaults();
    const Option options[] = {
        option_flag("expert", &flag, "help"),
        option_text("out", &text, "FILE", "help"),
        option_list("task", &list, "TASK", "help"),
        option_int("rollouts", &whole, "N", 1, 1000, "help"),
        option_double("gust", &real, "MPS", 0.0, INFINITY, "help"),
        option_uint64("key", &natural, "N", "help"),
    };
    const Usage usage = {.command = "fuzz",
                         .description = "Flies.",
                         .example = "facet fuzz",
                         .options = options,
                         .option_count = sizeof options / sizeof *options,
                         .common = &common,
                         .operands = &operands,
                         .operand_name = "FILE",
                         .operand_max = 2};
    char *line = fuzz_text(bytes, size), name[] = "fuzz", *argv[ARGUMENTS_MAX + 1] = {name};
    int argc = 1;
    for (char *at = line; at && argc < ARGUMENTS_MAX;) {
        char *end = strchr(at, '\n');
        if (end) *end++ = '\0';
        argv[argc++] = at;
        at = end;
    }
    char command[256];
    OptionTable table;
    (void)args_read(&table, &help, &usage, argc, argv);
    command_text(command, sizeof command, argc, argv);
    free(line);
    return 0;
}
