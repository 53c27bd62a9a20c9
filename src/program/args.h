// Options of a command: declared in one table, read from the command line, shown by --help.
//
// A command fills a struct with its defaults, points a table of options at it, and parses:
//
//     int rollouts = 50;
//     CommonOptions common = common_defaults();
//     const Option options[] = {
//         option_int("rollouts", &rollouts, "N", 1, 100000, "demonstrations a task"),
//     };
//     const Usage usage = {
//         .command = "demos",
//         .description = "Flies the expert and writes what it did.",
//         .example = "facet demos --rollouts 10",
//         .options = options,
//         .option_count = 1,
//         .common = &common,
//     };
//     int exit_code;
//     if (!args_parse(&exit_code, &usage, argc, argv)) return exit_code;
//
// Values are written --name VALUE or --name=VALUE; "--" ends the options. Nothing that is given is
// ignored: a value given twice is refused, unless it is a list, and so is an option that means
// nothing beside another one or without it (`with`, `without`).
//
// The table also says which files a command reads and which it writes (`reads`, `writes`): one
// place compares them and tries the outputs before any work begins (places.h).
#ifndef FACET_CLI_ARGS_H
#define FACET_CLI_ARGS_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// Exit codes of the program.
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum { TEXT_LIST_MAX = 64 };

// Texts in the order given. They belong to the command line.
typedef struct TextList {
    const char *items[TEXT_LIST_MAX];
    int count;
} TextList;

typedef enum OptionKind {
    OPTION_FLAG,
    OPTION_TEXT,
    OPTION_LIST,
    OPTION_INT,
    OPTION_DOUBLE,
    OPTION_UINT64,
} OptionKind;

typedef enum OptionPlace {
    PLACE_NONE,
    PLACE_READ,  // a file, or a folder of them
    PLACE_WRITE, // a file, a device or a pipe
    PLACE_KEEP,  // a file alone: what is written to it is read again
    PLACE_FILL,  // a folder that files are written into
} OptionPlace;

typedef struct Option {
    const char *name; // without the dashes
    OptionKind kind;
    const char *placeholder; // of the value: "FILE", "N"; NULL for a flag
    const char *help;        // one line, no full stop; --help adds the default
    union {
        bool *flag;
        const char **text;
        TextList *list;
        int *integer;
        double *real;
        uint64_t *natural;
    } value;         // where it goes; holds the default before parsing
    double min, max; // of int and double

    // Other options that it needs beside it, or must not have: names with spaces between.
    const char *with, *without;
    OptionPlace place;
    const char *beside; // endings of other files that are written beside it: ".csv .ckpt"
    const char *inside; // patterns of the files of a PLACE_FILL, see `fills`
    bool new_folder;    // the folder of an output is made when it is not there
} Option;

// ---- Rows of the table ----------------------------------------------------------------------

static inline Option option_flag(const char *name, bool *value, const char *help)
{
    return (Option){.name = name, .kind = OPTION_FLAG, .help = help, .value.flag = value};
}

// The default NULL means "not given".
static inline Option option_text(const char *name, const char **value, const char *placeholder,
                                 const char *help)
{
    return (Option){.name = name,
                    .kind = OPTION_TEXT,
                    .placeholder = placeholder,
                    .help = help,
                    .value.text = value};
}

// May be given again and again; the list begins empty.
static inline Option option_list(const char *name, TextList *value, const char *placeholder,
                                 const char *help)
{
    return (Option){.name = name,
                    .kind = OPTION_LIST,
                    .placeholder = placeholder,
                    .help = help,
                    .value.list = value};
}

static inline Option option_int(const char *name, int *value, const char *placeholder, int min,
                                int max, const char *help)
{
    return (Option){.name = name,
                    .kind = OPTION_INT,
                    .placeholder = placeholder,
                    .help = help,
                    .value.integer = value,
                    .min = min,
                    .max = max};
}

// Finite, from min to max; -INFINITY and INFINITY leave a side open.
static inline Option option_double(const char *name, double *value, const char *placeholder,
                                   double min, double max, const char *help)
{
    return (Option){.name = name,
                    .kind = OPTION_DOUBLE,
                    .placeholder = placeholder,
                    .help = help,
                    .value.real = value,
                    .min = min,
                    .max = max};
}

