// The host's HDF5 error handler is its own: it hears nothing of what fails here, and is in place
// again afterwards.
#include "samples.h"

#include <facet_study/image_set.h>
#include <hdf5.h>

static int heard; // failures that reached the host's handler

static herr_t hear(hid_t stack, void *context)
{
    (void)stack;
    assert_ptr_equal(context, &heard);
    heard++;
    return 0;
}

static herr_t hear_first(void *context) { return hear(0, context); }

// Work of every kind, most of which fails inside the HDF5 library.
static void work(void)
{
    FacetDataset *dataset;
    FacetImageSet *images;
    write_sample("whole.h5", 3);
    assert_ok(facet_dataset_read(&dataset, "whole.h5"));
    facet_dataset_destroy(dataset);
    size_t size;
    char *bytes = read_bytes(&size, "whole.h5");
    write_bytes("half.h5", bytes, size / 2);
    free(bytes);
    assert_refused(facet_dataset_read(&dataset, "half.h5"), "half.h5");
    assert_refused(facet_dataset_read(&dataset, "missing.h5"), "missing.h5");
    assert_refused(facet_image_set_open(&images, (const char *const[]){"whole.h5"}, 1), "whole.h5");
    FacetFactorSpace *space = sample_space();
    FacetDatasetLayout layout = sample_layout(space);
    FacetDatasetWriter *writer;
    assert_ok(facet_dataset_writer_open(&writer, "none.h5", &layout));
    assert_refused(facet_dataset_writer_close(writer), "none.h5");
    facet_factor_space_destroy(space);
}

// The host's own failure, which its handler is there for.
static void assert_heard(void)
{
    heard = 0;
    assert_true(H5Fopen("missing.h5", H5F_ACC_RDONLY, H5P_DEFAULT) < 0);
    assert_int_equal(heard, 1);
}

static void a_handler_stays(void **state)
{
    (void)state;
    H5E_auto2_t function;
    void *context;
    assert_true(H5Eset_auto2(H5E_DEFAULT, hear, &heard) >= 0);
    work();
    assert_int_equal(heard, 0);
    assert_true(H5Eget_auto2(H5E_DEFAULT, &function, &context) >= 0);
    assert_true(function == hear);
    assert_ptr_equal(context, &heard);
    assert_heard();
}

static void so_does_one_of_the_older_interface(void **state)
{
    (void)state;
    H5E_auto1_t function;
    void *context;
    unsigned second = 1;
    assert_true(H5Eset_auto1(hear_first, &heard) >= 0);
    heard = 0;
    work();
    assert_int_equal(heard, 0);
    assert_true(H5Eauto_is_v2(H5E_DEFAULT, &second) >= 0);
    assert_int_equal(second, 0);
    assert_true(H5Eget_auto1(&function, &context) >= 0);
    assert_true(function == hear_first);
    assert_heard();
}

static void none_stays_none(void **state)
{
    (void)state;
    H5E_auto2_t function = hear;
    void *context;
    assert_true(H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0);
    work();
    assert_true(H5Eget_auto2(H5E_DEFAULT, &function, &context) >= 0);
    assert_true(function == NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_handler_stays, scratch_clean),
        cmocka_unit_test_teardown(so_does_one_of_the_older_interface, scratch_clean),
        cmocka_unit_test_teardown(none_stays_none, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
