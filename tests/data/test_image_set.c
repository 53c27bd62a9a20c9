// Reading image files: what h5py writes in the layout is read, whatever is wrong is refused with
// one line, and h5py reads what we write.
#include "images.h"

static void h5py_reads_our_file(void **state)
{
    (void)state;
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 2));
    assert_ok(write_frames("frames.h5", 150, 64, pool));
    run_python("read_images.py", "frames.h5", "150");
    facet_pool_destroy(pool);
}

static void we_read_odd_files_of_h5py(void **state)
{
    (void)state;
    run_python("write_odd_images.py", ".", NULL);
    const char *const files[] = {
        "gzip_9.h5",
        "no_compression.h5",
        "can_grow.h5",
        "some_frames_skip_the_filter.h5",
        "compressed_labels.h5",
        "with_extras.h5",
        "fixed_texts.h5",
        "latest_gzip_9.h5",
        "latest_no_compression.h5",
        "latest_can_grow.h5",
        "other_numbers.h5",
    };
    int count = sizeof files / sizeof *files;
    for (int i = 0; i < count; i++) {
        FacetImageSet *set;
        FacetStatus status = open_one(&set, files[i]);
        if (!status.ok) fail_msg("%s", status.text);
        assert_int_equal(facet_image_set_count(set), 6);
        assert_string_equal(facet_image_set_settings(set), SAMPLE_SETTINGS);
        uint8_t rgb[6 * FRAME_BYTES];
        const int64_t frames[] = {5, 4, 3, 2, 1, 0};
        assert_ok(facet_image_set_read(rgb, set, frames, 6, NULL));
        for (int n = 0; n < 6; n++) expect_image(rgb + n * FRAME_BYTES, 5 - n);
        bool scaled = i == count - 1; // the actions of other_numbers are seven times the sample's
        for (int n = 0; n < 6 && !scaled; n++) expect_labels(set, n, n);
        for (int k = 0; k < FRAME_ACTIONS && scaled; k++)
            assert_true(facet_image_set_actions(set, 5)[k] == 500.0 + k);
        facet_image_set_close(set);
    }
    assert_ok(write_frames("ours.h5", 3, 3, NULL)); // and they go together with ours
    const char *const both[] = {"ours.h5", "latest_can_grow.h5"};
    FacetImageSet *set;
    assert_ok(facet_image_set_open(&set, both, 2));
    assert_int_equal(facet_image_set_count(set), 9);
    facet_image_set_close(set);
}

// A file of write_broken_images.py and the words its refusal must have, behind the file's name.
typedef struct Broken {
    const char *name, *words;
} Broken;

static const Broken broken_at_open[] = {
    {"no_factors", "/: attribute 'factors': expected a text, found nothing"},
    {"factors_not_json", "/: attribute 'factors': line 1: expected valid JSON"},
    {"settings_number", "/: attribute 'settings': expected a text, found integers"},
    {"no_images", "images: expected [N][height][width][3] of bytes, found nothing"},
    {"images_group", "images: expected [N][height][width][3] of bytes, found a group"},
    {"images_floats", "images: expected [N][height][width][3] of bytes, found floats of 32 bits"},
    {"images_signed",
     "images: expected [N][height][width][3] of bytes, found signed integers of 8 bits"},
    {"images_wide", "images: expected [N][height][width][3] of bytes, found integers of 16 bits"},
    {"images_grey", "images: expected [N][height][width][3] of bytes, found 3 dimensions"},
    {"images_four_channels", "images: expected 3 channels, found 4"},
    {"images_contiguous", "images: expected one chunk a frame, found an array that has no chunks"},
    {"images_two_a_chunk", "images: expected one chunk a frame, found chunks of 2 along dimension "
                           "0 of 6"},
    {"images_half_a_chunk", "images: expected one chunk a frame, found chunks of 6 along "
                            "dimension 1 of 12"},
    {"images_shuffled", "images: expected gzip or no compression, found filter 1 of 2, 'shuffle'"},
    {"images_lzf", "images: expected gzip or no compression, found filter 1 of 1, 'lzf'"},
    {"images_none", "images: expected at least one frame, found none"},
    {"images_too_wide", "images: expected a width of 1 to 16384, found 20000"},
    {"images_cut_short", "images: frame 4: expected an image, found none: it was never"},
    {"images_never_written",
     "images: cannot read: found 720000000000 elements of 1 bytes in a file of"},
    {"images_fewer", "actions: expected 5 frames, as many as there are images, found 6"},
    {"images_bloated", "images: frame 2: expected at most "},
    {"no_actions", "actions: expected [N][T][D] of numbers, found nothing"},
    {"actions_text", "actions: expected [N][T][D] of numbers, found text"},
    {"actions_matrix", "actions: expected [N][T][D] of numbers, found 2 dimensions"},
    {"actions_fewer", "actions: expected 6 frames, as many as there are images, found 5"},
    {"actions_no_steps", "actions: expected a T of 1 to 16384, found 0"},
    {"actions_nan", "actions: frame 3: expected finite numbers, found nan in step 2, channel 1"},
    {"actions_infinite", "actions: frame 0: expected finite numbers, found -inf in step 0"},
    {"no_tasks", "tasks: expected [N][K] of integers, found nothing"},
    {"tasks_floats", "tasks: expected [N][K] of integers, found floats"},
    {"tasks_narrow", "tasks: expected 2 values a frame, one a factor, found 1"},
    {"tasks_fewer", "tasks: expected 6 frames, as many as there are images, found 5"},
    {"tasks_outside", "tasks: frame 4: size: expected a value of 0 to 2, found 3"},
    {"tasks_null", "tasks: frame 5: track: expected a value of 0 to 2, found -1"},
    {"tasks_huge", "tasks: frame 0: track: expected a value of 0 to 2, found 9223372036854775807"},
    {"no_flights", "flights: expected [N] of integers, found nothing"},
    {"flights_floats", "flights: expected [N] of integers, found floats"},
    {"flights_matrix", "flights: expected [N] of integers, found 2 dimensions"},
    {"flights_fewer", "flights: expected 6 frames, as many as there are images, found 7"},
    {"flights_negative", "flights: frame 1: expected a number of 0 to 2147483647, found -1"},
    {"flights_huge", "flights: frame 0: expected a number of 0 to 2147483647, found 1099511627776"},
};

