// An independent implementation of the format: h5py reads what we write, and we read what h5py
// writes, however odd.
#include "factor/factor.h"
#include "samples.h"

static void h5py_reads_our_file(void **state)
{
    (void)state;
    write_sample("demos.h5", 12);
    run_python("read_sample.py", "demos.h5", "12");
}

static void we_read_odd_files_of_h5py(void **state)
{
    (void)state;
    run_python("write_odd.py", ".", NULL);
    const char *const files[] = {
        "float32.h5",   "float16.h5",     "big_endian.h5",   "integers.h5",
        "chunked.h5",   "fixed_texts.h5", "padded_texts.h5", "one_element_arrays.h5",
        "any_order.h5", "with_extras.h5", "links.h5",        "latest_format.h5",
        "user_block.h5"};
    FacetFactorSpace *space = sample_space();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FacetDataset *dataset;
        FacetStatus status = facet_dataset_read(&dataset, files[i]);
        if (!status.ok) fail_msg("%s", status.text);
        assert_true(factor_space_equal(dataset->space, space));
        assert_int_equal(dataset->demos, 3);
        assert_int_equal(dataset->steps, 4);
        assert_int_equal(dataset->action_dim, 3);
        assert_non_null(strstr(dataset->env_args, "env_name"));
        assert_int_equal(dataset->observation_count, 1);
        const FacetDatasetObservation *states = &dataset->observations[0];
        assert_string_equal(states->name, "state");
        assert_int_equal(states->dim, 2);
        for (int demo = 0; demo < 3; demo++) {
            assert_int_equal(dataset->tasks[demo].value[0], demo);
            assert_int_equal(dataset->tasks[demo].value[1], 2 - demo);
            for (int t = 0; t < 4; t++) {
                double first = 20.0 * demo + 5.0 * t;
                for (int j = 0; j < 3; j++)
                    assert_true(facet_dataset_actions(dataset, demo)[3 * t + j] == first + j);
                for (int j = 0; j < 2; j++)
                    assert_true(facet_dataset_observed(dataset, states, demo)[2 * t + j] ==
                                -first - j);
            }
        }
        facet_dataset_destroy(dataset);
    }
    facet_factor_space_destroy(space);
}

static void we_read_the_barest_file(void **state)
{
    (void)state;
    run_python("write_odd.py", ".", NULL);
    FacetDataset *dataset;
    assert_ok(facet_dataset_read(&dataset, "bare.h5"));
    assert_int_equal(dataset->demos, 1);
    assert_int_equal(dataset->steps, 1);
    assert_int_equal(dataset->action_dim, 1);
    assert_int_equal(dataset->observation_count, 0);
    assert_null(dataset->env_args);
    assert_true(dataset->actions[0] == 42.5);
    facet_dataset_destroy(dataset);
}

static void demos_come_in_natural_order(void **state)
{
    (void)state;
    run_python("write_odd.py", ".", NULL);
    FacetDataset *dataset;
    assert_ok(facet_dataset_read(&dataset, "names_beyond_ten.h5"));
    assert_int_equal(facet_factor_count(dataset->space), 5);
    assert_int_equal(dataset->demos, 4);
    for (int demo = 0; demo < 4; demo++) {
        assert_true(facet_dataset_actions(dataset, demo)[0] == demo);
        assert_int_equal(dataset->tasks[demo].value[2], demo % 3);
    }
    facet_dataset_destroy(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(h5py_reads_our_file, scratch_clean),
        cmocka_unit_test_teardown(we_read_odd_files_of_h5py, scratch_clean),
        cmocka_unit_test_teardown(we_read_the_barest_file, scratch_clean),
        cmocka_unit_test_teardown(demos_come_in_natural_order, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
