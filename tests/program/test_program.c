// The program as a user runs it: exit codes, what goes to stdout and what to stderr.
#include "base/json.h"
#include "base/text.h"
#include "policy/policy.h"
#include "program/program.h"

#include <stdlib.h>

static void help_in_every_form(void **state)
{
    (void)state;
    Run first = run("help");
    assert_int_equal(first.code, 0);
    assert_string_equal(first.err, "");
    assert_non_null(strstr(first.out, "usage: facet COMMAND [options]\n"));
    assert_non_null(strstr(first.out, "\n  version "));
    assert_non_null(strstr(first.out, "\n  help "));
    static const char *const forms[] = {"", "--help", "-h"};
    for (int i = 0; i < 3; i++) {
        Run other = run(forms[i]);
        assert_int_equal(other.code, 0);
        assert_string_equal(other.out, first.out);
    }
}

// Every command that help lists explains itself, with an example, on lines a terminal can show.
static void every_command_has_help(void **state)
{
    (void)state;
    Run overview = run("help");
    const char *line = strstr(overview.out, "commands:\n");
    assert_non_null(line);
    int commands = 0;
    for (line = strchr(line, '\n') + 1; line[0] == ' '; line = strchr(line, '\n') + 1, commands++) {
        char name[32], arguments[80], usage[80];
        assert_int_equal(sscanf(line, " %31s", name), 1);
        snprintf(arguments, sizeof arguments, "help %s", name);
        Run help = run(arguments);
        snprintf(usage, sizeof usage, "usage: facet %s ", name);
        assert_int_equal(help.code, 0);
        assert_string_equal(help.err, "");
        assert_memory_equal(help.out, usage, strlen(usage));
        assert_non_null(strstr(help.out, "\nexample:\n  facet "));
        assert_non_null(strstr(help.out, "\n  --help "));
        snprintf(arguments, sizeof arguments, "%s --help", name);
        assert_string_equal(run(arguments).out, help.out);
        for (char *at = strtok(help.out, "\n"); at; at = strtok(NULL, "\n"))
            assert_true(text_width(at) <= 80);
        snprintf(arguments, sizeof arguments, "%s --no-such-option", name);
        Run wrong = run(arguments);
        assert_int_equal(wrong.code, 2);
        assert_non_null(strstr(wrong.err, ": no option '--no-such-option'"));
    }
    assert_true(commands >= 2);
}

// In the order of the modes, of which each but "joint" is an operator's name.
static void help_names_every_mode(void **state)
{
    (void)state;
    static const char *const commands[] = {"sample", "fly", "gate eval", "gate modality"};
    for (int i = 0; i < 4; i++) {
        char arguments[64];
        snprintf(arguments, sizeof arguments, "%s --help", commands[i]);
        Run help = run(arguments);
        char *at = strstr(help.out, "--mode ");
        assert_non_null(at);
        for (int m = 0; m < FACET_POLICY_MODES; m++) {
            at = strstr(at, policy_mode_name((FacetPolicyMode)m));
            if (!at) fail_msg("%s does not name the mode %d", arguments, m);
        }
    }
}

static void version_is_one_line(void **state)
{
    (void)state;
    Run result = run("--version");
    assert_int_equal(result.code, 0);
    int major, minor, patch;
    assert_int_equal(sscanf(result.out, "facet %d.%d.%d\n", &major, &minor, &patch), 3);
    assert_int_equal(strcspn(result.out, "\n"), strlen(result.out) - 1);
}

static void version_writes_json(void **state)
{
    (void)state;
    Run result = run("version --json version.json");
    assert_int_equal(result.code, 0);
    Json *document;
    assert_ok(json_read(&document, "version.json"));
    JsonRef root = json_root(document, "version.json");
    char version[32], instructions[32], commit[64], shown[96];
    double threads;
    assert_ok(json_member_string(version, sizeof version, &root, "version"));
    assert_ok(json_member_string(commit, sizeof commit, &root, "commit"));
    assert_ok(json_member_string(instructions, sizeof instructions, &root, "instructions"));
    assert_ok(json_member_number(&threads, &root, "threads", 1.0, 256.0));
    json_free(document);
    unlink("version.json");
    snprintf(shown, sizeof shown, "facet         %s\n", version);
    assert_memory_equal(result.out, shown, strlen(shown));
    snprintf(shown, sizeof shown, "commit        %s\n", commit);
    assert_non_null(strstr(result.out, shown));
    snprintf(shown, sizeof shown, "instructions  %s\n", instructions);
    assert_non_null(strstr(result.out, shown));
}

// Every level that is not refused is the one that runs. A build of one level has only that.
static void a_level_can_be_forced(void **state)
{
    (void)state;
    static const char *const levels[] = {"sse2", "avx2", "avx512", "neon"};
    int forced = 0;
    for (int i = 0; i < 4; i++) {
        setenv("FACET_ISA", levels[i], 1);
        Run result = run("version");
        unsetenv("FACET_ISA");
        char shown[64];
        snprintf(shown, sizeof shown, "instructions  %s\n", levels[i]);
        if (result.code == 0)
            assert_non_null(strstr(result.out, shown));
        else
            assert_non_null(strstr(result.err, "facet version: FACET_ISA: expected "));
        forced += result.code == 0;
    }
    assert_true(forced >= 1);
}

static void a_level_that_the_processor_lacks_is_refused(void **state)
{
    (void)state;
    setenv("FACET_ISA", "mmx", 1);
    Run result = run("version");
    unsetenv("FACET_ISA");
    assert_int_equal(result.code, 1);
    assert_non_null(strstr(result.err, "facet version: FACET_ISA: expected "));
    assert_non_null(strstr(result.err, "found 'mmx'\n"));
}

static void output_that_cannot_be_written_fails(void **state)
{
    (void)state;
    Run result = run("version --json no/such/folder.json");
    assert_int_equal(result.code, 1);
    assert_string_equal(result.err, "facet version: no/such/folder.json: cannot create: No such "
                                    "file or directory\n");
    result = run_into("/dev/full", "version");
    assert_int_equal(result.code, 1);
    assert_string_equal(result.err,
                        "facet: cannot write to standard output: No space left on device\n");
}

static void wrong_usage_gets_the_nearest_word(void **state)
{
    (void)state;
    Run result = run("verison");
    assert_int_equal(result.code, 2);
    assert_non_null(
        strstr(result.err, "facet: no command 'verison', did you mean 'version'? known: "));
    assert_string_equal(result.out, "");
    assert_int_equal(run("help verison").code, 2);
    assert_int_equal(run("--versoin").code, 2);
    assert_fails(
        "version --jsn x", 2,
        "facet version: no option '--jsn', did you mean '--json'? known: --json, --help\n");
    assert_fails("version --json", 2,
                 "facet version: --json: expected FILE after it, found nothing\n");
    assert_fails("version now", 2,
                 "facet version: expected only options, which begin with --, found 'now'\n");
    assert_fails("help version help", 2,
                 "facet help: expected at most 1 COMMAND, found 'help' besides\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_in_every_form),
        cmocka_unit_test(every_command_has_help),
        cmocka_unit_test(help_names_every_mode),
        cmocka_unit_test(version_is_one_line),
        cmocka_unit_test(version_writes_json),
        cmocka_unit_test(a_level_can_be_forced),
        cmocka_unit_test(a_level_that_the_processor_lacks_is_refused),
        cmocka_unit_test(output_that_cannot_be_written_fails),
        cmocka_unit_test(wrong_usage_gets_the_nearest_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
