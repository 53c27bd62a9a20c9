// Files appear whole or not at all: full disk, wrong names, links, devices, interrupts.
#define _GNU_SOURCE // realpath, mkfifo, syscall
#include "base/file.h"
#include "base/lock.h"
#include "scratch.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
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

// A killed program's temporary files go, also when another process has its number by now; one that
// is still written, and other files, stay.
static void what_a_killed_program_left_is_swept_away(void **state)
{
    (void)state;
    AtomicFile written;
    assert_ok(atomic_begin(&written, "swept"));
    char reused[64];
    snprintf(reused, sizeof reused, "swept.%ld.facet.part", (long)getppid());
    const char *const files[] = {"swept.999999999.facet.part",
                                 "swept.999999999.1.facet.part",
                                 reused,
                                 "swept",
                                 "swept.12.facet.parts",
                                 "swept.x.facet.part",
                                 "swept.1.2.3.facet.part",
                                 "swept.-12.facet.part",
                                 "swept.0.facet.part",
                                 "swept.facet.part",
                                 "swept12.facet.part",
                                 "other.12.facet.part"};
    enum { FILES = sizeof files / sizeof *files };
    for (int i = 0; i < FILES; i++) {
        FILE *file = fopen(files[i], "w");
        assert_non_null(file);
        fclose(file);
    }
    atomic_sweep("swept");
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(access(files[i], F_OK), i < 3 ? -1 : 0);
        unlink(files[i]);
    }
    assert_int_equal(access(written.temp, F_OK), 0);
    atomic_abort(&written);
    atomic_sweep("no/such/folder/swept");
}

// Every write sweeps its own path, whoever asks for it.
static void a_write_sweeps_what_one_before_it_left(void **state)
{
    (void)state;
    FILE *left = fopen("a.txt.999999999.facet.part", "w");
    assert_non_null(left);
    fclose(left);
    assert_ok(file_write("a.txt", "x", 1));
    assert_int_equal(scratch_count("."), 1);
    unlink("a.txt");
}

// Other programs write parts of files too, some with a number in the name: what is not surely ours
// stays, whoever has that number.
static void what_other_programs_write_beside_a_file_stays(void **state)
{
    (void)state;
    static const char *const names[] = {"mine.json.4242.part", "mine.json.999999999.part",
                                        "mine.json.4242.1.part", "mine.json.part"};
    for (int i = 0; i < 4; i++) {
        FILE *other = fopen(names[i], "w");
        assert_non_null(other);
        assert_true(fputs("theirs", other) >= 0);
        fclose(other);
    }
    assert_ok(file_write("mine.json", "x", 1));
    for (int i = 0; i < 4; i++) {
        assert_content(names[i], "theirs");
        unlink(names[i]);
    }
    unlink("mine.json");
}

// Somebody who knows our number puts a link where the temporary file goes: a soft one, or a hard
// one that is the other file itself.
static void a_planted_link_is_not_written_through(void **state)
{
    (void)state;
    char name[64];
    snprintf(name, sizeof name, "a.txt.%ld.facet.part", (long)getpid());
    for (int hard = 0; hard < 2; hard++) {
        assert_ok(file_write("precious", "old", 3));
        assert_int_equal(hard ? link("precious", name) : symlink("precious", name), 0);
        assert_ok(file_write("a.txt", "new", 3));
        assert_content("precious", "old");
        assert_content("a.txt", "new");
        unlink(name);
        unlink("a.txt");
        unlink("precious");
    }
}

// Nor is a file that took the temporary one's place given the final name.
static void a_file_put_in_the_temporary_ones_place_is_refused(void **state)
{
    (void)state;
    AtomicFile file;
    assert_ok(atomic_begin(&file, "a.txt"));
    assert_int_equal(rename(file.temp, "moved"), 0);
    FILE *other = fopen(file.temp, "w");
    assert_non_null(other);
    fclose(other);
    char name[FILE_PATH_MAX];
    strcpy(name, file.temp);
    assert_refused(atomic_commit(&file), "a.txt: expected its temporary file a.txt.");
    assert_int_equal(access("a.txt", F_OK), -1);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(unlink("moved"), 0);
}

static mode_t mode_of(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    return info.st_mode & 07777;
}

static void modes_are_kept(void **state)
{
    (void)state;
    mode_t before = umask(022);
    assert_ok(file_write("a.txt", "x", 1));
    assert_int_equal(mode_of("a.txt"), 0644);
    assert_int_equal(chmod("a.txt", 0600), 0);
    assert_ok(file_write("a.txt", "y", 1));
    assert_int_equal(mode_of("a.txt"), 0600);
    assert_int_equal(chmod("a.txt", 0664), 0);
    assert_ok(file_write("a.txt", "z", 1));
    assert_int_equal(mode_of("a.txt"), 0664);
    umask(before);
    unlink("a.txt");
}

