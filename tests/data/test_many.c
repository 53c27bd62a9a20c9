// Files of the newest layout with more links and attributes than a header holds (h5py's
// libver='latest', and track_order in any layout).
#include "data/hdf5_file.h"
#include "samples.h"

static const char *const kinds[] = {"latest", "ordered"};

static void many_demos_and_attributes_are_read(void **state)
{
    (void)state;
    run_python("write_many.py", ".", NULL);
    for (int kind = 0; kind < 2; kind++) {
        char path[64];
        snprintf(path, sizeof path, "%s.h5", kinds[kind]);
        FacetDataset *dataset;
        assert_ok(facet_dataset_read(&dataset, path));
        assert_int_equal(dataset->demos, 12);
        assert_int_equal(strlen(dataset->env_args), 6000 + strlen("{\"env_name\": \"\"}"));
        for (int demo = 0; demo < 12; demo++) {
            assert_int_equal(dataset->tasks[demo].value[0], (demo + 1) % 2);
            assert_near(facet_dataset_actions(dataset, demo)[0], demo + 1, 0.0);
        }
        facet_dataset_destroy(dataset);
    }
}

static void links_are_found(const char *path, int count, int length)
{
    Hdf5File *file;
    char name[400], tail[301] = "";
    double numbers[3];
    memset(tail, 'x', (size_t)length);
    assert_ok(hdf5_open(&file, path));
    for (int n = 0; n < count; n += count / 20) {
        snprintf(name, sizeof name, "links/link_%06d_%s", n, tail);
        memset(numbers, 0, sizeof numbers);
        assert_ok(hdf5_doubles(numbers, file, name));
        assert_near(numbers[2], 2.0, 0.0);
    }
    snprintf(name, sizeof name, "links/link_%06d_%s", count, tail);
    assert_int_equal(hdf5_kind(file, name), HDF5_NOTHING);
    assert_ok(hdf5_doubles(numbers, file, "links/soft"));
    hdf5_close(file);
}

static void any_number_of_links_is_read(void **state)
{
    (void)state;
    static const struct {
        int length, count;
    } groups[] = {{0, 20}, {4, 3000}, {300, 3000}};
    run_python("write_many.py", ".", NULL);
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < 3; i++) {
            char path[64];
            snprintf(path, sizeof path, "%s_%d.h5", kinds[kind], groups[i].length);
            links_are_found(path, groups[i].count, groups[i].length);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(many_demos_and_attributes_are_read, scratch_clean),
        cmocka_unit_test_teardown(any_number_of_links_is_read, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
