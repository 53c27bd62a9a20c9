// Options of a command (see args.h).
#include "args.h"

#include "bar.h"
#include "base/text.h"
#include "places.h"
#include "policy/policy.h"
#include "team.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COMMON_COUNT = 5, HELP_WIDTH = 80 };

CommonOptions common_defaults(void) { return (CommonOptions){.seed = 1}; }

static void add_common(OptionTable *table, const Usage *usage)
{
    CommonOptions *common = usage->common;
    Option *out = table->options;
    int *count = &table->count;
    if (!usage->no_json) {
        out[*count] = writes(option_text("json", &common->json, "FILE",
                                         "also write the results to FILE as "
                                         "JSON"));
        out[(*count)++].beside = usage->json_kept;
    }
    out[(*count)++] = option_uint64("seed", &common->seed, "N", "seed of every random number");
    out[(*count)++] = option_int("threads", &common->threads, "N", 0, 256,
                                 "threads to work with, 0 for one a processor");
    out[(*count)++] = option_flag("quiet", &common->quiet, "show no progress");
    if (usage->no_courses) return;
    out[(*count)++] =
        without(reads(option_text("courses", &common->courses, "DIR",
                                  "folder of the courses, instead of those that ship with Facet")),
                usage->courses_without);
}

OptionTable args_table(const Usage *usage)
{
    assert(usage->option_count + COMMON_COUNT < OPTIONS_MAX && "the option table is large enough");
    OptionTable table = {.count = usage->option_count};
    for (int i = 0; i < usage->option_count; i++) table.options[i] = usage->options[i];
    if (usage->common) add_common(&table, usage);
    table.options[table.count++] =
        (Option){.name = "help", .kind = OPTION_FLAG, .help = "show this help and stop"};
    return table;
}

// ---- Reading --------------------------------------------------------------------------------

static FacetStatus unknown_option(const OptionTable *table, const char *argument)
{
    char names[OPTIONS_MAX][OPTION_NAME_MAX], given[OPTION_NAME_MAX], text[400];
    const char *words[OPTIONS_MAX];
    for (int i = 0; i < table->count; i++) {
        snprintf(names[i], sizeof names[i], "--%s", table->options[i].name);
        words[i] = names[i];
    }
    snprintf(given, sizeof given, "%.*s", (int)strcspn(argument, "="), argument);
    text_unknown(text, sizeof text, "option", given, words, table->count);
    return status_fail(FACET_NOT_FOUND, "%s", text);
}