static void devices_and_pipes_are_not_read(void **state)
{
    (void)state;
    char *text;
    size_t size;
    assert_refused(file_read(&text, &size, "/dev/zero"),
                   "/dev/zero: expected a file to read, found a device or a pipe");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_refused(file_read(&text, &size, "pipe"),
                   "pipe: expected a file to read, found a device");
    unlink("pipe");
}

// ---- Locks --------------------------------------------------------------------------------------

static void a_place_has_one_lock(void **state)
{
    (void)state;
    FileLock first, second;
    char process[64];
    snprintf(process, sizeof process, "found %ld: wait for it", (long)getpid());
    assert_ok(lock_take(&first, "a.txt"));
    FacetStatus refused = lock_take(&second, "a.txt");
    assert_refused(refused, "a.txt: expected no other process that writes there");
    assert_refused(refused, process);
    lock_drop(&second); // was never held
    assert_refused(lock_take(&second, "a.txt"), "a.txt: expected no other process");
    lock_drop(&first);
    lock_drop(&first);
    assert_int_equal(scratch_count("."), 0);
    assert_ok(lock_take(&second, "a.txt"));
    lock_drop(&second);
    assert_refused(lock_take(&first, "no/such/a.txt"), "no/such/a.txt.lock: cannot create");
}

// The system's own, but that who had the file until now removes it first, so many times.
static const char *removed;
static int removals;

int flock(int descriptor, int operation)
{
    if (removals > 0) removals--, unlink(removed);
    return (int)syscall(SYS_flock, descriptor, operation);
}

// A lock on a file that is no longer there keeps nobody out.
static void a_lock_is_of_the_file_that_is_there(void **state)
{
    (void)state;
    FileLock first, second;
    removed = "a.txt.lock";
    removals = 1;
    assert_ok(lock_take(&first, "a.txt"));
    assert_int_equal(removals, 0);
    assert_refused(lock_take(&second, "a.txt"), "a.txt: expected no other process");
    lock_drop(&first);
    removals = 1000;
    assert_refused(lock_take(&first, "a.txt"), "a.txt.lock: cannot lock: it comes and goes");
    removals = 0;
    assert_int_equal(scratch_count("."), 0);
}

// Somebody removed our file, and another took the lock: its file is not ours to remove.
static void a_lock_that_is_dropped_leaves_the_next_ones_file(void **state)
{
    (void)state;
    FileLock first, second, third;
    assert_ok(lock_take(&first, "a.txt"));
    assert_int_equal(unlink("a.txt.lock"), 0);
    assert_ok(lock_take(&second, "a.txt"));
    lock_drop(&first);
    assert_refused(lock_take(&third, "a.txt"), "a.txt: expected no other process");
    lock_drop(&second);
}

// A file is written through a link to it, so both names are one place.
static void a_link_does_not_hide_a_lock(void **state)
{
    (void)state;
    FileLock first, second;
    assert_ok(file_write("a.txt", "x", 1));
    assert_int_equal(symlink("a.txt", "b.txt"), 0);
    assert_ok(lock_take(&first, "a.txt"));
    assert_refused(lock_take(&second, "b.txt"), "b.txt: expected no other process");
    lock_drop(&first);
    assert_ok(lock_take(&first, "b.txt"));
    assert_refused(lock_take(&second, "a.txt"), "a.txt: expected no other process");
    lock_drop(&first);
    unlink("a.txt");
    unlink("b.txt");
}

static void a_killed_process_locks_nobody_out(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    FileLock lock;
    if (child == 0) {
        bool taken = lock_take(&lock, "a.txt").ok;
        if (taken) raise(SIGKILL);
        _exit(1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFSIGNALED(result));
    assert_int_equal(access("a.txt.lock", F_OK), 0);
    assert_ok(lock_take(&lock, "a.txt"));
    lock_drop(&lock);
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
        cmocka_unit_test_setup_teardown(a_write_sweeps_what_one_before_it_left, scratch_enter,
                                        leave_empty),
        cmocka_unit_test_setup_teardown(what_other_programs_write_beside_a_file_stays,
                                        scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(a_planted_link_is_not_written_through, scratch_enter,
                                        leave_empty),
        cmocka_unit_test_setup_teardown(a_file_put_in_the_temporary_ones_place_is_refused,
                                        scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(modes_are_kept, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(devices_and_pipes_are_not_read, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(a_place_has_one_lock, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(a_lock_is_of_the_file_that_is_there, scratch_enter,
                                        leave_empty),
        cmocka_unit_test_setup_teardown(a_lock_that_is_dropped_leaves_the_next_ones_file,
                                        scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(a_link_does_not_hide_a_lock, scratch_enter, leave_empty),
        cmocka_unit_test_setup_teardown(a_killed_process_locks_nobody_out, scratch_enter,
                                        leave_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
