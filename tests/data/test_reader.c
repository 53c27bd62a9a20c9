// Reading demonstrations: every way a file can be wrong is refused with one line.
#include "samples.h"

#include <fcntl.h>
#include <sys/stat.h>

// A file of write_broken.py and the words its refusal must have, behind the file's name.
static const struct {
    const char *name, *words;
} broken[] = {
    {"no_data", "data: expected a group, found nothing"},
    {"data_is_array", "data: expected a group, found an array"},
    {"no_factors", "data: attribute 'factors': expected a text, found nothing"},
    {"factors_number", "data: attribute 'factors': expected a text, found floats"},
    {"factors_two", "data: attribute 'factors': expected a text, found 2 of them"},
    {"factors_not_json", "data: attribute 'factors': line 1: expected valid JSON, found 'track"},
    {"factors_array", "data: attribute 'factors': the document: expected an object of factors"},
    {"factors_empty", "data: attribute 'factors': expected at least one factor, found none"},
    {"factors_never_written", "data: attribute 'factors': line 1: expected valid JSON"},
    {"factors_too_many", "data: attribute 'factors': factor 'f16': expected at most 16 factors"},
    {"factors_same_value", "data: attribute 'factors': track 'race1': expected distinct names"},
    {"env_args_number", "data: attribute 'env_args': expected a text, found integers"},
    {"no_demos", "data: expected demonstrations demo_0, demo_1, ..., found none"},
    {"factor_missing", "data/demo_2: attribute 'size': expected a text, found nothing"},
    {"factor_number", "data/demo_2: attribute 'size': expected a text, found integers"},
    {"value_unknown", "data/demo_3: attribute 'track': no track 'salom', did you mean 'slalom'? "
                      "known: race1, race2, slalom"},
    {"value_with_newline",
     "data/demo_3: attribute 'track': track: expected a name without control"},
    {"no_actions", "data/demo_1/actions: expected a matrix of numbers, found nothing"},
    {"no_actions_at_all", "data/demo_0/actions: expected a matrix of numbers, found nothing"},
    {"actions_group", "data/demo_1/actions: expected a matrix of numbers, found a group"},
    {"actions_vector", "data/demo_1/actions: expected a matrix of 2 dimensions, found 1"},
    {"actions_cube", "data/demo_0/actions: expected a matrix of 2 dimensions, found 3"},
    {"actions_scalar", "data/demo_1/actions: expected a matrix of 2 dimensions, found 0"},
    {"actions_null", "data/demo_1/actions: expected a matrix of 2 dimensions, found 0"},
    {"actions_text", "data/demo_1/actions: expected a matrix of numbers, found text"},
    {"actions_bool", "data/demo_1/actions: expected a matrix of numbers, found an enumeration"},
    {"actions_complex", "data/demo_1/actions: expected a matrix of numbers, found a compound"},
    {"actions_empty", "data/demo_0/actions: expected a matrix of 1x1 or more, found 0x3"},
    {"actions_longer", "data/demo_1: attribute 'num_samples': expected 6, the rows of actions, "
                       "found 5"},
    {"actions_wider", "data/demo_1/actions: expected actions of 3 numbers, as in data/demo_0, "
                      "found 4"},
    {"actions_nan", "data/demo_3/actions: expected finite numbers, found nan in row 4, column 1"},
    {"actions_inf", "data/demo_0/actions: expected finite numbers, found -inf in row 0, column 0"},
    {"samples_missing", "data/demo_1: attribute 'num_samples': expected an integer, found nothing"},
    {"samples_text", "data/demo_1: attribute 'num_samples': expected an integer, found text"},
    {"samples_wrong", "data/demo_1: attribute 'num_samples': expected 5, the rows of actions, "
                      "found 4"},
    {"total_wrong", "data: attribute 'total': expected 20, the rows of all demos, found 21"},
    {"obs_array", "data/demo_0/obs: expected a group, found an array"},
    {"obs_missing_once", "data/demo_2/obs/state: expected a matrix of numbers, found nothing"},
    {"obs_extra_once", "data/demo_2/obs/speed: expected nothing, as in data/demo_0"},
    {"obs_first_missing", "data/demo_1/obs/state: expected nothing, as in data/demo_0"},
    {"obs_shorter", "data/demo_0/obs/state: expected a shape of 5x2, found 4x2"},
    {"obs_wider", "data/demo_1/obs/state: expected a shape of 5x2, found 5x3"},
    {"obs_nan", "data/demo_1/obs/state: expected finite numbers, found nan in row 0, column 1"},
    {"obs_image", "data/demo_1/obs/state: expected nothing, as in data/demo_0, found an array"},
    {"name_too_long", "data: expected names of at most 127 bytes, found 'demo_111"},
};
enum { BROKEN = sizeof broken / sizeof *broken };

