// Where the program keeps speed maps, and that it tells the same with them and without.
#include "program.h"
#include "scratch.h"

#define FLY    "fly --expert --task straight/large --quiet --courses " TEST_SOURCE "/tests/race/sample"
#define SPEEDS "speeds --quiet --courses " TEST_SOURCE "/tests/race/sample"

static char folder[4096]; // absolute, of the scratch folder

static void find_folder(const Scratch *scratch)
{
    char here[4000];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(folder, sizeof folder, "%s/%s", here, scratch->folder);
}

static void set(const char *facet, const char *xdg, const char *home)
{
    const char *const names[] = {"FACET_CACHE", "XDG_CACHE_HOME", "HOME"};
    const char *const values[] = {facet, xdg, home};
    for (int i = 0; i < 3; i++) {
        if (values[i])
            setenv(names[i], values[i], 1);
        else
            unsetenv(names[i]);
    }
}

// Files in a folder below the scratch folder; 0 when there is no such folder. Removes them.
static int take_files(const char *below)
{
    char path[4200];
    snprintf(path, sizeof path, "%s%s", folder, below);
    DIR *stream = opendir(path);
    int count = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        if (strncmp(entry->d_name, "speeds-", 7) == 0)
            count += unlinkat(dirfd(stream), entry->d_name, 0) == 0;
    if (stream) closedir(stream);
    return count;
}

static void assert_flies(const char *expected)
{
    Run result = run(FLY);
    assert_string_equal(result.err, "");
    assert_int_equal(result.code, 0);
    assert_string_equal(result.out, expected);
}

static void caches_stand_where_they_belong(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    char path[4200];
    find_folder(&scratch);
    set("", NULL, folder);
    Run usual = run(FLY);
    assert_int_equal(usual.code, 0);
    assert_int_equal(take_files("/.cache/facet"), 0);
    set(NULL, NULL, NULL);
    assert_flies(usual.out);
    set(NULL, "relative", folder); // ignored, as the specification has it
    assert_flies(usual.out);
    assert_flies(usual.out);
    assert_int_equal(take_files("/.cache/facet"), 1);
    snprintf(path, sizeof path, "%s/xdg", folder);
    set(NULL, path, folder);
    assert_flies(usual.out);
    assert_int_equal(take_files("/xdg/facet"), 1);
    snprintf(path, sizeof path, "%s/own", folder);
    set(path, "/xdg", folder);
    assert_flies(usual.out);
    assert_int_equal(take_files("/own"), 1);
    assert_int_equal(take_files("/.cache/facet"), 0);
    static const char *const made[] = {"/.cache/facet", "/.cache", "/xdg/facet", "/xdg", "/own"};
    for (int i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s%s", folder, made[i]);
        assert_int_equal(rmdir(path), 0);
    }
    scratch_end(&scratch);
}

static void speeds_searches_and_keeps(void **state)
{
    (void)state;
    Scratch scratch = scratch_begin();
    find_folder(&scratch);
    set(folder, NULL, NULL);
    Run first = run(SPEEDS), second = run(SPEEDS);
    assert_int_equal(first.code, 0);
    assert_string_equal(first.out, second.out);
    assert_int_equal(take_files(""), 1);
    scratch_end(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(caches_stand_where_they_belong),
        cmocka_unit_test(speeds_searches_and_keeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
