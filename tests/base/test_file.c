// Files appear whole or not at all: full disk, wrong names, links, devices, interrupts.
#define _XOPEN_SOURCE 700 // realpath
#include "base/file.h"
#include "scratch.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

// Every test works in a folder of its own, which must be empty again at the end.
static int leave_empty(void **state)
{
    int left = scratch_count(".");
    if (left > 0) print_error("%d files are left\n", left);
    return scratch_leave(state) == 0 && left == 0 ? 0 : -1;
}

static void assert_content(const char *path, const char *expected)
{
    char *text;
    size_t size;
    assert_ok(file_read(&text, &size, path));
    assert_int_equal(size, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

static void content_is_replaced_whole(void **state)
{
    (void)state;
    assert_ok(file_write("a.txt", "first", 5));
    assert_content("a.txt", "first");
    assert_ok(file_write("a.txt", "second", 6));
    assert_content("a.txt", "second");
    assert_int_equal(scratch_count("."), 1);
    unlink("a.txt");
}

static void nothing_shows_before_the_commit(void **state)
{
    (void)state;
    AtomicFile file;
    assert_ok(atomic_begin(&file, "a.txt"));
    assert_int_equal(access("a.txt", F_OK), -1);
    assert_int_equal(access(file.temp, F_OK), 0);
    assert_ok(atomic_commit(&file));
    assert_content("a.txt", "");
    atomic_abort(&file); // after a commit there is nothing to undo
    assert_content("a.txt", "");
    unlink("a.txt");

    assert_ok(atomic_begin(&file, "b.txt"));
    atomic_abort(&file);
    atomic_abort(&file);
    assert_int_equal(scratch_count("."), 0);
}

// The limit on a file's size stands for a full disk.
static void full_disk_keeps_the_old_content(void **state)
{
    (void)state;
    assert_ok(file_write("a.txt", "old", 3));
    enum { SIZE = 1 << 20 };
    char *large = calloc(1, SIZE);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 4096;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &limit);
    FacetStatus status = file_write("a.txt", large, SIZE);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    free(large);
    assert_refused(status, "a.txt: cannot write: File too large");
    assert_content("a.txt", "old");
    assert_int_equal(scratch_count("."), 1);
    unlink("a.txt");
}

static void wrong_places_are_named(void **state)
{
    (void)state;
    assert_refused(file_write("", "x", 1), "expected the name of a file to write");
    assert_refused(file_write(".", "x", 1), ".: expected a file to write, found a folder");
    assert_refused(file_write("no/such/a.txt", "x", 1),
                   "no/such/a.txt: cannot create: No such file or directory");
    char name[FILE_PATH_MAX + 100];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_refused(file_write(name, "x", 1), "name too long");
}

static void unwritable_folder_is_named(void **state)
{
    (void)state;
    assert_int_equal(mkdir("closed", 0555), 0);
    // Root may write anywhere, so a child without its rights tries.
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (geteuid() == 0 && seteuid(65534) != 0) _exit(2);
        FacetStatus status = file_write("closed/a.txt", "x", 1);
        _exit(!status.ok && strstr(status.text, "closed/a.txt: cannot create: Permission denied")
                  ? 0
                  : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_int_equal(scratch_count("closed"), 0);
    rmdir("closed");
}

static void links_keep_pointing(void **state)
{
    (void)state;
    assert_ok(file_write("real.txt", "old", 3));
    assert_int_equal(symlink("real.txt", "link.txt"), 0);
    assert_ok(file_write("link.txt", "new", 3));
    struct stat info;
    assert_int_equal(lstat("link.txt", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_content("real.txt", "new");
    unlink("link.txt");
    unlink("real.txt");
}

static void devices_are_written_to_not_replaced(void **state)
{
    (void)state;
    assert_ok(file_write("/dev/null", "x", 1));
    struct stat info;
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_refused(file_write("/dev/full", "x", 1), "/dev/full: cannot write: No space left");
    AtomicFile file;
    assert_refused(atomic_begin(&file, "/dev/null"), "found a device or a pipe");
}

static void large_files_are_read_whole(void **state)
{
    (void)state;
    // Around the size of the first buffer, where reading ends exactly at its edge.
    static const size_t sizes[] = {0, 1, (1 << 14) - 2, (1 << 14) - 1, 1 << 14, 100000};
    char *bytes = malloc(100000);
    for (size_t i = 0; i < 100000; i++) bytes[i] = (char)(i % 251);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_ok(file_write("a.bin", bytes, sizes[i]));
        char *text;
        size_t size;
        assert_ok(file_read(&text, &size, "a.bin"));
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(text, bytes, size);
        assert_int_equal(text[size], 0);
        free(text);
    }
    free(bytes);
    unlink("a.bin");
}

// Looks upwards from the folder of this program: at the top of the clone, or at the links of a
// build folder outside it.
static void shipped_folders_are_found(void **state)
{
    (void)state;
    char path[FILE_PATH_MAX];
    assert_ok(file_shipped(path, "courses"));
    char *found = realpath(path, NULL), *expected = realpath(TEST_SOURCE "/courses", NULL);
    assert_string_equal(found, expected);
    free(found);
    free(expected);
}

static void environment_names_the_data(void **state)
{
    (void)state;
    char path[FILE_PATH_MAX];
    assert_int_equal(mkdir("data", 0755), 0);
    assert_int_equal(mkdir("data/models", 0755), 0);
    setenv("FACET_DATA", "data", 1);
    assert_ok(file_shipped(path, "models"));
    assert_string_equal(path, "data/models");
    assert_ok(file_shipped(path, "courses")); // what is not there is looked for elsewhere
    assert_string_not_equal(path, "data/courses");
    unsetenv("FACET_DATA");
    rmdir("data/models");
    rmdir("data");
}

static void places_without_data_are_named(void **state)
{
    (void)state;
    char path[FILE_PATH_MAX];
    FacetStatus status = file_shipped(path, "no-such-folder");
    assert_int_equal(status.code, FACET_NOT_FOUND);
    assert_refused(status, "cannot find the folder 'no-such-folder' that ships with Facet");
    assert_refused(status, "looked in FACET_DATA (not set), in the folders above ");
    assert_refused(status, "test_base_file, and in ");
    setenv("FACET_DATA", "/no/such/data", 1);
    assert_refused(file_shipped(path, "no-such-folder"), "looked in /no/such/data, in the folders");
    unsetenv("FACET_DATA");
}

// A killed program's temporary files go; those of a living one, and other files, stay.
static void what_a_killed_program_left_is_swept_away(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    char dead[64], alive[64];
    snprintf(dead, sizeof dead, "swept.%ld.part", (long)child);
    snprintf(alive, sizeof alive, "swept.%ld.part", (long)getpid());
    const char *const files[] = {dead, "swept", alive, "swept.12.parts", "swept.x.part"};
    for (int i = 0; i < 5; i++) assert_ok(file_write(files[i], "x", 1));
    atomic_sweep("swept");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(access(files[i], F_OK), i == 0 ? -1 : 0);
        unlink(files[i]);
    }
    atomic_sweep("no/such/folder/swept");
}

static void folders_are_made_with_their_parents(void **state)
{
    (void)state;
    assert_ok(file_make_folder("test_folder/inner/most"));
    assert_ok(file_make_folder("test_folder/inner/most"));
    assert_ok(file_write("test_folder/file", "x", 1));
    assert_refused(file_make_folder("test_folder/file"), "expected a folder");
    assert_refused(file_make_folder("test_folder/file/below"), "cannot make the folder");
    assert_ok(file_make_parent("test_folder/new/file"));
    assert_ok(file_write("test_folder/new/file", "x", 1));
    assert_ok(file_make_parent("here"));
    assert_refused(file_make_parent("test_folder/file/below"), "expected a folder");
    unlink("test_folder/new/file");
    assert_int_equal(rmdir("test_folder/new"), 0);
    unlink("test_folder/file");
    assert_int_equal(rmdir("test_folder/inner/most"), 0);
    assert_int_equal(rmdir("test_folder/inner"), 0);
    assert_int_equal(rmdir("test_folder"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_made_with_their_parents),
        cmocka_unit_test_setup_teardown(content_is_replaced_whole, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(nothing_shows_before_the_commit, scratch_enter,
                                        leave_empty),
        cmocka_unit_test_setup_teardown(full_disk_keeps_the_old_content, scratch_enter,
                                        leave_empty),
        cmocka_unit_test_setup_teardown(wrong_places_are_named, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(unwritable_folder_is_named, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(links_keep_pointing, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(devices_are_written_to_not_replaced, scratch_enter,
                                        leave_empty),
        cmocka_unit_test_setup_teardown(large_files_are_read_whole, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(shipped_folders_are_found, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(environment_names_the_data, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(places_without_data_are_named, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(what_a_killed_program_left_is_swept_away, scratch_enter,
                                        leave_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
