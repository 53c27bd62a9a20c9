// Options: every kind and form of value, and the line each mistake gets.
#include "program/args.h"
#include "testing.h"

#include <stdlib.h>
#include <unistd.h>

// A command with one option of each kind.
typedef struct Values {
    bool expert;
    const char *out;
    TextList tasks;
    int rollouts;
    double gust;
    uint64_t key;
    CommonOptions common;
    TextList operands;
} Values;

enum { OPTIONS = 6 };

static Values defaults(void)
{
    return (Values){.out = "demos.h5", .rollouts = 50, .gust = 0.5, .common = common_defaults()};
}

static void declare(Usage *usage, Option options[OPTIONS], Values *values)
{
    options[0] = option_flag("expert", &values->expert, "fly the expert");
    options[1] = option_text("out", &values->out, "FILE", "file to write");
    options[2] = option_list("task", &values->tasks, "TASK", "fly this task");
    options[3] = option_int("rollouts", &values->rollouts, "N", 1, 1000, "rollouts a task");
    options[4] = with(
        option_double("gust", &values->gust, "MPS", 0.0, INFINITY, "speed of the gusts"), "task");
    options[5] = without(option_uint64("key", &values->key, "N", "a large number"), "expert");
    *usage = (Usage){.command = "demos",
                     .description = "Flies.",
                     .example = "facet demos",
                     .options = options,
                     .option_count = OPTIONS,
                     .common = &values->common};
}

// Reads a command line, given as the arguments after the command's name.
static FacetStatus read_line(Values *values, bool *help, const char *const *arguments,
                             int operand_max)
{
    Usage usage;
    Option options[OPTIONS];
    *values = defaults();
    declare(&usage, options, values);
    if (operand_max > 0) {
        usage.operands = &values->operands;
        usage.operand_name = "FILE";
        usage.operand_min = 1;
        usage.operand_max = operand_max;
    }
    char name[] = "demos", *argv[80] = {name};
    int argc = 1;
    for (; arguments[argc - 1]; argc++) argv[argc] = strdup(arguments[argc - 1]);
    OptionTable table;
    FacetStatus status = args_read(&table, help, &usage, argc, argv);
    // The values point into the arguments, so those stay until the process ends.
    static char **kept[100];
    static int kept_count;
    kept[kept_count] = calloc(80, sizeof(char *));
    memcpy(kept[kept_count++], argv, sizeof argv);
    return status;
}

#define READ(...)          read_line(&values, &help, (const char *const[]){__VA_ARGS__, NULL}, 0)
#define READ_OPERANDS(...) read_line(&values, &help, (const char *const[]){__VA_ARGS__, NULL}, 2)

#define assert_says(expression, words)                                                             \
    do {                                                                                           \
        FacetStatus says_ = (expression);                                                          \
        assert_false(says_.ok);                                                                    \
        assert_string_equal(says_.text, (words));                                                  \
    } while (0)

static void defaults_stay(void **state)
{
    (void)state;
    Values values;
    bool help;
    assert_ok(read_line(&values, &help, (const char *const[]){NULL}, 0));
    assert_false(help || values.expert || values.common.quiet);
    assert_string_equal(values.out, "demos.h5");
    assert_int_equal(values.rollouts, 50);
    assert_int_equal(values.common.seed, 1);
    assert_int_equal(values.common.threads, 0);
    assert_null(values.common.json);
    assert_null(values.common.courses);
}

static void every_kind_is_read(void **state)
{
    (void)state;
    Values values;
    bool help;
    assert_ok(READ("--expert"));
    assert_true(values.expert);
    assert_ok(READ("--out", "x.h5", "--task=race1/wide", "--task", "race2/wide", "--rollouts=7",
                   "--gust", "1.25e-1", "--key", "18446744073709551615", "--seed=3", "--threads",
                   "2", "--quiet", "--json", "r.json", "--courses=my courses"));
    assert_true(values.common.quiet);
    assert_string_equal(values.out, "x.h5");
    assert_int_equal(values.tasks.count, 2);
    assert_string_equal(values.tasks.items[0], "race1/wide");
    assert_string_equal(values.tasks.items[1], "race2/wide");
    assert_int_equal(values.rollouts, 7);
    assert_near(values.gust, 0.125, 0.0);
    assert_true(values.key == UINT64_MAX);
    assert_int_equal(values.common.seed, 3);
    assert_int_equal(values.common.threads, 2);
    assert_string_equal(values.common.json, "r.json");
    assert_string_equal(values.common.courses, "my courses");
}

