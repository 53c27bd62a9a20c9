// facet reproduce on a small course and tiny networks: every step, and going on where it stopped.
#include "program/program.h"

#include <dirent.h>

#define ARGUMENTS                                                                                  \
    "reproduce --courses " TEST_SOURCE "/tests/race/sample --quiet --epochs 1 --blocks 1 "         \
    "--channels 16 --seeds 1 --out test_reproduce"

static int remove_folder(void **state)
{
    (void)state;
    DIR *folder = opendir("test_reproduce");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[512];
        snprintf(path, sizeof path, "test_reproduce/%s", entry->d_name);
        unlink(path);
    }
    if (folder) closedir(folder);
    rmdir("test_reproduce");
    return 0;
}

static int count_steps(const char *text)
{
    int steps = 0;
    for (; (text = strstr(text, "\n$ facet ")); text++) steps++;
    return steps;
}

static void makes_everything_and_goes_on(void **state)
{
    (void)state;
    Run first = run(ARGUMENTS);
    assert_string_equal(first.err, "");
    assert_int_equal(first.code, 0);
    assert_int_equal(count_steps(first.out), 7); // demonstrations, five trainings, the evaluation
    static const char *const files[] = {"demos.h5",
                                        "race-factored.safetensors",
                                        "race-factored-paper.safetensors",
                                        "race-baseline.safetensors",
                                        "race-oracle.safetensors",
                                        "race-knet.safetensors",
                                        "eval.json"};
    for (int i = 0; i < 7; i++) {
        char path[128];
        snprintf(path, sizeof path, "test_reproduce/%s", files[i]);
        assert_int_equal(access(path, R_OK), 0);
    }
    // A training that is missing is made again, and nothing else is.
    assert_int_equal(unlink("test_reproduce/race-oracle.safetensors"), 0);
    Run again = run(ARGUMENTS);
    assert_int_equal(again.code, 0);
    assert_int_equal(count_steps(again.out), 2);
    assert_non_null(strstr(again.out, "--method oracle"));
}

static void a_folder_that_cannot_be_made_is_a_failure(void **state)
{
    (void)state;
    assert_fails("reproduce --out /dev/null/inside", 1,
                 "facet reproduce: /dev/null/inside: cannot make the folder: Not a directory\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(makes_everything_and_goes_on, remove_folder, remove_folder),
        cmocka_unit_test(a_folder_that_cannot_be_made_is_a_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
