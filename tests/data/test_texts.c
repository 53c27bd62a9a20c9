// Lists of texts in HDF5 files, of fixed and of variable length, as h5py writes them.
#include "data/hdf5_file.h"
#include "samples.h"

static void expect_texts(const Hdf5File *file, const char *path, const char *const *expected,
                         int expected_count)
{
    char **texts;
    int count;
    assert_ok(hdf5_texts(&texts, &count, file, path));
    assert_int_equal(count, expected_count);
    for (int i = 0; i < count; i++) {
        assert_string_equal(texts[i], expected[i]);
        free(texts[i]);
    }
    free(texts);
}

static void texts_of_any_length_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {"demo_0", "demo_10", "Z\xc3\xbcrich"};
    Hdf5File *file;
    char **texts;
    int count;
    run_python("write_texts.py", ".", NULL);
    for (int latest = 0; latest < 2; latest++) {
        assert_ok(hdf5_open(&file, latest ? "latest.h5" : "old.h5"));
        expect_texts(file, "mask/fixed", names, 3);
        expect_texts(file, "mask/variable", names, 3);
        expect_texts(file, "mask/chunked", names, 3);
        expect_texts(file, "mask/none", names, 0);
        assert_refused(hdf5_texts(&texts, &count, file, "mask/numbers"),
                       "mask/numbers: expected a list of texts, found integers");
        assert_refused(hdf5_texts(&texts, &count, file, "mask/table"),
                       "mask/table: expected a list of texts, found 4 in 2 dimensions");
        assert_refused(hdf5_texts(&texts, &count, file, "mask/missing"),
                       "mask/missing: expected a list of texts, found nothing");
        hdf5_close(file);
    }
}

static void images_are_read_packed_and_plain(void **state)
{
    (void)state;
    Hdf5File *file;
    int64_t count;
    int height, width;
    uint8_t pixels[2 * 3 * 4 * 3];
    run_python("write_texts.py", ".", NULL);
    assert_ok(hdf5_open(&file, "old.h5"));
    for (int packed = 0; packed < 2; packed++) {
        const char *path = packed ? "packed" : "plain";
        assert_true(hdf5_is_image(file, path));
        assert_ok(hdf5_image_shape(&count, &height, &width, file, path));
        assert_int_equal(count, 2);
        assert_int_equal(height, 3);
        assert_int_equal(width, 4);
        memset(pixels, 0, sizeof pixels);
        assert_ok(hdf5_bytes(pixels, file, path));
        for (int i = 0; i < (int)sizeof pixels; i++) assert_int_equal(pixels[i], 3 * i % 251);
    }
    assert_false(hdf5_is_image(file, "mask/numbers"));
    hdf5_close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(texts_of_any_length_are_read, scratch_clean),
        cmocka_unit_test_teardown(images_are_read_packed_and_plain, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