static const Broken broken_beside_good[] = {
    {"other_factors", "/: attribute 'factors': expected the factors and values of good.h5"},
    {"other_size", "images: expected frames of 20x12 pixels, as in good.h5, found 20x10"},
    {"other_steps", "actions: expected 4x3 numbers a frame, as in good.h5, found 5x3"},
};

static const Broken broken_at_read[] = {
    {"frame_noise", "damaged ones"},    {"frame_flipped", "damaged ones"},
    {"frame_checksum", "damaged ones"}, {"frame_cut", "damaged ones"},
    {"frame_shorter", "fewer"},         {"frame_longer", "more"},
    {"frame_bare_shorter", "fewer"},    {"frame_bare_longer", "more"},
};

// The file's path, and the words with it in front.
static void complete(char path[128], char words[512], const Broken *broken, const char *prefix)
{
    snprintf(path, 128, "%s.h5", broken->name);
    snprintf(words, 512, "%s: %s%s", path, prefix, broken->words);
}

static void broken_files_are_refused(void **state)
{
    (void)state;
    run_python("write_broken_images.py", ".", NULL);
    char path[128], words[512];
    FacetImageSet *set;
    assert_ok(open_one(&set, "good.h5"));
    facet_image_set_close(set);
    for (size_t i = 0; i < sizeof broken_at_open / sizeof *broken_at_open; i++) {
        complete(path, words, &broken_at_open[i], "");
        assert_refused(open_one(&set, path), words);
        assert_null(set);
        // As the second of a set as well, but for what the first alone says.
        const char *const behind[] = {"good.h5", path};
        if (strcmp(broken_at_open[i].name, "settings_number") == 0) continue;
        assert_refused(facet_image_set_open(&set, behind, 2), path);
    }
    for (size_t i = 0; i < sizeof broken_beside_good / sizeof *broken_beside_good; i++) {
        complete(path, words, &broken_beside_good[i], "");
        assert_ok(open_one(&set, path));
        facet_image_set_close(set);
        const char *const both[] = {"good.h5", path};
        assert_refused(facet_image_set_open(&set, both, 2), words);
        assert_null(set);
    }
}

static void broken_frames_are_refused_when_read(void **state)
{
    (void)state;
    run_python("write_broken_images.py", ".", NULL);
    FacetPool *pool;
    assert_ok(facet_pool_create(&pool, 2));
    for (size_t i = 0; i < sizeof broken_at_read / sizeof *broken_at_read; i++) {
        char path[128], words[512];
        complete(path, words, &broken_at_read[i],
                 "images: frame 2: expected 720 bytes of an image, found ");
        const char *const both[] = {"good.h5", path};
        FacetImageSet *set;
        assert_ok(facet_image_set_open(&set, both, 2));
        uint8_t rgb[3 * FRAME_BYTES];
        const int64_t with[] = {7, 8, 9}, without[] = {2, 9, 7}; // frame 2 of the file is 8
        assert_refused(facet_image_set_read(rgb, set, with, 3, pool), words);
        assert_ok(facet_image_set_read(rgb, set, without, 3, pool));
        expect_image(rgb, 2);
        expect_image(rgb + FRAME_BYTES, 3);
        expect_image(rgb + 2 * FRAME_BYTES, 1);
        facet_image_set_close(set);
    }
    facet_pool_destroy(pool);
}

static void truncated_files_are_refused(void **state)
{
    (void)state;
    assert_ok(write_frames("whole.h5", 30, 30, NULL));
    size_t size;
    char *bytes = read_bytes(&size, "whole.h5");
    FacetImageSet *set;
    for (size_t cut = 1; cut < size; cut += cut < 128 ? 1 : 499) {
        write_bytes("cut.h5", bytes, cut);
        assert_refused(open_one(&set, "cut.h5"), "cut.h5: expected a");
        assert_null(set);
    }
    write_bytes("cut.h5", bytes, size - 1);
    assert_refused(open_one(&set, "cut.h5"),
                   "cut.h5: expected a whole HDF5 file, found a truncated or damaged one");
    free(bytes);
    assert_refused(open_one(&set, "missing.h5"), "missing.h5: cannot open: No such file");
    assert_refused(open_one(&set, "."), ".: expected an HDF5 file, found a folder");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(h5py_reads_our_file, scratch_clean),
        cmocka_unit_test_teardown(we_read_odd_files_of_h5py, scratch_clean),
        cmocka_unit_test_teardown(broken_files_are_refused, scratch_clean),
        cmocka_unit_test_teardown(broken_frames_are_refused_when_read, scratch_clean),
        cmocka_unit_test_teardown(truncated_files_are_refused, scratch_clean),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