static const Option *find_option(const OptionTable *table, const char *name, size_t length)
{
    for (int i = 0; i < table->count; i++) {
        const Option *option = &table->options[i];
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

bool args_given(const OptionTable *table, const char *name)
{
    const Option *option = find_option(table, name, strlen(name));
    return option && table->given[option - table->options];
}

bool args_find(char name[OPTION_NAME_MAX], const OptionTable *table, const char *names, bool given)
{
    for (names = names ? names : ""; *names; names += strspn(names, " ")) {
        int length = (int)strcspn(names, " ");
        snprintf(name, OPTION_NAME_MAX, "%.*s", length, names);
        if (args_given(table, name) == given) return true;
        names += length;
    }
    return false;
}

// A number stands alone in its text: no space before it, nothing after it.
static bool is_whole_number(const char *text)
{
    text += *text == '-' || *text == '+';
    return *text && strspn(text, "0123456789") == strlen(text);
}

static FacetStatus read_int(const Option *option, const char *text)
{
    errno = 0;
    long long value = is_whole_number(text) ? strtoll(text, NULL, 10) : LLONG_MAX;
    if (errno || (double)value < option->min || (double)value > option->max)
        return status_fail(FACET_BAD_ARGUMENT,
                           "--%s: expected a whole number from %.0f to %.0f, found '%.60s'",
                           option->name, option->min, option->max, text);
    *option->value.integer = (int)value;
    return status_ok();
}

static FacetStatus read_uint64(const Option *option, const char *text)
{
    errno = 0;
    bool valid = is_whole_number(text) && text[0] != '-';
    unsigned long long value = valid ? strtoull(text, NULL, 10) : 0;
    if (!valid || errno)
        return status_fail(FACET_BAD_ARGUMENT,
                           "--%s: expected a whole number from 0 to %" PRIu64 ", found '%.60s'",
                           option->name, UINT64_MAX, text);
    *option->value.natural = value;
    return status_ok();
}

static FacetStatus read_double(const Option *option, const char *text)
{
    char *end;
    double value = strtod(text, &end);
    bool number = end != text && !*end && strchr(" \t\n\v\f\r", text[0]) == NULL;
    if (!number || !isfinite(value) || value < option->min || value > option->max) {
        char range[64] = "";
        if (isfinite(option->min) && isfinite(option->max))
            snprintf(range, sizeof range, " from %g to %g", option->min, option->max);
        else if (isfinite(option->min))
            snprintf(range, sizeof range, " of at least %g", option->min);
        else if (isfinite(option->max))
            snprintf(range, sizeof range, " of at most %g", option->max);
        return status_fail(FACET_BAD_ARGUMENT, "--%s: expected a number%s, found '%.60s'",
                           option->name, range, text);
    }
    *option->value.real = value;
    return status_ok();
}

static FacetStatus list_add(TextList *list, const char *dashes, const char *name, const char *text)
{
    if (list->count == TEXT_LIST_MAX)
        return status_fail(FACET_BAD_ARGUMENT, "%s%s: expected at most %d of them", dashes, name,
                           TEXT_LIST_MAX);
    list->items[list->count++] = text;
    return status_ok();
}

static FacetStatus read_value(const Option *option, const char *text)
{
    if (!text[0])
        return status_fail(FACET_BAD_ARGUMENT, "--%s: expected %s, found an empty text",
                           option->name, option->placeholder);
    switch (option->kind) {
    case OPTION_INT:
        return read_int(option, text);
    case OPTION_UINT64:
        return read_uint64(option, text);
    case OPTION_DOUBLE:
        return read_double(option, text);
    case OPTION_LIST:
        return list_add(option->value.list, "--", option->name, text);
    case OPTION_TEXT:
        *option->value.text = text;
        break;
    case OPTION_FLAG:
        break;
    }
    return status_ok();
}

// Remembers that an option was given. All but lists and flags are given once.
static FacetStatus read_once(OptionTable *table, const Option *option, const char *text)
{
    bool *given = &table->given[option - table->options];
    if (*given && option->kind != OPTION_LIST)
        return status_fail(FACET_BAD_ARGUMENT, "--%s: expected once, found again with '%.60s'",
                           option->name, text);
    *given = true;
    return read_value(option, text);
}

// Reads the option at argv[*index] and steps over its value.
static FacetStatus read_option(bool *help, OptionTable *table, int argc, char **argv, int *index)
{
    const char *argument = argv[*index];
    if (strcmp(argument, "-h") == 0) argument = "--help";
    const char *name = argument + 2, *equals = strchr(argument, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const Option *option =
        strncmp(argument, "--", 2) == 0 ? find_option(table, name, length) : NULL;
    if (!option) return unknown_option(table, argument);
    if (option->kind == OPTION_FLAG) {
        if (equals)
            return status_fail(FACET_BAD_ARGUMENT, "--%s: takes no value, found '%.60s'",
                               option->name, equals + 1);
        *(option->value.flag ? option->value.flag : help) = true;
        table->given[option - table->options] = true;
        return status_ok();
    }
    if (equals) return read_once(table, option, equals + 1);
    if (*index + 1 >= argc || strncmp(argv[*index + 1], "--", 2) == 0)
        return status_fail(FACET_BAD_ARGUMENT, "--%s: expected %s after it, found %s%s%s",
                           option->name, option->placeholder, *index + 1 < argc ? "'" : "nothing",
                           *index + 1 < argc ? argv[*index + 1] : "", *index + 1 < argc ? "'" : "");
    return read_once(table, option, argv[++*index]);
}

// An option that another one makes meaningless is a mistake, not a word to pass over.
static FacetStatus check_company(const OptionTable *table)
{
    char other[OPTION_NAME_MAX];
    for (int i = 0; i < table->count; i++) {
        const Option *option = &table->options[i];
        if (!table->given[i]) continue;
        if (args_find(other, table, option->with, false))
            return status_fail(FACET_BAD_ARGUMENT,
                               "--%s: expected --%s beside it, without which it means nothing",
                               option->name, other);
        if (args_find(other, table, option->without, true))
            return status_fail(FACET_BAD_ARGUMENT, "expected --%s or --%s, found both", other,
                               option->name);
    }
    return status_ok();
}

static FacetStatus read_operand(const Usage *usage, const char *argument)
{
    if (!usage->operands)
        return status_fail(FACET_BAD_ARGUMENT,
                           "expected only options, which begin with --, found '%.60s'", argument);
    if (usage->operands->count >= usage->operand_max)
        return status_fail(FACET_BAD_ARGUMENT, "expected at most %d %s, found '%.60s' besides",
                           usage->operand_max, usage->operand_name, argument);
    return list_add(usage->operands, "", usage->operand_name, argument);
}

FacetStatus args_read(OptionTable *table, bool *help, const Usage *usage, int argc, char **argv)
{
    *help = false;
    *table = args_table(usage);
    // --help is answered even beside a mistake.
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) *help = true;
    if (*help) return status_ok();

    bool only_operands = false;
    for (int i = 1; i < argc; i++) {
        if (!only_operands && strcmp(argv[i], "--") == 0)
            only_operands = true;
        else if (!only_operands && argv[i][0] == '-' && argv[i][1])
            TRY(read_option(help, table, argc, argv, &i));
        else
            TRY(read_operand(usage, argv[i]));
    }
    if (usage->operands && usage->operands->count < usage->operand_min)
        return status_fail(FACET_BAD_ARGUMENT, "expected at least %d %s, found %d",
                           usage->operand_min, usage->operand_name, usage->operands->count);
    return check_company(table);
}

// ---- Help -----------------------------------------------------------------------------------

// Prints a text in lines of at most HELP_WIDTH, each but the first indented. `used` columns of the
// first line are taken already.
static void print_wrapped(const char *text, int used, int indent)
{
    while (*text) {
        text += strspn(text, " ");
        char word[256];
        size_t length = strcspn(text, " ");
        if (!length) break;
        snprintf(word, sizeof word, "%.*s", (int)length, text);
        int width = text_width(word);
        if (used > indent && used + 1 + width > HELP_WIDTH) {
            printf("\n%*s", indent, "");
            used = indent;
        }
        used += printf("%s", used > indent ? " " : "") + width;
        fputs(word, stdout);
        text += length;
    }
    putchar('\n');
}

// The option with its default, as --help describes it.
static void describe(char *out, size_t size, const Option *option)
{
    int used = snprintf(out, size, "%s", option->help);
    char *rest = out + used;
    size_t room = size - (size_t)used;
    switch (option->kind) {
    case OPTION_INT:
        snprintf(rest, room, " (default %d)", *option->value.integer);
        break;
    case OPTION_DOUBLE:
        snprintf(rest, room, " (default %g)", *option->value.real);
        break;
    case OPTION_UINT64:
        snprintf(rest, room, " (default %" PRIu64 ")", *option->value.natural);
        break;
    case OPTION_TEXT:
        if (*option->value.text) snprintf(rest, room, " (default %s)", *option->value.text);
        break;
    case OPTION_LIST:
        snprintf(rest, room, " (may be repeated)");
        break;
    case OPTION_FLAG:
        break;
    }
}

static int option_form(char *out, size_t size, const Option *option)
{
    return snprintf(out, size, "--%s%s%s", option->name, option->placeholder ? " " : "",
                    option->placeholder ? option->placeholder : "");
}

static void print_options(const char *title, const Option *options, int count, int column)
{
    if (count > 0) printf("\n%s:\n", title);
    for (int i = 0; i < count; i++) {
        char form[64], text[320];
        option_form(form, sizeof form, &options[i]);
        describe(text, sizeof text, &options[i]);
        printf("  %-*s", column - 2, form);
        print_wrapped(text, column, column);
    }
}

void args_help(const Usage *usage)
{
    printf("usage: facet %s [options]", usage->command);
    if (usage->operands)
        printf(usage->operand_min ? " %s%s" : " [%s%s]", usage->operand_name,
               usage->operand_max > 1 ? "..." : "");
    printf("\n\n");
    print_wrapped(usage->description, 0, 0);

    OptionTable table = args_table(usage);
    int column = 0;
    for (int i = 0; i < table.count; i++) {
        char form[64];
        int width = option_form(form, sizeof form, &table.options[i]) + 4;
        if (width > column) column = width;
    }
    int own = usage->common && usage->option_count > 0 ? usage->option_count : table.count;
    print_options("options", table.options, own, column);
    print_options("common options", table.options + own, table.count - own, column);

    printf("\nexample:\n");
    for (const char *line = usage->example; *line;) {
        int length = (int)strcspn(line, "\n");
        printf("  %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

// ---- What the commands call -------------------------------------------------------------------

const char *mode_help(const char *words)
{
    static char text[200];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", words);
    for (int i = 0; i < FACET_POLICY_MODES && used < sizeof text; i++) {
        const char *before = i == 0 ? "" : i + 1 == FACET_POLICY_MODES ? " or " : ", ";
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", before,
                                 policy_mode_name((FacetPolicyMode)i));
    }
    return text;
}

int command_failed(const char *command, FacetStatus status)
{
    bar_close();
    // Work that keeps something says how to go on; other work begins anew.
    if (status.code == FACET_INTERRUPTED && strcmp(status.text, "interrupted") == 0)
        status = status_fail(FACET_INTERRUPTED,
                             "interrupted: nothing was written, the same command begins anew");
    team_failed(command, status);
    return EXIT_FAILED;
}

// All ranks have the same command line, so the first one speaks for all.
int command_misused(const char *command, FacetStatus status)
{
    if (team_leads()) fprintf(stderr, "facet %s: %s\n", command, status.text);
    return status.code == FACET_NO_MEMORY ? EXIT_FAILED : EXIT_USAGE; // that is no user's mistake
}

// Options that do not change what is computed.
static bool changes_nothing(const char *argument, size_t length, bool *takes_value)
{
    static const struct {
        const char *name;
        bool takes_value;
    } options[] = {{"--threads", true},    {"--json", true},   {"--report", true},
                   {"--no-report", false}, {"--quiet", false}, {"--resume", false}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        *takes_value = options[i].takes_value;
        if (strlen(options[i].name) == length && strncmp(argument, options[i].name, length) == 0)
            return true;
    }
    return false;
}

void command_text(char *out, size_t size, int argc, char **argv)
{
    size_t used = (size_t)snprintf(out, size, "facet %s", argv[0]);
    for (int i = 1; i < argc; i++) {
        bool takes_value;
        size_t length = strcspn(argv[i], "=");
        if (changes_nothing(argv[i], length, &takes_value)) {
            i += takes_value && !argv[i][length];
            continue;
        }
        bool fits = used + strlen(argv[i]) + sizeof "  …" <= size;
        used += (size_t)snprintf(out + used, size - used, " %s", fits ? argv[i] : "…");
        if (!fits) return;
    }
}

// What the command line names is compared by all ranks; the one that writes tries the outputs.
static bool check_places(int *exit_code, const OptionTable *table, const Usage *usage)
{
    FacetStatus status = places_compare(table, usage);
    if (!status.ok) *exit_code = command_misused(usage->command, status);
    if (!status.ok) return false;
    status = ranks_agree(team_ranks(), team_writes() ? places_try(table) : status_ok());
    if (!status.ok) *exit_code = command_failed(usage->command, status);
    return status.ok;
}

bool args_parse(int *exit_code, const Usage *usage, int argc, char **argv)
{
    bool help;
    OptionTable table;
    FacetStatus status = args_read(&table, &help, usage, argc, argv);
    if (help) {
        args_help(usage);
        *exit_code = EXIT_DONE;
        return false;
    }
    if (!status.ok) *exit_code = command_misused(usage->command, status);
    if (!status.ok || !check_places(exit_code, &table, usage)) return false;
    if (usage->common && !team_writes()) usage->common->json = NULL;
    return true;
}