static void forms_of_values(void **state)
{
    (void)state;
    Values values;
    bool help;
    assert_ok(READ("--out=a=b", "--rollouts", "+2", "--key=007"));
    assert_string_equal(values.out, "a=b");
    assert_int_equal(values.rollouts, 2);
    assert_int_equal(values.key, 7);
    assert_ok(READ("--out", "-"));
    assert_string_equal(values.out, "-");
    assert_ok(READ("--out=--odd"));
    assert_string_equal(values.out, "--odd");
}

// No value is passed over without a word.
static void a_value_is_given_once(void **state)
{
    (void)state;
    Values values;
    bool help;
    assert_says(READ("--rollouts", "1", "--rollouts", "+2"),
                "--rollouts: expected once, found again with '+2'");
    assert_says(READ("--out=a", "--out=a"), "--out: expected once, found again with 'a'");
    assert_ok(READ("--quiet", "--quiet", "--task=a", "--task=a"));
}

static void options_that_mean_nothing_are_refused(void **state)
{
    (void)state;
    Values values;
    bool help;
    assert_says(READ("--gust", "1"), "--gust: expected --task beside it, without which it means "
                                     "nothing");
    assert_ok(READ("--gust", "1", "--task", "a"));
    assert_says(READ("--expert", "--key", "3"), "expected --expert or --key, found both");
    assert_ok(READ("--key", "3"));
}

static void unknown_options_get_the_nearest(void **state)
{
    (void)state;
    Values values;
    bool help;
    assert_says(READ("--jsn", "x"),
                "no option '--jsn', did you mean '--json'? known: --expert, --out, --task, "
                "--rollouts, --gust, --key, --json, --seed, --threads, --quiet, --courses, --help");
    assert_refused(READ("--rolouts=3"), "no option '--rolouts', did you mean '--rollouts'?");
    assert_refused(READ("-x"), "no option '-x'");
    assert_refused(READ("--"
                        "a-very-long-option-that-nobody-ever-declared-anywhere"),
                   "no option '--a-very-long-option");
    assert_refused(READ("--out\n"), "no option '--out?', did you mean '--out'?");
    assert_refused(READ("--=3"), "no option '--'");
}

static void missing_values_are_named(void **state)
{
    (void)state;
    Values values;
    bool help;
    assert_says(READ("--out"), "--out: expected FILE after it, found nothing");
    assert_says(READ("--out", "--seed", "3"), "--out: expected FILE after it, found '--seed'");
    assert_says(READ("--out="), "--out: expected FILE, found an empty text");
    assert_says(READ("--rollouts", ""), "--rollouts: expected N, found an empty text");
    assert_says(READ("--quiet=yes"), "--quiet: takes no value, found 'yes'");
}

static void wrong_numbers_are_named(void **state)
{
    (void)state;
    Values values;
    bool help;
    static const char *const not_whole[] = {"abc", "1.5", "1e3",  " 5", "5 ",
                                            "0x5", "0",   "1001", "-1", "99999999999999999999"};
    for (size_t i = 0; i < sizeof not_whole / sizeof *not_whole; i++) {
        char message[100];
        snprintf(message, sizeof message,
                 "--rollouts: expected a whole number from 1 to 1000, found '%s'", not_whole[i]);
        assert_says(READ("--rollouts", not_whole[i]), message);
        assert_int_equal(values.rollouts, 50);
    }
    static const char *const not_real[] = {"abc",   "1..5", "nan", "inf",
                                           "1e999", "-0.1", " 1",  "1 "};
    for (size_t i = 0; i < sizeof not_real / sizeof *not_real; i++) {
        char message[100];
        snprintf(message, sizeof message, "--gust: expected a number of at least 0, found '%s'",
                 not_real[i]);
        assert_says(READ("--gust", not_real[i]), message);
    }
    assert_says(READ("--seed", "-1"),
                "--seed: expected a whole number from 0 to 18446744073709551615, found '-1'");
    assert_refused(READ("--seed", "18446744073709551616"), "found '18446744073709551616'");
    assert_refused(READ("--threads", "257"), "--threads: expected a whole number from 0 to 256");
}

static void lists_have_an_end(void **state)
{
    (void)state;
    Values values;
    bool help;
    const char *arguments[TEXT_LIST_MAX + 2] = {NULL};
    for (int i = 0; i < TEXT_LIST_MAX; i++) arguments[i] = "--task=a";
    assert_ok(read_line(&values, &help, arguments, 0));
    assert_int_equal(values.tasks.count, TEXT_LIST_MAX);
    arguments[TEXT_LIST_MAX] = "--task=b";
    assert_says(read_line(&values, &help, arguments, 0), "--task: expected at most 64 of them");
}