static void broken_files_are_refused(void **state)
{
    (void)state;
    run_python("write_broken.py", ".", NULL);
    assert_int_equal(scratch_count("."), BROKEN + 1); // no case is left out
    FacetDataset *dataset;
    assert_ok(facet_dataset_read(&dataset, "good.h5")); // what they all were before
    facet_dataset_destroy(dataset);
    for (int i = 0; i < BROKEN; i++) {
        char path[64], words[256];
        snprintf(path, sizeof path, "%s.h5", broken[i].name);
        snprintf(words, sizeof words, "%s: %s", path, broken[i].words);
        FacetStatus status = facet_dataset_read(&dataset, path);
        assert_refused(status, words);
        assert_ptr_equal(strstr(status.text, words), status.text);
        assert_null(dataset);
    }
}

static void refusals_print_nothing(void **state)
{
    (void)state;
    run_python("write_broken.py", ".", NULL);
    fflush(stderr);
    int terminal = dup(STDERR_FILENO);
    int heard = open("heard.txt", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(terminal >= 0);
    assert_true(heard >= 0);
    dup2(heard, STDERR_FILENO);
    int refused = 0;
    for (int i = 0; i < BROKEN; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s.h5", broken[i].name);
        FacetDataset *dataset;
        refused += !facet_dataset_read(&dataset, path).ok;
    }
    fflush(stderr);
    dup2(terminal, STDERR_FILENO);
    close(terminal);
    struct stat info;
    assert_int_equal(fstat(heard, &info), 0);
    close(heard);
    assert_int_equal(refused, BROKEN);
    assert_int_equal(info.st_size, 0);
}

static void what_is_not_hdf5_is_refused(void **state)
{
    (void)state;
    FacetDataset *dataset;
    assert_refused(facet_dataset_read(&dataset, "missing.h5"),
                   "missing.h5: cannot open: No such file or directory");
    assert_refused(facet_dataset_read(&dataset, ""), "cannot open");
    assert_refused(facet_dataset_read(&dataset, "."), ".: expected an HDF5 file, found a folder");
    write_bytes("empty.h5", "", 0);
    assert_refused(facet_dataset_read(&dataset, "empty.h5"),
                   "empty.h5: expected an HDF5 file, found an empty file");
    write_bytes("text.h5", "{\"track\":1}", 11);
    assert_refused(facet_dataset_read(&dataset, "text.h5"),
                   "text.h5: expected an HDF5 file, found other content");
    assert_int_equal(mkfifo("pipe.h5", 0600), 0);
    assert_refused(facet_dataset_read(&dataset, "pipe.h5"), "pipe.h5: expected an HDF5 file");
}

static void truncated_files_are_refused(void **state)
{
    (void)state;
    write_sample("whole.h5", 3);
    size_t size;
    char *bytes = read_bytes(&size, "whole.h5");
    FacetDataset *dataset;
    for (size_t cut = 1; cut < size; cut += cut < 128 ? 1 : 997) {
        write_bytes("cut.h5", bytes, cut);
        assert_refused(facet_dataset_read(&dataset, "cut.h5"), "cut.h5: expected a");
        assert_null(dataset);
    }
    write_bytes("cut.h5", bytes, size - 1);
    assert_refused(facet_dataset_read(&dataset, "cut.h5"),
                   "cut.h5: expected a whole HDF5 file, found a truncated or damaged one");
    write_bytes("cut.h5", bytes, size);
    assert_ok(facet_dataset_read(&dataset, "cut.h5"));
    facet_dataset_destroy(dataset);
    free(bytes);
}

static void a_long_path_leaves_room_for_the_reason(void **state)
{
    (void)state;
    char path[1100] = "";
    for (int i = 0; i < 170; i++) strcat(path, "./././");
    path[800] = '\0';
    strcat(path, "text.h5");
    write_bytes("text.h5", "no", 2);
    FacetDataset *dataset;
    assert_refused(facet_dataset_read(&dataset, path),
                   "text.h5: expected an HDF5 file, found other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(broken_files_are_refused, scratch_clean),
        cmocka_unit_test_teardown(refusals_print_nothing, scratch_clean),
        cmocka_unit_test_teardown(what_is_not_hdf5_is_refused, scratch_clean),
        cmocka_unit_test_teardown(truncated_files_are_refused, scratch_clean),
        cmocka_unit_test_teardown(a_long_path_leaves_room_for_the_reason, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