static inline Option option_uint64(const char *name, uint64_t *value, const char *placeholder,
                                   const char *help)
{
    return (Option){.name = name,
                    .kind = OPTION_UINT64,
                    .placeholder = placeholder,
                    .help = help,
                    .value.natural = value};
}

// What else a row may say, around any of the above.
static inline Option with(Option option, const char *others)
{
    option.with = others;
    return option;
}

static inline Option without(Option option, const char *others)
{
    option.without = others;
    return option;
}

static inline Option reads(Option option)
{
    option.place = PLACE_READ;
    return option;
}

static inline Option writes(Option option)
{
    option.place = PLACE_WRITE;
    return option;
}

static inline Option keeps(Option option, const char *beside)
{
    option.place = PLACE_KEEP;
    option.beside = beside;
    return option;
}

// A folder of the command's own. `inside` has patterns of the names that it writes there, the first
// that fits decides, and one behind a ! is left to the other options: "!study.json *".
static inline Option fills(Option option, const char *inside)
{
    option.place = PLACE_FILL;
    option.inside = inside;
    return option;
}

static inline Option in_new_folder(Option option)
{
    option.new_folder = true;
    return option;
}

// ---- A command's command line ---------------------------------------------------------------

// What every command that computes something accepts.
typedef struct CommonOptions {
    const char *json;    // file for the results; NULL for none
    uint64_t seed;       // of every random number
    int threads;         // 0 for all processors
    bool quiet;          // no progress
    const char *courses; // folder; NULL for the one that ships with Facet
} CommonOptions;

CommonOptions common_defaults(void);

typedef struct Usage {
    const char *command;     // "demos"
    const char *description; // one paragraph
    const char *example;     // one line or several
    const Option *options;
    int option_count;
    CommonOptions *common;       // NULL when the command has none of the common options
    bool no_courses;             // leaves --courses out of them
    bool no_json;                // and --json
    const char *courses_without; // options that leave --courses nothing to do
    const char *json_kept;       // ending of a file beside that of --json: ".state"

    // Positional arguments. Without `operands` there are none, and one given is refused.
    TextList *operands;
    const char *operand_name; // "FILE"
    int operand_min, operand_max;
    bool operands_read; // they are files
} Usage;

// Every option of a command: its own, the common ones, and --help.
enum { OPTIONS_MAX = 48, OPTION_NAME_MAX = 40 };

typedef struct OptionTable {
    Option options[OPTIONS_MAX];
    bool given[OPTIONS_MAX];
    int count;
} OptionTable;

// Reads the arguments that follow the command's name (argv[0]). Returns true when the command
// should go on. Otherwise --help was shown or a mistake named, and the command returns *exit_code.
bool args_parse(int *exit_code, const Usage *usage, int argc, char **argv);

// The same without printing and without a look at files: a mistake is the status, and *help is set
// when --help is there.
FacetStatus args_read(OptionTable *table, bool *help, const Usage *usage, int argc, char **argv);

// The table before anything is read, and whether an option is on the command line.
OptionTable args_table(const Usage *usage);
bool args_given(const OptionTable *table, const char *name);

// The first of several names, with spaces between, that is on the command line or that is not;
// false without any.
bool args_find(char name[OPTION_NAME_MAX], const OptionTable *table, const char *names, bool given);

// What --help prints.
void args_help(const Usage *usage);

// Prints "facet COMMAND: message" on stderr and returns the exit code for it: a failure of the
// work, or a value on the command line that is wrong.
int command_failed(const char *command, FacetStatus status);
int command_misused(const char *command, FacetStatus status);

// What --mode takes, for help, behind these words: "composed, joint, …". Lives until the next call.
const char *mode_help(const char *words);

// The command line that gives the same results, "facet eval --seeds 5": without the options that
// change none, such as --threads and --json. Results keep it whole in COMMAND_TEXT bytes.
enum { COMMAND_TEXT = 1 << 14 };
void command_text(char *out, size_t size, int argc, char **argv);

#endif