static void operands_are_read_where_declared(void **state)
{
    (void)state;
    Values values;
    bool help;
    assert_says(READ("race1"), "expected only options, which begin with --, found 'race1'");
    assert_ok(READ_OPERANDS("a.h5", "--quiet", "b.h5"));
    assert_int_equal(values.operands.count, 2);
    assert_string_equal(values.operands.items[1], "b.h5");
    assert_ok(READ_OPERANDS("--", "--quiet", "--help"));
    assert_string_equal(values.operands.items[0], "--quiet");
    assert_false(values.common.quiet || help);
    assert_says(READ_OPERANDS("a", "b", "c"), "expected at most 2 FILE, found 'c' besides");
    assert_says(READ_OPERANDS("--quiet"), "expected at least 1 FILE, found 0");
}

static void help_wins_over_mistakes(void **state)
{
    (void)state;
    Values values;
    bool help;
    assert_ok(READ("--nonsense", "--help"));
    assert_true(help);
    assert_ok(READ("-h"));
    assert_true(help);
}

static void help_shows_all_there_is(void **state)
{
    (void)state;
    Values values = defaults();
    Usage usage;
    Option options[OPTIONS];
    declare(&usage, options, &values);
    usage.description = "Flies the expert on every feasible task and writes what it did as "
                        "demonstrations, which is more than one line can hold.";
    usage.example = "facet demos --out x.h5\nfacet demos --rollouts 3";

    FILE *capture = tmpfile();
    int saved = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(fileno(capture), STDOUT_FILENO);
    args_help(&usage);
    fflush(stdout);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    char text[4096];
    rewind(capture);
    text[fread(text, 1, sizeof text - 1, capture)] = '\0';
    fclose(capture);
    assert_string_equal(
        text, "usage: facet demos [options]\n"
              "\n"
              "Flies the expert on every feasible task and writes what it did as\n"
              "demonstrations, which is more than one line can hold.\n"
              "\n"
              "options:\n"
              "  --expert       fly the expert\n"
              "  --out FILE     file to write (default demos.h5)\n"
              "  --task TASK    fly this task (may be repeated)\n"
              "  --rollouts N   rollouts a task (default 50)\n"
              "  --gust MPS     speed of the gusts (default 0.5)\n"
              "  --key N        a large number (default 0)\n"
              "\n"
              "common options:\n"
              "  --json FILE    also write the results to FILE as JSON\n"
              "  --seed N       seed of every random number (default 1)\n"
              "  --threads N    threads to work with, 0 for one a processor (default 0)\n"
              "  --quiet        show no progress\n"
              "  --courses DIR  folder of the courses, instead of those that ship with Facet\n"
              "  --help         show this help and stop\n"
              "\n"
              "example:\n"
              "  facet demos --out x.h5\n"
              "  facet demos --rollouts 3\n");
}

static void the_record_of_a_command_has_what_matters(void **state)
{
    (void)state;
    char text[64];
    char *argv[] = {(char[]){"eval"},     (char[]){"p.safetensors"}, (char[]){"--threads"},
                    (char[]){"4"},        (char[]){"--seeds=3"},     (char[]){"--json=x.json"},
                    (char[]){"--quiet"},  (char[]){"--seed"},        (char[]){"7"},
                    (char[]){"--report"}, (char[]){"r.html"}};
    command_text(text, sizeof text, 11, argv);
    assert_string_equal(text, "facet eval p.safetensors --seeds=3 --seed 7");
    command_text(text, 24, 11, argv); // one that does not fit is cut at a word
    assert_string_equal(text, "facet eval …");
    command_text(text, 30, 11, argv);
    assert_string_equal(text, "facet eval p.safetensors …");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_stay),
        cmocka_unit_test(every_kind_is_read),
        cmocka_unit_test(forms_of_values),
        cmocka_unit_test(a_value_is_given_once),
        cmocka_unit_test(options_that_mean_nothing_are_refused),
        cmocka_unit_test(unknown_options_get_the_nearest),
        cmocka_unit_test(missing_values_are_named),
        cmocka_unit_test(wrong_numbers_are_named),
        cmocka_unit_test(lists_have_an_end),
        cmocka_unit_test(operands_are_read_where_declared),
        cmocka_unit_test(help_wins_over_mistakes),
        cmocka_unit_test(help_shows_all_there_is),
        cmocka_unit_test(the_record_of_a_command_has_what_matters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
